"""The elections of a service, in memory: for tests. Pure: `now` is an argument.

It keeps the promises of election.proto that a client can see: terms rise, the queue is served by
priority and then in order, and a session that is not renewed ends with its lease.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Iterator, Optional, Union

from tenure._lease import FOREVER, SECOND
from tenure.v1 import election_pb2 as pb

Notice = Union[pb.SeatNotice, pb.SessionEnded]

LEASE_TTL_DEFAULT = 10 * SECOND


@dataclass(eq=False)
class Session:
    id: str
    candidate: str
    lease_ttl: int
    expires_at: float
    cause: Optional[pb.Cause] = None  # why it ended


@dataclass(eq=False)
class Place:
    session: Session
    ticket: int
    value: bytes
    priority: int


@dataclass(eq=False)
class Election:
    name: str
    term: int = 0
    leader: Optional[Place] = None
    elected_at: int = 0
    successor: str = ""  # the candidate that an operator has appointed
    places: list[Place] = field(default_factory=list)  # of waiting candidates
    events: list[pb.Event] = field(default_factory=list)  # revision 1 first

    @property
    def queue(self) -> list[Place]:
        """The waiting candidates, the next leader first."""

        def order(place: Place) -> tuple[bool, int, int]:
            appointed = place.session.candidate == self.successor
            return not appointed, -place.priority, place.ticket

        return sorted(self.places, key=order)

    @property
    def leadership(self) -> Optional[pb.Leadership]:
        if self.leader is None:
            return None
        leadership = pb.Leadership(
            election=self.name,
            term=self.term,
            candidate=self.leader.session.candidate,
            value=self.leader.value,
            successor=self.successor,
        )
        leadership.elected_time.FromNanoseconds(self.elected_at)
        leadership.lease_ttl.FromNanoseconds(self.leader.session.lease_ttl)
        return leadership

    def place_of(self, session: Session) -> Optional[Place]:
        return next((place for place in self.places if place.session is session), None)

    def is_led_by(self, session: Session) -> bool:
        return self.leader is not None and self.leader.session is session


class Elections:
    """Passes news to `notify` for the owner of a session, and to `publish` for observers."""

    def __init__(
        self, notify: Callable[[Session, Notice], None], publish: Callable[[pb.Event], None]
    ) -> None:
        self.elections: dict[str, Election] = {}
        self.sessions: dict[str, Session] = {}  # including those that have ended
        self._notify = notify
        self._publish = publish
        self._tickets = 0

    def open(self, candidate: str, lease_ttl: int, now: float) -> Session:
        session_id = f"fake-{len(self.sessions) + 1}"
        lease_ttl = lease_ttl or LEASE_TTL_DEFAULT
        session = Session(session_id, candidate, lease_ttl, now + lease_ttl)
        self.sessions[session_id] = session
        return session

    def at(self, name: str) -> Election:
        return self.elections.setdefault(name, Election(name))

    def led_by(self, session: Session) -> Iterator[pb.Leadership]:
        for election in self.elections.values():
            if election.leadership and election.is_led_by(session):
                yield election.leadership

    def campaign(self, session: Session, request: pb.CampaignRequest, now: int) -> Election:
        election = self.at(request.election)
        if request.supersede:
            self._supersede(election, session, request, now)
        led = election.is_led_by(session)
        ends_term = led and request.after_term == election.term
        place = election.leader if led and not ends_term else election.place_of(session)
        if place is None:
            self._tickets += 1
            place = Place(session, self._tickets, request.value, request.priority)
            election.places.append(place)
        changed = place is election.leader and place.value != request.value
        place.value, place.priority = request.value, request.priority
        if changed:
            self._add(election, pb.Event.TYPE_PROCLAIMED, now)
        if ends_term:
            waiting = (each.session.candidate for each in election.places)
            heir = None if election.successor in waiting else place
            self._vacate(election, pb.CAUSE_RESIGNED, now, heir)
        self._fill(election, now)
        return election

    def resign(self, session: Session, election: Election, now: int) -> None:
        if election.is_led_by(session):
            self._vacate(election, pb.CAUSE_RESIGNED, now)
        elif place := election.place_of(session):
            election.places.remove(place)

    def depose(self, election: Election, now: int) -> None:
        self._vacate(election, pb.CAUSE_DEPOSED, now)

    def appoint(self, election: Election, candidate: str, now: int) -> None:
        """Appoints a waiting candidate: the leader is asked to make way."""
        election.successor = candidate
        if election.leader:
            self._add(election, pb.Event.TYPE_HANDOVER_ASKED, now)
            step_down = pb.StepDown(term=election.term, successor=candidate)
            notice = pb.SeatNotice(election=election.name, step_down=step_down)
            self._notify(election.leader.session, notice)
        self._fill(election, now)

    def end(self, session: Session, cause: pb.Cause, now: int) -> None:
        """Ends the session. Its seats pass to waiting candidates."""
        session.cause = cause
        self._notify(session, pb.SessionEnded(session_id=session.id, cause=cause))
        for election in self.elections.values():
            if place := election.place_of(session):
                election.places.remove(place)
            if election.is_led_by(session):
                self._vacate(election, cause, now)

    def expire(self, now: int) -> None:
        for session in self._live():
            if session.expires_at <= now:
                self.end(session, pb.CAUSE_EXPIRED, now)

    @property
    def next_expiry(self) -> float:
        return min((session.expires_at for session in self._live()), default=FOREVER)

    def _live(self) -> list[Session]:
        return [session for session in self.sessions.values() if session.cause is None]

    def _supersede(
        self, election: Election, newer: Session, request: pb.CampaignRequest, now: int
    ) -> None:
        standing = [*election.places, *([election.leader] if election.leader else [])]
        for place in standing:
            older = place.session
            if older is newer or older.candidate != newer.candidate:
                continue
            if election.place_of(newer) is None:  # it takes the older one's place
                first = 0 if place is election.leader else place.ticket
                election.places.append(Place(newer, first, request.value, request.priority))
            self.end(older, pb.CAUSE_SUPERSEDED, now)

    def _vacate(
        self, election: Election, cause: pb.Cause, now: int, heir: Optional[Place] = None
    ) -> None:
        assert election.leader
        session = election.leader.session
        self._add(election, pb.Event.TYPE_VACATED, now, cause)
        election.leader = None
        lost = pb.SeatLost(term=election.term, cause=cause)
        self._notify(session, pb.SeatNotice(election=election.name, lost=lost))
        if heir:
            self._elect(election, heir, now)
        else:
            self._fill(election, now)

    def _fill(self, election: Election, now: int) -> None:
        """Elects the next candidate if the seat is vacant."""
        if election.leader:
            return
        for place in election.queue:
            if place.priority >= 0 or place.session.candidate == election.successor:
                return self._elect(election, place, now)

    def _elect(self, election: Election, place: Place, now: int) -> None:
        election.places.remove(place)
        election.leader, election.elected_at, election.successor = place, now, ""
        election.term += 1
        self._add(election, pb.Event.TYPE_ELECTED, now)
        notice = pb.SeatNotice(election=election.name, elected=election.leadership)
        self._notify(place.session, notice)

    def _add(
        self,
        election: Election,
        kind: pb.Event.Type,
        now: int,
        cause: pb.Cause = pb.CAUSE_UNSPECIFIED,
    ) -> None:
        event = pb.Event(
            election=election.name,
            revision=len(election.events) + 1,
            type=kind,
            leadership=election.leadership,
            cause=cause,
        )
        event.time.FromNanoseconds(now)
        election.events.append(event)
        self._publish(event)
