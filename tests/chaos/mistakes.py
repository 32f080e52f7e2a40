#!/usr/bin/env python3
"""Plants each mistake of mistakes/ in a tenured of its own, and runs chaos on it: the checker must see it.

The mistakes are patches of code that ships, so that they follow it: a patch that no longer applies must be made again.
"""

import argparse
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mutants"))
from workshop import BUILD, ROOT, SOURCES, build, copy_sources, enter  # noqa: E402

VIOLATION = "VIOLATION: "


def sees(seconds):
    """The violations that chaos reports."""
    command = [ROOT / "build" / "bin" / "chaos", "--seconds", str(seconds), "--tenured", BUILD / "bin" / "tenured"]
    run = subprocess.run(command, capture_output=True, text=True)
    return [line.removeprefix(VIOLATION) for line in run.stdout.splitlines() if line.startswith(VIOLATION)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=int, default=120, help="of chaos for each mistake (default 120)")
    parser.add_argument("--grpc", default="/usr", help="where gRPC is installed")
    options = parser.parse_args()

    door = enter(options.grpc)  # noqa: F841  # held until the end
    unseen = []
    for patch in sorted((HERE / "mistakes").glob("*.patch")):
        subprocess.run(["patch", "--quiet", "--strip=1", f"--directory={SOURCES}", f"--input={patch}"], check=True)
        built = build(["tenured"])
        violations = sees(options.seconds) if built.returncode == 0 else []
        copy_sources()
        if built.returncode != 0:
            sys.exit(f"{patch.stem} does not compile: {built.stdout[-2000:]}")
        print(f"{patch.stem}: {violations[0] if violations else 'NOT SEEN'}", flush=True)
        if not violations:
            unseen.append(patch.stem)
    sys.exit(1 if unseen else 0)


if __name__ == "__main__":
    main()
