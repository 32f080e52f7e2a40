"""What has to be forgotten in a process that was forked."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from typing import Protocol

from tenure import _setup

logger = logging.getLogger("tenure")


class Forkable(Protocol):
    def after_fork(self) -> None:
        """In the child, where no other thread exists; any lock may be held for ever."""


_known: weakref.WeakSet[Forkable] = weakref.WeakSet()

# Held while a thread of ours calls gRPC, never while it waits. Nobody forks meanwhile: the locks
# that gRPC holds then would stay held in the child.
calling = threading.RLock()


def watch(one: Forkable) -> None:
    _known.add(one)


def _before_fork() -> None:
    calling.acquire()
    if _known and _setup.too_late:
        _setup.too_late = False  # said once
        logger.warning(
            "gRPC was imported before tenure, and does not support forks: children that use it may "
            "crash. Import tenure first, or set GRPC_ENABLE_FORK_SUPPORT=1"
        )


def _after_fork() -> None:
    global calling
    calling = threading.RLock()
    for one in list(_known):
        one.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=lambda: calling.release(),
        after_in_child=_after_fork,
    )
