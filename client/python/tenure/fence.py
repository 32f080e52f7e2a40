"""Fencing of gRPC calls: a leader sends its term with each call, and the called server refuses any
term lower than the highest it has seen.

The caller, a leader:

    channel = grpc.intercept_channel(channel, tenure.FenceCalls("orders", lambda: seat.term))

The called server, with one TermGuard for all handlers that touch the same resource:

    guard = tenure.TermGuard()
    grpc.server(pool, interceptors=[tenure.GuardCalls(guard, "orders")])

What it promises. While a call is inside, no call of a higher term is let in. Once a higher term has
been seen, no call of a lower one is let in. So all effects that a term makes inside come before
those of the next term, however long a call was on its way or its process was paused.

What it does not promise
- It refuses an old term as of the first call of a newer one, not as of the newer term's grant.
- A guard is the memory of one process. Two processes that serve the same data, or one that
  restarts, do not know each other's terms, unless `keep` stores the highest term with the data. If
  several processes write to the same data at the same time, only a comparison within the data's own
  transaction is enough: see docs/fencing.md.
- It trusts the caller's term. It guards against leaders that are late, not against liars.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import namedtuple
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Optional, Sequence

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

from tenure.errors import DETAILS

ELECTION_METADATA = "tenure-election-bin"  # the election's name, in UTF-8
TERM_METADATA = "tenure-term"  # in decimal digits

_DOMAIN = "tenure.v1"


@dataclass(frozen=True)
class Fence:
    election: str
    term: int

    def metadata(self) -> tuple[tuple[str, Any], ...]:
        """For the `metadata` of a call."""
        return ((ELECTION_METADATA, self.election.encode()), (TERM_METADATA, str(self.term)))


class FenceError(Exception):
    """A call was not let in. `code` and `reason` are as in election.proto:

    - INVALID_ARGUMENT with INVALID_ELECTION_NAME, INVALID_TERM: no fence, or one of another
      election.
    - FAILED_PRECONDITION with STALE_TERM, metadata `current_term`: the caller no longer leads.
    - UNAVAILABLE: calls of a lower term were inside for longer than `wait_max`.
    - RESOURCE_EXHAUSTED: the guard knows `elections_max` others.
    """

    def __init__(
        self, code: grpc.StatusCode, message: str, reason: str = "", **metadata: str
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.metadata = metadata

    def abort(self, context: grpc.ServicerContext) -> None:
        """Ends the call with this error. Does not return."""
        if self.reason:
            context.set_trailing_metadata(((DETAILS, self._details()),))
        context.abort(self.code, str(self))

    def _details(self) -> bytes:
        info = any_pb2.Any()
        info.Pack(
            error_details_pb2.ErrorInfo(reason=self.reason, domain=_DOMAIN, metadata=self.metadata)
        )
        status = status_pb2.Status(code=self.code.value[0], message=str(self), details=[info])
        return status.SerializeToString()


def fence_of(metadata: Optional[Sequence[tuple[str, Any]]]) -> Fence:
    """The fence of a call, from its invocation metadata. Raises FenceError if it has none."""
    fields = dict(metadata or ())
    election, term = fields.get(ELECTION_METADATA), fields.get(TERM_METADATA, "")
    if not election:
        message = f"the call carries no {ELECTION_METADATA}"
        raise FenceError(grpc.StatusCode.INVALID_ARGUMENT, message, "INVALID_ELECTION_NAME")
    if not (term.isascii() and term.isdigit() and 0 < int(term) < 1 << 64):
        message = f"the call's {TERM_METADATA} is {term!r}; it must be a number from 1"
        raise FenceError(grpc.StatusCode.INVALID_ARGUMENT, message, "INVALID_TERM")
    return Fence(election.decode(errors="replace"), int(term))


# --- The caller ---


class _CallDetails(
    namedtuple("_CallDetails", ("method", "timeout", "metadata", "credentials", "wait_for_ready")),
    grpc.ClientCallDetails,
):
    pass


class FenceCalls(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
    grpc.StreamStreamClientInterceptor,
):
    """Sends a fence with each call of a channel, with the term that `term` returns as it begins.

    If that is 0, the call is not sent: it raises NotLeader. `term` may be called from any thread,
    and must not wait. Use the term in which the content of a call was decided, which is that of
    your Seat: in between, the seat may be lost and won again.
    """

    def __init__(self, election: str, term: Callable[[], int]) -> None:
        self._election = election
        self._term = term

    def _fenced(self, details: Any) -> _CallDetails:
        term = self._term()
        if term == 0:
            raise NotLeader(f"this process does not lead {self._election!r}")
        metadata = (*(details.metadata or ()), *Fence(self._election, term).metadata())
        return _CallDetails(
            details.method,
            details.timeout,
            metadata,
            details.credentials,
            getattr(details, "wait_for_ready", None),
        )

    def _intercept(self, continuation: Callable, details: Any, request: Any) -> Any:
        return continuation(self._fenced(details), request)

    intercept_unary_unary = _intercept
    intercept_unary_stream = _intercept
    intercept_stream_unary = _intercept
    intercept_stream_stream = _intercept


class NotLeader(Exception):
    """A call was not sent, because this process does not lead."""


# --- The called server ---


class _Seat:
    """One election, as a guard knows it."""

    def __init__(self) -> None:
        self.highest = 0  # highest term seen
        self.kept = 0  # highest term let in, which `keep` has stored
        self.keeping = False  # `keep` is under way
        self.inside = 0  # calls of the highest term
        self.inside_before = 0  # calls of lower terms

    def must_wait(self, term: int) -> bool:
        """Whether calls of lower terms are inside, or `keep` has yet to return for this term."""
        if term < self.highest:
            return False  # refused at once
        return self.keeping if term > self.kept else self.inside_before > 0

    def see(self, term: int) -> None:
        if term > self.highest:
            self.highest = term
            self.inside_before += self.inside
            self.inside = 0


class TermGuard:
    """Knows the highest term of each election, and which calls are inside. Thread-safe.

    wait_max: how long, in seconds, a call waits for those of lower terms to leave.
    keep: called with the fence before the first call of a higher term is let in; stores its term
    with the data, and returns the highest term that is stored, which may be another one. What it
    raises ends the call, and so does a lower term than the call's (INTERNAL). It is not called
    twice at a time for one election.
    """

    def __init__(
        self,
        wait_max: float = 10.0,
        elections_max: int = 10_000,
        keep: Optional[Callable[[Fence], int]] = None,
    ) -> None:
        self._wait_max = wait_max
        self._elections_max = elections_max
        self._keep = keep
        self._changed = threading.Condition()
        self._seats: dict[str, _Seat] = {}  # entries are never removed

    @contextlib.contextmanager
    def enter(self, fence: Fence, timeout: Optional[float] = None) -> Iterator[None]:
        """Lets in a call with this fence until the block ends. Raises FenceError."""
        patience = self._wait_max if timeout is None else min(timeout, self._wait_max)
        seat = self._let_in(fence, time.monotonic() + patience)
        try:
            yield
        finally:
            self._leave(seat, fence.term)

    def enter_call(
        self, context: grpc.ServicerContext, election: str
    ) -> contextlib.AbstractContextManager[None]:
        """The same for a call to this server, which must carry a fence for `election`."""
        fence = fence_of(context.invocation_metadata())
        if fence.election != election:
            message = (
                f"the call carries a term of election {fence.election!r}, but election "
                f"{election!r} guards this"
            )
            raise FenceError(grpc.StatusCode.INVALID_ARGUMENT, message, "INVALID_ELECTION_NAME")
        return self.enter(fence, context.time_remaining())

    def see(self, fence: Fence) -> None:
        """A term has been granted: lower ones are refused from now on.

        Does not wait for calls that are inside, and does not call `keep`.
        """
        with self._changed:
            self._seat(fence.election).see(fence.term)
            self._changed.notify_all()

    def highest(self, election: str) -> int:
        """The highest term seen so far; 0 if none."""
        with self._changed:
            seat = self._seats.get(election)
            return seat.highest if seat else 0

    def _seat(self, election: str) -> _Seat:
        seat = self._seats.get(election)
        if seat is None:
            if len(self._seats) >= self._elections_max:
                message = f"the guard already tracks {self._elections_max} elections"
                raise FenceError(grpc.StatusCode.RESOURCE_EXHAUSTED, message)
            seat = self._seats[election] = _Seat()
        return seat

    def _let_in(self, fence: Fence, deadline: float) -> _Seat:
        with self._changed:
            seat = self._seat(fence.election)
            while True:
                self._wait_for(seat, fence, deadline)
                if fence.term < seat.highest:
                    raise _stale(fence, seat.highest)
                if fence.term <= seat.kept:
                    seat.inside += 1
                    return seat
                self._keep_term(seat, fence)

    def _wait_for(self, seat: _Seat, fence: Fence, deadline: float) -> None:
        left = deadline - time.monotonic()
        if not self._changed.wait_for(lambda: not seat.must_wait(fence.term), max(left, 0)):
            message = f"calls from a lower term of election {fence.election!r} are still running"
            raise FenceError(grpc.StatusCode.UNAVAILABLE, message)

    def _keep_term(self, seat: _Seat, fence: Fence) -> None:
        """Releases the lock while `keep` runs."""
        kept = fence.term
        if self._keep:
            seat.keeping = True
            self._changed.release()
            try:
                kept = self._keep(fence)
            finally:
                self._changed.acquire()
                seat.keeping = False
                self._changed.notify_all()
            if kept < fence.term:
                message = (
                    f"term {fence.term} of election {fence.election!r} is not stored: "
                    f"keep returned {kept}"
                )
                raise FenceError(grpc.StatusCode.INTERNAL, message)
        seat.kept = max(seat.kept, kept)
        seat.see(kept)
        self._changed.notify_all()

    def _leave(self, seat: _Seat, term: int) -> None:
        with self._changed:
            if term == seat.highest:
                seat.inside -= 1
            else:
                seat.inside_before -= 1
            self._changed.notify_all()


def _stale(fence: Fence, highest: int) -> FenceError:
    return FenceError(
        grpc.StatusCode.FAILED_PRECONDITION,
        f"term {fence.term} of election {fence.election!r} is out of date: term {highest} has "
        "been seen",
        "STALE_TERM",
        current_term=str(highest),
    )


class GuardCalls(grpc.ServerInterceptor):
    """Lets each call of a server into a guard before its handler begins, until it has ended.

    `election` guards the methods whose full names begin with `prefix`: "/shop.v1.Store/". Others
    pass. Not for grpc.aio servers: there call `TermGuard.enter_call` on a thread.
    """

    def __init__(self, guard: TermGuard, election: str, prefix: str = "/") -> None:
        self._guard = guard
        self._election = election
        self._prefix = prefix

    def intercept_service(self, continuation: Callable, details: Any) -> Any:
        handler = continuation(details)
        if handler is None or not details.method.startswith(self._prefix):
            return handler
        kind = ("stream" if handler.request_streaming else "unary") + (
            "_stream" if handler.response_streaming else "_unary"
        )
        guarded = self._guarded_stream if handler.response_streaming else self._guarded
        make = getattr(grpc, f"{kind}_rpc_method_handler")
        return make(
            guarded(getattr(handler, kind)),
            handler.request_deserializer,
            handler.response_serializer,
        )

    def _guarded(self, behavior: Callable) -> Callable:
        def handle(request: Any, context: grpc.ServicerContext) -> Any:
            with self._entry(context):
                return behavior(request, context)

        return handle

    def _guarded_stream(self, behavior: Callable) -> Callable:
        def handle(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
            with self._entry(context):
                yield from behavior(request, context)

        return handle

    @contextlib.contextmanager
    def _entry(self, context: grpc.ServicerContext) -> Iterator[None]:
        stack = contextlib.ExitStack()
        try:
            stack.enter_context(self._guard.enter_call(context, self._election))
        except FenceError as error:
            error.abort(context)
        with stack:
            yield
