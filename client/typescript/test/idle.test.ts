// Connections that nothing uses.

import { EventEmitter, once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { type TestContext, test } from "node:test";

import { Elector, Observer } from "../src/index.js";
import { THIS_MACHINE } from "../src/surroundings.js";
import { clientOf } from "./support/clients.js";
import { Service, temporaryFolder } from "./support/service.js";

/** Relays to replicas of one service, which count the connections through them. */
class Relays extends EventEmitter {
  readonly endpoints: string[] = [];
  private opened = 0;
  private open = 0;

  static async to(context: TestContext, replicas: number): Promise<Relays> {
    const relays = new Relays();
    const store = `sqlite:${temporaryFolder(context)}/tenure.db`;
    for (let i = 0; i < replicas; i++) {
      await relays.add(context, await Service.start(context, { store }));
    }
    return relays;
  }

  /** Waits until there were as many connections as replicas, and only one is left. */
  async oneIsLeft(): Promise<void> {
    while (this.opened < this.endpoints.length || this.open !== 1) await once(this, "change");
  }

  private async add(context: TestContext, { endpoint }: Service): Promise<void> {
    const [host, port] = endpoint.split(":");
    const server = createServer((socket) => {
      this.opened++;
      this.open++;
      this.emit("change");
      const onward = connect(Number(port), host);
      socket.pipe(onward).pipe(socket);
      socket.on("error", () => {});
      onward.on("error", () => {});
      onward.on("close", () => socket.destroy());
      socket.on("close", () => {
        onward.destroy();
        this.open--;
        this.emit("change");
      });
    });
    context.after(() => server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    this.endpoints.push(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
}

const QUICK = { ...THIS_MACHINE, idleMs: 1_000 };

test("a client keeps only the connection that it uses", async (context) => {
  const relays = await Relays.to(context, 3);
  const client = clientOf(context, { endpoints: relays.endpoints.join() }, QUICK);
  const seat = await new Elector(client).lead("orders");

  await relays.oneIsLeft();

  await seat.release();
});

test("an observer keeps only the connection that it uses", async (context) => {
  const relays = await Relays.to(context, 3);
  const options = { endpoints: relays.endpoints.join(), names: ["orders"], logger: null };
  const observer = new Observer(options, QUICK);
  const changes = observer[Symbol.asyncIterator]();
  await changes.next();

  await relays.oneIsLeft();

  await changes.return(undefined);
});
