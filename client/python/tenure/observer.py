"""Reports every change of elections: who leads, with which value, and why a term ended.

    for change in tenure.follow("tenure-0:7070,tenure-1:7070", "orders"):
        apply(change)  # first a Snapshot, then every Event

What it promises
- Each election starts with a snapshot: its state at one revision. Then follows every event once, in
  the order of revisions, without gaps. There is no order between two elections.
- When a stream breaks, or is silent for too long, the observer continues by itself on another
  replica, from where it was. Elections created meanwhile start with their first event.
- It never skips changes silently. If events are no longer available, because the service keeps its
  history for a limited time only, a snapshot with the reason RESYNC replaces them. Everything
  before it is void, and events continue with its revision + 1. Its revision may be lower than
  earlier ones, after the service's database was restored from a backup.
- At least every ten seconds the service confirms that all has been reported (on_progress). Without
  that, the observer may be out of date; on_broken reports when it is disconnected.

What it does not promise. What it reports is already past, if only by milliseconds: to act as a
leader use an Elector, and fence your actions. And one observer can watch at most 10,000 elections.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import queue
import random
import threading
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Callable,
    Iterator,
    Mapping,
    Optional,
    Sequence,
    TypedDict,
    Union,
)

import grpc

from tenure import _fork, _observation, _pauses, _surroundings, _trace, _trouble
from tenure._callbacks import Gate, guarded
from tenure._connection import Connection, Credentials, Replica, check_threads, endpoints_of
from tenure._lease import FOREVER, SECOND
from tenure._observation import Observation, Verdict
from tenure._service import (
    SURVEY_INTERVAL,
    SURVEY_PATIENCE,
    Membership,
    Survey,
    check_service_id,
    choose,
    majority,
)
from tenure._surroundings import Surroundings
from tenure._validation import check_function, check_name
from tenure.errors import WRONG_SERVICE, ServiceError
from tenure.v1 import election_pb2 as pb

if TYPE_CHECKING:
    from typing_extensions import Unpack

logger = logging.getLogger("tenure")

Change = Union[pb.Snapshot, pb.Event]
Names = Union[str, Sequence[str]]

OBSERVED_MAX = 10_000
PREFIXES_MAX = 64
BUFFERED_MAX = 1_000  # changes that an iterator keeps for its reader


class Observer:
    """Calls back for every change, on a thread of its own, until it is closed.

    names: the elections, or one of them, whether or not they exist yet. With `prefix`: prefixes of
      names; "" selects all elections.
    from_revision: the one to start with in each election, instead of a snapshot. 1: all events that
      the service still has.
    from_revisions: the same for single elections, by name: for a program that stores how far it has
      come in each.
    silence_max: a stream that is silent for this many seconds is given up. The service sends
      something at least every ten seconds.
    service_id: as for Client.
    on_snapshot(pb.Snapshot), on_event(pb.Event): a change.
    on_progress(pb.Progress): everything that the replica knew at this time has been reported. First
      called when all elections have started, then every few seconds.
    on_service_replaced(): most endpoints belong to another service now, such as after its database
      was created again. Everything before is void, including the revisions that the observer was
      asked to start with; snapshots follow.
    on_broken(ServiceError): the stream broke, or could not be opened. It tries again, elsewhere; if
      an operator may have to change something first, such as a token, after 1 to 5 s.
    on_failed(ServiceError): the service refuses this observer for good: the request is malformed,
      the policy does not allow it, or it selects too many elections. The last callback.

    An observer belongs to the process that made it: after a fork, the child hears nothing of it.

    Callbacks are called one after the other. A slow one delays the next, but nothing is lost unless
    it takes longer than the service keeps its history. An exception is logged.

    Thread-safe. Raises ValueError if an argument is malformed.
    """

    def __init__(
        self,
        endpoints: str,
        names: Names,
        *,
        prefix: bool = False,
        from_revision: Optional[int] = None,
        from_revisions: Optional[Mapping[str, int]] = None,
        credentials: Credentials = None,
        silence_max: float = 30.0,
        service_id: Optional[str] = None,
        on_snapshot: Optional[Callable[[pb.Snapshot], object]] = None,
        on_event: Optional[Callable[[pb.Event], object]] = None,
        on_progress: Optional[Callable[[pb.Progress], object]] = None,
        on_service_replaced: Optional[Callable[[], object]] = None,
        on_broken: Optional[Callable[[ServiceError], object]] = None,
        on_failed: Optional[Callable[[ServiceError], object]] = None,
    ) -> None:
        endpoints_of(endpoints)
        check_function(on_snapshot, "on_snapshot")
        check_function(on_event, "on_event")
        check_function(on_progress, "on_progress")
        check_function(on_broken, "on_broken")
        check_function(on_failed, "on_failed")
        if silence_max <= 0:
            raise ValueError("silence_max is not positive; it must be more than 0")
        self._wish = _wish(names, prefix, from_revision, from_revisions or {})
        self._observation = Observation(self._wish)
        self._membership = Membership(check_service_id(service_id), logger.log)
        self._surroundings = surroundings = _surroundings.at(endpoints)
        self._connection = Connection(
            endpoints, credentials, False, self._membership.metadata, surroundings
        )
        self._silence_max = silence_max
        self._trace = _trace.metadata()
        self._told = {"snapshot": on_snapshot, "event": on_event, "progress": on_progress}
        self._on_service_replaced = on_service_replaced
        self._on_broken = on_broken
        self._on_failed = on_failed
        self._gate = Gate()  # of callbacks
        self._stopped = surroundings.new_event()
        self._call: Any = None  # while a stream is open
        self._heard_late: Callable[[], object] = int  # takes in late answers to a survey
        self._said: queue.SimpleQueue[Callable[[], object]] = surroundings.new_queue()  # later
        self._failures = 0
        self._troubles = _trouble.Troubles()
        self._random = random.SystemRandom()
        surroundings.start(self._run, "tenure-observer")
        _fork.watch(self)

    def close(self) -> None:
        """No callback is called after it has returned. Waits for a running callback, unless called
        from it. Do not hold a lock that a callback waits for.
        """
        self._stop()
        self._gate.shut()

    def __enter__(self) -> Observer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _stop(self) -> None:
        self._gate.open = False
        self._stopped.set()
        call = self._call
        if call:
            with _fork.calling:
                call.cancel()

    def after_fork(self) -> None:
        """For tenure itself: the thread and its connection belong to the parent."""
        self._gate = Gate()
        self._gate.open = False
        self._stopped = self._surroundings.new_event()
        self._call = None

    # For the observer's thread.

    def _run(self) -> None:
        while not self._stopped.is_set():
            forks = _fork.forks
            error = self._follow_one_stream()
            if error is None or _fork.forks != forks:
                continue
            foreign = error.reason == WRONG_SERVICE and "service_id" in error.metadata
            if foreign or (error.code is grpc.StatusCode.UNIMPLEMENTED and not error.reason):
                error = self._explain(error)  # not Tenure, but another endpoint may be
            if _is_final(error):
                self._call_back(self._on_failed, error)
                break
            if error.is_transient:
                self._failures += 1
                pause = _pauses.backoff(self._failures, self._random)
            else:
                pause = _pauses.refused(self._random)
            error = self._explain(error)
            self._call_back(self._on_broken, error)
            with _fork.calling:
                self._connection.move_on(silent=error.is_silence)
            self._stopped.wait(max(pause / SECOND, error.retry_delay))
        self._connection.close()

    def _follow_one_stream(self) -> Optional[ServiceError]:
        """Returns why the stream ended. None: another service is in use now."""
        self._said = self._surroundings.new_queue()
        over = self._surroundings.new_event()
        try:
            check_threads()
            if self._connection.several or self._membership.id:
                self._survey()
        except RuntimeError as error:
            return ServiceError(grpc.StatusCode.UNAVAILABLE, str(error))
        except ServiceError as error:
            return error
        replica = self._connection.replica
        try:
            request = self._observation.request()
            with _fork.calling:
                metadata = (*replica.call_metadata(), *self._trace)
                call = replica.stub.Observe(request, metadata=metadata)
            self._call = call
            timeout = _SilenceTimeout(self._surroundings, call, self._silence_max)
            if self._membership.survey_at != FOREVER:
                look = partial(self._look_again, call, over, self._said, self._membership.survey_at)
                self._surroundings.start(look, "tenure-survey")
        except RuntimeError as error:
            if self._call:
                self._call.cancel()
            return ServiceError(grpc.StatusCode.UNAVAILABLE, str(error))
        if self._stopped.is_set():
            call.cancel()
        try:
            return self._follow(replica, call, timeout)
        except grpc.RpcError as error:
            if self._take_in():
                return None
            return self._silence() if timeout.expired else ServiceError.from_rpc(error)
        finally:
            over.set()
            self._call = None
            timeout.close()
            with _fork.calling:
                call.cancel()

    def _survey(self) -> None:
        """Asks all endpoints for their service. Raises ServiceError if there is no usable one."""
        self._membership.begin_survey(self._surroundings.now())
        survey, heard = self._ask()
        self._call = survey
        while not survey.over:
            survey.heard(*heard.get())  # bounded: each call has a deadline
        self._call = None
        self._heard_late = partial(self._hear_late, survey, heard)
        try:
            self._settle(survey)
        except ServiceError as error:
            if error.reason or not survey.failures:
                raise
            endpoint, failure = next(iter(survey.failures.items()))
            raise _trouble.explained(failure, endpoint, self._connection.tls) from error
        self._connection.prefer(self._membership.id, survey)

    def _ask(self) -> tuple[Survey, queue.SimpleQueue[tuple[int, Any]]]:
        """For any thread. Raises RuntimeError."""
        heard: queue.SimpleQueue[tuple[int, Any]] = self._surroundings.new_queue()
        with _fork.calling:
            survey = self._connection.identify(self._membership.pinned, SURVEY_PATIENCE / SECOND)
        for which, call in enumerate(survey.calls):
            call.add_done_callback(lambda call, which=which: heard.put((which, call)))
        return survey, heard

    def _settle(self, survey: Survey) -> bool:
        """Whether the service has changed. Raises ServiceError if there is no usable one."""
        replaced = self._membership.choose(survey)
        self._say_found(survey)
        self._connection.use(self._membership.id, survey)
        if replaced:  # revisions are those of the other service
            self._wish = _observation.Wish(self._wish.names, self._wish.prefix)
            self._observation = Observation(self._wish)
            self._call_back(self._on_service_replaced)
        return replaced

    def _hear_late(self, survey: Survey, heard: queue.SimpleQueue[tuple[int, Any]]) -> None:
        while not heard.empty():
            self._hear(survey, *heard.get())

    def _hear(self, survey: Survey, which: int, call: Any) -> None:
        survey.heard(which, call)
        self._connection.hear_late(self._membership, survey, which)
        self._say_found(survey)

    def _say_found(self, survey: Survey) -> None:
        for line in self._troubles.found(survey, self._connection.tls):
            logger.warning(line)

    def _take_in(self) -> bool:
        """Takes in later answers of endpoints. Returns whether the service has changed."""
        self._heard_late()
        while not self._said.empty():
            if self._said.get()():
                return True
        return False

    def _look_again(
        self,
        call: Any,
        over: threading.Event,
        said: queue.SimpleQueue[Callable[[], object]],
        at: float,
    ) -> None:
        """Runs on its own thread while the stream is open. Ends the stream if most endpoints belong
        to another service, and itself if they belong to the known one.
        """
        now, known = self._surroundings.now, self._membership.id
        while not over.wait((at - now()) / SECOND):
            at = now() + SURVEY_INTERVAL
            try:
                survey, heard = self._ask()
                while not survey.over:
                    survey.heard(*heard.get())
                chosen = choose(known, False, survey.answers)
            except (RuntimeError, ServiceError):
                continue
            sure, late = majority(survey.answers) == known, len(survey.pending)
            said.put(partial(self._settle, survey))
            if chosen != known:
                with _fork.calling:
                    return call.cancel()
            for _ in range(late):
                said.put(partial(self._hear, survey, *heard.get()))
            if sure:
                return

    def _follow(
        self, replica: Replica, call: Any, timeout: _SilenceTimeout
    ) -> Optional[ServiceError]:
        for response in call:
            timeout.rest()  # while callbacks run
            if self._take_in():
                return None
            self._failures = 0
            self._connection.answered(replica)
            line = self._troubles.answered(replica.endpoint, self._surroundings.now())
            if line:
                logger.info(line)
            foreign = self._membership.check(replica.endpoint, response.service_id)
            if foreign:
                return foreign
            verdict = self._observation.note(response)
            if verdict is Verdict.GAP:
                return ServiceError(grpc.StatusCode.UNAVAILABLE, "the stream skipped changes")
            if verdict is Verdict.NEWS:
                kind = response.WhichOneof("message")
                self._call_back(self._told[kind], getattr(response, kind))
            timeout.watch()
        return ServiceError(grpc.StatusCode.UNAVAILABLE, "the server ended the stream")

    def _explain(self, error: ServiceError) -> ServiceError:
        """Returns the error in plain words, and logs it unless it has been logged."""
        if self._stopped.is_set() or error.details.startswith("cannot use "):
            return error
        endpoint, tls = self._connection.replica.endpoint, self._connection.tls
        if error.reason == WRONG_SERVICE and "service_id" in error.metadata:
            self._membership.meet(endpoint, error.metadata["service_id"])
            self._connection.leave(endpoint)
            return _trouble.explained(error, endpoint, tls)
        if _trouble.is_of_tls(error):
            with _fork.calling:
                self._connection.slow_down(self._connection.replica)
        line = self._troubles.failed(endpoint, error, tls, self._surroundings.now())
        if line:
            logger.warning(line)
        return _trouble.explained(error, endpoint, tls)

    def _silence(self) -> ServiceError:
        details = f"the stream was silent for {self._silence_max} s"
        return ServiceError(grpc.StatusCode.DEADLINE_EXCEEDED, details)

    def _call_back(self, callback: Optional[Callable[..., object]], *arguments: Any) -> None:
        if callback:
            guarded(self._gate.pass_through, callback, *arguments)


def _is_final(error: ServiceError) -> bool:
    """Whether the request would be refused again, so that the caller must get the error."""
    if error.code is grpc.StatusCode.PERMISSION_DENIED or error.reason == "OBSERVE_TOO_WIDE":
        return True
    return not (error.is_transient or error.is_refused_for_now)


class _SilenceTimeout:
    """Cancels a call that has been silent for too long."""

    def __init__(self, surroundings: Surroundings, call: Any, patience: float) -> None:
        self.expired = False
        self._now = surroundings.now
        self._call = call
        self._patience = patience
        self._closed = surroundings.new_event()
        self.watch()
        surroundings.start(self._run, "tenure-silence")

    def watch(self) -> None:
        self._deadline = self._now() / SECOND + self._patience

    def rest(self) -> None:
        self._deadline = math.inf

    def close(self) -> None:
        self._closed.set()

    def _run(self) -> None:
        left = self._patience
        while not self._closed.wait(min(left, self._patience)):
            left = self._deadline - self._now() / SECOND
            if left <= 0:
                self.expired = True
                with _fork.calling:
                    self._call.cancel()
                return


def _wish(
    names: Names, prefix: bool, from_revision: Optional[int], from_revisions: Mapping[str, int]
) -> _observation.Wish:
    named = [names] if isinstance(names, str) else list(names)
    most = PREFIXES_MAX if prefix else OBSERVED_MAX
    if not 1 <= len(named) <= most:
        raise ValueError(f"names has {len(named)} entries; it must have 1 to {most}")
    for name in named:
        if name or not prefix:
            check_name(name, "name")
    if from_revision is not None and from_revision < 1:
        raise ValueError(f"from_revision is {from_revision}; revisions start at 1")
    if len(from_revisions) > OBSERVED_MAX:
        raise ValueError(
            f"from_revisions has {len(from_revisions)} entries; the maximum is {OBSERVED_MAX}"
        )
    for election, revision in from_revisions.items():
        selected = election.startswith(tuple(named)) if prefix else election in named
        if not selected:
            raise ValueError(f"from_revisions has {election!r}; it must be one of names")
        if revision < 1:
            raise ValueError(f"from_revisions of {election!r} is {revision}; revisions start at 1")
    return _observation.Wish(named, prefix, from_revision, dict(from_revisions))


class ObserverOptions(TypedDict, total=False):
    """The options of Observer about what to observe, and how."""

    from_revision: Optional[int]
    from_revisions: Optional[Mapping[str, int]]
    credentials: Credentials
    silence_max: float
    service_id: Optional[str]
    on_broken: Optional[Callable[[ServiceError], object]]


class FollowOptions(ObserverOptions, total=False):
    prefix: bool
    on_progress: Optional[Callable[[pb.Progress], object]]
    on_service_replaced: Optional[Callable[[], object]]


def follow(endpoints: str, names: Names, **options: Unpack[FollowOptions]) -> Iterator[Change]:
    """Every change, for `for`. Arguments as for Observer, without callbacks.

    Raises ServiceError if the service refuses it for good.
    """
    changes: queue.Queue[Union[Change, ServiceError]] = queue.Queue(BUFFERED_MAX)
    observer = Observer(endpoints, names, **options, **_callbacks(changes.put))
    try:
        while True:
            yield _change_of(changes.get())
    finally:
        observer._stop()
        with contextlib.suppress(queue.Empty):  # wakes a callback that waits for room
            changes.get_nowait()


async def follow_async(
    endpoints: str, names: Names, **options: Unpack[FollowOptions]
) -> AsyncIterator[Change]:
    """The same for `async for`."""
    changes: asyncio.Queue[Union[Change, ServiceError]] = asyncio.Queue(BUFFERED_MAX)
    loop = asyncio.get_running_loop()
    last: list[Future[None]] = []

    def put(change: Union[Change, ServiceError]) -> None:
        last[:] = [asyncio.run_coroutine_threadsafe(changes.put(change), loop)]
        with contextlib.suppress(CancelledError):
            last[0].result()

    observer = Observer(endpoints, names, **options, **_callbacks(put))
    try:
        while True:
            yield _change_of(await changes.get())
    finally:
        observer._stop()
        for future in last:
            future.cancel()


def _callbacks(put: Callable[[Any], None]) -> dict[str, Any]:
    return {"on_snapshot": put, "on_event": put, "on_failed": put}


def _change_of(told: Union[Change, ServiceError]) -> Change:
    if isinstance(told, ServiceError):
        raise told
    return told
