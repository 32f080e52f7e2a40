"""The surroundings of a client: its clock, its threads, and the transport of its calls."""

from __future__ import annotations

import queue
import threading
import weakref
from typing import Any, Callable, Optional

import grpc

from tenure import _clock


class Surroundings:
    """The real ones. tenure.testing has others, with a clock that a test moves."""

    def now(self) -> int:
        """The time on the holder's clock, in nanoseconds."""
        return _clock.now()

    def patience_until(self, wake: float) -> Optional[float]:
        """How long a thread that must act at `wake` may wait, in seconds. None: no limit."""
        return _clock.patience_until(wake)

    def start(self, target: Callable[[], object], name: str) -> threading.Thread:
        """Raises RuntimeError if no thread can be started."""
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        return thread

    def new_queue(self) -> queue.SimpleQueue[Any]:
        return queue.SimpleQueue()

    def new_event(self) -> threading.Event:
        return threading.Event()

    def open_channel(
        self,
        endpoint: str,
        options: list[tuple[str, Any]],
        credentials: Optional[grpc.ChannelCredentials],
    ) -> grpc.Channel:
        if credentials is None:
            return grpc.insecure_channel(endpoint, options)
        return grpc.secure_channel(endpoint, credentials, options)

    def patience_to_end(self, candidate: str, patience: int) -> int:
        """How much of `patience` to spend on ending a session, in nanoseconds."""
        return patience


REAL = Surroundings()
_fakes: weakref.WeakValueDictionary[str, Surroundings] = weakref.WeakValueDictionary()


def at(endpoints: str) -> Surroundings:
    return _fakes.get(endpoints, REAL)


def put_at(endpoint: str, fake: Surroundings) -> None:
    _fakes[endpoint] = fake
