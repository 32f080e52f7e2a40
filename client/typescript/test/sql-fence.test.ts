// The SQL fence, with mysql2 and a real MariaDB that Tenure uses, too.

import assert from "node:assert/strict";
import { test } from "node:test";

import mysql from "mysql2/promise";

import { fenceStatement, guarded, meaningOf, type SqlConnection, TermOver } from "../src/index.js";
import { electorOf } from "./support/clients.js";
import { startDatabase } from "./support/database.js";
import { Service } from "./support/service.js";

const FENCE = { election: "orders", term: 7 };

test("the statement is safe for any name", () => {
  const statement = fenceStatement({ election: "o'ü\\", term: 7 });
  assert.equal(statement, "CALL `tenure`.tenure_fence(_utf8mb4 x'6F27C3BC5C', 7)");
  assert.match(fenceStatement(FENCE, "a`b"), /^CALL `a``b`\.tenure_fence/);
});

class SqlError extends Error {
  constructor(
    readonly errno: number,
    message = "",
  ) {
    super(message);
  }
}

test("the server's errors mean", () => {
  const refusal = "tenure_fence: term 7 of election 'orders' does not stand";
  assert.equal(meaningOf(new SqlError(1644, refusal)), "termOver");
  assert.equal(meaningOf(new SqlError(1644, "of another program")), "other");
  for (const code of [1020, 1205, 1213, 3101])
    assert.equal(meaningOf(new SqlError(code)), "tryAgain");
  assert.equal(meaningOf(new SqlError(1180, "Got error 149 - during COMMIT")), "tryAgain");
  assert.equal(meaningOf(new SqlError(1180, "Got error 28")), "other");
  assert.equal(meaningOf(new SqlError(1062)), "other");
  assert.equal(meaningOf(new Error("of nobody")), "other");
  assert.equal(meaningOf("nothing"), "other");
});

/** Records its statements, and fails where the test says so. */
class Script implements SqlConnection {
  readonly said: string[] = [];
  destroyed = false;

  constructor(
    private readonly fail: (sql: string, times: number) => Error | undefined = () => undefined,
  ) {}

  async query(sql: string): Promise<void> {
    const word = sql.split(" ", 1)[0]!;
    this.said.push(word);
    const error = this.fail(word, this.said.filter((other) => other === word).length);
    if (error) throw error;
  }

  destroy(): void {
    this.destroyed = true;
  }
}

const work = (connection: SqlConnection) => connection.query("UPDATE stock");
const TRANSACTION = ["START", "CALL", "UPDATE", "COMMIT"];

test("work runs behind the fence, and is committed", async () => {
  const connection = new Script();

  assert.equal(await guarded(connection, FENCE, async (same) => (await work(same), 7)), 7);

  assert.deepEqual(connection.said, TRANSACTION);
});

test("it starts again with the fence after what can be retried", async () => {
  const connection = new Script((word, times) =>
    word === "UPDATE" && times === 1 ? new SqlError(1213) : undefined,
  );

  await guarded(connection, FENCE, work);

  assert.deepEqual(connection.said, ["START", "CALL", "UPDATE", "ROLLBACK", ...TRANSACTION]);
});

test("the number of retries is limited, and other errors are not retried", async () => {
  const deadlocks = new Script((word) => (word === "COMMIT" ? new SqlError(1213) : undefined));
  await assert.rejects(guarded(deadlocks, FENCE, work, { triesMax: 2 }), { errno: 1213 });
  assert.equal(deadlocks.said.filter((word) => word === "COMMIT").length, 2);

  const failing = new Script();
  await assert.rejects(
    guarded(failing, FENCE, () => Promise.reject(new Error("mine"))),
    /mine/,
  );
  assert.deepEqual(failing.said, ["START", "CALL", "ROLLBACK"]);
});

test("a connection that cannot roll back is not used again", async () => {
  const connection = new Script((word) => (word === "START" ? undefined : new Error("broken")));

  await assert.rejects(guarded(connection, FENCE, work), /broken/);

  assert.ok(connection.destroyed);
});

test("a real database refuses terms that have ended", async (context) => {
  const { host, port } = await startDatabase(context);
  const connection = await mysql.createConnection({ host, port, user: "root" });
  context.after(() => connection.destroy());
  await connection.query("CREATE DATABASE tenure");
  await connection.query("CREATE DATABASE shop");
  await connection.query("CREATE TABLE shop.sales (term BIGINT) ENGINE=InnoDB");
  const service = await Service.start(context, { store: `mysql://root@${host}:${port}/tenure` });
  const seat = await electorOf(context, service, "a").lead("orders");
  const sell = (same: typeof connection) =>
    same.query("INSERT INTO shop.sales VALUES (?)", [seat.term]);

  await guarded(connection, seat.fence, sell);
  await seat.release();

  await assert.rejects(guarded(connection, seat.fence, sell), TermOver);
  const [rows] = await connection.query("SELECT term FROM shop.sales");
  assert.deepEqual(rows, [{ term: 1 }]);
});
