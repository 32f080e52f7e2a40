#!/usr/bin/env python3
"""Prints what .ci/run makes, one target with its variables a line: what fails most and costs least first, then what the change needs.

The change is everything since the last commit for which .ci/run passed on this machine, if that is known and HEAD descends from it. Otherwise, and for a
path that no rule knows, everything is made.

Usage: scripts/ci-parts.py [all]   (all: whatever has changed)
       scripts/ci-parts.py passed  (records that .ci/run passed for HEAD, unless something is not committed)
"""

import os
import pathlib
import re
import subprocess
import sys

PASSED = pathlib.Path(os.environ.get("TENURE_CI_PASSED", pathlib.Path.home() / ".cache/tenure/ci-passed"))

ALWAYS = ["check-style", "check-locks", "check-proto", "test-unit"]

LANGUAGES = ["go", "java", "python", "typescript"]
PLAYERS = ["cpp", "run"]  # candidates of bad days, besides the languages
# The targets of each lane, in the order of .ci/run. The lanes of client libraries have a library's
# name.
LANES = {
    "chart": ["test-helm", "test-compose"],
    "libraries": [],
    "monitoring": ["test-monitoring"],
    "docs": ["test-docs"],
    "stores": ["test-engines", "test-clusters FAILOVERS=0", "chaos SECONDS=60"],
    "test": ["test WITHOUT='unit|sim'"],
}
EVERYTHING = [*LANES, *LANGUAGES, *PLAYERS]
SERVER = ["monitoring", "stores", "test", "docs"]
CLIENTS = [*LANGUAGES, *PLAYERS, "test", "docs"]

# The lanes of a path: those of the first matching rule. None: no lane is needed.
RULES = [
    (r"client/(go|java|python|typescript)/", r"\1 docs"),
    (r"client/examples/", "docs"),
    (r"(base|core)/", [*SERVER, *PLAYERS]),  # the C++ library and the tool are built on it
    (r"(storage|server)/", SERVER),
    (r"(proto|client|tests/polyglot)/", [*CLIENTS, "monitoring"]),
    (r"(metrics|helm|tests/(helm|monitoring|alerts|compose)|deploy|compose\.yaml|docs/runbooks)(/|$)", ["chart", "monitoring", "docs", "test"]),
    (r"tests/(contract|clusters|chaos)/", ["stores", "test"]),
    (r"(command_line|tls|tests/(client|rpc|sim|fuzz|guarded_set|hostile|install|storm|support|\w+\.cc))(/|$)", ["test"]),
    (r"tests/docs/|docs/|[A-Z]+\.md$", ["docs", "test"]),
    (r"bench/|packaging/|tests/(image|package|mutants)/|Dockerfile|\.dockerignore|\.clang-tidy|LICENSE", None),
]


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def changed():
    """The paths that differ from the last commit that passed; None if there is no such commit."""
    try:
        passed = PASSED.read_text().strip()
        git("merge-base", "--is-ancestor", passed, "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return None
    return sorted({*git("diff", "--name-only", passed).split("\n"), *git("ls-files", "-o", "--exclude-standard").split("\n")} - {""})


def lanes_of(path):
    for pattern, lanes in RULES:
        if found := re.match(pattern, path):
            return found.expand(lanes).split() if isinstance(lanes, str) else lanes or []
    return EVERYTHING


def parts(paths):
    """The targets for these paths; all targets for None."""
    lanes = set(EVERYTHING) if paths is None else {lane for path in paths for lane in lanes_of(path)}
    libraries = [lane for lane in LANGUAGES if lane in lanes]
    players = sorted({*libraries, *(lane for lane in PLAYERS if lane in lanes)})
    made = list(ALWAYS)
    for lane, targets in LANES.items():
        if lane in lanes:
            made += targets
        if lane == "libraries" and libraries:
            made.append(f"test-clients LANGUAGES='{' '.join(libraries)}'")
        if lane == "libraries" and players:
            made.append(f"bad-days ROUNDS=1 LANGUAGES='{' '.join(players)}'")
    return made


def record():
    if git("status", "--porcelain"):
        return
    PASSED.parent.mkdir(parents=True, exist_ok=True)
    PASSED.write_text(git("rev-parse", "HEAD"))


def main():
    os.chdir(pathlib.Path(__file__).resolve().parent.parent)
    if sys.argv[1:] == ["passed"]:
        return record()
    print("\n".join(parts(None if sys.argv[1:] == ["all"] else changed())))


if __name__ == "__main__":
    main()
