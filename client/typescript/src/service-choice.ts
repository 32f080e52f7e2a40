// Which service the endpoints belong to, decided from their answers. Pure.

import { status as Status } from "@grpc/grpc-js";

import { ServiceError } from "./errors.js";

/** Absent: unknown. */
export interface KnownService {
  id: string;
  /** Set by the user. */
  pinned: boolean;
}

export interface EndpointAnswer {
  endpoint: string;
  /** Absent: it did not answer. */
  serviceId?: string | undefined;
}

const WRONG = "WRONG_SERVICE";

/** The id, or why there is none. */
export function chooseService(
  { id: known, pinned }: KnownService,
  answers: readonly EndpointAnswer[],
): string | ServiceError {
  const groups = groupsOf(answers);
  const most = majorityOf(answers);
  if (most && !pinned) return most;
  if (known) {
    if (groups.has(known) || answers.some(({ serviceId }) => !serviceId)) return known;
    if (pinned) {
      const text = `no endpoint belongs to service ${known}: ${textOf(groups)}`;
      return wrong(`${text}; correct the endpoints or service_id`);
    }
  } else if (groups.size === 0) {
    return new ServiceError(Status.UNAVAILABLE, "no replica of the service can be reached");
  } else {
    const bySize = [...groups].sort(([, a], [, b]) => b.length - a.length);
    const [[largest, first], second] = bySize as [[string, string[]], [string, string[]]?];
    if (first.length > (second?.[1].length ?? 0)) return largest;
  }
  const text = `the endpoints belong to different services: ${textOf(groups)}`;
  return wrong(`${text}; set service_id to the right one`);
}

/** The service of more than half of the endpoints; empty: there is none. */
export function majorityOf(answers: readonly EndpointAnswer[]): string {
  const largest = [...groupsOf(answers)].find(([, group]) => group.length > answers.length / 2);
  return largest?.[0] ?? "";
}

function wrong(details: string): ServiceError {
  return new ServiceError(Status.FAILED_PRECONDITION, details, { reason: WRONG });
}

/** The error of a replica of service `id`, which is not the known one. */
export function wrongService(id: string): ServiceError {
  const metadata = { service_id: id };
  return new ServiceError(Status.FAILED_PRECONDITION, `the replica belongs to service ${id}`, {
    reason: WRONG,
    metadata,
  });
}

export function isWrongService({ reason }: ServiceError): boolean {
  return reason === WRONG;
}

/** The endpoints that answered with each id, in the order of their first ones. */
function groupsOf(answers: readonly EndpointAnswer[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { endpoint, serviceId } of answers) {
    if (!serviceId) continue;
    const group = groups.get(serviceId);
    if (group) group.push(endpoint);
    else groups.set(serviceId, [endpoint]);
  }
  return groups;
}

function textOf(groups: Map<string, string[]>): string {
  return [...groups].map(([id, endpoints]) => `${endpoints.join(", ")} to ${id}`).join(", ");
}
