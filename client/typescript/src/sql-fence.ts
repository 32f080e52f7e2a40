// Fencing inside your own SQL transactions: docs/fencing.md has the rules.
//
// If your tables are on the same MySQL or MariaDB server as Tenure's, a transaction that starts
// with a fence commits only while its term lasts, and the next term is not granted before the
// transaction has ended.

import { Buffer } from "node:buffer";

import { SeatLost } from "./errors.js";
import type { Fence } from "./fence.js";

// The numbers are those of MySQL's and MariaDB's manuals; the text is that of the procedure. Other
// programs raise 1644, too.
const SIGNALLED = 1644;
const REFUSAL = "tenure_fence: term ";
const TRY_AGAIN = [
  1020, // record has changed since last read
  1205, // lock wait timeout
  1213, // deadlock
  3101, // not certified by Group Replication
];
const ERROR_DURING_COMMIT = 1180;
const DEADLOCK_IN_COMMIT = "error 149 ";
const TRIES_MAX = 5;

/** The term has ended: stop acting as the leader. `cause` is the driver's error. */
export class TermOver extends SeatLost {
  constructor(
    { election, term }: Fence,
    override readonly cause: unknown,
  ) {
    super(`term ${term} of election ${JSON.stringify(election)} does not stand`);
  }
}

/** The parts of a mysql2/promise connection that are used; any driver with the same will do. */
export interface SqlConnection {
  query(sql: string): Promise<unknown>;
  /** Closes the connection at once, without sending anything. */
  destroy(): void;
}

export interface GuardedOptions {
  /** The database with Tenure's tables. */
  database?: string;
  /** Maximum number of attempts. */
  triesMax?: number;
}

/**
 * "termOver": roll back, and stop acting as the leader. "tryAgain" says nothing about the term:
 * roll back, and start again with the fence. "other": roll back; what to do next is up to you.
 */
export type SqlErrorMeaning = "termOver" | "tryAgain" | "other";

export function meaningOf(error: unknown): SqlErrorMeaning {
  if (!(error instanceof Error)) return "other";
  const { errno } = error as { errno?: unknown };
  if (errno === SIGNALLED && error.message.includes(REFUSAL)) return "termOver";
  const deadlock = errno === ERROR_DURING_COMMIT && error.message.includes(DEADLOCK_IN_COMMIT);
  return deadlock || TRY_AGAIN.includes(errno as number) ? "tryAgain" : "other";
}

/**
 * The first statement of a transaction: after START TRANSACTION, and before anything you read. Safe
 * for any election name, character set and SQL mode of the connection.
 */
export function fenceStatement({ election, term }: Fence, database = "tenure"): string {
  const name = `\`${database.replaceAll("`", "``")}\``;
  const hex = Buffer.from(election).toString("hex").toUpperCase();
  return `CALL ${name}.tenure_fence(_utf8mb4 x'${hex}', ${Math.trunc(term)})`;
}

/**
 * Runs `work` in one transaction behind the fence, and commits it. Starts again after errors that
 * can be retried. On any other error, or the last one, it rolls back and rejects: with TermOver, or
 * the error.
 *
 * `work` sends the reads and writes on the same connection. It may run several times, and must have
 * no effects that a ROLLBACK does not undo. If the connection breaks during COMMIT, it is unknown
 * whether the transaction was committed: check your data.
 */
export async function guarded<Connection extends SqlConnection, Result>(
  connection: Connection,
  fence: Fence,
  work: (connection: Connection) => Promise<Result>,
  { database, triesMax = TRIES_MAX }: GuardedOptions = {},
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      await connection.query("START TRANSACTION");
      await connection.query(fenceStatement(fence, database));
      const result = await work(connection);
      await connection.query("COMMIT");
      return result;
    } catch (error) {
      await rollBack(connection);
      const meaning = meaningOf(error);
      if (meaning === "termOver") throw new TermOver(fence, error);
      if (meaning === "other" || tries >= triesMax) throw error;
    }
  }
}

/** If this fails, the connection must not be used again: its transaction is still open. */
async function rollBack(connection: SqlConnection): Promise<void> {
  try {
    await connection.query("ROLLBACK");
  } catch {
    connection.destroy();
  }
}
