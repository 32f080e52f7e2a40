// Refuses at once what the service would refuse. Each function throws a RangeError.

import { Buffer } from "node:buffer";

const NAME_BYTES_MAX = 255;
const VALUE_BYTES_MAX = 4096;

export function checkName(name: string, what: string): string {
  const size = Buffer.byteLength(name);
  if (size < 1 || size > NAME_BYTES_MAX) {
    throw new RangeError(`${what} is ${size} bytes long; it must be 1 to ${NAME_BYTES_MAX} bytes`);
  }
  if (/\p{Cc}/u.test(name)) {
    throw new RangeError(`${what} ${JSON.stringify(name)} contains a control character`);
  }
  return name;
}

/** Encodes text as UTF-8. */
export function checkValue(value: string | Uint8Array): Buffer {
  const encoded = Buffer.from(value as string);
  if (encoded.length > VALUE_BYTES_MAX) {
    const size = encoded.length;
    throw new RangeError(`value is ${size} bytes long; the maximum is ${VALUE_BYTES_MAX}`);
  }
  return encoded;
}

export function checkNotNegative(duration: number, what: string): number {
  if (!(duration >= 0)) throw new RangeError(`${what} is ${duration}; it must be 0 or more`);
  return duration;
}

export function checkServiceId(id: string): string {
  if (/^[0-9a-f]{32}$/.test(id)) return id;
  throw new RangeError(
    `serviceId is ${JSON.stringify(id)}; it must have 32 lower-case hexadecimal digits, as "tenure status" shows it`,
  );
}

export function checkEndpoints(endpoints: string): string[] {
  const named = endpoints.split(",").map((endpoint) => endpoint.trim());
  const present = named.filter((endpoint) => endpoint !== "");
  const [wrong] = present.filter((endpoint) => mistakeIn(endpoint) !== "");
  const what = wrong === undefined ? "names no replica" : mistakeIn(wrong);
  if (wrong === undefined && present.length > 0) return present;
  throw new RangeError(
    `endpoints: '${wrong ?? endpoints}' ${what}; write HOST:PORT[,HOST:PORT...]`,
  );
}

function mistakeIn(endpoint: string): string {
  if (endpoint.includes("://")) return "is a URL";
  if (/[/\s]/.test(endpoint)) return "is not an address";
  const [, host, port] = /^(\[[^\]]*\]|[^:]*)(?::([^:]*))?$/.exec(endpoint) ?? [];
  if (host === undefined) return "is ambiguous; an IPv6 address is written [ADDRESS]:PORT";
  if (host === "" || host === "[]") return "has no host";
  if (!port) return "has no port";
  const valid = /^[0-9]{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535;
  return valid ? "" : "has no port from 1 to 65535";
}
