import { credentials } from "@grpc/grpc-js";

import { ElectionServiceClient } from "./tenure/v1/election.js";

/** Which replica to talk to. Any will do; whoever meets a broken one moves on to the next. */
export class Replicas {
  failures = 0;
  private readonly clients: ElectionServiceClient[];

  constructor(endpoints: string) {
    const plain = credentials.createInsecure();
    const options = {
      "grpc.initial_reconnect_backoff_ms": 50,
      "grpc.max_reconnect_backoff_ms": 200,
    };
    this.clients = endpoints
      .split(",")
      .map((endpoint) => new ElectionServiceClient(endpoint, plain, options));
  }

  current(): ElectionServiceClient {
    return this.clients[0];
  }

  /** Answers how long to wait before the next try: longer each time, and never in step. */
  failed(client: ElectionServiceClient): number {
    if (client === this.clients[0]) this.clients.push(this.clients.shift()!);
    this.failures = Math.min(this.failures + 1, 5);
    return 30 * 2 ** this.failures * (0.5 + Math.random() / 2);
  }
}
