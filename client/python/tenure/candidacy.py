"""One stand in one election, and the terms that it leads."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Optional, TypedDict, Union

from tenure import _fork, _seat
from tenure._belief import Belief
from tenure._callbacks import Gate, guarded
from tenure._lease import SECOND
from tenure._metrics import cause_name
from tenure._session import Session
from tenure._validation import check_value
from tenure.client import Client
from tenure.errors import NotElected, SeatLost, ServiceError
from tenure.fence import Fence
from tenure.v1 import election_pb2 as pb

logger = logging.getLogger("tenure")

Work = Callable[["Seat"], object]
Promise = Future[Optional["Seat"]]


@dataclass(frozen=True)
class Callbacks:
    """Each is called once per occurrence, in order, on a thread of the client that does nothing
    else: a slow callback delays other callbacks, but no renewals. An exception is logged, and so is
    sys.exit(), which ends the process only on its main thread: call os._exit() instead, or send the
    process a signal. In a callback, nothing may wait for a seat of the same client.

    on_standing(candidacy, place): it waits in the queue; `place` has `position` and `leader`.
    on_elected(seat): this process leads. Called before the work begins.
    on_suspended(seat), on_resumed(seat): half the lease passed without a renewal; the seat is still
      held. Renewals work again.
    on_step_down(seat, successor): an operator asks this process to make way. The work has been
      asked to stop.
    on_lost(seat, cause): the term has ended. The cause is "RESIGNED" if this process gave the seat
      up, "EXPIRED" if its deadline passed, "UNSPECIFIED" if it is unknown, or another Cause.
    on_trouble(candidacy, error): a call failed, or the service does not let this process stand for
      now. It keeps trying. Called once for what goes unanswered, and once for a refusal.
    on_refused(candidacy, error): the service does not let this process stand: an argument is
      malformed, or there is a newer session of the same candidate. It does not try again.
    on_overrun(seat): the watchdog. The work has not ended in time, and another candidate may soon
      hold the seat. End the work by force, or the process, by os._exit(). Called on the thread that
      renews the lease, since the callbacks' thread may be the one that hangs: it must return at
      once.
    """

    on_standing: Optional[Callable[[Candidacy, pb.Standing], object]] = None
    on_elected: Optional[Callable[[Seat], object]] = None
    on_suspended: Optional[Callable[[Seat], object]] = None
    on_resumed: Optional[Callable[[Seat], object]] = None
    on_step_down: Optional[Callable[[Seat, str], object]] = None
    on_lost: Optional[Callable[[Seat, str], object]] = None
    on_trouble: Optional[Callable[[Candidacy, ServiceError], object]] = None
    on_refused: Optional[Callable[[Candidacy, ServiceError], object]] = None
    on_overrun: Optional[Callable[[Seat], object]] = None


class CallbackOptions(TypedDict, total=False):
    """The Callbacks as keyword arguments."""

    on_standing: Optional[Callable[[Candidacy, pb.Standing], object]]
    on_elected: Optional[Callable[[Seat], object]]
    on_suspended: Optional[Callable[[Seat], object]]
    on_resumed: Optional[Callable[[Seat], object]]
    on_step_down: Optional[Callable[[Seat, str], object]]
    on_lost: Optional[Callable[[Seat, str], object]]
    on_trouble: Optional[Callable[[Candidacy, ServiceError], object]]
    on_refused: Optional[Callable[[Candidacy, ServiceError], object]]
    on_overrun: Optional[Callable[[Seat], object]]


class Seat:
    """One term in which this process leads an election. Thread-safe."""

    def __init__(self, candidacy: Candidacy, leadership: pb.Leadership) -> None:
        self.leadership = leadership
        self._candidacy = candidacy
        self._stop: Future[str] = Future()  # done: the work must end; the result says why
        self._cancellations: set[Callable[[], None]] = set()  # called when it is done
        self._released = False  # given up by its work
        self._lost = False  # a later term may have its number, in another service
        self._work_told = False  # the session knows that the work has ended

    @property
    def election(self) -> str:
        return self.leadership.election

    @property
    def term(self) -> int:
        """The fencing token. It stays the same when the seat is lost."""
        return self.leadership.term

    @property
    def fence(self) -> Fence:
        return Fence(self.election, self.term)

    @property
    def is_leader(self) -> bool:
        """Whether this process may act as the leader in this term now. Never waits."""
        return not (self._released or self._lost) and self._candidacy.term == self.term

    @property
    def remaining(self) -> float:
        """How many seconds this process may still act if no further renewal is answered."""
        return self._candidacy.remaining if self.is_leader else 0.0

    @property
    def stopping(self) -> bool:
        """Whether the work has been asked to end, or must have ended."""
        return self._stop.done() or not self.is_leader

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Waits until the work must end (True), or for `timeout` seconds (False)."""
        with contextlib.suppress(FutureTimeout):
            self._stop.result(timeout)
        return self.stopping

    def check(self) -> None:
        """Raises SeatLost if the work must end. For the beginning of each step that matters."""
        if self.stopping:
            raise SeatLost(self._stop.result() if self._stop.done() else "the lease has run out")

    def _release(self) -> None:
        self._released = True
        self._ask_to_stop("given up")

    def _ask_to_stop(self, why: str) -> None:
        with contextlib.suppress(InvalidStateError):  # it has been asked already
            self._stop.set_result(f"term {self.term} of {self.election!r}: {why}")
            for cancel in list(self._cancellations):
                cancel()

    def _leave_to_parent(self) -> None:
        """Runs in a forked process."""
        self._stop = Future()
        self._stop.set_result(f"term {self.term} of {self.election!r} is its parent's")
        self._work_told = True

    def _cancel_by(self, cancel: Callable[[], None]) -> None:
        """`cancel` may be called twice."""
        self._cancellations.add(cancel)
        if self._stop.done():
            cancel()

    def __repr__(self) -> str:
        return f"<Seat {self.election!r} term {self.term}>"


class Candidacy:
    """A stand in one election, made by Elector.stand. Thread-safe.

    It waits for the seat or holds it, in one term after another, until it is closed.
    """

    def __init__(
        self,
        client: Client,
        options: _seat.SeatOptions,
        callbacks: Callbacks,
        work: Optional[Work] = None,
    ) -> None:
        self.election = options.election
        self.belief = Belief()
        self._client = client
        self._callbacks = callbacks
        self._work = work
        self._has_work = options.has_work
        self._lock = threading.RLock()  # a signal handler may resign at any time
        self._gate = Gate()  # of callbacks
        self._seat: Optional[Seat] = None  # the latest one
        self._won: Optional[Seat] = None  # the same, once on_elected has been called
        self._users = 0  # parts of the work that have not ended
        self._idle = threading.Condition(self._lock)  # no part is left
        self._answered = False  # the service has said whether this process leads, or could not
        self._leaving = False
        self._refusal: Optional[ServiceError] = None
        self._gone = False
        self._waiting: set[Promise] = set()  # for a seat
        self._asking: set[Promise] = set()  # only for an answer
        self._loop = client._claim(self)
        self._number = self._loop.new_number()
        self._loop.add(self._number, options, self)
        _fork.watch(self)

    def after_fork(self) -> None:
        """For tenure itself: only the parent stands."""
        self._lock = threading.RLock()
        self._idle = threading.Condition(self._lock)
        self._gate = Gate()
        self._gate.open = False
        self._gone = True
        self._users = 0
        self._waiting, self._asking = set(), set()
        for seat in (self._seat, self._won):
            if seat:
                seat._leave_to_parent()

    @property
    def is_leader(self) -> bool:
        """Whether this process may act as the leader now. Takes a microsecond, and never waits."""
        return self.term != 0

    @property
    def term(self) -> int:
        """The term in which this process leads now; 0 if it does not lead."""
        return self.belief.term_at(self._loop.now())

    @property
    def remaining(self) -> float:
        """How many seconds this process may still act as the leader if no further renewal is
        answered; zero or negative if it does not lead.
        """
        return self.belief.remaining(self._loop.now()) / SECOND

    @property
    def seat(self) -> Optional[Seat]:
        """The seat of the term in which this process leads now; None if it does not lead."""
        seat = self._won
        return seat if seat and seat.is_leader else None

    def wait(self, timeout: Optional[float] = None) -> Seat:
        """Waits until this process leads.

        timeout: in seconds. None: no limit. 0: only until the service has answered.
        Raises NotElected after that, ServiceError if it is refused for good, and RuntimeError in a
        callback of this client, which would wait for itself.
        """
        with self._promise(timeout) as promise:
            return self._seat_of(promise.result(timeout or None))

    async def wait_async(self, timeout: Optional[float] = None) -> Seat:
        """The same for asyncio."""
        with self._promise(timeout) as promise:
            future = asyncio.wrap_future(promise)
            return self._seat_of(await asyncio.wait_for(future, timeout or None))

    def _seat_of(self, answer: Optional[Seat]) -> Seat:
        if answer is None:
            raise self._not_elected(0)
        return answer

    def _not_elected(self, timeout: Optional[float]) -> NotElected:
        trouble = self._loop.troubles.last
        because = f": {trouble.details}" if trouble else ""
        error = NotElected(f"not elected in {self.election!r} within {timeout} s{because}")
        error.__cause__ = trouble
        return error

    def proclaim(self, value: Union[bytes, str]) -> None:
        """Publishes another value, now or as soon as this process leads. At most 4096 bytes."""
        encoded = check_value(value)
        self._tell(lambda session, now: session.proclaim(self._number, encoded, now))

    def resign(self) -> None:
        """Steps down, and does not stand again. Returns at once; on_lost reports the end."""
        with self._lock:
            self._leaving = True
        self._tell(lambda session, now: session.leave(self._number, now))

    def close(self) -> None:
        """Like resign, and no callback is called after it has returned. Do not hold a lock that a
        callback waits for. Running work is asked to end, but not waited for.
        """
        self._gate.shut()
        self._leave()

    def __enter__(self) -> Candidacy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # For work, and for callers that wait.

    def _leave(self) -> None:
        """Lets the client stand in this election again."""
        self.resign()
        self._client._release(self)

    @contextlib.contextmanager
    def _promise(self, timeout: Optional[float]) -> Iterator[Promise]:
        """Promises the current seat, or the next one. With a timeout of 0: None, if the service has
        said that another candidate leads, or nobody.
        """
        self._loop.check_may_wait()
        promise: Promise = Future()
        promises = self._asking if timeout == 0 else self._waiting
        with self._lock:
            if self._refusal:
                promise.set_exception(self._refusal)
            elif self._gone:
                promise.set_exception(self._ended())
            elif self._usable() or (timeout == 0 and self._answered):
                promise.set_result(self._usable())
            else:
                promises.add(promise)
        try:
            yield promise
        except NotElected:  # a FutureTimeout, too
            raise
        except (FutureTimeout, asyncio.TimeoutError):
            error = self._not_elected(timeout)
            raise error from error.__cause__
        finally:
            with self._lock:
                promises.discard(promise)

    def _usable(self) -> Optional[Seat]:
        """The current seat, if work may begin in it."""
        return None if self._won is None or self._won.stopping else self._won

    def _begin_work(self, seat: Seat) -> None:
        """Raises SeatLost if the work must not begin."""
        with self._lock:
            seat.check()
            if self._leaving:
                raise SeatLost(f"the stand in {self.election!r} is ending")
            self._users += 1

    def _end_work(self, seat: Seat) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._idle.notify_all()
                if self._work or seat._stop.done():
                    self._work_ended(seat)

    def _wait_for_work(self, timeout: float) -> bool:
        """Waits until no work runs. False if some still does."""
        with self._idle:
            return self._idle.wait_for(lambda: self._users == 0, timeout)

    def _work_ended(self, seat: Seat) -> None:
        """Requires the lock. Reports the end once per term: twice might end the next one."""
        if not seat._work_told:
            seat._work_told = True
            self._tell(lambda session, now: session.work_ended(self._number, now))

    def _tell(self, what: Callable[[Session, int], None]) -> None:
        self._loop.tell(what)

    def _ended(self) -> NotElected:
        return NotElected(f"the stand in {self.election!r} has ended")

    # For the loop's thread.

    def on_event(self, event: _seat.Event) -> None:
        _HANDLERS[type(event)](self, event)

    def on_gone(self) -> None:
        self._client._forget(self)
        with self._lock:
            self._gone = True
            promises = self._take_promises()
        _settle(promises, lambda future: future.set_exception(self._ended()))
        if self._seat:
            self._seat._ask_to_stop("the client is closed")

    def _on_standing(self, event: _seat.Standing) -> None:
        self._run(self._callbacks.on_standing, self, event.place)
        self._no_seat()

    def _on_elected(self, event: _seat.Elected) -> None:
        seat = self._seat = Seat(self, event.leadership)
        self._say(logging.INFO, f"leads {self.election!r} in term {seat.term}")
        self._run(self._callbacks.on_elected, seat)
        self._loop.callbacks.run(self._seat_won, seat)

    def _on_suspended(self, _event: _seat.Suspended) -> None:
        self._run(self._callbacks.on_suspended, self._seat)

    def _on_resumed(self, _event: _seat.Resumed) -> None:
        self._run(self._callbacks.on_resumed, self._seat)

    def _on_handover_asked(self, event: _seat.HandoverAsked) -> None:
        self._run(self._callbacks.on_step_down, self._seat, event.successor)

    def _on_stop_work(self, _event: _seat.StopWork) -> None:
        self._stop("the seat must be given up")

    def _on_overrun(self, _event: _seat.Overrun) -> None:
        if self._users == 0:
            return
        logger.error("the work of %r has not ended in time", self._seat)
        # Not through the gate: a callback that hangs within it must not delay renewals.
        if self._gate.open and self._callbacks.on_overrun:
            guarded(self._callbacks.on_overrun, self._seat)

    def _on_lost(self, event: _seat.Lost) -> None:
        cause = cause_name(event.cause)
        term = 0
        if self._seat:
            term = self._seat.term
            self._seat._lost = True
        self._say(logging.INFO, f"no longer leads {self.election!r}: term {term} ended: {cause}")
        self._run(self._callbacks.on_lost, self._seat, cause)
        self._stop(f"the seat is lost: {cause}")

    def _on_troubled(self, event: _seat.Troubled) -> None:
        self._run(self._callbacks.on_trouble, self, event.error)
        self._no_seat()

    def _on_refused(self, event: _seat.Refused) -> None:
        self._say(logging.ERROR, f"stands no longer for {self.election!r}: {event.error}")
        self._run(self._callbacks.on_refused, self, event.error)
        with self._lock:
            self._refusal = event.error
            promises = self._take_promises()
        _settle(promises, lambda future: future.set_exception(event.error))

    def _stop(self, why: str) -> None:
        with self._lock:  # no work begins meanwhile
            if self._seat:
                self._seat._ask_to_stop(why)
                if self._has_work and self._users == 0:
                    self._work_ended(self._seat)

    def _no_seat(self) -> None:
        with self._lock:
            self._answered = True
            asking = list(self._asking)
            self._asking.clear()
        _settle(asking, lambda future: future.set_result(None))

    def _take_promises(self) -> list[Promise]:
        promises = [*self._waiting, *self._asking]
        self._waiting.clear()
        self._asking.clear()
        return promises

    def _run(self, callback: Optional[Callable[..., object]], *arguments: Any) -> None:
        if callback:
            self._loop.callbacks.run(self._gate.pass_through, callback, *arguments)

    def _say(self, level: int, line: str) -> None:
        """Logs on the callbacks' thread, because a logger may block."""
        self._loop.callbacks.run(logger.log, level, "%s", line)

    # For the callbacks' thread.

    def _seat_won(self, seat: Seat) -> None:
        if self._work:
            self._start_work(seat)
        with self._lock:
            self._won = seat
            self._answered = True
            promises = self._take_promises()
        _settle(promises, lambda future: future.set_result(seat))

    def _start_work(self, seat: Seat) -> None:
        name = f"tenure-work-{self.election}"
        try:
            threading.Thread(target=self._run_work, args=(seat,), name=name, daemon=True).start()
        except RuntimeError:  # no thread can be started: another process may be able to
            logger.exception("no work can begin in %r", seat)
            with self._lock:
                self._work_ended(seat)

    def _run_work(self, seat: Seat) -> None:
        """If work fails, the term ends: leading without the work would help nobody."""
        with contextlib.suppress(SeatLost):
            self._begin_work(seat)
            try:
                if self._work:
                    guarded(self._work, seat)
            finally:
                self._end_work(seat)


def _settle(promises: list[Promise], how: Callable[[Promise], None]) -> None:
    for future in promises:
        if future.set_running_or_notify_cancel():
            how(future)


_HANDLERS: dict[type, Callable[[Candidacy, Any], None]] = {
    _seat.Standing: Candidacy._on_standing,
    _seat.Elected: Candidacy._on_elected,
    _seat.Suspended: Candidacy._on_suspended,
    _seat.Resumed: Candidacy._on_resumed,
    _seat.HandoverAsked: Candidacy._on_handover_asked,
    _seat.StopWork: Candidacy._on_stop_work,
    _seat.Overrun: Candidacy._on_overrun,
    _seat.Lost: Candidacy._on_lost,
    _seat.Troubled: Candidacy._on_troubled,
    _seat.Refused: Candidacy._on_refused,
}
