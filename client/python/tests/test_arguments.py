"""Typing slips, and functions of the wrong kind."""

import asyncio
import functools
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import PATIENCE

import tenure
from tenure.testing import FakeTenure


async def coroutine(*_):
    pass


class Awaited:
    async def __call__(self, *_):
        pass


def function(*_):
    pass


def generator(*_):
    yield


async def asynchronous_generator(*_):
    yield


@functools.wraps(coroutine)
def wrapped(*arguments):
    return coroutine(*arguments)


@pytest.mark.parametrize(
    "work",
    [
        *[coroutine, functools.partial(coroutine, 1), Awaited()],
        *[generator, asynchronous_generator, 5],
    ],
)
def test_work_of_the_wrong_kind_is_refused_at_once(work):
    elector = tenure.Elector("127.0.0.1:1")

    with pytest.raises(TypeError, match="work is"):
        elector.stand("orders", work)

    assert not elector._client._unfinished


@pytest.mark.parametrize(
    "work", [function, lambda _: None, functools.partial(function, 1), generator, 5, None]
)
def test_work_of_the_wrong_kind_for_asyncio_is_refused_at_once(work):
    elector = tenure.Elector("127.0.0.1:1")

    with pytest.raises(TypeError, match="work is .* no coroutine function; write `async def`"):
        asyncio.run(elector.run("orders", work))

    assert not elector._client._unfinished


@pytest.mark.parametrize("work", [functools.partial(coroutine, 1), wrapped, Awaited()])
def test_work_for_asyncio_may_be_bound_wrapped_or_an_object(work):
    async def run_until_it_stands(client):
        task = asyncio.create_task(tenure.Elector(client).run("orders", work))
        while not client._unfinished:
            await asyncio.sleep(0)
        task.cancel()

    with FakeTenure().client("a") as client:
        asyncio.run(run_until_it_stands(client))


@pytest.mark.parametrize("name", ["on_snapshot", "on_event", "on_progress", "on_broken"])
def test_a_callback_of_an_observer_of_the_wrong_kind_is_refused_at_once(name):
    with pytest.raises(TypeError, match=f"{name} is a coroutine function"):
        tenure.Observer("127.0.0.1:1", "orders", **{name: coroutine})


def test_a_callback_of_a_cache_of_the_wrong_kind_is_refused_at_once():
    with pytest.raises(TypeError, match="on_change is a coroutine function"):
        tenure.LeaderCache("127.0.0.1:1", "orders", on_change=coroutine)


def test_a_callback_of_the_wrong_kind_is_refused_at_once():
    with pytest.raises(TypeError, match="on_lost is a coroutine function"):
        tenure.Elector("127.0.0.1:1", on_lost=coroutine)
    with pytest.raises(TypeError, match="on_los"):
        tenure.Elector("127.0.0.1:1", on_los=print)


SLIPS = """
import tenure
tenure.Elector("a:1", on_lost=lambda seat, cause: None)
tenure.LeaderCache("a:1", "x", from_revision=1)
tenure.Elector("a:1", on_los=lambda seat, cause: None)
tenure.Elector("a:1", on_lost=lambda seat: None)
tenure.follow("a:1", "x", from_revison=1)
tenure.LeaderCache("a:1", "x", silence_mx=1)
"""


def test_a_slip_in_an_option_fails_the_type_checker(tmp_path):
    (tmp_path / "slips.py").write_text(SLIPS)

    said = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "slips.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=10 * PATIENCE,
        env={**os.environ, "MYPYPATH": str(pathlib.Path(tenure.__file__).parents[1])},
    ).stdout

    lines = {
        int(line.split(":")[1])
        for line in said.splitlines()
        if "slips.py" in line and ": error:" in line
    }
    assert lines == {5, 6, 7, 8}, said
