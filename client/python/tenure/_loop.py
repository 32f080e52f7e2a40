"""The I/O of a client: carries out what its session decides, on one thread.

calls' answers, stream's messages, electors' wishes --queue--> [loop: Session] -->
calls, beliefs, news
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import queue
import socket
import threading
from concurrent.futures import Future, TimeoutError
from dataclasses import dataclass
from functools import partial
from typing import Any, Callable, Optional, Protocol

import grpc

from tenure import _effects, _fork, _trace, _trouble
from tenure._belief import Belief
from tenure._callbacks import SerialExecutor
from tenure._connection import Connection, Credentials, Replica, check_threads
from tenure._lease import FOREVER, SECOND
from tenure._metrics import Metrics
from tenure._seat import Event, Lost, SeatOptions
from tenure._service import SURVEY_PATIENCE, Membership, Survey
from tenure._session import Session
from tenure._stream import KeepAliveStream
from tenure._surroundings import Surroundings
from tenure.credentials import Metadata
from tenure.errors import WRONG_SERVICE, ServiceError
from tenure.v1 import election_pb2 as pb

logger = logging.getLogger("tenure")

THREAD_PATIENCE = 5.0  # seconds, beyond what the session may take to end
ENDING_TRIES_MIN = 4  # replicas that can be asked one after another while the session is ended
LOOK_AGAIN = 0  # in place of a call's number: a survey while a session is open

Input = Callable[[Session, int], None]


@dataclass(frozen=True)
class LoopOptions:
    endpoints: str
    candidate: Optional[str]
    lease_ttl: Optional[int]  # in nanoseconds
    supersede: bool
    credentials: Credentials
    service_id: str  # empty: any
    metrics: Metrics
    surroundings: Surroundings


class Listener(Protocol):
    """One elector's stand, as the loop sees it. Called on the loop's thread: it must not block."""

    belief: Belief  # up to date before each event

    def on_event(self, event: Event) -> None: ...

    def on_gone(self) -> None:
        """Nothing is left to do, and no news follows."""


class _Published:
    """The last state of a listener's belief."""

    def __init__(self, listener: Listener, election: str) -> None:
        self.listener = listener
        self.election = election
        self.term = 0  # no belief stands
        self.until = 0


class ClientLoop:
    """Thread-safe. Starts at once, and ends when it is closed or has `failed`."""

    def __init__(self, options: LoopOptions) -> None:
        surroundings = self._surroundings = options.surroundings
        self.now = surroundings.now
        self._inputs: queue.SimpleQueue[Input] = surroundings.new_queue()
        self._candidate = candidate = options.candidate or f"{socket.gethostname()}:{os.getpid()}"
        self._session = Session(candidate, options.lease_ttl, options.supersede)
        self._membership = Membership(options.service_id, self._say)
        self._connection = Connection(
            options.endpoints, options.credentials, True, self._membership.metadata, surroundings
        )
        self._metrics = options.metrics
        self._metrics.begin()
        self._published: dict[int, _Published] = {}
        self._lock = threading.RLock()
        self._listeners: dict[int, Listener] = {}  # all that were added
        self._over = False  # nobody is added any more
        self.failed = False
        self._calls: dict[int, Any] = {}  # under way; both a grpc.Call and a grpc.Future
        self._stream: Optional[KeepAliveStream] = None
        self._traces: dict[str, Metadata] = {}  # of candidates that stand, by election
        self.new_number = itertools.count(1).__next__  # for a seat
        self._wake: float = FOREVER
        self._give_up_at: float = FOREVER
        self._call_patience: float = FOREVER
        self._cancel_at: float = FOREVER  # when to cancel calls that were under way before the end
        self._ended: Future[Optional[ServiceError]] = Future()
        self._do: dict[type, Callable[[Any], None]] = {
            _effects.SendCampaign: self._send_campaign,
            _effects.SendResign: self._send_resign,
            _effects.OpenStream: self._open_stream,
            _effects.SendRenewal: self._send_renewal,
            _effects.CloseStream: self._close_stream,
            _effects.UseAnotherReplica: self._use_another_replica,
        }
        self.troubles = _trouble.Troubles()
        self.callbacks = SerialExecutor(surroundings)
        self._thread = surroundings.start(self._run, "tenure-client")
        _fork.watch(self)
        _fork.watch_calls(self)

    def tell(self, what: Input) -> None:
        """Queues an input for the session; ignored if the session has ended."""
        self._inputs.put(what)

    def add(self, number: int, options: SeatOptions, listener: Listener) -> None:
        """If the loop has ended, the listener is notified at once."""
        trace = _trace.metadata()
        with self._lock:
            if not self._over:
                self._listeners[number] = listener
                return self.tell(lambda session, now: self._add(number, options, listener, trace))
        listener.on_gone()

    def check_may_wait(self) -> None:
        """Raises RuntimeError on a thread that would wait for itself."""
        if threading.current_thread() in (self._thread, self.callbacks.thread):
            raise RuntimeError(
                "a callback must not wait for a seat of its own client: "
                "wait on another thread, or use stand()"
            )

    def close(self, patience: int) -> Optional[ServiceError]:
        """Ends the session, for at most `patience`. Returns None if the service has ended it."""
        self.tell(lambda session, now: self._end(now, patience))
        if threading.current_thread() is self._thread:
            raise RuntimeError("on_overrun must not wait for the end of its client")
        try:
            return self._ended.result(patience / SECOND + THREAD_PATIENCE)
        except TimeoutError:
            return _out_of_time("the client's thread is held up, by on_overrun or a file")

    @property
    def awaits_answers(self) -> bool:
        """Whether a fork should wait a little. Never on this loop's own thread."""
        calls = bool(self._calls) or self._session.awaits_renewal
        return calls and not self._over and threading.current_thread() is not self._thread

    def after_fork(self) -> None:
        """Runs in a forked process: the seats belong to its parent."""
        self._over = True
        for published in list(self._published.values()):
            published.listener.belief.void()

    # All of these run on the loop's thread.

    def _run(self) -> None:
        failed = False
        try:
            while not self._over_at(self.now()):
                self._turn()
        except BaseException:
            failed = True
            logger.exception("the client has failed, and does not lead any more")
        with self._lock:
            self._over = True
        for listener in self._listeners.values():
            listener.belief.end()
        for published in self._published.values():
            if published.term:
                self._announce(published, Lost(pb.CAUSE_UNSPECIFIED))
        for listener in self._listeners.values():
            listener.on_gone()
        self.failed = failed
        with _fork.calling:
            self._cancel_calls()
            if self._stream:
                self._stream.close()
        self.callbacks.close()
        error = self._session.end_error
        if not self._session.ended and error is None:
            error = _out_of_time("the session's end was not answered in time")
        self._ended.set_result(error)
        self._connection.close()  # nobody waits for it: see check_threads

    def _turn(self) -> None:
        inputs = self._take_inputs(self._surroundings.patience_until(self._wake))
        now = self.now()
        if not inputs and now < self._wake:
            return
        for tell in inputs:
            tell(self._session, now)
        if now >= self._cancel_at:
            self._cancel_at = FOREVER
            with _fork.calling:
                self._cancel_calls()
        self._step(now)
        self._wake = min(
            self._session.next_wake(), self._give_up_at, self._cancel_at, self._survey_at
        )

    def _take_inputs(self, patience: Optional[float]) -> list[Input]:
        """Takes all inputs, so that many answers cost one decision."""
        inputs = []
        try:
            inputs.append(self._inputs.get(timeout=patience))
            while True:
                inputs.append(self._inputs.get_nowait())
        except queue.Empty:
            return inputs

    def _over_at(self, now: int) -> bool:
        """Waits for a running survey, which may find that the session is gone with its service."""
        ended = self._session.ended and LOOK_AGAIN not in self._calls
        return ended or now >= self._give_up_at

    @property
    def _survey_at(self) -> float:
        """When to ask all endpoints again."""
        if not self._session.is_open or LOOK_AGAIN in self._calls:
            return FOREVER
        return self._membership.survey_at

    def _step(self, now: int) -> None:
        effects = self._session.decide(now)
        # The belief ends before anything is sent that gives up the seat.
        for number, published in self._published.items():
            self._publish(number, published, now)
        for number, event in self._session.take_news():
            self._announce(self._published[number], event)
        for renewal in self._session.take_renewals():
            self._metrics.count_renewal(renewal)
        for effect in effects:
            with _fork.calling:
                self._do[type(effect)](effect)
        for number in self._session.take_gone():
            self._traces.pop(self._published.pop(number).election, None)
            self._listeners.pop(number).on_gone()
        if now >= self._survey_at:
            with _fork.calling:
                self._look_again()

    def _announce(self, published: _Published, event: Event) -> None:
        self._metrics.count_event(published.election, event)
        published.listener.on_event(event)

    def _publish(self, number: int, published: _Published, now: int) -> None:
        belief = published.listener.belief
        until = self._session.believed_until(number)
        term = self._session.term_of(number) if until else 0
        if term != published.term:
            belief.end()
            if term:
                belief.begin(term, until)
        elif term and until != published.until and not belief.extend(until):
            self._session.belief_ended(number, now)
            term = 0
        published.term, published.until = term, until

    def _add(self, number: int, options: SeatOptions, listener: Listener, trace: Metadata) -> None:
        self._traces[options.election] = trace
        self._metrics.add_election(options.election)
        self._published[number] = _Published(listener, options.election)
        self._session.add(number, options)

    def _end(self, now: int, patience: int) -> None:
        patience = self._surroundings.patience_to_end(self._candidate, patience)
        if self._give_up_at == FOREVER:
            self._give_up_at = now + patience
            self._call_patience = patience // ENDING_TRIES_MIN  # a replica may be frozen
            self._cancel_at = now + self._call_patience if self._calls else FOREVER
            self._session.end(now, now + patience)

    def _cancel_calls(self) -> None:
        for call in list(self._calls.values()):
            call.cancel()

    # Effects.

    def _send_campaign(self, send: _effects.SendCampaign) -> None:
        done = partial(self._session.on_campaign_done, send.call)
        opens = not send.request.session_id
        if opens and (self._connection.several or self._membership.id):
            self._open_session(send, done)
        else:
            self._send("Campaign", send, done)

    def _open_session(self, send: _effects.SendCampaign, done: Callable[..., None]) -> None:
        """Asks all endpoints for their service first."""

        def surveyed(survey: Survey, now: int) -> None:
            if self._give_up_at != FOREVER:
                survey.cancel()
                error = ServiceError(grpc.StatusCode.CANCELLED, "the client is being closed")
                return done(now, None, error)
            try:
                if self._settle(survey, now):
                    send.request.previous_session_id = ""
            except ServiceError as error:
                return done(now, None, self._unchosen(survey, error, now))
            self._connection.prefer(self._membership.id, survey)
            self._send("Campaign", send, done)

        try:
            self._survey(send.call, send.patience, surveyed)
        except RuntimeError as refusal:
            error = _unavailable(refusal)
            self._explain(self._connection.replica, error, self.now())
            self.tell(lambda _, now: done(now, None, error))

    def _look_again(self) -> None:
        """Runs a survey while a session is open. Failures are retried."""

        def surveyed(survey: Survey, now: int) -> None:
            try:
                self._settle(survey, now)
            except ServiceError as error:
                self._unchosen(survey, error, now)

        with contextlib.suppress(RuntimeError):
            self._survey(LOOK_AGAIN, SURVEY_PATIENCE, surveyed)

    def _survey(self, number: int, patience: int, done: Callable[[Survey, int], None]) -> None:
        """Asks all endpoints for their service. Cancels a survey that is already running, because a
        campaign waits for this one. Raises RuntimeError.
        """
        under_way = self._calls.pop(LOOK_AGAIN, None)
        if under_way:
            under_way.cancel()
        self._membership.begin_survey(self.now())
        check_threads()
        seconds = min(patience, self._call_patience) / SECOND
        survey = self._connection.identify(self._membership.pinned, seconds)
        self._calls[number] = survey

        def heard(which: int, call: Any) -> None:
            self.tell(lambda _, now: self._surveyed(survey, which, call, number, done, now))

        for which, call in enumerate(survey.calls):
            call.add_done_callback(partial(heard, which))

    def _surveyed(
        self,
        survey: Survey,
        which: int,
        call: Any,
        number: int,
        done: Callable[[Survey, int], None],
        now: int,
    ) -> None:
        survey.heard(which, call)
        if self._calls.get(number) is not survey:
            self._connection.hear_late(self._membership, survey, which)
            return self._say_found(survey)
        if survey.over:
            del self._calls[number]
            with _fork.calling:
                done(survey, now)

    def _settle(self, survey: Survey, now: int) -> bool:
        """Whether the service has changed. Raises ServiceError if there is no usable one."""
        replaced = self._membership.choose(survey)
        self._say_found(survey)
        if replaced:
            self._session.on_service_replaced(now)
        self._connection.use(self._membership.id, survey)
        return replaced

    def _say_found(self, survey: Survey) -> None:
        for line in self.troubles.found(survey, self._connection.tls):
            self._say(logging.WARNING, line)

    def _unchosen(self, survey: Survey, error: ServiceError, now: int) -> ServiceError:
        if not error.reason and survey.failures:
            endpoint, failure = next(iter(survey.failures.items()))
            tls = self._connection.tls
            self._say(logging.WARNING, self.troubles.failed(endpoint, failure, tls, now))
            return _trouble.explained(failure, endpoint, tls)
        self._say(logging.WARNING, self.troubles.failed("the service", error, False, now))
        return error

    def _send_resign(self, send: _effects.SendResign) -> None:
        def done(now: int, _response: Any, error: Optional[ServiceError]) -> None:
            self._session.on_resign_done(send.call, now, error)

        self._send("Resign", send, done)

    def _send(self, method: str, send: Any, done: Callable[..., None]) -> None:
        replica = self._connection.replica
        begin = getattr(replica.stub, method)
        try:
            check_threads()
            patience = min(send.patience, self._call_patience) / SECOND
            trace = self._traces.get(send.request.election, ())
            metadata = (*replica.call_metadata(), *trace)
            call = begin.future(send.request, timeout=patience, metadata=metadata)
        except RuntimeError as refusal:
            ending = self._give_up_at != FOREVER
            error = self._wait_for(begin, send, replica) if ending else _unavailable(refusal)
            if error:
                self._explain(replica, error, self.now())
            return self.tell(lambda _, now: done(now, None, error))
        self._calls[send.call] = call
        call.add_done_callback(
            lambda _: self.tell(lambda _, now: self._answered(replica, send.call, done, now))
        )

    def _wait_for(self, begin: Any, send: Any, replica: Replica) -> Optional[ServiceError]:
        """Blocks, so no lease is renewed: from Python 3.12 on, no thread starts during exit."""
        patience = min(send.patience, self._call_patience, self._give_up_at - self.now())
        try:
            begin(send.request, timeout=patience / SECOND, metadata=replica.call_metadata())
            return None
        except grpc.RpcError as error:
            return ServiceError.from_rpc(error)
        except RuntimeError as refusal:
            return _unavailable(refusal)

    def _answered(self, replica: Replica, number: int, done: Callable[..., None], now: int) -> None:
        call = self._calls.pop(number)
        error = None
        if call.code() is grpc.StatusCode.OK:
            session = getattr(call.result(), "session", None)
            error = self._membership.check(replica.endpoint, session.service_id if session else "")
        else:
            error = ServiceError.from_rpc(call)
        if error is None:
            self._works(replica, now)
        else:
            error = self._explain(replica, error, now)
            if not error.is_transient:
                self._connection.answered(replica)
        done(now, None if error else call.result(), error)

    def _open_stream(self, opened: _effects.OpenStream) -> None:
        number, replica = opened.stream, self._connection.replica
        forks = _fork.forks

        def closed(error: Optional[ServiceError] = None) -> None:
            if _fork.forks != forks:
                return self.tell(lambda session, now: session.on_stream_dropped(number, now))
            self.tell(lambda session, now: self._on_closed(replica, number, error, session, now))

        def told(message: pb.KeepAliveResponse) -> None:
            self.tell(partial(self._on_message, replica, number, message))

        self._stream = None
        try:
            check_threads()
            self._stream = KeepAliveStream(self._surroundings, replica, told, closed)
        except RuntimeError as refusal:
            closed(_unavailable(refusal))

    def _on_closed(
        self,
        replica: Replica,
        stream: int,
        error: Optional[ServiceError],
        session: Session,
        now: int,
    ) -> None:
        if error:
            self._explain(replica, error, now)
        session.on_stream_closed(stream, now)

    def _explain(self, replica: Replica, error: ServiceError, now: int) -> ServiceError:
        """Returns the error in plain words, and logs it unless it has been logged."""
        if error.reason == WRONG_SERVICE:
            service_id = error.metadata.get("service_id", "?")
            if service_id != self._membership.id:  # otherwise it refused an earlier service
                self._membership.meet(replica.endpoint, service_id)
                self._connection.leave(replica.endpoint)
                self._session.on_wrong_service(now)
            return _trouble.explained(error, replica.endpoint, self._connection.tls)
        if error.code is grpc.StatusCode.CANCELLED or self._give_up_at != FOREVER:
            return error
        tls = self._connection.tls
        if _trouble.is_of_tls(error):
            self._connection.slow_down(replica)
        explained = _trouble.explained(error, replica.endpoint, tls)
        if explained is not error or error.is_refused_for_now:
            self._say(logging.WARNING, self.troubles.failed(replica.endpoint, error, tls, now))
        return explained

    def _works(self, replica: Replica, now: int) -> None:
        self._connection.answered(replica)
        self._say(logging.INFO, self.troubles.answered(replica.endpoint, now))

    def _say(self, level: int, line: Optional[str]) -> None:
        """Logs on the callbacks' thread, because a logger may block."""
        if line:
            self.callbacks.run(logger.log, level, "%s", line)

    def _on_message(
        self,
        replica: Replica,
        stream: int,
        message: pb.KeepAliveResponse,
        session: Session,
        now: int,
    ) -> None:
        if not session.follows(stream):
            return
        foreign = self._membership.check(replica.endpoint, message.service_id)
        if foreign:
            return self._on_closed(replica, stream, foreign, session, now)
        self._works(replica, now)
        session.on_stream_message(stream, message, now)

    def _send_renewal(self, renewal: _effects.SendRenewal) -> None:
        if self._stream:
            self._stream.send(renewal.request)

    def _close_stream(self, _closed: _effects.CloseStream) -> None:
        if self._stream:
            self._stream.close()
        self._stream = None

    def _use_another_replica(self, move: _effects.UseAnotherReplica) -> None:
        self._connection.move_on(move.silent)
        self._metrics.count_replica_change()


def _out_of_time(details: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.DEADLINE_EXCEEDED, details)


def _unavailable(refusal: RuntimeError) -> ServiceError:
    return ServiceError(grpc.StatusCode.UNAVAILABLE, str(refusal))
