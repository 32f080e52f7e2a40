// Asks all endpoints which service they belong to.

import { Metadata, type ServiceError as RpcError, status } from "@grpc/grpc-js";

import { ServiceError } from "./errors.js";
import type { Replica } from "./replica.js";
import type { EndpointAnswer } from "./service-choice.js";
import type { Call } from "./surroundings.js";

/** How long a survey may take that no campaign waits for. */
export const SURVEY_MS = 3_000;

export interface Survey {
  /** In the order of the endpoints. */
  answers: EndpointAnswer[];
  /** The error of an endpoint that did not answer. */
  error: ServiceError | undefined;
  /** The only answers came from replicas too old for this question. */
  tooOld: boolean;
  /** Stops waiting for late answers. */
  cancel: () => void;
}

/** What a connection learns from a survey. */
interface Outcomes {
  succeeded(replica: Replica): void;
  failed(replica: Replica, error: ServiceError): ServiceError;
}

/**
 * Resolves when all have answered, when more than half agree (on the pinned id, if there is one),
 * or after `patienceMs`. `late` gets later answers, until then.
 */
export function survey(
  connection: Outcomes,
  replicas: readonly Replica[],
  pinned: string,
  patienceMs: number,
  signal: AbortSignal,
  late: (index: number, id: string) => void,
): Promise<Survey> {
  const answers: EndpointAnswer[] = replicas.map(({ endpoint }) => ({ endpoint }));
  const calls: Call[] = [];
  const deadline = Date.now() + patienceMs;
  const agreed = new Map<string, number>();
  let pending = replicas.length;
  let error: ServiceError | undefined;
  let tooOld = false;
  let over = false;
  const cancel = () => calls.forEach((call) => call.cancel());
  return new Promise((resolve) => {
    const finish = () => {
      over = true;
      signal.removeEventListener("abort", abort);
      resolve({ answers, error, tooOld: tooOld && agreed.size === 0, cancel });
    };
    const abort = () => {
      finish();
      cancel();
    };
    signal.addEventListener("abort", abort);
    const count = (id: string) => {
      const agreeing = (agreed.get(id) ?? 0) + 1;
      agreed.set(id, agreeing);
      return agreeing > replicas.length / 2 && (pinned === "" || id === pinned);
    };
    for (const [index, replica] of replicas.entries()) {
      const done = (failure: RpcError | null, id = "") => {
        pending--;
        if (over) {
          if (id) late(index, id);
          return;
        }
        if (!failure) {
          connection.succeeded(replica);
          answers[index]!.serviceId = id;
          if (count(id) || pending === 0) finish();
          return;
        }
        const rpcError = ServiceError.fromRpc(failure);
        if (failure.code === status.UNIMPLEMENTED) tooOld = true;
        else error = connection.failed(replica, rpcError);
        if (pending === 0) finish();
      };
      const call = replica.stub.identify({}, new Metadata(), { deadline }, (failure, response) =>
        done(failure, response?.serviceId),
      );
      calls.push(call);
    }
  });
}
