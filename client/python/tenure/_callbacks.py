"""Calls functions of the user: one after another, and without letting exceptions out."""

from __future__ import annotations

import logging
import queue
import threading
from functools import partial
from typing import Any, Callable, Optional

from tenure._surroundings import Surroundings

logger = logging.getLogger("tenure")


def guarded(function: Callable[..., object], *arguments: Any) -> None:
    """Calls it, and logs any exception, even SystemExit, so that no thread of tenure ends by it."""
    try:
        function(*arguments)
    except BaseException:
        logger.exception("%r has failed", function)


class Gate:
    """Lets one call through at a time, and none once it is shut. Thread-safe."""

    def __init__(self) -> None:
        self.open = True
        self._lock = threading.RLock()  # held while a call is inside

    def pass_through(self, function: Callable[..., object], *arguments: Any) -> None:
        with self._lock:
            if self.open:
                function(*arguments)

    def shut(self) -> None:
        """Waits for a call that is inside, unless called from there."""
        self.open = False
        with self._lock:
            pass


class SerialExecutor:
    """Runs callbacks one after another, on a thread that does nothing else."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._tasks: queue.SimpleQueue[Optional[Callable[[], object]]] = surroundings.new_queue()
        self.thread = surroundings.start(self._run, "tenure-callbacks")

    def run(self, function: Callable[..., object], *arguments: Any) -> None:
        self._tasks.put(partial(function, *arguments))

    def close(self) -> None:
        """Ends after the tasks that it has."""
        self._tasks.put(None)

    def _run(self) -> None:
        for task in iter(self._tasks.get, None):
            guarded(task)
