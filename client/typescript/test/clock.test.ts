import assert from "node:assert/strict";
import { test } from "node:test";

import { HolderClock } from "../src/clock.js";

const HOUR = 3_600_000_000;

/** A machine whose clocks the test moves, by microseconds. */
class Machine {
  private times = { monotonic: 5_000, wall: 1e15, uptime: 7e9 };
  readonly clock = new HolderClock({
    monotonic: () => this.times.monotonic,
    wall: () => this.times.wall,
    uptime: () => this.times.uptime,
  });

  runs(time: number): void {
    this.sleeps(time);
    this.times.monotonic += time;
  }

  sleeps(time: number): void {
    this.times.wall += time;
    this.times.uptime += time;
  }

  sets(step: number): void {
    this.times.wall += step;
  }

  /** A paused virtual machine notices only by the time of day. */
  isPaused(time: number): void {
    this.times.wall += time;
  }
}

test("the clock runs like the monotonic one", () => {
  const machine = new Machine();
  const before = machine.clock.now();

  machine.runs(1_234_567);

  assert.equal(machine.clock.now() - before, 1_234_567);
});

test("the clock keeps running while the machine sleeps, each time", () => {
  const machine = new Machine();
  const before = machine.clock.now();

  machine.sleeps(HOUR);
  assert.equal(machine.clock.now() - before, HOUR);
  machine.runs(10);
  machine.sleeps(HOUR);

  assert.equal(machine.clock.now() - before, 2 * HOUR + 10);
});

test("the clock keeps running while a virtual machine is paused", () => {
  const machine = new Machine();
  const before = machine.clock.now();

  machine.isPaused(HOUR);

  assert.equal(machine.clock.now() - before, HOUR);
});

test("setting the time of day back changes nothing", () => {
  const machine = new Machine();
  const before = machine.clock.now();

  machine.sets(-HOUR);
  machine.runs(10);

  assert.equal(machine.clock.now() - before, 10);
});

test("a sleep after the time of day was set back counts", () => {
  const machine = new Machine();
  const before = machine.clock.now();

  machine.sets(-HOUR);
  machine.clock.now();
  machine.sleeps(HOUR / 2);

  assert.equal(machine.clock.now() - before, HOUR / 2);
});

test("setting the time of day back hides no sleep", () => {
  const machine = new Machine();
  const before = machine.clock.now();

  machine.sleeps(HOUR);
  machine.sets(-HOUR / 2);
  assert.equal(machine.clock.now() - before, HOUR);

  machine.sleeps(HOUR);
  machine.sets(-2 * HOUR);
  assert.equal(machine.clock.now() - before, 2 * HOUR);
});

test("short sleeps add up", () => {
  const machine = new Machine();
  const before = machine.clock.now();

  for (let i = 0; i < 100; i++) {
    machine.sleeps(40_000);
    machine.clock.now();
  }

  assert.ok(machine.clock.now() - before >= 99 * 40_000);
});

test("slowing the time of day down hides no sleep", () => {
  const machine = new Machine();
  const before = machine.clock.now();

  for (let i = 0; i < 100; i++) {
    machine.sets(-40_000);
    machine.clock.now();
  }
  machine.sleeps(60_000);

  assert.equal(machine.clock.now() - before, 60_000);
});

test("the clock never goes back", () => {
  const machine = new Machine();
  let before = machine.clock.now();
  const moves = [HOUR, -HOUR, 1_000_000, -2_000_000, 49_000, -49_000, 51_000, -51_000];

  for (const move of [...moves, ...moves]) {
    machine.sets(move);
    assert.ok(machine.clock.now() >= before);
    before = machine.clock.now();
  }
});
