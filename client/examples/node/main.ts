// Stands for one election, works while it leads, and prints every change of who leads.
//
// It uses nothing but the stubs generated from election.proto, whose comments are the contract.

import { parseArgs } from "node:util";

import { Candidate } from "./candidate.js";
import { observe } from "./observe.js";
import { Replicas } from "./replicas.js";

const USAGE = "usage: main.js [--endpoints HOST:PORT[,...]] [--ttl SECONDS] ELECTION CANDIDATE";

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      endpoints: { type: "string", default: process.env.TENURE_ENDPOINTS ?? "127.0.0.1:7070" },
      ttl: { type: "string", default: "10" },
    },
  });
  const ttlMs = Number(values.ttl) * 1000;
  if (positionals.length !== 2 || Number.isNaN(ttlMs)) throw new Error("wrong arguments");
  return { election: positionals[0], name: positionals[1], endpoints: values.endpoints!, ttlMs };
}

let options;
try {
  options = readArguments();
} catch (error) {
  console.error(`${USAGE}\n${(error as Error).message}`);
  process.exit(2);
}

const { election, name, endpoints, ttlMs } = options;
const candidate = new Candidate(election, name, new Replicas(endpoints), ttlMs);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => candidate.stop());
void observe(election, new Replicas(endpoints));
await candidate.run();
process.exit();
