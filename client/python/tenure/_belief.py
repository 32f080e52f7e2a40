"""Whether this process may act as the leader right now: for many readers, and one writer.

Once a reader has got "no" in a term, no reader gets "yes" in that term again. Thread-safe.
"""

from __future__ import annotations

import threading


class Belief:
    def __init__(self) -> None:
        self.void()

    def void(self) -> None:
        """Forgets all, also a lock that a thread held which does not exist in this process."""
        self._lock = threading.RLock()  # a signal handler may ask, too
        self._term = 0
        self._until = 0

    def begin(self, term: int, until: int) -> None:
        """Of a later term than all before, while no belief stands."""
        with self._lock:
            self._term, self._until = term, until

    def extend(self, until: int) -> bool:
        """False, and nothing changes, if a reader has seen the belief end."""
        with self._lock:
            if self._until:
                self._until = until
            return self._until != 0

    def end(self) -> None:
        with self._lock:
            self._until = 0

    def term_at(self, now: int) -> int:
        """The term in which this process may act; 0 if it may not."""
        with self._lock:
            if now < self._until:
                return self._term
            self._until = 0
            return 0

    def remaining(self, now: int) -> int:
        """How long it still holds; not positive if it does not."""
        with self._lock:
            return self._until - now if self._until else 0
