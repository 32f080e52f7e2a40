"""What has to be forgotten in a process that was forked."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol


class Forkable(Protocol):
    def after_fork(self) -> None:
        """In the child, where no other thread exists; any lock may be held for ever."""


_known: weakref.WeakSet[Forkable] = weakref.WeakSet()

# Held while a thread of ours calls gRPC, never while it waits. Nobody forks meanwhile: the locks
# that gRPC holds then would stay held in the child.
calling = threading.RLock()


def watch(one: Forkable) -> None:
    _known.add(one)


def _after_fork() -> None:
    global calling
    calling = threading.RLock()
    for one in list(_known):
        one.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: calling.acquire(),
        after_in_parent=lambda: calling.release(),
        after_in_child=_after_fork,
    )
