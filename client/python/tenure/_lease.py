"""A holder's own view of its lease, on its own clock.

Pure, as are the seat and the session: `now` is an argument. In these three modules every time and
every duration is an integer of nanoseconds on the holder's clock.

The service counts a lease from when it received the renewal. The holder counts it from before it
sent that renewal, and believes in it for a tenth less: so it stops before the service elects anyone
else, as long as the two clocks drift apart by less than a tenth.
"""

from __future__ import annotations

MILLISECOND = 1_000_000
SECOND = 1_000_000_000
FOREVER = float("inf")

BELIEF_DIVISOR = 10  # a holder trusts all but 1/BELIEF_DIVISOR of its lease
RENEWALS_PER_LEASE = 3


class Lease:
    def __init__(self) -> None:
        self.ttl = 0
        self.believed_until = 0
        self.renewed_at = 0

    def renewed(self, sent_at: int, ttl: int) -> None:
        """A renewal sent at `sent_at` was answered. Answers may come in any order."""
        self.ttl = ttl
        self.renewed_at = max(self.renewed_at, sent_at)
        self.believed_until = max(self.believed_until, sent_at + ttl - ttl // BELIEF_DIVISOR)

    def believed_at(self, now: int) -> bool:
        return now < self.believed_until

    @property
    def overdue_at(self) -> int:
        """When a renewal, and a second attempt, should have been answered."""
        return self.renewed_at + self.ttl // 2

    @property
    def renewal_interval(self) -> int:
        return self.ttl // RENEWALS_PER_LEASE
