import { type ServiceError, status } from "@grpc/grpc-js";

/** Prints one line of JSON. */
export function say(event: string, fields: Record<string, unknown>): void {
  console.log(JSON.stringify({ event, ...fields, time_ms: Date.now() }));
}

export function complain(error: ServiceError): void {
  console.error(`${status[error.code]}: ${error.details}`);
}

/** Makes EXPIRED of CAUSE_EXPIRED. */
export function word(value: string): string {
  return value.slice(value.indexOf("_") + 1);
}
