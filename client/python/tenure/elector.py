"""Stands for elections, and reports whether this process leads.

    elector = tenure.Elector("tenure-0:7070,tenure-1:7070")
    with elector.lead("orders") as seat:
        while not seat.wait(1):
            ship_the_next_order(seat.term)

What it promises
- It stands until it is closed: it campaigns, waits, and campaigns again after each term and after
  every failure.
- `is_leader` is true only until this process's own deadline. The deadline is counted from before
  the last answered renewal was sent, minus a tenth of the lease for clock drift. The service elects
  nobody else before then, unless an operator intervenes. Once it was false in a term, it is never
  true in that term again.
- A seat is resigned when the work has ended, never before.
- A slow renewal is not a loss: the seat is lost only with the lease.

What it does not promise. A process that is paused between asking `is_leader` and acting acts too
late. Whatever must never be done by two leaders must carry the term, and the resource must refuse
any term lower than the highest it has seen: see docs/fencing.md, tenure.fence and tenure.sql_fence.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Optional, TypeVar, Union

from tenure import _fork, _seat
from tenure._lease import SECOND
from tenure._validation import (
    check_coroutine_function,
    check_function,
    check_name,
    check_not_negative,
    check_value,
)
from tenure._work import Term, Working
from tenure.candidacy import CallbackOptions, Callbacks, Candidacy, Seat, Work
from tenure.client import Client
from tenure.errors import NotElected, SeatLost

if TYPE_CHECKING:
    from typing_extensions import Unpack

Function = TypeVar("Function", bound=Callable[..., Any])


class Elector:
    """How this process stands: in any number of elections, on one session of a client.

    client: a Client, or the endpoints of one, which is closed with the elector.
    value: what to publish while leading; at most 4096 bytes.
    priority: higher ones are elected first. Negative: only if an operator appoints it.
    stop_grace: how long, in seconds, the work may take to end, at most half the lease. It is asked
      to end that long before this process's deadline. None: a quarter of the lease.
    callbacks: those of `Callbacks`, as keyword arguments.

    Thread-safe. Raises ValueError if an argument is malformed.
    """

    def __init__(
        self,
        client: Union[Client, str],
        *,
        value: Union[bytes, str] = b"",
        priority: int = 0,
        stop_grace: Optional[float] = None,
        **callbacks: Unpack[CallbackOptions],
    ) -> None:
        self._owns_client = isinstance(client, str)
        self._client = Client(client) if isinstance(client, str) else client
        self._value = check_value(value)
        self._priority = priority
        self._stop_grace: Optional[int] = None
        if stop_grace is not None:
            self._stop_grace = int(check_not_negative(stop_grace, "stop_grace") * SECOND)
        for name, callback in callbacks.items():
            check_function(callback, name)
        self._callbacks = Callbacks(**callbacks)
        self.after_fork()
        _fork.watch(self)

    def after_fork(self) -> None:
        """For tenure itself."""
        self._lock = threading.RLock()  # a signal handler may close it at any time
        self._standing: dict[str, Candidacy] = {}  # for `leader_only`

    def stand(
        self, election: str, work: Optional[Work] = None, *, one_term: bool = False
    ) -> Candidacy:
        """Stands in an election, in the background, until the candidacy is closed.

        work: called with the Seat in each term, on a thread of its own. It must return soon after
          `seat.stopping`. When it returns, or raises, the seat is resigned, and a heartbeat later
          this process stands again.
        one_term: stands until it has led once, and not again.

        Raises ValueError if the client stands in this election already, and TypeError if `work` is
        a coroutine function, which is for `run`, or a generator function.
        """
        check_function(work, "work")
        return self._stand(election, work, has_work=work is not None, one_term=one_term)

    def lead(self, election: str, *, wait: Optional[float] = None) -> Lead:
        """For `with` or `async with`: waits for the seat, and gives it up when the block has ended.

            with elector.lead("orders") as seat: ...
            async with elector.lead("orders") as seat: ...

        wait: for how many seconds to wait for the seat. None: no limit. 0: only one try.

        In `async with`, the task is cancelled when the work must end: `stop_grace` before the
        lease does, when an operator asks this process to make way, and when the seat is lost. The
        block then ends with SeatLost. In `with`, ask `seat.stopping`, or wait in `seat.wait`.

        Before Python 3.11, a task does not know how often it was cancelled: if others cancel it at
        the same moment, the block ends with SeatLost all the same, and `run` goes on. Cancel again.

        Raises NotElected after `wait`, and ServiceError if the service refuses it for good.
        """
        return Lead(self, election, wait)

    async def run(self, election: str, work: Callable[[Seat], Awaitable[None]]) -> None:
        """Stands, runs `work(seat)` in each term, and a heartbeat later stands again; until it is
        cancelled, or `work` raises anything but SeatLost, which TermOver is, too.

        Raises TypeError if `work` is not a coroutine function: others are for `stand`.
        """
        check_coroutine_function(work, "work")
        candidacy = self._stand(election, has_work=True)
        try:
            while True:
                with contextlib.suppress(SeatLost):
                    async with Term(candidacy, await candidacy.wait_async()) as seat:
                        await work(seat)
        finally:
            candidacy._leave()

    def leader_only(self, election: str) -> Callable[[Function], Function]:
        """A decorator: the function runs only if this process leads, and otherwise returns None.

        For jobs that a scheduler starts in every process. The process stands from the first call
        on, and keeps the seat until it ends; so the others do nothing. Works on functions and on
        coroutine functions; the latter are cancelled, and raise SeatLost, when they must end.
        """

        def decorate(function: Function) -> Function:
            decorated = _async_job if inspect.iscoroutinefunction(function) else _job
            return decorated(self, election, function)

        return decorate

    def seat(self, election: str) -> Optional[Seat]:
        """The seat of `leader_only` in this election; None if this process does not lead."""
        candidacy = self._standing.get(election)
        return candidacy.seat if candidacy else None

    def close(self) -> None:
        """Stops standing for `leader_only`. Closes the client if the elector was made from
        endpoints.
        """
        with self._lock:
            standing, self._standing = self._standing, {}
        for candidacy in standing.values():
            candidacy.close()
        if self._owns_client:
            self._client.close()

    def __enter__(self) -> Elector:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _stand(
        self, election: str, work: Optional[Work] = None, *, has_work: bool, one_term: bool = False
    ) -> Candidacy:
        options = _seat.SeatOptions(
            check_name(election, "election"),
            self._value,
            self._priority,
            has_work,
            self._stop_grace,
            one_term,
        )
        return Candidacy(self._client, options, self._callbacks, work)

    def _standing_in(self, election: str) -> Candidacy:
        """A candidacy that keeps standing, from the first call in this process on."""
        with self._lock:
            candidacy = self._standing.get(election)
            if candidacy is None or candidacy._loop.failed:
                candidacy = self._standing[election] = self._stand(election, has_work=True)
            return candidacy


class Lead:
    """The result of Elector.lead. For one use."""

    def __init__(self, elector: Elector, election: str, wait: Optional[float]) -> None:
        self._elector = elector
        self._election = election
        self._wait = wait
        self._candidacy: Optional[Candidacy] = None
        self._term: Optional[Term] = None

    def __enter__(self) -> Seat:
        candidacy = self._candidacy = self._elector._stand(self._election, has_work=True)
        try:
            while True:
                self._term = Term(candidacy, candidacy.wait(self._wait))
                with contextlib.suppress(SeatLost):  # before the work began: take the next one
                    return self._term.__enter__()
        except BaseException:
            candidacy._leave()
            raise

    def __exit__(self, *exception: Any) -> None:
        assert self._candidacy
        assert self._term
        self._term.__exit__(*exception)
        self._candidacy._leave()

    async def __aenter__(self) -> Seat:
        candidacy = self._candidacy = self._elector._stand(self._election, has_work=True)
        try:
            while True:
                self._term = Term(candidacy, await candidacy.wait_async(self._wait))
                with contextlib.suppress(SeatLost):
                    return await self._term.__aenter__()
        except BaseException:
            candidacy._leave()
            raise

    async def __aexit__(self, *exception: Any) -> None:
        assert self._candidacy
        assert self._term
        try:
            await self._term.__aexit__(*exception)
        finally:
            self._candidacy._leave()


def _job(elector: Elector, election: str, function: Callable[..., Any]) -> Any:
    @functools.wraps(function)
    def run(*arguments: Any, **keywords: Any) -> Any:
        candidacy = elector._standing_in(election)
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(Working(candidacy, candidacy.wait(0)))
            except (NotElected, SeatLost):
                return None
            return function(*arguments, **keywords)

    return run


def _async_job(elector: Elector, election: str, function: Callable[..., Any]) -> Any:
    @functools.wraps(function)
    async def run(*arguments: Any, **keywords: Any) -> Any:
        candidacy = elector._standing_in(election)
        async with contextlib.AsyncExitStack() as stack:
            try:
                seat = await candidacy.wait_async(0)
                await stack.enter_async_context(Working(candidacy, seat))
            except (NotElected, SeatLost):
                return None
            return await function(*arguments, **keywords)

    return run
