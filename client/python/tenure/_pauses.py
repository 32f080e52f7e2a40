"""How long to wait before the next attempt, in nanoseconds."""

from __future__ import annotations

import random

from tenure._lease import MILLISECOND, SECOND

# After a refusal that only an operator, or other candidates, can lift.
REFUSED_FOR_NOW = (1 * SECOND, 5 * SECOND)
BACKOFF_MIN = 20 * MILLISECOND
BACKOFF_MAX = 500 * MILLISECOND


def backoff(failures: int, randomness: random.Random) -> int:
    """The pause after this number of failures in a row."""
    doublings = min(max(failures - 1, 0), 10)
    longest = min(BACKOFF_MAX, BACKOFF_MIN << doublings)
    return randomness.randint(0 if failures <= 1 else longest // 2, longest)


def refused(randomness: random.Random) -> int:
    return randomness.randint(*REFUSED_FOR_NOW)
