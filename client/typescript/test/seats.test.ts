// What a session remembers of seats that are gone.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Lease, SECOND } from "../src/lease.js";
import { Seats } from "../src/seats.js";
import { Leadership } from "../src/stubs/tenure/v1/election.js";

const NOW = 1 * SECOND;

/** Stands, leads in this term, and gives the seat up. */
function leadOnce(seats: Seats, number: number, election: string, term: number): void {
  const lease = new Lease();
  lease.renewed(NOW, 10 * SECOND);
  const { seat } = seats.add(number, { election });
  seat.asked();
  seat.onElected(Leadership.create({ election, term }), NOW, lease);
  seat.leave(NOW);
  seat.workEnded(NOW);
  seat.onResigned(term, false, NOW);
  assert.deepEqual(seats.takeGone(), [number]);
}

test("terms of seats that are gone are remembered, up to a limit", () => {
  const seats = new Seats();
  for (let number = 1; number <= 25_000; number++) leadOnce(seats, number, `job ${number}`, number);
  const last = seats.add(30_000, { election: "job 25000" });
  const first = seats.add(30_001, { election: "job 1" });

  assert.equal(last.seat.closedTerm, 25_000);
  assert.equal(first.seat.closedTerm, 0);
  assert.equal(seats["closedTerms"].size, 10_000);
});

test("an election that was never led is not remembered", () => {
  const seats = new Seats();
  const { seat } = seats.add(1, { election: "orders" });
  seat.leave(NOW);
  seats.takeGone();

  assert.equal(seats["closedTerms"].size, 0);
});

test("an election that is led again and again is not forgotten before others", () => {
  const seats = new Seats();
  leadOnce(seats, 1, "orders", 1);
  for (let number = 2; number <= 20_000; number++) {
    leadOnce(seats, number, number % 5_000 === 0 ? "orders" : `job ${number}`, number);
  }

  assert.equal(seats.add(30_000, { election: "orders" }).seat.closedTerm, 20_000);
});
