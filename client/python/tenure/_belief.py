"""Whether this process may act as the leader right now. Many threads read it; one writes it.

Once a reader has seen "no" in a term, no reader sees "yes" in that term again. Thread-safe.
"""

from __future__ import annotations

import threading


class Belief:
    def __init__(self) -> None:
        self.void()

    def void(self) -> None:
        """Forgets everything, even a lock that is held by a thread of the parent process."""
        self._lock = threading.RLock()  # a signal handler may ask, too
        self._term = 0
        self._until = 0

    def begin(self, term: int, until: int) -> None:
        """Starts a belief in a term that is higher than all before. No other belief may stand."""
        with self._lock:
            self._term, self._until = term, until

    def extend(self, until: int) -> bool:
        """Returns False, and changes nothing, if a reader has seen the belief end."""
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
