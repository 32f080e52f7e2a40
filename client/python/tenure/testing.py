"""Tenure in memory, for tests of your own code: no server, and a clock that the test moves.

from tenure.testing import FakeTenure

def test_nothing_ships_after_the_lease():
    fake = FakeTenure()
    shipping = start_shipping(tenure.Elector(fake.endpoint))  # your code, with a lease of 10 s
    fake.wait_for_leader("orders")

    fake.cut()  # the service cannot be reached any more
    fake.advance(9)  # the lease, less a tenth, in no time

    assert not shipping.is_running
"""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any, Optional, cast

import grpc

from tenure import _surroundings
from tenure._fake_elections import Election
from tenure._fake_service import EVERYBODY, FakeChannel, FakeService
from tenure._fake_time import FakeTime
from tenure._lease import FOREVER, SECOND
from tenure._validation import check_name, check_not_negative
from tenure.candidacy import Candidacy
from tenure.client import Client
from tenure.client import _clients as clients
from tenure.v1 import election_pb2 as pb

if TYPE_CHECKING:
    from tenure.candidacy import Seat

__all__ = ["FakeTenure", "Rival"]

_WORK_PATIENCE = 1.0  # real seconds that work may take to end after it was asked to
_numbers = itertools.count(1)


class FakeTenure:
    """A service that exists in this process only.

    Clients, observers and caches whose `endpoints` are `endpoint` are the library's own, with all
    that they decide; only the service, the time and the connection are fake. Leases, pauses and
    silences go by the fake's clock, which only `advance` and `jump` move. Waits of a test or its
    work, such as `seat.wait(1)` or `candidacy.wait(5)`, go by the real one.

    It has no settings, policies, limits, cool-downs, or trimmed history. It is no proof that a
    program survives a real service: for that, run `tenured`.

    Thread-safe; but only one thread should move the clock. No callback may: it would wait for
    itself, and gets a RuntimeError.
    """

    def __init__(self) -> None:
        self._surroundings = _Fake()
        self._service = self._surroundings.service
        self._overdue: set[Seat] = set()  # their work is no longer waited for
        self._endpoint = f"fake-{next(_numbers)}.tenure.invalid:7070"
        _surroundings.put_at(self._endpoint, self._surroundings)

    @property
    def endpoint(self) -> str:
        """For `Client`, `Elector`, `Observer`, `LeaderCache` and `follow`, while this exists."""
        return self._endpoint

    def client(self, candidate: Optional[str] = None, **options: Any) -> Client:
        """A Client with this endpoint; options as for Client."""
        return Client(self.endpoint, candidate=candidate, **options)

    # Time.

    def advance(self, seconds: float) -> None:
        """Lets time pass. What becomes due happens, in its order: clients renew, leases end, and
        the seats go to those who wait.

        When it returns, clients and observers have acted on it, their callbacks have been called,
        and work that was asked to end has ended, unless it takes longer than a real second. With
        asyncio use `advance_async`: there, work can end only while the event loop runs.

        Raises TimeoutError if a callback has not returned after ten real seconds.
        """
        until = self._now + int(check_not_negative(seconds, "seconds") * SECOND)
        self.settle()
        while self._now < until:
            wakes = (self._surroundings.next_wake, self._service.next_wake)
            self._surroundings.pass_to(int(max(min(until, *wakes), self._now)))
            self._rest()  # holders first: a lease ends for its holder before it does elsewhere
            self._service.wake()
            self.settle()

    async def advance_async(self, seconds: float) -> None:
        """The same for asyncio."""
        await asyncio.get_running_loop().run_in_executor(None, self.advance, seconds)

    def settle(self) -> None:
        """Waits until all that is due now has happened, as `advance(0)` does."""
        self._rest()

    def jump(self, seconds: float) -> None:
        """Moves the clock at once, as if this process had been paused: nothing of it runs
        meanwhile, the service ends leases that are over, and elects others.
        """
        with self._service.lock:
            passed = int(check_not_negative(seconds, "seconds") * SECOND)
            self._surroundings.pass_to(self._now + passed)
            self._service.wake()
        self.settle()

    # Outages.

    def cut(self, *candidates: str) -> None:
        """Keeps candidates from reaching the service; without names, everybody, observers too."""
        with self._service.lock:
            self._service.cut.update(candidates or [EVERYBODY])
            self._service.break_streams()
        self.settle()

    def restore(self, *candidates: str) -> None:
        """Ends a `cut`; without names, each. Clients try again as the clock moves."""
        with self._service.lock:
            if candidates:
                self._service.cut.difference_update(candidates)
            else:
                self._service.cut.clear()

    # Other candidates, and operators.

    def rival(self, election: str, candidate: str = "rival") -> Rival:
        """A candidate in another process: it stands from now on, and always renews."""
        check_name(election, "election")
        return Rival(self, election, candidate)

    def depose(self, election: str) -> None:
        """Ends the leader's term at once. Raises ValueError if nobody leads."""
        with self._service.lock:
            led = self._election(election)
            if led.leader is None:
                raise ValueError(f"nobody leads {election!r}")
            self._service.elections.depose(led, self._now)
        self.settle()

    def appoint(self, election: str, candidate: str) -> None:
        """Asks the leader to make way for a candidate that waits. Raises ValueError if it does not
        wait.
        """
        with self._service.lock:
            if candidate not in self.queue(election):
                raise ValueError(f"{candidate!r} does not wait in {election!r}")
            self._service.elections.appoint(self._election(election), candidate, self._now)
        self.settle()

    # The service's state.

    def leader(self, election: str) -> Optional[pb.Leadership]:
        """The leader, for the service: its process may already have stopped believing."""
        with self._service.lock:
            return self._election(election).leadership

    def queue(self, election: str) -> list[str]:
        """The candidates that wait, the next leader first."""
        with self._service.lock:
            return [place.session.candidate for place in self._election(election).queue]

    def wait_for_leader(
        self, election: str, candidate: Optional[str] = None, timeout: float = 10
    ) -> None:
        """Waits, by the real clock, until a candidate leads, or this one, as the service sees it.

        For code under test that stands on a thread of its own. Raises TimeoutError.
        """

        def leads() -> bool:
            leader = self._election(election).leadership
            return leader is not None and candidate in (None, leader.candidate)

        with self._service.changed:
            if not self._service.changed.wait_for(leads, timeout):
                leader = self.leader(election)
                led = f"{leader.candidate!r} leads" if leader else "nobody leads"
                raise TimeoutError(f"{led} {election!r} after {timeout} s")
        self.settle()

    def _election(self, name: str) -> Election:
        return self._service.elections.elections.get(name) or Election(name)

    @property
    def _now(self) -> int:
        return self._surroundings.now()

    def _rest(self) -> None:
        """Waits until no client has anything to do, and no work has to end, at this time."""
        self._surroundings.settle()
        while any(self._wait_for_work(client) for client in list(clients)):
            self._surroundings.settle()

    def _wait_for_work(self, client: Client) -> bool:
        """Waits for work of this client that must end. True if some has ended."""
        if client._options.surroundings is not self._surroundings:
            return False
        ended = False
        for candidacy in [cast(Candidacy, it) for it in list(client._unfinished)]:
            seat = candidacy._seat
            if seat and seat._stop.done() and candidacy._users and seat not in self._overdue:
                ended = candidacy._wait_for_work(_WORK_PATIENCE) or ended
                if candidacy._users:
                    self._overdue.add(seat)
        return ended


class Rival:
    """A candidate of another process, made by FakeTenure.rival."""

    def __init__(self, fake: FakeTenure, election: str, candidate: str) -> None:
        self._fake = fake
        self._election = election
        self._service = fake._service
        with self._service.lock:
            request = pb.CampaignRequest(election=election)
            self._session = self._service.elections.open(candidate, 0, FOREVER)
            self._service.elections.campaign(self._session, request, fake._now)
        fake.settle()

    @property
    def leads(self) -> bool:
        return self._fake._election(self._election).is_led_by(self._session)

    def resign(self) -> None:
        """Leaves the seat or the queue. The next one leads."""
        with self._service.lock:
            self._service.elections.end(self._session, pb.CAUSE_SESSION_CLOSED, self._fake._now)
        self._fake.settle()


class _Fake(FakeTime):
    """The surroundings of the fake's clients."""

    def __init__(self) -> None:
        super().__init__()
        self.service = FakeService(self)

    def open_channel(
        self,
        endpoint: str,
        options: list[tuple[str, Any]],
        credentials: Optional[grpc.ChannelCredentials],
    ) -> grpc.Channel:
        return FakeChannel(self.service)

    def patience_to_end(self, candidate: str, patience: int) -> int:
        """No time passes: a service that is cut off now stays cut off."""
        return 0 if self.service.is_cut(candidate) else patience
