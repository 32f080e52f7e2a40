"""Who leads which election, from memory: for routers, clients and dashboards that ask often.

    with tenure.LeaderCache("tenure:7070", "shards/", prefix=True) as leaders:
        leaders.wait_until_ready(5)
        seat = leaders.get("shards/7")
        if seat.leader:
            send_to(seat.leader.value, seat.term)

What it does not promise
- It may be late: by milliseconds normally, and by at least `age` while the service cannot be
  reached. It keeps naming the last leader it knew; the caller decides how old is too old.
- So the leader it names may no longer lead. Send the term with your request to a leader, and let
  the leader, or the resource it writes to, refuse other terms: see tenure.fence. To lead, use an
  Elector.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Optional

from tenure import _fork, _surroundings
from tenure._lease import SECOND
from tenure._validation import check_function
from tenure.errors import ServiceError
from tenure.observer import Names, Observer, ObserverOptions
from tenure.v1 import election_pb2 as pb

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class CachedSeat:
    """What is known of one election."""

    # False: the election is not among those asked for, or its state has not arrived yet.
    known: bool = False
    leader: Optional[pb.Leadership] = None  # None: the seat is vacant
    term: int = 0  # the highest ever granted; 0: nobody has ever led
    revision: int = 0  # the latest one; 0: nobody has ever campaigned


class LeaderCache:
    """Arguments as for Observer, without its callbacks, and

    on_change(election, seat): the state of an election has changed. `get` already returns this
      state or a later one. Called on the observer's thread.
    on_failed(error): the service refuses it for good. The cache keeps its contents.

    After a fork, the child's cache goes on with a connection of its own: at once if it has
    callbacks, or else with its first use there.

    Thread-safe.
    """

    def __init__(
        self,
        endpoints: str,
        names: Names,
        *,
        prefix: bool = False,
        on_change: Optional[Callable[[str, CachedSeat], object]] = None,
        on_failed: Optional[Callable[[ServiceError], object]] = None,
        **options: Unpack[ObserverOptions],
    ) -> None:
        check_function(on_change, "on_change")
        check_function(on_failed, "on_failed")
        self._prefixes = ([names] if isinstance(names, str) else list(names)) if prefix else []
        self._on_change = on_change
        self._on_failed = on_failed
        self._changed = threading.Condition()
        self._seats: dict[str, CachedSeat] = {}
        self._now = _surroundings.at(endpoints).now
        self._told_at = self._now()
        self._ready = False
        self._failed = False
        self._closed = False
        self._new_observer = lambda: Observer(
            endpoints,
            names,
            prefix=prefix,
            on_snapshot=self._on_snapshot,
            on_event=self._on_event,
            on_progress=self._on_progress,
            on_service_replaced=self._forget,
            on_failed=self._fail,
            **options,
        )
        self._observer: Optional[Observer] = self._new_observer()
        _fork.watch(self)
        if on_change or on_failed:
            _fork.watch_resumable(self)

    def after_fork(self) -> None:
        """For tenure itself: the parent's observer does not exist in the child."""
        self._changed = threading.Condition()
        self._observer = None

    def resume(self) -> None:
        """For tenure itself: callbacks continue in the child without being asked."""
        self._observe()

    def _observe(self) -> None:
        """Starts to observe, unless this process already does."""
        if self._observer is None and not self._closed:
            with self._changed:
                self._observer = self._observer or self._new_observer()

    def get(self, election: str) -> CachedSeat:
        """Never waits. With `prefix`, once the cache is ready, an unreported election with that
        prefix counts as known: nobody has campaigned in it.
        """
        self._observe()
        with self._changed:
            if election in self._seats:
                return self._seats[election]
            return CachedSeat(known=self._ready and election.startswith(tuple(self._prefixes)))

    def leader(self, election: str) -> Optional[pb.Leadership]:
        """The leader, as far as known."""
        return self.get(election).leader

    def wait_until_ready(self, timeout: Optional[float] = None) -> bool:
        """Waits until the state of every requested election has arrived; from then on the cache
        stays ready. False if that takes longer than `timeout` seconds, or has failed. Not to be
        called from a callback.
        """
        self._observe()
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._failed, timeout)
            return self._ready

    @property
    def age(self) -> float:
        """Seconds since the last message of the service, or since the cache was made. While the
        service can be reached, a message comes at least every ten seconds. Also counts the time
        that the machine sleeps.
        """
        self._observe()
        with self._changed:
            return (self._now() - self._told_at) / SECOND

    def close(self) -> None:
        """Like Observer.close."""
        self._closed = True
        if self._observer:
            self._observer.close()

    def __enter__(self) -> LeaderCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # For the observer's thread.

    def _on_snapshot(self, snapshot: pb.Snapshot) -> None:
        leader = snapshot.leader if snapshot.HasField("leader") else None
        seat = CachedSeat(True, leader, snapshot.term, snapshot.revision)
        self._keep(snapshot.election, seat)

    def _on_event(self, event: pb.Event) -> None:
        leader = None if event.type == pb.Event.TYPE_VACATED else event.leadership
        seat = CachedSeat(True, leader, event.leadership.term, event.revision)
        self._keep(event.election, seat)

    def _keep(self, election: str, seat: CachedSeat) -> None:
        with self._changed:
            self._told_at = self._now()
            known = self._seats.get(election)
            self._seats[election] = seat
        if self._on_change and seat != known:
            self._on_change(election, seat)

    def _forget(self) -> None:
        """Drops the state of another service."""
        with self._changed:
            forgotten, self._seats = self._seats, {}
        if self._on_change:
            for election in forgotten:
                self._on_change(election, self.get(election))

    def _on_progress(self, _progress: pb.Progress) -> None:
        with self._changed:
            self._told_at = self._now()
            self._ready = True
            self._changed.notify_all()

    def _fail(self, error: ServiceError) -> None:
        with self._changed:
            self._failed = True
            self._changed.notify_all()
        if self._on_failed:
            self._on_failed(error)
