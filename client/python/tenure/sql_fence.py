"""Fencing inside your own SQL transactions, with any DB-API driver: docs/fencing.md has the rules.

If your tables are on the same MySQL or MariaDB server as Tenure's, a transaction that starts with a
fence commits only while its term lasts, and the next term is not granted before the transaction has
ended:

    def sell_one(cursor):
        cursor.execute("UPDATE stock SET pieces = pieces - 1")

    with elector.lead("shop") as seat:
        tenure.guarded(connection, tenure.SqlFence("shop", seat.term), sell_one)

It need not know when your lease ends: the database does. It does not fence effects outside the
database. It has no state, and can be used from any number of threads.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any, Callable, TypeVar, Union

from tenure.errors import SeatLost
from tenure.fence import Fence

Result = TypeVar("Result")

TRIES_MAX = 5

# The numbers are those of MySQL's and MariaDB's manuals; the text is that of the procedure. Other
# programs raise 1644, too.
_SIGNALLED = 1644
_REFUSAL = "tenure_fence: term "
_TRY_AGAIN = (
    1020,  # record has changed since last read
    1205,  # lock wait timeout
    1213,  # deadlock
    3101,  # not certified by Group Replication
)
_ERROR_DURING_COMMIT = 1180
_DEADLOCK_IN_COMMIT = "error 149 "


class TermOver(SeatLost):
    """The term has ended: nothing was changed. Stop acting as the leader."""


@dataclass(frozen=True)
class SqlFence:
    """The term in which this process leads, and the database with Tenure's tables."""

    election: str
    term: int
    database: str = "tenure"

    def statement(self) -> str:
        """The first statement of a transaction: after START TRANSACTION, and before anything that
        you read. Safe for any election name, character set and SQL mode of the connection.
        """
        database = self.database.replace("`", "``")
        election = self.election.encode().hex()
        return f"CALL `{database}`.tenure_fence(_utf8mb4 x'{election}', {self.term})"


def guarded(
    connection: Any,
    fence: Union[SqlFence, Fence],
    work: Callable[[Any], Result],
    tries_max: int = TRIES_MAX,
) -> Result:
    """Runs `work(cursor)` in one transaction behind `fence`, commits it, and returns its result.

    connection: of a DB-API driver for MySQL or MariaDB, outside of a transaction.
    fence: a SqlFence, or `seat.fence`, if Tenure's tables are in the database `tenure`.
    work: reads and writes. May run several times, and must have no effects that a ROLLBACK does not
      undo.

    Starts again after errors that say nothing about the term, with at most `tries_max` attempts in
    all. Raises TermOver if the term has ended, and whatever else the driver or `work` raises,
    always after a rollback. If the connection breaks during COMMIT, it is unknown whether the
    transaction was committed: check your data.
    """
    if isinstance(fence, Fence):
        fence = SqlFence(fence.election, fence.term)
    for left in range(tries_max - 1, -1, -1):
        try:
            return _once(connection, fence, work)
        except Exception as error:
            _roll_back(connection)
            number = _number_of(error)
            if number == _SIGNALLED and _REFUSAL in str(error):
                raise TermOver(f"term {fence.term} of {fence.election!r} is over") from error
            deadlock = number == _ERROR_DURING_COMMIT and _DEADLOCK_IN_COMMIT in str(error)
            if not (deadlock or number in _TRY_AGAIN) or left == 0:
                raise
        except BaseException:
            _roll_back(connection)
            raise
    raise ValueError("tries_max is not positive; it must be 1 or more")


def _once(connection: Any, fence: SqlFence, work: Callable[[Any], Result]) -> Result:
    cursor = connection.cursor()
    try:
        cursor.execute("START TRANSACTION")
        cursor.execute(fence.statement())
        result = work(cursor)
        connection.commit()
        return result
    finally:
        cursor.close()


def _roll_back(connection: Any) -> None:
    with contextlib.suppress(Exception):  # a lost connection rolls back by itself
        connection.rollback()


def _number_of(error: Exception) -> Any:
    """The server's code, where mysql.connector and mariadb, PyMySQL and mysqlclient keep it."""
    number = getattr(error, "errno", None)
    return error.args[0] if number is None and error.args else number
