"""Time that stands still until a test moves it, and threads that wait by it."""

from __future__ import annotations

import math
import queue
import threading
from typing import Any, Callable, Optional

from tenure._lease import FOREVER, SECOND
from tenure._surroundings import Surroundings

PATIENCE = 10.0  # real seconds for threads to come to rest
START = 1_000 * SECOND  # the lease may have begun before


class FakeTime(Surroundings):
    """Knows which of its threads are at rest, because they have done all that is due."""

    def __init__(self) -> None:
        self._now = START
        self._changed = threading.Condition()
        self._threads: set[threading.Thread] = set()  # running or waiting
        self._waits: dict[threading.Thread, _Wait] = {}

    def now(self) -> int:
        return self._now

    def patience_until(self, wake: float) -> Optional[float]:
        return None if wake == FOREVER else max(wake - self._now, 0) / SECOND

    def start(self, target: Callable[[], object], name: str) -> threading.Thread:
        def run() -> None:
            try:
                target()
            finally:
                with self._changed:
                    self._threads.discard(thread)
                    self._changed.notify_all()

        thread = threading.Thread(target=run, name=name, daemon=True)
        with self._changed:
            self._threads.add(thread)
        try:
            thread.start()
        except RuntimeError:
            with self._changed:
                self._threads.discard(thread)
            raise
        return thread

    def new_queue(self) -> queue.SimpleQueue[Any]:
        return _Queue(self)

    def new_event(self) -> threading.Event:
        return _Event(self)

    def settle(self) -> None:
        """Waits until all threads are at rest. Raises TimeoutError if one is not."""
        if threading.current_thread() in self._threads:
            raise RuntimeError("a callback must not move the clock: it would wait for itself")
        with self._changed:
            if not self._changed.wait_for(lambda: not self._busy(), PATIENCE):
                names = ", ".join(sorted(thread.name for thread in self._busy()))
                raise TimeoutError(f"not at rest after {PATIENCE:.0f} s: {names}")

    @property
    def next_wake(self) -> float:
        """When the next thread wakes up by itself."""
        with self._changed:
            return min((wait.until for wait in self._waits.values()), default=FOREVER)

    def pass_to(self, now: int) -> None:
        with self._changed:
            self._now = now
            self._changed.notify_all()

    def notify(self) -> None:
        """Wakes up waiting threads to check their conditions."""
        with self._changed:
            self._changed.notify_all()

    def wait(self, ready: Callable[[], bool], timeout: Optional[float]) -> bool:
        """Whether it was ready before the timeout, which is in seconds of this clock."""
        with self._changed:
            until = FOREVER if timeout is None else self._now + math.ceil(timeout * SECOND)
            wait = _Wait(self, ready, until)
            thread = threading.current_thread()
            self._waits[thread] = wait
            self._changed.notify_all()
            try:
                self._changed.wait_for(wait.over)
            finally:
                del self._waits[thread]
            return ready()

    def _busy(self) -> list[threading.Thread]:
        waits = self._waits
        return [one for one in self._threads if one not in waits or waits[one].over()]


class _Wait:
    def __init__(self, time: FakeTime, ready: Callable[[], bool], until: float) -> None:
        self._time = time
        self._ready = ready
        self.until = until

    def over(self) -> bool:
        return self._ready() or self._time.now() >= self.until


class _Queue(queue.SimpleQueue[Any]):
    def __init__(self, time: FakeTime) -> None:
        super().__init__()
        self._time = time

    def put(self, item: Any, block: bool = True, timeout: Optional[float] = None) -> None:
        super().put(item)
        self._time.notify()

    def get(self, block: bool = True, timeout: Optional[float] = None) -> Any:
        if block:
            self._time.wait(lambda: not self.empty(), timeout)
        return super().get(block=False)


class _Event(threading.Event):
    def __init__(self, time: FakeTime) -> None:
        super().__init__()
        self._time = time

    def set(self) -> None:
        super().set()
        self._time.notify()

    def wait(self, timeout: Optional[float] = None) -> bool:
        return self._time.wait(self.is_set, timeout)
