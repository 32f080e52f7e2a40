"""Refuses at once what the service would refuse. Each function raises ValueError."""

from __future__ import annotations

import inspect
import unicodedata
from typing import Callable, Union

NAME_BYTES_MAX = 255
VALUE_BYTES_MAX = 4096


def check_name(name: str, what: str) -> str:
    size = len(name.encode())
    if not 1 <= size <= NAME_BYTES_MAX:
        raise ValueError(f"{what} is {size} bytes long; it must be 1 to {NAME_BYTES_MAX} bytes")
    if any(unicodedata.category(character) == "Cc" for character in name):
        raise ValueError(f"{what} {name!r} contains a control character")
    return name


def check_value(value: Union[bytes, str]) -> bytes:
    """Encodes text as UTF-8."""
    encoded = value.encode() if isinstance(value, str) else value
    if len(encoded) > VALUE_BYTES_MAX:
        raise ValueError(f"value is {len(encoded)} bytes long; the maximum is {VALUE_BYTES_MAX}")
    return encoded


def check_function(function: object, what: str) -> None:
    """None is no callback. Raises TypeError."""
    if function is None:
        return
    if not callable(function):
        raise TypeError(f"{what} is {function!r}; it must be a function")
    if _is(inspect.iscoroutinefunction, function):
        raise TypeError(
            f"{what} is a coroutine function, which nobody would await; give a function, or use "
            "`await elector.run(election, work)`"
        )
    if _is(inspect.isgeneratorfunction, function) or _is(inspect.isasyncgenfunction, function):
        raise TypeError(
            f"{what} is a generator function, whose body nobody would run; it must not yield"
        )


def check_coroutine_function(function: object, what: str) -> None:
    """Also accepts a coroutine function wrapped by a decorator. Raises TypeError."""
    wrapped = inspect.unwrap(function) if callable(function) else None
    if not (_is(inspect.iscoroutinefunction, function) or inspect.iscoroutinefunction(wrapped)):
        raise TypeError(
            f"{what} is {function!r}, which is no coroutine function; write `async def`, or use "
            "`elector.stand(election, work)`"
        )


def _is(kind: Callable[[object], bool], function: object) -> bool:
    """For functions, and objects that can be called."""
    return kind(function) or kind(getattr(function, "__call__", None))  # noqa: B004


def check_not_negative(seconds: float, what: str) -> float:
    if seconds < 0:
        raise ValueError(f"{what} is negative; it must be 0 or more")
    return seconds
