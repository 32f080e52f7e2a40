// What an observer has seen, and therefore what it requests next and what is news to it.
//
// Pure: no I/O, no clock. Streams are noted one after another; whatever each repeats or leaves out,
// every event is news exactly once, and in order.

import {
  type Event,
  ObserveRequest,
  type ObserveResponse,
  Selector,
  type Snapshot,
  Snapshot_Reason,
} from "./stubs/tenure/v1/election.js";

export interface Wish {
  /** Of elections, or their prefixes. */
  names: readonly string[];
  prefix?: boolean | undefined;
  fromRevision?: number | undefined;
  /** For these elections, in place of `fromRevision`. */
  fromRevisions?: ReadonlyMap<string, number> | undefined;
}

/**
 * "known": reported before, or not requested. "gap": something before it is missing, so open
 * another stream.
 */
export type Verdict = "news" | "known" | "gap";

export class Observation {
  private readonly seen = new Map<string, number>(); // the last revision of each election
  private opened = false; // everything has been reported once

  constructor(private readonly wish: Wish) {
    // As if all earlier events had been seen.
    for (const [election, revision] of wish.fromRevisions ?? []) {
      this.seen.set(election, revision - 1);
    }
  }

  /**
   * What to ask for on the next stream. An observer resumes every election that it has seen by
   * name: the contract allows one selector for each election that a stream may watch, plus the
   * prefixes.
   */
  request(): ObserveRequest {
    const selectors: Selector[] = [];
    for (const [election, revision] of this.seen) {
      selectors.push({ by: { $case: "election", value: election }, fromRevision: revision + 1 });
    }
    for (const name of this.wish.names) {
      if (this.wish.prefix || !this.seen.has(name)) selectors.push(this.select(name));
    }
    return { selectors };
  }

  private select(name: string): Selector {
    const { prefix, fromRevision } = this.wish;
    // Those created since the last full listing: from their beginning.
    const from = fromRevision ?? (prefix && this.opened ? 1 : undefined);
    return { by: { $case: prefix ? "prefix" : "election", value: name }, fromRevision: from };
  }

  /** Classifies a message of the stream in use. Only news counts as seen. */
  note({ message }: ObserveResponse): Verdict {
    switch (message?.$case) {
      case "snapshot":
        return this.noteSnapshot(message.value);
      case "event":
        return this.noteEvent(message.value);
      case "progress":
        this.opened = true;
        return "news";
      default:
        return "known"; // from a newer service
    }
  }

  private noteSnapshot({ election, revision, reason }: Snapshot): Verdict {
    const seen = this.seen.get(election);
    // Only a RESYNC may skip events, or go back, to a restored database.
    if (seen !== undefined && reason !== Snapshot_Reason.RESYNC) {
      return revision <= seen ? "known" : "gap";
    }
    // A deleted election that was found by prefix need not be requested by name, if the prefix asks
    // for first events.
    const { prefix, fromRevision = 1 } = this.wish;
    if (prefix && revision === 0 && fromRevision === 1) {
      this.seen.delete(election);
    } else {
      this.seen.set(election, revision);
    }
    return "news";
  }

  private noteEvent({ election, revision }: Event): Verdict {
    const seen = this.seen.get(election);
    const next = seen === undefined ? (this.wish.fromRevision ?? 1) : seen + 1;
    if (revision < next) return "known";
    // The service knows which event is the first: in a restored database it is not 1.
    if (revision > next && next !== 1) return "gap";
    this.seen.set(election, revision);
    return "news";
  }
}
