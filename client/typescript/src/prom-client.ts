// Metrics for prom-client, which the application brings: docs/clients.md lists them.
//
//     import { PromClientMetrics } from "tenure/prom-client";
//     const client = new Client({ metrics: new PromClientMetrics(register) });

import { Counter, Gauge, Histogram, type Registry } from "prom-client";

import type { AnsweredRenewal } from "./effects.js";
import { SECOND } from "./lease.js";
import type { ClientMetrics } from "./metrics.js";
import { nameOf, type SeatEvent } from "./seat.js";

const RENEWAL_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const MARGIN_BUCKETS = [0, 0.1, 0.25, 0.5, 1, 2, 3, 5, 7.5, 10, 20, 30, 60];

/** Each client needs its own registry. */
export class PromClientMetrics implements ClientMetrics {
  private readonly masterStatus: Gauge<"name">;
  private readonly slowPath: Counter<"name">;
  private readonly elected: Counter<"name">;
  private readonly overruns: Counter<"name">;
  private readonly lost: Counter<"name" | "cause">;
  private readonly renewalSeconds: Histogram;
  private readonly renewalMarginSeconds: Histogram;
  private readonly replicaChanges: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    const labelNames = ["name"] as const;
    this.masterStatus = new Gauge({
      name: "leader_election_master_status",
      help: "1 if this process leads the election, otherwise 0.",
      labelNames,
      registers,
    });
    this.slowPath = new Counter({
      name: "leader_election_slowpath_total",
      help: "Times that a leader went half its lease without a renewal.",
      labelNames,
      registers,
    });
    this.elected = new Counter({
      name: "tenure_client_elected_total",
      help: "Terms in which this process was the leader.",
      labelNames,
      registers,
    });
    this.overruns = new Counter({
      name: "tenure_client_overruns_total",
      help: "Times that a leader's work was still running at its deadline.",
      labelNames,
      registers,
    });
    this.lost = new Counter({
      name: "tenure_client_lost_total",
      help: "Ended terms of this process, by cause.",
      labelNames: ["name", "cause"],
      registers,
    });
    this.renewalSeconds = new Histogram({
      name: "tenure_client_renewal_seconds",
      help: "Time from sending a renewal to its answer.",
      buckets: RENEWAL_BUCKETS,
      registers,
    });
    this.renewalMarginSeconds = new Histogram({
      name: "tenure_client_renewal_margin_seconds",
      help: "Time left until the process's own deadline when a renewal was answered.",
      buckets: MARGIN_BUCKETS,
      registers,
    });
    this.replicaChanges = new Counter({
      name: "tenure_client_replica_changes_total",
      help: "Switches to another replica after one failed.",
      registers,
    });
  }

  begin(name: string): void {
    this.masterStatus.set({ name }, 0);
    for (const counter of [this.slowPath, this.elected, this.overruns]) counter.inc({ name }, 0);
  }

  countEvent(name: string, event: SeatEvent): void {
    switch (event.event) {
      case "elected":
        this.elected.inc({ name });
        return this.masterStatus.set({ name }, 1);
      case "lost":
        this.lost.inc({ name, cause: nameOf(event.cause) });
        return this.masterStatus.set({ name }, 0);
      case "suspended":
        return this.slowPath.inc({ name });
      case "overrun":
        return this.overruns.inc({ name });
    }
  }

  countRenewal({ roundTrip, margin }: AnsweredRenewal): void {
    this.renewalSeconds.observe(roundTrip / SECOND);
    this.renewalMarginSeconds.observe(margin / SECOND);
  }

  countReplicaChange(): void {
    this.replicaChanges.inc();
  }
}
