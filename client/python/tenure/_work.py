"""Work within a term: the seat is not resigned while it runs."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Optional

from tenure.errors import SeatLost

if TYPE_CHECKING:
    from tenure.candidacy import Candidacy, Seat


class Working:
    """A context manager; in `async with`, the task is cancelled when the work must end.

    Entering raises SeatLost if the work must not begin.
    """

    def __init__(self, candidacy: Candidacy, seat: Seat) -> None:
        self.seat = seat
        self._candidacy = candidacy
        self._cancellation: Optional[_Cancellation] = None

    def __enter__(self) -> Seat:
        self._candidacy._begin_work(self.seat)
        return self.seat

    def __exit__(self, *_: object) -> None:
        self._candidacy._end_work(self.seat)

    async def __aenter__(self) -> Seat:
        seat = self.__enter__()
        self._cancellation = _Cancellation(seat)
        return seat

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], _: Any
    ) -> None:
        assert self._cancellation
        try:
            await self._cancellation.end(kind, error)
        finally:
            self.__exit__()


class Term(Working):
    """The same, and gives up the seat when the work has ended."""

    def __exit__(self, *exception: object) -> None:
        self.seat._release()
        super().__exit__(*exception)


class _Cancellation:
    """Cancels the current task when its seat must be given up, unless it has ended before."""

    def __init__(self, seat: Seat) -> None:
        task = asyncio.current_task()
        assert task
        self._seat = seat
        self._task = task
        self._loop = asyncio.get_running_loop()
        self._cancelled_before = self._count(0)
        self._requested = False
        self._over = False
        seat._cancel_by(self.request)

    def _count(self, otherwise: int) -> int:
        """How often the task was asked to cancel; only Python 3.11 and later know."""
        return self._task.cancelling() if hasattr(self._task, "cancelling") else otherwise

    def request(self) -> None:
        """Thread-safe."""
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if not self._over and not self._requested:
            self._requested = True
            self._task.cancel()

    async def end(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException]
    ) -> None:
        """Replaces the cancellation by SeatLost, unless somebody else wanted it too."""
        self._over = True
        self._seat._cancellations.discard(self.request)
        if not self._requested:
            return
        if kind is None:
            # The work may have ended before the cancellation arrived; nobody else should get that.
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
        if hasattr(self._task, "uncancel"):
            self._task.uncancel()
        only_ours = self._count(self._cancelled_before) <= self._cancelled_before
        if kind is not None and issubclass(kind, asyncio.CancelledError) and only_ours:
            raise SeatLost(self._seat._stop.result()) from error
