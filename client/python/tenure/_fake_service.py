"""The calls of a service in memory, and the channel that carries them in place of gRPC's."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any, Callable, Iterator, Optional

import grpc
from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from tenure._fake_elections import Election, Elections, Notice, Session
from tenure._fake_time import FakeTime
from tenure._lease import SECOND
from tenure.errors import DETAILS
from tenure.v1 import election_pb2 as pb

SERVICE_ID = "fa" * 16
EVERYBODY = ""
LEASE_TTL_MIN = 1 * SECOND
PROGRESS_EVERY = 10 * SECOND


class Failure(grpc.RpcError):
    """Why a call has failed."""

    def __init__(
        self, code: grpc.StatusCode, details: str, reason: str = "", **metadata: str
    ) -> None:
        super().__init__(details)
        self._code, self._details = code, details
        self._trailers: tuple[tuple[str, bytes], ...] = ()
        if reason:
            info = error_details_pb2.ErrorInfo(reason=reason, metadata=metadata)
            status = status_pb2.Status(code=code.value[0], message=details, details=[Packed()])
            status.details[0].Pack(info)
            self._trailers = ((DETAILS, status.SerializeToString()),)

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return self._details

    def trailing_metadata(self) -> tuple[tuple[str, bytes], ...]:
        return self._trailers


class _Answer:
    """A call that has ended: both a grpc.Call and a grpc.Future."""

    def __init__(self, response: Optional[Message], failure: Optional[Failure]) -> None:
        self._response = response
        self._failure = failure

    def code(self) -> grpc.StatusCode:
        return self._failure.code() if self._failure else grpc.StatusCode.OK

    def details(self) -> str:
        return self._failure.details() if self._failure else ""

    def trailing_metadata(self) -> tuple[tuple[str, bytes], ...]:
        return self._failure.trailing_metadata() if self._failure else ()

    def result(self) -> Optional[Message]:
        if self._failure:
            raise self._failure
        return self._response

    def add_done_callback(self, callback: Callable[[_Answer], object]) -> None:
        callback(self)

    def cancel(self) -> None:
        pass


class _Unary:
    def __init__(self, answer: Callable[[Any], Message]) -> None:
        self._answer = answer

    def __call__(self, request: Any, **_: Any) -> Optional[Message]:
        return self.future(request).result()

    def future(self, request: Any, **_: Any) -> _Answer:
        try:
            return _Answer(self._answer(request), None)
        except Failure as failure:
            return _Answer(None, failure)


class _Stream:
    """Messages to the client, in order. The first end counts."""

    def __init__(self, time: FakeTime) -> None:
        self._messages = time.new_queue()
        self.over = False
        self.session: Optional[Session] = None  # renewed on this stream
        self.selectors: list[pb.Selector] = []  # for an Observe stream

    def send(self, message: Message) -> None:
        if not self.over:
            self._messages.put(message)

    def end(self, failure: Failure) -> None:
        if not self.over:
            self.over = True
            self._messages.put(failure)

    def cancel(self) -> None:
        self.end(Failure(grpc.StatusCode.CANCELLED, "cancelled"))

    def __iter__(self) -> Iterator[Message]:
        while True:
            message = self._messages.get()
            if isinstance(message, Failure):
                raise message
            yield message


class FakeService:
    """Thread-safe."""

    def __init__(self, time: FakeTime) -> None:
        self.lock = threading.RLock()  # guards everything here
        self.changed = threading.Condition(self.lock)  # notified when a leader changes
        self.elections = Elections(self._notify, self._publish)
        self.cut: set[str] = set()  # candidates that cannot reach it, or EVERYBODY
        self._time = time
        self._requests: dict[bytes, Session] = {}  # by the request that opened it
        self._streams: list[_Stream] = []
        self._progress_at = time.now() + PROGRESS_EVERY

    @property
    def next_wake(self) -> float:
        with self.lock:
            return min(self.elections.next_expiry, self._progress_at)

    def wake(self) -> None:
        with self.lock:
            now = self._time.now()
            self.elections.expire(now)
            self._streams = [stream for stream in self._streams if not stream.over]
            if now >= self._progress_at:
                self._progress_at = now + PROGRESS_EVERY
                for stream in self._streams:
                    if stream.selectors:
                        stream.send(self._progress())

    def break_streams(self) -> None:
        """Breaks the streams of candidates that cannot reach the service any more."""
        with self.lock:
            for stream in self._streams:
                if self.is_cut(stream.session.candidate if stream.session else EVERYBODY):
                    stream.end(_unreachable())

    def is_cut(self, candidate: str) -> bool:
        return EVERYBODY in self.cut or candidate in self.cut

    # Calls.

    def identify(self, _request: pb.IdentifyRequest) -> pb.IdentifyResponse:
        self._check_reachable(EVERYBODY)
        return pb.IdentifyResponse(service_id=SERVICE_ID, version="fake")

    def campaign(self, request: pb.CampaignRequest) -> pb.CampaignResponse:
        with self.lock:
            session = self._session_of(request)
            election = self.elections.campaign(session, request, self._time.now())
            response = pb.CampaignResponse()
            response.session.session_id = session.id
            response.session.candidate = session.candidate
            response.session.service_id = SERVICE_ID
            response.session.lease_ttl.FromNanoseconds(session.lease_ttl)
            leadership = election.leadership
            if leadership and election.is_led_by(session):
                response.elected.CopyFrom(leadership)
                return response
            queue = [place.session for place in election.queue]
            standing = pb.Standing(position=queue.index(session) + 1, leader=leadership)
            response.standing.CopyFrom(standing)
            return response

    def resign(self, request: pb.ResignRequest) -> pb.ResignResponse:
        with self.lock:
            now = self._time.now()
            session = self._live(request.session_id)
            if not request.election:
                self.elections.end(session, pb.CAUSE_SESSION_CLOSED, now)
                return pb.ResignResponse(outcome=pb.ResignResponse.OUTCOME_SESSION_ENDED)
            election = self.elections.at(request.election)
            term = election.term if election.is_led_by(session) else 0
            if request.HasField("term") and request.term != term:
                raise Failure(
                    grpc.StatusCode.FAILED_PRECONDITION,
                    f"the session does not lead in term {request.term}",
                    "STALE_TERM",
                    current_term=str(term),
                )
            outcome = pb.ResignResponse.OUTCOME_NOT_STANDING
            if term:
                outcome = pb.ResignResponse.OUTCOME_RESIGNED
            elif election.place_of(session):
                outcome = pb.ResignResponse.OUTCOME_WITHDRAWN
            self.elections.resign(session, election, now)
            return pb.ResignResponse(outcome=outcome, term=term)

    def renew(self, stream: _Stream, request: pb.KeepAliveRequest) -> None:
        with self.lock:
            response = pb.KeepAliveResponse(service_id=SERVICE_ID)
            response.renewal.sequence = request.sequence
            for session_id in request.session_ids:
                session = self.elections.sessions.get(session_id)
                renewal = response.renewal.sessions.add(session_id=session_id)
                if session is None:
                    renewal.not_found = True
                elif self.is_cut(session.candidate):
                    return stream.end(_unreachable())
                elif session.cause is not None:
                    renewal.ended = session.cause
                else:
                    session.expires_at = self._time.now() + session.lease_ttl
                    renewal.lease_ttl.FromNanoseconds(session.lease_ttl)
                    if stream.session is not session:
                        renewal.seats.extend(self.elections.led_by(session))
                    stream.session = session
            stream.send(response)

    def keep_alive(self, requests: Iterator[pb.KeepAliveRequest]) -> _Stream:
        stream = self._open_stream()

        def renew() -> None:
            for request in requests:
                self.renew(stream, request)

        self._time.start(renew, "fake-keep-alive")
        return stream

    def observe(self, request: pb.ObserveRequest) -> _Stream:
        with self.lock:
            stream = self._open_stream()
            if self.is_cut(EVERYBODY):
                stream.end(_unreachable())
            stream.selectors = list(request.selectors)
            named = [one.election for one in request.selectors if one.HasField("election")]
            for name in dict.fromkeys([*named, *self.elections.elections]):
                if selector := _selector_of(stream, name):
                    _begin(stream, self.elections.elections.get(name) or Election(name), selector)
            stream.send(self._progress())
            return stream

    # Internals.

    def _open_stream(self) -> _Stream:
        with self.lock:
            self._streams.append(_Stream(self._time))
            return self._streams[-1]

    def _session_of(self, request: pb.CampaignRequest) -> Session:
        if request.session_id:
            return self._live(request.session_id)
        self._check_reachable(request.candidate)
        known = self._requests.get(request.request_id)
        if known and known.cause is None:
            return known
        lease_ttl = request.lease_ttl.ToNanoseconds()
        if 0 < lease_ttl < LEASE_TTL_MIN:
            details = f"the lease is {lease_ttl / SECOND} s; the minimum is 1 s"
            raise Failure(grpc.StatusCode.INVALID_ARGUMENT, details, "INVALID_LEASE_TTL")
        session = self.elections.open(request.candidate, lease_ttl, self._time.now())
        self._requests[request.request_id] = session
        return session

    def _live(self, session_id: str) -> Session:
        session = self.elections.sessions.get(session_id)
        if session is None:
            details = "there is no such session"
            raise Failure(grpc.StatusCode.NOT_FOUND, details, "SESSION_NOT_FOUND")
        self._check_reachable(session.candidate)
        if session.cause is not None:
            raise Failure(
                grpc.StatusCode.FAILED_PRECONDITION,
                "the session has ended",
                "SESSION_ENDED",
                cause=pb.Cause.Name(session.cause)[len("CAUSE_") :],
            )
        return session

    def _check_reachable(self, candidate: str) -> None:
        if self.is_cut(candidate):
            raise _unreachable()

    def _notify(self, session: Session, message: Notice) -> None:
        response = pb.KeepAliveResponse(service_id=SERVICE_ID)
        if isinstance(message, pb.SeatNotice):
            message.session_id = session.id
            response.notice.CopyFrom(message)
        else:
            response.session_ended.CopyFrom(message)
        for stream in self._streams:
            if stream.session is session:
                stream.send(response)

    def _publish(self, event: pb.Event) -> None:
        self.changed.notify_all()
        for stream in self._streams:
            if _selector_of(stream, event.election):
                stream.send(pb.ObserveResponse(service_id=SERVICE_ID, event=event))

    def _progress(self) -> pb.ObserveResponse:
        response = pb.ObserveResponse(service_id=SERVICE_ID)
        response.progress.time.FromNanoseconds(self._time.now())
        return response


def _unreachable() -> Failure:
    return Failure(grpc.StatusCode.UNAVAILABLE, "the fake service cannot be reached")


def _selector_of(stream: _Stream, election: str) -> Optional[pb.Selector]:
    """The selector that names the election, or else one by prefix."""
    found = None
    for selector in stream.selectors:
        if selector.HasField("election") and selector.election == election:
            return selector
        if selector.HasField("prefix") and election.startswith(selector.prefix):
            found = selector
    return found


def _begin(stream: _Stream, election: Election, selector: pb.Selector) -> None:
    """Sends the election's state, or its events from the requested revision."""
    if selector.HasField("from_revision"):
        for event in election.events[selector.from_revision - 1 :]:
            stream.send(pb.ObserveResponse(service_id=SERVICE_ID, event=event))
        return
    snapshot = pb.Snapshot(
        election=election.name,
        revision=len(election.events),
        term=election.term,
        leader=election.leadership,
        reason=pb.Snapshot.REASON_INITIAL,
    )
    stream.send(pb.ObserveResponse(service_id=SERVICE_ID, snapshot=snapshot))


class FakeChannel(grpc.Channel):
    def __init__(self, service: FakeService) -> None:
        self._calls: dict[str, Callable[[Any], Any]] = {
            "Campaign": service.campaign,
            "Resign": service.resign,
            "Identify": service.identify,
            "Observe": service.observe,
            "KeepAlive": service.keep_alive,
        }

    def unary_unary(self, method: str, *_: Any, **__: Any) -> Any:
        return _Unary(self._call_of(method))

    def unary_stream(self, method: str, *_: Any, **__: Any) -> Any:
        return lambda request, **_: self._call_of(method)(request)

    stream_stream = stream_unary = unary_stream

    def _call_of(self, method: str) -> Callable[[Any], Any]:
        name = method.rpartition("/")[2]
        return self._calls.get(name, partial(_unimplemented, name))

    def subscribe(self, callback: Any, try_to_connect: bool = False) -> None:
        pass

    def unsubscribe(self, callback: Any) -> None:
        pass

    def close(self) -> None:
        pass

    def __enter__(self) -> FakeChannel:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _unimplemented(name: str, _request: object) -> None:
    raise Failure(grpc.StatusCode.UNIMPLEMENTED, f"the fake service has no {name}")
