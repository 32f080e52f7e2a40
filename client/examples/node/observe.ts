import type { ServiceError } from "@grpc/grpc-js";

import { complain, say, word } from "./lines.js";
import { Replicas } from "./replicas.js";
import {
  Cause,
  type Leadership,
  ObserveRequest,
  type ObserveResponse,
  Selector,
  Snapshot_Reason,
} from "./tenure/v1/election.js";
import { sleep } from "./time.js";

const SILENCE_MAX_MS = 25_000; // of an Observe stream, which says something at least every 10 s

/** Prints every change, each once and in order, from whichever replica. */
export async function observe(election: string, replicas: Replicas): Promise<never> {
  const selector = Selector.fromPartial({ by: { $case: "election", value: election } });
  for (;;) {
    const client = replicas.current();
    const stream = client.observe(ObserveRequest.fromPartial({ selectors: [selector] }));
    const silence = setTimeout(() => stream.cancel(), SILENCE_MAX_MS);
    try {
      for await (const { message } of stream as AsyncIterable<ObserveResponse>) {
        replicas.failures = 0;
        silence.refresh();
        if (message?.$case === "event") {
          const { type, revision, leadership, cause } = message.value;
          sayObserved(word(type), revision, leadership!.term, leadership, cause);
          selector.fromRevision = revision + 1;
        } else if (message?.$case === "snapshot") {
          const { reason, revision, term, leader } = message.value;
          const type = reason === Snapshot_Reason.RESYNC ? "RESYNC" : "SNAPSHOT";
          sayObserved(type, revision, term, leader, Cause.UNSPECIFIED);
          selector.fromRevision = revision + 1;
        }
      }
    } catch (error) {
      complain(error as ServiceError);
    }
    clearTimeout(silence);
    await sleep(replicas.failed(client));
  }
}

function sayObserved(
  type: string,
  revision: number,
  term: number,
  leader: Leadership | undefined,
  cause: Cause,
): void {
  say("observed", {
    revision,
    type,
    term,
    candidate: leader?.candidate ?? null,
    cause: cause === Cause.UNSPECIFIED ? null : word(cause),
  });
}
