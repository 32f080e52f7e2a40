"""The clock by which a holder counts its lease."""

from __future__ import annotations

import sys
import time
from typing import Optional

from tenure._lease import FOREVER, SECOND

# Rises always, and also while the machine sleeps: a laptop that was closed for an hour does not
# believe that its lease has only begun. On macOS the monotonic clock of the system does that.
_CLOCK: Optional[int] = None
if hasattr(time, "CLOCK_BOOTTIME"):
    _CLOCK = time.CLOCK_BOOTTIME
elif sys.platform == "darwin":
    _CLOCK = time.CLOCK_MONOTONIC


def now() -> int:
    """In nanoseconds. Not to be compared with time.monotonic_ns()."""
    return time.monotonic_ns() if _CLOCK is None else time.clock_gettime_ns(_CLOCK)


def patience_until(wake: float) -> float:
    """How long a thread may wait, in seconds, if it has to act at `wake`.

    At most a second: the clock of waiting threads stands still while the machine sleeps.
    """
    return 1.0 if wake == FOREVER else min(max(wake - now(), 0) / SECOND, 1.0)
