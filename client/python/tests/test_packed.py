"""The packed library, installed into an empty environment. test.sh packs it first."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from test_recipes import Programs, blocks, programs  # noqa: F401  # a fixture

DIST = os.environ.get("TENURE_DIST")
pytestmark = pytest.mark.skipif(not DIST, reason="TENURE_DIST is not set")


def install(folder, pattern):
    """Returns the Python of a new environment with the file and its dependencies."""
    [packed] = pathlib.Path(DIST).glob(pattern)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, packed], check=True)
    return python


def test_the_readme_elects_one_of_three_processes(service, programs, tmp_path):  # noqa: F811
    python = install(tmp_path / "venv", "tenure-*.whl")
    subprocess.run([python, "-c", "import tenure.testing"], check=True)
    (tmp_path / "ship.py").write_text(blocks(service.endpoint)[0])
    for _ in range(3):
        programs.start([python, "ship.py", service.endpoint], tmp_path)
    leading = r"^leading in term (\d+)"

    killed, first, _ = programs.wait_for(leading)
    began = time.monotonic()
    programs.all[killed].end(signal.SIGKILL)
    interrupted, second, next_at = programs.wait_for(leading, not_by=killed)
    after_kill = next_at - began
    began = time.monotonic()
    programs.all[interrupted].end(signal.SIGINT)
    _, third, next_at = programs.wait_for(leading, not_by=interrupted)
    after_interrupt = next_at - began

    print(f"\nnext leader after kill -9: {after_kill:.3f} s (lease: 2 s), ", end="")
    print(f"after SIGINT: {after_interrupt * 1000:.0f} ms")
    # By at least one: on a busy machine, a seat may change hands before the program prints.
    assert 0 < int(first[1]) < int(second[1]) < int(third[1])


def test_the_source_package_needs_no_protoc(service, tmp_path):
    python = install(tmp_path / "venv", "tenure-*.tar.gz")

    program = (
        f"import tenure\nwith tenure.Elector({service.endpoint!r}).lead('e') as s: print(s.term)"
    )
    said = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True)

    assert said.stdout == "1\n"
