// Stands for `orders`, tells what happens to it, and answers each line with whether it leads.

import { createInterface } from "node:readline";

import { Elector } from "../../src/index.js";

const elector = new Elector({ endpoints: process.argv[2]!, leaseTtlMs: 2_000 });
elector.on("elected", (seat) => console.log("elected", seat.term));
elector.on("overrun", (seat) => console.log("overrun", seat.term));
elector.on("lost", (seat) => console.log("lost", seat.term));
const seat = await elector.lead("orders");
seat.signal.addEventListener("abort", () => console.log("stop", seat.term));
createInterface(process.stdin).on("line", () => console.log("leads", seat.isLeader));
