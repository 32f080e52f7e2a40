import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";

import type { Logger } from "../../src/index.js";

/** A logger that keeps its lines. */
export class Lines extends EventEmitter implements Logger {
  readonly all: string[] = [];

  info(message: string): void {
    this.add(`info: ${message}`);
  }

  warn(message: string): void {
    this.add(`warn: ${message}`);
  }

  /** Waits until there is such a line. */
  async until(pattern: RegExp): Promise<void> {
    while (!this.all.some((line) => pattern.test(line))) await once(this, "line");
  }

  assertAre(...expected: (string | RegExp)[]): void {
    const text = this.all.join("\n");
    assert.equal(this.all.length, expected.length, text);
    for (const [index, line] of expected.entries()) {
      if (typeof line === "string") assert.equal(this.all[index], line);
      else assert.match(this.all[index]!, line);
    }
  }

  private add(line: string): void {
    this.all.push(line);
    this.emit("line");
  }
}
