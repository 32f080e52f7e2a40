// A name whose addresses change while a process leads.

import { type TestContext, test } from "node:test";

import { CandidateProcess, Hosts } from "./support/candidate-process.js";
import { freeAddress, Service } from "./support/service.js";

const NAME = "replicas.test";
const LEASE_MS = 10_000;

/** Replicas of one service, each at an address of its own and the same port. */
class Replicas {
  private readonly replicas = new Map<string, Service>();
  private readonly hosts: Hosts;
  private store: string | undefined;

  private constructor(
    private readonly context: TestContext,
    private readonly port: string,
  ) {
    this.hosts = new Hosts(context);
  }

  static async start(context: TestContext, count: number): Promise<Replicas> {
    const replicas = new Replicas(context, (await freeAddress()).split(":")[1]!);
    for (let i = 0; i < count; i++) await replicas.startOne();
    return replicas;
  }

  candidate(): CandidateProcess {
    const candidate = new CandidateProcess(this.context, this.hosts);
    candidate.stand(`${NAME}:${this.port}`, LEASE_MS);
    return candidate;
  }

  /** The oldest one ends, and another one starts at another address. */
  async moveOne(end: (replica: Service) => unknown = (replica) => replica.stop()): Promise<void> {
    const [address] = this.replicas.keys();
    await end(this.replicas.get(address!)!);
    this.replicas.delete(address!);
    await this.startOne();
  }

  private async startOne(): Promise<void> {
    const [address] = (await freeAddress()).split(":");
    const store = this.store === undefined ? {} : { store: this.store };
    const endpoint = `${address}:${this.port}`;
    const service = await Service.start(this.context, { ...store, endpoint });
    this.store = service.store;
    this.replicas.set(address!, service);
    this.hosts.point(NAME, ...this.replicas.keys());
  }
}

test("each of two replicas behind one name moves, and the seat is kept", async (context) => {
  const replicas = await Replicas.start(context, 2);
  const candidate = replicas.candidate();
  await candidate.leads(1);

  for (let moves = 0; moves < 4; moves++) {
    await replicas.moveOne();
    await candidate.keepsSeat(1);
  }
});

test("a replica freezes, and the name points to another one: the seat is kept", async (context) => {
  const replicas = await Replicas.start(context, 1);
  const candidate = replicas.candidate();
  await candidate.leads(1);

  await replicas.moveOne((replica) => replica.pause());

  await candidate.keepsSeat(1);
});

test("a process that starts before its name exists leads when the name does", async (context) => {
  const hosts = new Hosts(context);
  const candidate = new CandidateProcess(context, hosts);
  const service = await Service.start(context);
  const [address, port] = service.endpoint.split(":");
  candidate.stand(`${NAME}:${port}`, LEASE_MS);
  await candidate.next(); // it has begun to stand

  hosts.point(NAME, address!);

  await candidate.leads(1);
});

test("the only replica behind a name moves, and the seat is kept", async (context) => {
  const replicas = await Replicas.start(context, 1);
  const candidate = replicas.candidate();
  await candidate.leads(1);

  await replicas.moveOne();

  await candidate.keepsSeat(1);
});
