"""A candidate's connection to a service: its endpoints, its session, one KeepAlive stream."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import threading
import time
import weakref
from typing import TYPE_CHECKING, Optional, Protocol

from tenure import _fork, _surroundings
from tenure._connection import Credentials, endpoints_of
from tenure._lease import SECOND
from tenure._loop import ClientLoop, LoopOptions
from tenure._metrics import Metrics
from tenure._service import check_service_id
from tenure._validation import check_name, check_not_negative
from tenure.errors import TenureError

if TYPE_CHECKING:
    import prometheus_client

_EXIT_PATIENCE = 1.0


class _Stand(Protocol):
    """What a client needs of a candidacy."""

    election: str

    def resign(self) -> None: ...

    def _wait_for_work(self, timeout: float) -> bool: ...


class Client:
    """A client is one candidate.

    All its electors, for however many elections, share one session and one heartbeat. Several
    endpoints are replicas of one service: the client uses one at a time, and another as soon as
    that one fails, reports that it is not healthy, or does not answer within half a heartbeat.

    endpoints: "host:port[,host:port...]". A host name may resolve to several addresses.
    candidate: the candidate's name, for people; 1 to 255 bytes. None: "hostname:process".
    lease_ttl: how long, in seconds, the seats are kept after the last renewal. Renewals are sent
      every third of it. None: the default of the election or the service.
    supersede: ends older sessions of the same candidate in the elections of this client, and takes
      over their seats and places, so that a restarted process need not wait for its own old lease.
      Only if no two processes share a candidate name.
    credentials: a Tls, or any grpc.ChannelCredentials. None: a connection without TLS. Send tokens
      by a Tls: gRPC's own call credentials can freeze the process when the client is closed
      (grpc/grpc#42247).
    registry: of prometheus_client, for the metrics that docs/clients.md lists. Each client needs
      one of its own. None: no metrics.

    service_id: the id of the service, as `tenure status` shows it. Endpoints of another service,
      whose replicas work on another database, are never used. None: that of most endpoints.
      A client that can reach less than half of them asks again until it is sure of its service.

    Thread-safe. It connects, and starts its threads, when the first elector stands: so it may be
    made before a process forks, as by gunicorn or Celery. After a fork it has a session of its own,
    and what its parent leads is not led by the child.

    Raises ValueError if an argument is malformed.
    """

    def __init__(
        self,
        endpoints: str = "127.0.0.1:7070",
        *,
        candidate: Optional[str] = None,
        lease_ttl: Optional[float] = None,
        supersede: bool = False,
        credentials: Credentials = None,
        registry: Optional[prometheus_client.CollectorRegistry] = None,
        service_id: Optional[str] = None,
    ) -> None:
        endpoints_of(endpoints)
        if candidate is not None:
            check_name(candidate, "candidate")
        if lease_ttl is not None:
            lease_ttl = check_not_negative(lease_ttl, "lease_ttl") * SECOND
        self._options = LoopOptions(
            endpoints,
            candidate,
            None if not lease_ttl else int(lease_ttl),
            supersede,
            credentials,
            check_service_id(service_id),
            Metrics(registry),
            _surroundings.at(endpoints),
        )
        self._closed = False
        self.after_fork()
        _fork.watch(self)
        _clients.add(self)

    def close(self, patience: float = 5.0) -> None:
        """Gives up every seat and place, and ends the session.

        Work is asked to end, and waited for; then the service's answer; for at most `patience`
        seconds in all. Raises TenureError if that was not enough: then the seats are free when the
        lease has ended. A client that is not closed is closed when the interpreter exits, with a
        patience of a second. Not to be called from `on_overrun`.
        """
        with self._lock:
            self._closed = True
            loop, candidacies = self._loop, list(self._unfinished)
        if loop is None:
            return
        deadline = time.monotonic() + patience
        for candidacy in candidacies:
            candidacy.resign()
        for candidacy in candidacies:
            if not candidacy._wait_for_work(max(deadline - time.monotonic(), 0)):
                raise TenureError("work is still running; its seat is free when the lease ends")
        error = loop.close(int(max(deadline - time.monotonic(), 0) * SECOND))
        if error:
            raise error

    async def aclose(self, patience: float = 5.0) -> None:
        """The same for asyncio."""
        await asyncio.get_running_loop().run_in_executor(None, self.close, patience)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # For its electors.

    def after_fork(self) -> None:
        """For tenure itself: only the parent's electors stand."""
        self._lock = threading.RLock()
        self._loop: Optional[ClientLoop] = None
        self._candidacies: dict[str, _Stand] = {}
        self._unfinished: set[_Stand] = set()  # including those whose seats are not free yet

    def _claim(self, candidacy: _Stand) -> ClientLoop:
        """Raises ValueError if this client already stands in the election."""
        with self._lock:
            if self._closed:
                raise TenureError("the client is closed")
            if candidacy.election in self._candidacies:
                raise ValueError(f"this client already stands in election {candidacy.election!r}")
            if self._loop is None or self._loop.failed:
                self._loop = ClientLoop(self._options)
            self._candidacies[candidacy.election] = candidacy
            self._unfinished.add(candidacy)
            return self._loop

    def _forget(self, candidacy: _Stand) -> None:
        with self._lock:
            self._release(candidacy)
            self._unfinished.discard(candidacy)

    def _release(self, candidacy: _Stand) -> None:
        """Frees the election for another stand of this client."""
        with self._lock:
            if self._candidacies.get(candidacy.election) is candidacy:
                del self._candidacies[candidacy.election]


_clients: weakref.WeakSet[Client] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """A process that ends cleanly then has a successor at once."""
    for client in list(_clients):
        with contextlib.suppress(TenureError):  # the seats are free when the lease has ended
            client.close(_EXIT_PATIENCE)
