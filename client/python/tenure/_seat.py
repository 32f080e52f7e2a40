"""One elector's seat: what to ask of the service, what to believe, what to report.

  outside --campaign--> standing --elected--> leading --asked to stop--> stopping
     ^                                           |                          | the work has ended
     |                                           | lost                     v
     +---------- the work has ended ----------- ending                   resigning --> outside

A holder that stops because its lease ran out, but wants to keep leading, does not resign: as long
as its lease is believed in, so the session is alive, it asks for the next term of its own seat.

  stopping --the work has ended--> retaking --elected in the next term--> leading

Invariants:
- It believes in a term only while the session's lease is believed in, and never again after it
  stopped.
- It gives up a seat only when the work that needs it has ended.
- A resignation that may be on its way ends the belief for good.
- It reports the beginning and the end of each term once, in this order.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Optional, Union

from tenure._lease import FOREVER, Lease
from tenure.errors import ServiceError
from tenure.v1 import election_pb2 as pb

GRACE_DIVISOR = 4


@dataclass(frozen=True)
class Standing:
    place: pb.Standing


@dataclass(frozen=True)
class Elected:
    leadership: pb.Leadership


@dataclass(frozen=True)
class Suspended:
    """Renewals are late. The seat is still held."""


@dataclass(frozen=True)
class Resumed:
    pass


@dataclass(frozen=True)
class HandoverAsked:
    """An operator wants another leader. The work is asked to end, then the seat is given up."""

    successor: str


@dataclass(frozen=True)
class StopWork:
    """The work must end. Only if there is work."""


@dataclass(frozen=True)
class Overrun:
    """The work has not ended in time, and another candidate may soon hold the seat."""


@dataclass(frozen=True)
class Lost:
    cause: int  # of pb.Cause


@dataclass(frozen=True)
class Troubled:
    """A campaign was not answered, or was refused for now; it is repeated."""

    error: ServiceError


@dataclass(frozen=True)
class Refused:
    """The service refuses this campaign for good; the elector no longer stands."""

    error: ServiceError


Event = Union[
    Standing, Elected, Suspended, Resumed, HandoverAsked, StopWork, Overrun, Lost, Troubled, Refused
]


@dataclass
class SeatOptions:
    election: str
    value: bytes = b""
    priority: int = 0
    # There is work, which must be asked to end, and reports when it has. Without it, anything begun
    # while leading ends within the grace.
    has_work: bool = False
    # How long the work may take to end, at most half of the lease. None: a quarter of it.
    stop_grace: Optional[int] = None
    # It leads for one term, and then no longer stands.
    one_term: bool = False


class Need(enum.Enum):
    """The next request to the service."""

    NOTHING = enum.auto()
    CAMPAIGN = enum.auto()
    RESIGN = enum.auto()


class Phase(enum.Enum):
    OUTSIDE = enum.auto()
    STANDING = enum.auto()
    LEADING = enum.auto()
    STOPPING = enum.auto()
    ENDING = enum.auto()
    RETAKING = enum.auto()
    RESIGNING = enum.auto()


class Seat:
    def __init__(self, options: SeatOptions, closed_term: int = 0) -> None:
        self.options = options
        self.closed_term = closed_term  # reports about terms up to this one no longer count
        self.need_at: float = 0  # the earliest time for the need
        # The last belief ended with the lease, or nearly: nobody wanted to let others go first.
        self.outlived_lease = False
        self._wanted = True
        self._phase = Phase.OUTSIDE
        self._leadership = pb.Leadership()  # of the term that this session holds or may hold
        self._asked_in_term = 0  # the term that was held when the last campaign was sent
        self._asked_after_term = 0  # the term that it was meant to follow
        self._maybe_placed = False  # a campaign is under way or may have been received
        self._proclaiming = False  # the service may not know the value yet
        self._believes = False
        self._working = False
        self._suspended = False
        self._overran = False
        self._trouble = ""
        self._lease_ttl = 0  # when the term began
        self._stop_asked_at = 0
        self._events: list[Event] = []

    # What this process wants and does.

    def proclaim(self, value: bytes, now: int) -> None:
        self.options.value = value
        self._proclaiming = True
        if self._phase in (Phase.STANDING, Phase.LEADING):
            self.need_at = now

    def leave(self, now: int) -> None:
        """No longer stands: the work is asked to end, then the seat is given up."""
        self._wanted = False
        if self._phase is Phase.LEADING:
            self._ask_to_stop(now)
        elif self._phase in (Phase.STANDING, Phase.RETAKING) or (
            self._phase is Phase.OUTSIDE and self._maybe_placed
        ):
            self._give_up(now)

    def abandon(self, now: int) -> None:
        """Like leave, after the elector is gone: the work has ended and nobody is notified."""
        self._wanted = self._working = False
        if self._phase is Phase.ENDING:
            self._phase = Phase.OUTSIDE
        if self._phase is not Phase.OUTSIDE or self._maybe_placed:
            self._give_up(now)

    def work_ended(self, now: int) -> None:
        self._working = False
        if self._phase is Phase.STOPPING:
            self._stopped(now)
        elif self._phase is Phase.LEADING:
            self._give_up(now)
        elif self._phase is Phase.ENDING:
            self._phase = Phase.OUTSIDE
            self.need_at = now
            if not self._wanted and self._maybe_placed:
                self._give_up(now)

    def belief_ended(self, now: int) -> None:
        """A reader has seen the deadline pass, even if `now` is earlier."""
        if not self._believes:
            return
        if self._working and self._phase is Phase.LEADING:
            self._events.append(StopWork())
        if self._working:
            self._overrun()
        self._stop_believing(pb.CAUSE_EXPIRED)
        self.outlived_lease = True
        if self._working:
            self._phase = Phase.STOPPING
        else:
            self._stopped(now)

    # Progress of the need.

    def asked(self) -> None:
        """A campaign was sent. One at a time, and never beside a resignation."""
        self._asked_in_term = self.term
        self._asked_after_term = self.after_term
        self._maybe_placed = True
        self._proclaiming = False

    def unanswered(self, error: ServiceError, retry_at: int) -> None:
        """The request failed, or was refused for now. It is repeated at `retry_at`."""
        trouble = "unanswered" if error.is_transient else "refused"
        if trouble != self._trouble:
            self._events.append(Troubled(error))
        self._trouble = trouble
        self._proclaiming = True
        self.need_at = retry_at

    # What the service says.

    def on_standing(self, place: pb.Standing, now: int, check_at: int) -> None:
        """The last campaign was answered: this session is in the queue.

        It is repeated at `check_at`, because nobody reports the loss of a place.
        """
        self._trouble = ""
        held = self._phase in (Phase.LEADING, Phase.STOPPING, Phase.RETAKING)
        if held and self._asked_in_term == self.term:  # so the answer is not older than the grant
            self._over(pb.CAUSE_UNSPECIFIED, now)
        if self._phase not in (Phase.OUTSIDE, Phase.STANDING):
            return
        stood = self._phase is Phase.STANDING
        self._phase = Phase.STANDING
        if not self._wanted:
            return self._give_up(now)
        if not stood:
            self._events.append(Standing(place))
        self.need_at = now if self._proclaiming else check_at

    def on_elected(self, leadership: pb.Leadership, now: int, lease: Lease) -> None:
        if leadership.term <= self.term:
            return
        if leadership.term <= self.closed_term:
            # Either stale, or the service still thinks we lead a term that we have given up.
            if self.term == 0 and self._phase is not Phase.ENDING:
                self._leadership = leadership
                self._give_up(now)
            return
        if self.term != 0:
            self._over(pb.CAUSE_UNSPECIFIED, now)
        self._leadership = leadership
        self._trouble = ""
        self.outlived_lease = False
        if self._working:  # still working for an earlier term: this one is given up afterwards
            self._phase = Phase.STOPPING
        elif not self._wanted or not lease.believed_at(now):
            self._give_up(now)
        else:
            self._begin(now, lease)

    def on_campaign_elected(self, term: int, now: int) -> None:
        """The last campaign was answered: this session leads in `term`."""
        if self._phase is Phase.RETAKING and term == self.term == self._asked_after_term:
            self._give_up(now)  # the service does not know `after_term`

    def on_lost(self, term: int, cause: int, now: int) -> None:
        if term <= self.closed_term or term < self.term:
            return
        self.closed_term = term
        if self._phase is Phase.RESIGNING and term == self.term:
            return  # the answer ends it
        if self.term != 0:
            self._over(cause, now)
        elif self._phase is Phase.STANDING:  # elected and lost before this process knew
            self._phase = Phase.OUTSIDE
            self.need_at = now

    def on_step_down_asked(self, term: int, successor: str, now: int) -> None:
        if term != self.term:
            return
        self._leadership = pb.Leadership.FromString(self._leadership.SerializeToString())
        self._leadership.successor = successor  # of a copy: the original has been reported
        if self._phase is Phase.LEADING:
            self._ask_to_hand_over(now)
        elif self._phase is Phase.RETAKING:
            self._give_up(now)

    def on_session_over(self, cause: int, now: int) -> None:
        """The session has ended, and with it all that it held."""
        self._maybe_placed = False
        self._over(cause, now)

    def on_refused(self, error: ServiceError, now: int) -> None:
        """The last campaign will never be granted."""
        self._events.append(Refused(error))
        if self._phase not in (Phase.LEADING, Phase.STOPPING):  # else only the value is
            self.leave(now)

    def on_resigned(self, term: int, waits: bool, again_at: int) -> None:
        """A resignation was answered, from `term` or, with 0, from the queue.

        If it `waits`, the session may still be in the queue. The elector stands again at `again_at`
        at the earliest.
        """
        if self._phase is not Phase.RESIGNING or term != self.term:
            return
        self.closed_term = max(self.closed_term, term)
        self._leadership = pb.Leadership()
        self._maybe_placed = waits
        self._phase = Phase.OUTSIDE
        self.need_at = again_at
        if not self._wanted and self._maybe_placed:
            self._give_up(again_at)

    # Time.

    def pass_time(self, now: int, lease: Lease) -> None:
        """Call it before any other input, and at next_wake."""
        if self._believes and not lease.believed_at(now):
            self.belief_ended(now)
        if self._believes:
            if self._suspended != (now >= lease.overdue_at):
                self._suspended = not self._suspended
                self._events.append(Suspended() if self._suspended else Resumed())
            if self._stops_early and now >= self._stop_at(lease):
                self.outlived_lease = True
                self._ask_to_stop(now)
        if self._phase is Phase.RETAKING:
            if not lease.believed_at(now):
                self.need_at = FOREVER  # until a renewal confirms that the session is alive
            elif self.need_at == FOREVER:
                self.need_at = now
        if self._phase in (Phase.STOPPING, Phase.ENDING) and now >= self._overrun_at(lease):
            if self._working:
                self._overrun()
            else:
                self._give_up(now)

    def next_wake(self, lease: Lease) -> float:
        wake = FOREVER
        if self._believes:
            wake = lease.believed_until
            if not self._suspended:
                wake = min(wake, lease.overdue_at)
            if self._stops_early:
                wake = min(wake, self._stop_at(lease))
        if self._phase in (Phase.STOPPING, Phase.ENDING) and not self._overran:
            wake = min(wake, self._overrun_at(lease))
        return wake

    # Results.

    @property
    def need(self) -> Need:
        phase = self._phase
        if phase is Phase.LEADING:
            campaigns = self._proclaiming
        elif phase is Phase.RESIGNING:
            return Need.RESIGN
        else:
            campaigns = phase in (Phase.STANDING, Phase.RETAKING) or (
                phase is Phase.OUTSIDE and self._wanted
            )
        return Need.CAMPAIGN if campaigns else Need.NOTHING

    @property
    def term(self) -> int:
        """The term that this session holds or may hold; 0 if none."""
        return self._leadership.term

    @property
    def after_term(self) -> int:
        """The term that the next campaign ends, to lead in the following one; 0 if none."""
        return self.term if self._phase is Phase.RETAKING else 0

    @property
    def gone(self) -> bool:
        """Nothing is left to do for this elector, now or later."""
        return not self._wanted and self._phase is Phase.OUTSIDE and not self._working

    def believed_until(self, lease: Lease) -> int:
        """The time until which this process may act as the leader; 0 if it does not lead."""
        return lease.believed_until if self._believes else 0

    def take_events(self) -> list[Event]:
        """What has happened since the last call."""
        events, self._events = self._events, []
        return events

    # Internals.

    def _begin(self, now: int, lease: Lease) -> None:
        self._phase = Phase.LEADING
        self._believes = True
        self._wanted = not self.options.one_term
        self._lease_ttl = lease.ttl
        self._working = self.options.has_work
        self._suspended = self._overran = False
        self._proclaiming = self._leadership.value != self.options.value
        self.need_at = now
        self._events.append(Elected(self._leadership))
        if self._leadership.successor:
            self._ask_to_hand_over(now)

    def _stop_believing(self, cause: int) -> None:
        if self._believes:
            self._believes = self._suspended = False
            self._events.append(Lost(cause))

    def _ask_to_stop(self, now: int) -> None:
        self._phase = Phase.STOPPING
        self._stop_asked_at = now
        self._overran = False
        if self.options.has_work:
            self._events.append(StopWork())
        else:
            self._stop_believing(pb.CAUSE_RESIGNED)

    def _ask_to_hand_over(self, now: int) -> None:
        self._events.append(HandoverAsked(self._leadership.successor))
        self._ask_to_stop(now)

    def _overrun(self) -> None:
        if not self._overran:
            self._overran = True
            self._events.append(Overrun())

    def _stopped(self, now: int) -> None:
        """Nothing needs the term any more; this process never believes in it again."""
        if not self.outlived_lease or not self._wanted or self._leadership.successor:
            return self._give_up(now)
        self._stop_believing(pb.CAUSE_RESIGNED)
        self._phase = Phase.RETAKING
        self.need_at = FOREVER

    def _give_up(self, now: int) -> None:
        """Nothing needs the seat or the place any more, so it is given up."""
        self._stop_believing(pb.CAUSE_RESIGNED)
        self._phase = Phase.RESIGNING
        self.need_at = now

    def _over(self, cause: int, now: int) -> None:
        """The service has ended the term: nothing is left to give up."""
        self._stop_believing(cause)
        if self._phase is Phase.LEADING and self._working:
            self._stop_asked_at = now
            self._events.append(StopWork())
        self.closed_term = max(self.closed_term, self.term)
        self._leadership = pb.Leadership()
        self._phase = Phase.ENDING if self._working else Phase.OUTSIDE
        self.need_at = now

    @property
    def _stops_early(self) -> bool:
        return self._phase is Phase.LEADING and self.options.has_work

    def _grace(self, lease: Lease) -> int:
        ttl = lease.ttl or self._lease_ttl  # an ended session has no lease any more
        wished = self.options.stop_grace
        return min(ttl // GRACE_DIVISOR if wished is None else wished, ttl // 2)

    def _stop_at(self, lease: Lease) -> int:
        return lease.believed_until - self._grace(lease)

    def _overrun_at(self, lease: Lease) -> int:
        patience_ends = self._stop_asked_at + self._grace(lease)
        return min(patience_ends, lease.believed_until) if self._believes else patience_ends
