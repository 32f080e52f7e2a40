"""Handles forks: stops gRPC before, and makes the child forget its parent's state.

gRPC's own support for forks fails if another thread of the process is in gRPC at that moment: the
child crashes or hangs. So before a fork all channels of this library are closed, and gRPC, if
nobody else uses it, shuts down. The parent connects again, and keeps its seats.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pathlib
import sys
import threading
import time
import weakref
from types import FrameType
from typing import Callable, Optional, Protocol

from tenure import _setup  # before gRPC

import grpc  # isort: skip

logger = logging.getLogger("tenure")

ANSWER_PATIENCE = 1.0  # seconds for answers under way, so that repeated forks cost no lease
REST_PATIENCE = 0.5  # seconds for the threads of gRPC to end
_FOLDER = f"{pathlib.Path(grpc.__file__).parent}{os.sep}"
_THREADS = {  # of gRPC's core, by their names on Linux
    "default-executo",
    "event_engine",
    "grpc_global_tim",
    "grpc_shutdown",
    "lifeguard",
    "resolver-execut",
}


class Forkable(Protocol):
    def after_fork(self) -> None:
        """Runs in the child, where no other thread exists, and any lock may be held forever. Must
        not use gRPC, which has not handled the fork yet.
        """


class Resumable(Protocol):
    def resume(self) -> None:
        """Runs in the child after gRPC's own hooks, which close every channel that they find."""


class Channel(Protocol):
    def before_fork(self) -> None:
        """Closes the channel. No other thread calls gRPC meanwhile."""


class Calls(Protocol):
    @property
    def awaits_answers(self) -> bool: ...


_known: weakref.WeakSet[Forkable] = weakref.WeakSet()
_resumable: weakref.WeakSet[Resumable] = weakref.WeakSet()
_channels: weakref.WeakSet[Channel] = weakref.WeakSet()
_calls: weakref.WeakSet[Calls] = weakref.WeakSet()
_hooked = False
forks = 0  # each of them closes all channels

# Held while one of our threads calls gRPC, never while it waits. No fork happens meanwhile.
calling = threading.RLock()


def watch(one: Forkable) -> None:
    _known.add(one)


def watch_resumable(one: Resumable) -> None:
    _resumable.add(one)


def watch_channel(channel: Channel) -> None:
    _channels.add(channel)


def watch_calls(calls: Calls) -> None:
    _calls.add(calls)


def hook() -> None:
    """Called after gRPC was first used. Hooks registered after gRPC's own run before them in the
    parent, where gRPC's stop threads that are needed to close a channel, and after them in the
    child.
    """
    global _hooked
    if not _hooked and hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=_before_fork,
            after_in_parent=lambda: calling.release(),
            after_in_child=_resume,
        )
        _hooked = True


def _before_fork() -> None:
    global forks
    _wait_until(lambda: not any(one.awaits_answers for one in list(_calls)), ANSWER_PATIENCE)
    calling.acquire()
    forks += 1
    for channel in list(_channels):
        channel.before_fork()
    if not _wait_until(_grpc_rests, REST_PATIENCE) and _setup.too_late:
        _setup.too_late = False  # log it once
        logger.warning(
            "another part of this process uses gRPC, and imported it before tenure: children that "
            "use it may crash. Import tenure first, or set GRPC_ENABLE_FORK_SUPPORT=1"
        )


def _wait_until(ready: Callable[[], bool], patience: float) -> bool:
    deadline = time.monotonic() + patience
    while not ready():
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.001)
    return True


def _grpc_rests() -> bool:
    """Whether no other thread is in gRPC, and all known threads of its core have ended."""
    for thread, innermost in sys._current_frames().items():
        frame: Optional[FrameType] = innermost
        while frame and thread != threading.get_ident():
            if frame.f_code.co_filename.startswith(_FOLDER):
                return False
            frame = frame.f_back
    for name in pathlib.Path("/proc/self/task").glob("*/comm"):
        with contextlib.suppress(OSError):  # the thread has ended
            if name.read_text().rstrip() in _THREADS:
                return False
    return True


def _after_fork() -> None:
    global calling
    calling = threading.RLock()
    for one in list(_known):
        one.after_fork()
    if not _hooked:
        _resume()


def _resume() -> None:
    for one in list(_resumable):
        one.resume()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
