"""What a typing slip, or a function of the wrong kind, leads to."""

import os
import pathlib
import subprocess
import sys

import pytest
from conftest import PATIENCE

import tenure


async def coroutine(*_):
    pass


class Awaited:
    async def __call__(self, *_):
        pass


@pytest.mark.parametrize("work", [coroutine, Awaited(), 5])
def test_work_of_the_wrong_kind_is_refused_at_once(work):
    elector = tenure.Elector("127.0.0.1:1")

    with pytest.raises(TypeError, match="work is"):
        elector.stand("orders", work)

    assert not elector._client._unfinished


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
