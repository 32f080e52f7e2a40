"""What an observer has seen, and therefore what it requests next and what is news to it.

Pure: no I/O, no clock. Streams are noted one after another; whatever each repeats or leaves out,
every event is news exactly once, and in order.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Mapping, Optional, Sequence

from tenure.v1 import election_pb2 as pb


class Verdict(enum.Enum):
    NEWS = "news"
    KNOWN = "known"  # was reported before, or was not requested
    GAP = "gap"  # something before it is missing: open another stream


@dataclass(frozen=True)
class Wish:
    names: Sequence[str]  # of elections, or their prefixes
    prefix: bool = False
    from_revision: Optional[int] = None
    from_revisions: Mapping[str, int] = field(default_factory=dict)  # of single elections


class Observation:
    def __init__(self, wish: Wish) -> None:
        self._wish = wish
        # The last revision of each election.
        self._seen = {name: revision - 1 for name, revision in wish.from_revisions.items()}
        self._opened = False  # everything has been reported once

    def request(self) -> pb.ObserveRequest:
        """What to ask for on the next stream.

        An observer resumes every election that it has seen by name: the contract allows one
        selector for each election that a stream may watch, plus the prefixes.
        """
        request = pb.ObserveRequest()
        for election, revision in self._seen.items():
            request.selectors.add(election=election, from_revision=revision + 1)
        for name in self._wish.names:
            if self._wish.prefix or name not in self._seen:
                self._select(request.selectors.add(), name)
        return request

    def _select(self, selector: pb.Selector, name: str) -> None:
        if self._wish.prefix:
            selector.prefix = name
        else:
            selector.election = name
        if self._wish.from_revision is not None:
            selector.from_revision = self._wish.from_revision
        elif self._wish.prefix and self._opened:
            selector.from_revision = 1  # those created since: from their beginning

    def note(self, response: pb.ObserveResponse) -> Verdict:
        """Classifies a message of the stream in use. Only news counts as seen."""
        if response.HasField("snapshot"):
            return self._note_snapshot(response.snapshot)
        if response.HasField("event"):
            return self._note_event(response.event)
        if response.HasField("progress"):
            self._opened = True
            return Verdict.NEWS
        return Verdict.KNOWN  # from a newer service

    def _note_snapshot(self, snapshot: pb.Snapshot) -> Verdict:
        seen = self._seen.get(snapshot.election)
        # Only a RESYNC may skip events, or go back, to a restored database.
        if seen is not None and snapshot.reason != pb.Snapshot.REASON_RESYNC:
            return Verdict.KNOWN if snapshot.revision <= seen else Verdict.GAP
        # A deleted election that was found by prefix need not be requested by name, if the prefix
        # asks for first events.
        from_first = self._wish.from_revision in (None, 1)
        if self._wish.prefix and snapshot.revision == 0 and from_first:
            self._seen.pop(snapshot.election, None)
        else:
            self._seen[snapshot.election] = snapshot.revision
        return Verdict.NEWS

    def _note_event(self, event: pb.Event) -> Verdict:
        seen = self._seen.get(event.election)
        next_one = (self._wish.from_revision or 1) if seen is None else seen + 1
        if event.revision < next_one:
            return Verdict.KNOWN
        # The service knows which event is the first: in a restored database it is not 1.
        if event.revision > next_one and next_one != 1:
            return Verdict.GAP
        self._seen[event.election] = event.revision
        return Verdict.NEWS
