"""The seats of one session, by number and by election. For the session, and as pure."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Iterable, Optional

from tenure._lease import FOREVER
from tenure._seat import Need, Seat, SeatOptions
from tenure.v1 import election_pb2 as pb

# Maximum number of elections without a seat whose closed terms are kept: the latest ones.
CLOSED_TERMS_MAX = 10_000


@dataclass
class Entry:
    seat: Seat
    term_asked: int = 0  # the term held when the stream requested the list of seats
    noticed_on: int = 0  # the last stream that reported a grant
    in_doubt: bool = False  # not listed, and granted before or after the list was read
    called: bool = False  # a call for it is under way


class Seats:
    def __init__(self) -> None:
        self.entries: dict[int, Entry] = {}
        self._by_election: dict[str, deque[int]] = {}  # the first one acts
        self._closed_terms: dict[str, int] = {}  # of seats that are gone, for this session

    def add(self, number: int, options: SeatOptions) -> Entry:
        closed_term = self._closed_terms.get(options.election, 0)
        entry = self.entries[number] = Entry(Seat(options, closed_term))
        self._by_election.setdefault(options.election, deque()).append(number)
        return entry

    def find(self, number: int) -> Optional[Entry]:
        return self.entries.get(number)

    def acting_in(self, election: str) -> Optional[Entry]:
        """The seat that acts in this election; others start when it is gone."""
        numbers = self._by_election.get(election)
        return self.entries[numbers[0]] if numbers else None

    def take_gone(self) -> list[int]:
        """Removes the seats that have nothing left to do, and returns their numbers."""
        gone = [n for n, entry in self.entries.items() if entry.seat.gone and not entry.called]
        for number in gone:
            self._forget_seat(number, self.entries.pop(number).seat)
        return gone

    def _forget_seat(self, number: int, seat: Seat) -> None:
        election = seat.options.election
        closed_term = max(self._closed_terms.pop(election, 0), seat.closed_term)
        self._closed_terms[election] = closed_term
        if len(self._closed_terms) > CLOSED_TERMS_MAX:
            del self._closed_terms[next(iter(self._closed_terms))]
        self._by_election[election].remove(number)
        following = self.acting_in(election)
        if following:
            following.seat.closed_term = max(following.seat.closed_term, closed_term)
        else:
            del self._by_election[election]

    def call_at(self, number: int, entry: Entry) -> float:
        """When the seat's next call is due; never, if none is."""
        if entry.called or entry.seat.need is Need.NOTHING:
            return FOREVER
        acts = self._by_election[entry.seat.options.election][0] == number
        return entry.seat.need_at if acts else FOREVER

    def forget_terms(self) -> None:
        """The session has ended: nothing received in it counts any more."""
        self._closed_terms.clear()

    # A new stream's first answer lists the held seats. The stream reports all changes from before
    # the list was read. So a seat that is not listed is lost, if it was held when the list was
    # requested. A seat granted since then was either granted after the list was read, and the
    # stream reports that too, or it was granted and lost before.

    def list_asked(self) -> None:
        for entry in self.entries.values():
            entry.term_asked = entry.seat.term

    def listed(self, held: Iterable[pb.Leadership], stream: int, now: int) -> None:
        """The stream has delivered the list, and each seat in it has been notified."""
        terms = {leadership.election: leadership.term for leadership in held}
        for entry in self.entries.values():
            seat = entry.seat
            listed = terms.get(seat.options.election, -1) >= seat.term
            missing = seat.term != 0 and not listed and entry.noticed_on != stream
            entry.in_doubt = missing and entry.term_asked != seat.term
            if missing and not entry.in_doubt:
                seat.on_lost(seat.term, pb.CAUSE_UNSPECIFIED, now)

    @property
    def any_in_doubt(self) -> bool:
        """Whether the list must be requested again."""
        return any(entry.in_doubt and entry.seat.term for entry in self.entries.values())
