#!/usr/bin/env python3
"""Plants mistakes in code that ships, one at a time, and runs the tests that could see them.

The mistakes are made by universalmutator after cpp.rules, and compiled in a copy of the sources (workshop.py). A mutant that does not compile counts for
nothing, and neither does one from which the compiler makes the same program. rooms.toml says which tests are run. The same seed takes
the same mutants of the same file.

The report names each survivor, with its line, and a score for each file: killed / (killed + survived).
"""

import argparse
import collections
import difflib
import hashlib
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import tomllib

from workshop import BUILD, ROOT, SOURCES, build, enter

HERE = pathlib.Path(__file__).resolve().parent
KILLED, SURVIVED, SAME, INVALID = "killed", "survived", "the same program", "does not compile"


def digest(program):
    return hashlib.sha256((BUILD / "bin" / program).read_bytes()).hexdigest()


def room_of(file):
    rooms = tomllib.loads((HERE / "rooms.toml").read_text())["room"]
    inside = [room for room in rooms if file == room["folder"] or file.startswith(room["folder"] + "/")]
    if not inside:
        sys.exit(f"{file} is in no room of rooms.toml")
    return max(inside, key=lambda room: len(room["folder"]))


def failure(program, tests, patience):
    """What it says if it fails; nothing if it passes."""
    command = [BUILD / "bin" / program, f"--gtest_filter={tests}", "--gtest_brief=1", "--gtest_fail_fast"]
    try:
        run = subprocess.run(command, cwd=SOURCES, capture_output=True, timeout=patience, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return f"it does not end within {patience:.0f} s"
    return None if run.returncode == 0 else f"exit code {run.returncode}: {run.stdout}{run.stderr}"


def mutants_of(file):
    """The texts of all mutants, in the order of the tool."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mutate", file, HERE / "cpp.rules", "--only", HERE / "cpp.rules", "--noCheck", "--mutantDir", folder],
                       cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        made = sorted(pathlib.Path(folder).iterdir(), key=lambda path: int(path.name.split(".mutant.")[1].split(".")[0]))
        return [path.read_text() for path in made]


def difference(before, after):
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return "\n".join("    " + line for line in list(lines)[2:])


class File:
    def __init__(self, name):
        self.name = name
        self.text = (ROOT / name).read_text()
        self.room = room_of(name)
        self.programs = list(dict.fromkeys(program for program, _ in self.room["tests"]))

    def prepare(self):
        """Builds and runs everything without a mistake: all must pass, and it is known how long that takes."""
        built = build(self.programs)
        if built.returncode != 0:
            sys.exit(built.stdout[-3000:])
        self.digests = {program: digest(program) for program in self.programs}
        self.patience = {}
        for program, tests in self.room["tests"]:
            begun = time.monotonic()
            failed = failure(program, tests, 1200)
            if failed:
                sys.exit(f"{program} --gtest_filter='{tests}' fails without any mistake: {failed[-3000:]}")
            self.patience[program, tests] = 30 + 5 * (time.monotonic() - begun)

    def judge(self, mutant):
        source = SOURCES / self.name
        source.write_text(mutant)
        try:
            for program, tests in self.room["tests"]:
                if build([program]).returncode != 0:
                    return INVALID
                if digest(program) == self.digests[program]:
                    continue
                if failure(program, tests, self.patience[program, tests]):
                    return KILLED
            same = all(digest(program) == self.digests[program] for program in self.programs)
            return SAME if same else SURVIVED
        finally:
            source.write_text(self.text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--most", type=int, default=40, help="mutants of each file that are run (default 40; 0: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--grpc", default="/usr", help="where gRPC is installed")
    options = parser.parse_args()
    os.environ["GTEST_COLOR"] = "no"
    os.environ["TENURE_TEST_SYNC"] = "off"

    door = enter(options.grpc)  # noqa: F841  # held until the end
    totals = collections.defaultdict(collections.Counter)
    for name in options.files:
        file = File(name)
        file.prepare()
        mutants = mutants_of(name)
        random.Random(f"{options.seed} {name}").shuffle(mutants)
        counts = collections.Counter()
        for mutant in mutants:
            if options.most and counts[KILLED] + counts[SURVIVED] == options.most:
                break
            verdict = file.judge(mutant)
            counts[verdict] += 1
            if verdict == SURVIVED:
                print(f"{name} survived:\n{difference(file.text, mutant)}", flush=True)
        totals[file.room["folder"]].update(counts)
        report(name, counts)
    print()
    for folder, counts in totals.items():
        report(folder, counts)


def report(what, counts):
    run = counts[KILLED] + counts[SURVIVED]
    print(f"{what}: {counts[KILLED]} of {run} killed ({100 * counts[KILLED] // max(run, 1)} %); "
          f"{counts[SAME]} are the same program, {counts[INVALID]} do not compile", flush=True)


if __name__ == "__main__":
    main()
