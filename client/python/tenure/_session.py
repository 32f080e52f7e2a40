"""One session and its electors' seats: which calls to make, when to renew, what answers mean.

The session is opened by the first campaign, and renewed on one KeepAlive stream however many
elections there are. A place in a queue needs no open call: the stream reports a grant. So a broken
connection loses nothing while the lease lasts.

Usage: report what happened, then decide, and carry out the effects. For one thread.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Optional

import grpc

from tenure import _pauses
from tenure._effects import (
    CloseStream,
    Effect,
    OpenStream,
    Renewal,
    SendCampaign,
    SendRenewal,
    SendResign,
    UseAnotherReplica,
)
from tenure._lease import FOREVER, MILLISECOND, SECOND, Lease
from tenure._seat import Event, Need, Seat, SeatOptions
from tenure._seats import Entry, Seats
from tenure.errors import ServiceError
from tenure.v1 import election_pb2 as pb

CALLS_MAX = 64  # under way at a time
END_TRIES_MAX = 3
# How late a lost place in a queue may be noticed, if an operator removed it.
CHECK = (20 * SECOND, 40 * SECOND)
# How long a replica may take to answer before another one is asked.
ANSWER_PATIENCE = (100 * MILLISECOND, 3 * SECOND)

THE_SESSION = 0  # in place of a seat: the call is about the whole session


@dataclass(frozen=True)
class _Call:
    seat: int
    session_id: str
    term: int  # of the resignation
    replica: int
    sent_at: int


class Session:
    def __init__(
        self,
        candidate: str,
        lease_ttl: Optional[int] = None,  # None: the default of the election or the service
        supersede: bool = False,
        randomness: Optional[random.Random] = None,
    ) -> None:
        self._candidate = candidate
        self._wished_ttl = lease_ttl
        self._supersede = supersede
        self._random = randomness or random.SystemRandom()

        self._session_id = ""  # empty: none is open
        self._request_id = self._new_request_id()
        self._previous_session_id = ""
        self._lease = Lease()
        self._seats = Seats()
        self._calls: dict[int, _Call] = {}
        self._last_number = 0  # of calls and streams
        self._next_stray = -1  # seats below 0 are the session's own; nobody else knows them

        self._replica = 0  # rises with each change of replica
        self._move_on: Optional[UseAnotherReplica] = None
        self._failures = 0  # of replicas, in a row

        self._stream = 0  # 0: none is open
        self._stream_replica = 0
        self._dropped_stream = 0  # to be closed
        self._open_at = 0
        self._next_renewal: float = FOREVER
        self._sequence = 0  # of the last renewal
        self._renewal_sent: Optional[int] = None  # when the renewal that awaits an answer was sent
        self._renewals: list[Renewal] = []
        self._list: Optional[list[pb.Leadership]] = None  # of the parts so far; None: complete

        self._ending = False
        self._insist_until: Optional[int] = None
        self._resign_until = 0
        self._end_at = 0  # the next try
        self._end_tries = 0
        self.ended = False  # nothing is left to do after `end`
        # None if the service has ended the session, or there is none; else its last answer.
        self.end_error: Optional[ServiceError] = None

    # What this process wants and does. Seats that are gone, or were never added, are ignored.

    def add(self, number: int, options: SeatOptions) -> None:
        """Numbers start at 1, and are never reused.

        If an earlier seat has not yet left the election, this one starts when that is gone.
        """
        self._seats.add(number, options)

    def proclaim(self, number: int, value: bytes, now: int) -> None:
        if entry := self._seats.find(number):
            entry.seat.proclaim(value, now)

    def leave(self, number: int, now: int) -> None:
        self._pass_time(now)
        if entry := self._seats.find(number):
            entry.seat.leave(now)

    def abandon(self, number: int, now: int) -> None:
        if entry := self._seats.find(number):
            entry.seat.abandon(now)

    def belief_ended(self, number: int, now: int) -> None:
        """A reader has acted on the end of a belief that this session has not noticed yet."""
        if entry := self._seats.find(number):
            entry.seat.belief_ended(now)

    def work_ended(self, number: int, now: int) -> None:
        self._pass_time(now)
        if entry := self._seats.find(number):
            entry.seat.work_ended(now)

    def end(self, now: int, insist_until: Optional[int] = None) -> None:
        """Abandons all seats and ends the session.

        With `insist_until`, half of the time is for the resignations, and the rest for ending the
        session, which also frees the seats. Without it, both are tried a few times, at once.
        """
        self._ending = True
        self._insist_until = insist_until
        self._resign_until = now if insist_until is None else now + (insist_until - now) // 2
        self._end_tries = 0
        for entry in self._seats.entries.values():
            entry.seat.abandon(now)

    # What the service answers.

    def on_campaign_done(
        self,
        number: int,
        now: int,
        response: Optional[pb.CampaignResponse] = None,
        error: Optional[ServiceError] = None,
    ) -> None:
        self._pass_time(now)
        call = self._take_call(number)
        if call is None or call.session_id != self._session_id:
            return  # from a session that has ended
        if error is not None:
            self._on_campaign_failed(call, error, now)
        elif response is not None:
            self._on_campaign_answered(call, response, now)

    def _on_campaign_answered(self, call: _Call, response: pb.CampaignResponse, now: int) -> None:
        self._failures = 0
        if not self._session_id:
            self._on_opened(response.session)
        # Counted from before the call, not from the answer: the service began to count in between.
        self._lease.renewed(call.sent_at, response.session.lease_ttl.ToNanoseconds())
        entry = self._seats.find(call.seat)
        if entry is None:
            return
        if response.HasField("elected"):
            self._seat_elected(response.elected, now)
            entry.seat.on_campaign_elected(response.elected.term, now)
        elif response.HasField("standing"):
            entry.seat.on_standing(response.standing, now, self._within(CHECK, now))

    def _on_campaign_failed(self, call: _Call, error: ServiceError, now: int) -> None:
        entry = self._seats.find(call.seat)
        if entry is None:
            return
        if error.is_session_gone:
            if self._session_id:
                return self._session_over(_cause_of(error), now)
            # It had opened a session whose lease has already expired.
            self._request_id = self._new_request_id()
            entry.seat.unanswered(error, self._backoff(now))
        elif error.is_transient:
            self._replica_failed(call.replica, error.is_silence)
            wished = now + int(error.retry_delay * SECOND)
            entry.seat.unanswered(error, max(self._backoff(now), wished))
        elif error.is_refused_for_now:
            entry.seat.unanswered(error, now + _pauses.refused(self._random))
        else:
            entry.seat.on_refused(error, now)

    def on_resign_done(self, number: int, now: int, error: Optional[ServiceError] = None) -> None:
        self._pass_time(now)
        call = self._take_call(number)
        if call is None or call.session_id != self._session_id:
            return
        refused = error is not None and not error.is_session_gone and error.is_refused_for_now
        unanswered = error if error and (refused or error.is_transient) else None
        if unanswered:
            self._replica_failed(call.replica, unanswered.is_silence)
        entry = self._seats.find(call.seat)
        if call.seat == THE_SESSION:
            self._on_end_answered(error, refused, now)
        elif entry and unanswered:
            retry_at = now + _pauses.refused(self._random) if refused else self._backoff(now)
            entry.seat.unanswered(unanswered, retry_at)
        elif entry:
            self._on_resigned(call, entry.seat, error, now)

    def _on_end_answered(self, error: Optional[ServiceError], refused: bool, now: int) -> None:
        self.end_error = None if error and error.is_session_gone else error
        unanswered = error is not None and (refused or error.is_transient)
        if self._insist_until is None:
            self.ended = not unanswered or self._end_tries >= END_TRIES_MAX
        else:
            self.ended = not unanswered or refused or now >= self._insist_until
            self._end_at = self._backoff(now)

    def _on_resigned(
        self, call: _Call, seat: Seat, error: Optional[ServiceError], now: int
    ) -> None:
        stale = error if error and error.reason == "STALE_TERM" else None
        if stale and call.term == 0:  # the place in the queue has become the seat
            term = int(stale.metadata.get("current_term", "0"))
            if term == 0:
                return seat.unanswered(stale, self._backoff(now))
            leadership = pb.Leadership(election=seat.options.election, term=term)
            return seat.on_elected(leadership, now, self._lease)
        # With STALE_TERM the session may still stand, but not as we assumed.
        others_first = 0 if seat.outlived_lease else self._lease.renewal_interval
        seat.on_resigned(call.term, stale is not None, now + others_first)

    @property
    def is_open(self) -> bool:
        return bool(self._session_id)

    def follows(self, stream: int) -> bool:
        """Whether this is the open KeepAlive stream."""
        return stream == self._stream

    def on_stream_message(self, stream: int, response: pb.KeepAliveResponse, now: int) -> None:
        self._pass_time(now)
        if not self.follows(stream):
            return
        if response.HasField("notice"):
            self._take_in_notice(response.notice, now)
        elif response.HasField("session_ended"):
            self._session_over(response.session_ended.cause, now)
        elif response.HasField("renewal"):
            self._take_in_renewal(response.renewal, now)

    def on_wrong_service(self, now: int) -> None:
        """A replica works on another database. After its lease, the session may exist nowhere."""
        self._pass_time(now)
        if self._session_id and now >= self._lease.renewed_at + self._lease.ttl:
            self._session_over(pb.CAUSE_EXPIRED, now)

    def on_service_replaced(self, now: int) -> None:
        """Most endpoints belong to another service now. That ends the session; terms of the old
        service say nothing about those of the new one.
        """
        self._pass_time(now)
        self._session_over(pb.CAUSE_EXPIRED, now)
        self._previous_session_id = ""
        self.end_error = None
        self._seats.forget_terms()
        for entry in self._seats.entries.values():
            entry.seat.closed_term = 0

    def on_stream_closed(self, stream: int, now: int) -> None:
        self._pass_time(now)
        if stream != self._stream:
            return
        self._replica_failed(self._stream_replica, silent=False)
        self._stream = 0
        self._renewal_sent = None
        self._open_at = self._backoff(now)

    def on_stream_dropped(self, stream: int, now: int) -> None:
        """Ended by this process, and not because of the replica."""
        self._pass_time(now)
        if stream == self._stream:
            self._stream = 0
            self._renewal_sent = None
            self._open_at = now

    # What to do now.

    def decide(self, now: int) -> list[Effect]:
        self._pass_time(now)
        effects: list[Effect] = []
        if self._move_on:
            effects.append(self._move_on)
            self._move_on = None
        self._close_dropped_stream(effects)
        if self._ending:
            self._decide_end(now, effects)
            return effects
        self._decide_stream(now, effects)
        self._decide_seats(now, effects)
        return effects

    @property
    def awaits_renewal(self) -> bool:
        return self._renewal_sent is not None

    def next_wake(self) -> float:
        """When to decide again, if nothing happens before."""
        if self._ending and self._resign_until == 0:
            return FOREVER if self._calls or self.ended else self._end_at
        wake = FOREVER
        if self._ending:
            wake = self._resign_until
        elif self._session_id:
            wake = self._stream_wake()
        for number, entry in self._seats.entries.items():
            wake = min(wake, entry.seat.next_wake(self._lease), self._call_at(number, entry))
        return wake

    def take_news(self) -> list[tuple[int, Event]]:
        """The news for each seat since the last call."""
        return [
            (number, event)
            for number, entry in self._seats.entries.items()
            for event in entry.seat.take_events()
            if number > 0
        ]

    def take_renewals(self) -> list[Renewal]:
        renewals, self._renewals = self._renewals, []
        return renewals

    def take_gone(self) -> list[int]:
        """Removes the seats that have nothing left to do, and returns their numbers."""
        return [number for number in self._seats.take_gone() if number > 0]

    def believed_until(self, number: int) -> int:
        """The time until which a seat's process may act as the leader; 0 if it does not lead."""
        entry = self._seats.find(number)
        return entry.seat.believed_until(self._lease) if entry else 0

    def term_of(self, number: int) -> int:
        entry = self._seats.find(number)
        return entry.seat.term if entry else 0

    # Time.

    def _pass_time(self, now: int) -> None:
        for entry in self._seats.entries.values():
            entry.seat.pass_time(now, self._lease)
        if self._renewal_sent is not None and now >= self._renewal_sent + self._answer_patience:
            self._replica_failed(self._stream_replica, silent=True)
            self._drop_stream()
            self._open_at = self._backoff(now)

    def _stream_wake(self) -> float:
        if self._stream == 0:
            return self._open_at
        if self._renewal_sent is not None:
            return self._renewal_sent + self._answer_patience
        return self._next_renewal

    def _decide_stream(self, now: int, effects: list[Effect]) -> None:
        if not self._session_id:
            return
        if self._stream and self._renewal_sent is None and now >= self._next_renewal:
            if self._seats.any_in_doubt:
                self._drop_stream()
                self._close_dropped_stream(effects)
                self._open_at = now
            else:
                self._renew(now, effects)
        if self._stream == 0 and now >= self._open_at:
            self._open_stream(now, effects)

    def _open_stream(self, now: int, effects: list[Effect]) -> None:
        self._stream = self._next_number()
        self._stream_replica = self._replica
        self._list = []
        self._seats.list_asked()
        effects.append(OpenStream(self._stream))
        self._renew(now, effects)

    def _renew(self, now: int, effects: list[Effect]) -> None:
        self._sequence += 1
        self._renewal_sent = now
        request = pb.KeepAliveRequest(sequence=self._sequence, session_ids=[self._session_id])
        effects.append(SendRenewal(self._stream, request))

    def _decide_seats(self, now: int, effects: list[Effect]) -> None:
        for number, entry in self._seats.entries.items():
            if now >= self._call_at(number, entry):
                self._call_for(number, entry, now, effects)

    def _call_at(self, number: int, entry: Entry) -> float:
        """While no session is open, one call at a time, which opens the session for all of them.
        While it is being ended, nobody campaigns.
        """
        if self._ending and entry.seat.need is Need.CAMPAIGN:
            return FOREVER
        may_call = len(self._calls) < (CALLS_MAX if self._session_id else 1)
        return self._seats.call_at(number, entry) if may_call else FOREVER

    def _call_for(self, number: int, entry: Entry, now: int, effects: list[Effect]) -> None:
        seat = entry.seat
        if not self._session_id and seat.need is Need.RESIGN:
            # A grant, if there was one, belongs to a session that nobody will ever know of or
            # renew.
            self._request_id = self._new_request_id()
            return seat.on_resigned(seat.term, False, now)
        call = self._next_number()
        self._calls[call] = _Call(number, self._session_id, seat.term, self._replica, now)
        entry.called = True
        if seat.need is Need.CAMPAIGN:
            seat.asked()
            request = self._campaign_request(seat)
            effects.append(SendCampaign(call, request, self._answer_patience))
        else:
            resign = pb.ResignRequest(
                session_id=self._session_id, election=seat.options.election, term=seat.term
            )  # term 0: it waits
            effects.append(SendResign(call, resign, self._answer_patience))

    def _decide_end(self, now: int, effects: list[Effect]) -> None:
        if now < self._resign_until:
            self._decide_seats(now, effects)
            if any(entry.seat.need is Need.RESIGN for entry in self._seats.entries.values()):
                return
        self._resign_until = 0
        if self._calls or now < self._end_at:
            return
        if not self._session_id:
            self.ended = True
        if self.ended:
            return
        self._end_tries += 1
        call = self._next_number()
        self._calls[call] = _Call(THE_SESSION, self._session_id, 0, self._replica, now)
        request = pb.ResignRequest(session_id=self._session_id)
        effects.append(SendResign(call, request, self._answer_patience))

    def _drop_stream(self) -> None:
        """The stream is no longer useful."""
        if self._stream:
            self._dropped_stream, self._stream = self._stream, 0
        self._renewal_sent = None

    def _close_dropped_stream(self, effects: list[Effect]) -> None:
        if self._dropped_stream:
            effects.append(CloseStream(self._dropped_stream))
            self._dropped_stream = 0

    def _replica_failed(self, replica: int, silent: bool) -> None:
        """A call or stream on this replica failed, but should succeed on another."""
        if replica == self._replica:  # otherwise it is no longer in use
            self._replica += 1
            self._failures += 1
            self._move_on = UseAnotherReplica(silent)

    # What the service says.

    def _on_opened(self, session: pb.Session) -> None:
        self._session_id = session.session_id
        self._request_id = self._new_request_id()  # for the next one
        self._previous_session_id = ""

    def _session_over(self, cause: int, now: int) -> None:
        if not self._session_id:
            return
        self._previous_session_id = self._session_id if cause == pb.CAUSE_EXPIRED else ""
        self._session_id = ""
        self._seats.forget_terms()
        self._lease = Lease()
        self._drop_stream()
        for entry in self._seats.entries.values():
            entry.seat.on_session_over(cause, now)
            if cause == pb.CAUSE_SUPERSEDED:
                # Another session would supersede the process that took over.
                entry.seat.on_refused(self._superseded(), now)

    def _superseded(self) -> ServiceError:
        details = f"superseded by a newer session of {self._candidate}"
        return ServiceError(grpc.StatusCode.ABORTED, details)

    def _seat_elected(self, leadership: pb.Leadership, now: int) -> None:
        entry = self._seats.acting_in(leadership.election) or self._add_stray(
            leadership.election, now
        )
        entry.seat.on_elected(leadership, now, self._lease)
        if leadership.successor:
            entry.seat.on_step_down_asked(leadership.term, leadership.successor, now)

    def _add_stray(self, election: str, now: int) -> Entry:
        """A seat in an election where this process does not stand. It will be given up."""
        entry = self._seats.add(self._next_stray, SeatOptions(election))
        self._next_stray -= 1
        entry.seat.abandon(now)
        return entry

    def _take_in_notice(self, notice: pb.SeatNotice, now: int) -> None:
        if notice.HasField("elected"):
            self._seat_elected(notice.elected, now)
        entry = self._seats.acting_in(notice.election)
        if entry is None:
            return
        if notice.HasField("elected"):
            entry.noticed_on = self._stream
            entry.in_doubt = False
        elif notice.HasField("lost"):
            entry.seat.on_lost(notice.lost.term, notice.lost.cause, now)
        elif notice.HasField("step_down"):
            entry.seat.on_step_down_asked(notice.step_down.term, notice.step_down.successor, now)

    def _take_in_renewal(self, renewal: pb.Renewal, now: int) -> None:
        if len(renewal.sessions) != 1:
            return
        session = renewal.sessions[0]
        if session.HasField("ended"):
            return self._session_over(session.ended, now)
        if session.HasField("not_found"):
            return self._session_over(pb.CAUSE_EXPIRED, now)
        if self._renewal_sent is not None and renewal.sequence == self._sequence:
            self._renewed(session.lease_ttl.ToNanoseconds(), self._renewal_sent, now)
            self._renewal_sent = None
        if self._list is not None:
            self._list.extend(session.seats)
            if not renewal.more:
                self._take_in_list(now)

    def _take_in_list(self, now: int) -> None:
        """The seats count as listed once the last part of the list is here."""
        held, self._list = self._list or [], None
        for leadership in held:
            self._seat_elected(leadership, now)
        self._seats.listed(held, self._stream, now)

    def _renewed(self, lease_ttl: int, sent_at: int, now: int) -> None:
        self._failures = 0
        self._renewals.append(Renewal(now - sent_at, self._lease.believed_until - now))
        self._lease.renewed(sent_at, lease_ttl)
        self._next_renewal = sent_at + self._lease.renewal_interval

    # Internals.

    def _take_call(self, number: int) -> Optional[_Call]:
        call = self._calls.pop(number, None)
        entry = self._seats.find(call.seat) if call else None
        if entry:
            entry.called = False
        return call

    def _campaign_request(self, seat: Seat) -> pb.CampaignRequest:
        options = seat.options
        request = pb.CampaignRequest(
            election=options.election,
            candidate=self._candidate,
            value=options.value,
            priority=options.priority,
            supersede=self._supersede,
        )
        request.wait.FromSeconds(0)  # the stream reports the election
        if self._session_id:
            request.session_id = self._session_id
            if seat.after_term:
                request.after_term = seat.after_term
            return request
        request.request_id = self._request_id
        request.previous_session_id = self._previous_session_id
        if self._wished_ttl is not None:
            request.lease_ttl.FromNanoseconds(self._wished_ttl)
        return request

    @property
    def _answer_patience(self) -> int:
        """Half of a heartbeat, so that a hanging replica costs less than one."""
        least, most = ANSWER_PATIENCE
        lease_ttl = self._lease.ttl or self._wished_ttl
        return most if lease_ttl is None else min(max(lease_ttl // 6, least), most)

    def _within(self, least_and_most: tuple[int, int], now: int) -> int:
        return now + self._random.randint(*least_and_most)

    def _backoff(self, now: int) -> int:
        return now + _pauses.backoff(self._failures, self._random)

    def _next_number(self) -> int:
        self._last_number += 1
        return self._last_number

    def _new_request_id(self) -> bytes:
        return self._random.getrandbits(128).to_bytes(16, "big")


def _cause_of(error: ServiceError) -> int:
    try:
        return pb.Cause.Value("CAUSE_" + error.metadata.get("cause", ""))
    except ValueError:  # an unknown session has expired and was deleted since
        return pb.CAUSE_EXPIRED
