"""The clock that a holder counts its lease with."""

from __future__ import annotations

import sys
import time
from typing import Optional

from tenure._lease import FOREVER, SECOND

# Never goes back or stops, not even while the machine sleeps: a laptop that was closed for an hour
# must not believe that its lease has just begun. On macOS the monotonic clock does that.
_CLOCK: Optional[int] = None
if hasattr(time, "CLOCK_BOOTTIME"):
    _CLOCK = time.CLOCK_BOOTTIME
elif sys.platform == "darwin":
    _CLOCK = time.CLOCK_MONOTONIC


def now() -> int:
    """In nanoseconds. Not comparable with time.monotonic_ns()."""
    return time.monotonic_ns() if _CLOCK is None else time.clock_gettime_ns(_CLOCK)


def patience_until(wake: float) -> float:
    """How long a thread that must act at `wake` may wait, in seconds.

    At most a second: the clock of waiting threads stops while the machine sleeps.
    """
    return 1.0 if wake == FOREVER else min(max(wake - now(), 0) / SECOND, 1.0)
