#!/usr/bin/env python3
"""Checks the structure of the house: which room includes which, how long files are, that
docs/bounds.md agrees with the code, and that the mistakes planted by tests still apply.

Usage: scripts/check-house.py
"""

import pathlib
import re
import subprocess
import sys

# Each room, and the rooms that its files may include besides itself, with the rooms inside these. A file belongs to the
# innermost room around it.
ROOMS = {
    "base": [],
    "core": ["base"],
    "core/law": ["base", "core"],
    "core/homes": ["base", "core"],
    "proto": ["base", "core"],
    "command_line": ["base", "core"],
    "tls": [],
    "metrics": ["base", "core"],
    "storage": ["base", "core", "tls"],
    "server/log": ["base", "core"],
    "server/network": ["base", "core", "third_party/grpc"],
    "server/engine": ["base", "core", "metrics", "server/log", "storage"],
    "server/calls": ["base", "core", "server/engine"],
    "server/access": ["base", "core", "proto", "server/engine", "server/log", "server/network", "tls"],
    "server/wire": ["base", "core", "metrics", "proto", "server/network"],
    "server/rpc": ["base", "core", "metrics", "proto", "server/access", "server/calls", "server/engine", "server/log", "server/wire", "storage"],
    "server/process": ["base", "command_line", "core", "metrics", "third_party/grpc", "server/access", "server/engine", "server/log", "server/network", "server/rpc", "server/wire", "storage", "tls"],
    "client/cpp/tenure": [],
    "client/cpp/machine": ["base", "core", "proto"],
    "client/cpp/fence": ["base", "client/cpp/tenure", "core", "proto"],
    "client/cpp/io": ["base", "client/cpp/machine", "client/cpp/tenure", "core", "proto", "tls"],
    "client/cpp/fake": ["base", "client/cpp/io", "client/cpp/machine", "client/cpp/tenure", "core", "proto"],
    "client/tool": ["base", "client/cpp/io", "client/cpp/machine", "client/cpp/tenure", "command_line", "core", "proto", "tls"],
    "bench/report": ["command_line"],
    "bench/systems": ["bench/report", "tests/support"],
    "bench/works": ["bench/report", "bench/systems", "client/cpp/io", "client/cpp/machine", "client/cpp/tenure", "tests/support"],
    "bench/commands": ["bench/report", "bench/systems", "bench/works"],
    "tests": None,  # any
    "third_party/grpc": [],
    "tests/support": None,
}
# Generated: in no room.
GENERATED = ".pb.h"

# Maximum lines of a file of the product; tests are tables, and may be longer.
LINES_MAX = 400
LONGER = {
    "client/cpp/machine/client_session.cc": "one machine, with all its events in one place",
    "storage/mysql/sql.cc": "all SQL of a dialect is in one file",
}

FUNCTION_LINES_MAX = 60
NO_FUNCTION = re.compile(r"(namespace|struct|class|enum|union|extern|using|public|private|protected)\b")

BOUNDS = "docs/bounds.md"


def files():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], check=True, capture_output=True, text=True)
    return [name for name in names.stdout.split("\n") if pathlib.Path(name).is_file()]


def room_of(path):
    rooms = [room for room in ROOMS if path.startswith(room + "/")]
    return max(rooms, key=len, default=None)


def is_test(path):
    return path.startswith("tests/") or re.search(r"_test\.cc$|testing\.h$", path) is not None


def check_includes(path, text, wrong):
    room = room_of(path)
    if room is None or ROOMS[room] is None:
        return
    for include in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE):
        if include.endswith(GENERATED):
            continue
        other = "client/cpp/tenure" if include.startswith("tenure/") else room_of(include)
        if other == room or other is not None and any(f"{other}/".startswith(f"{it}/") for it in ROOMS[room]):
            continue
        # A test may also use the tests' support, and rooms inside its own.
        if is_test(path) and other is not None and (other == "tests/support" or other.startswith(room + "/")):
            continue
        wrong.append(f'{path}: includes "{include}", and {room} may not use {other}')


def check_length(path, text, wrong):
    lines = text.count("\n")
    if is_test(path) or path.startswith("third_party/"):
        return
    if lines > LINES_MAX and path not in LONGER:
        wrong.append(f"{path}: has {lines} lines, more than {LINES_MAX}; divide it, or say why not in scripts/check-house.py")
    if lines <= LINES_MAX and path in LONGER:
        wrong.append(f"{path}: has {lines} lines now; scripts/check-house.py need not excuse it")


def check_functions(path, text, wrong):
    """Functions begin in the first column, and end with a brace there."""
    if is_test(path) or path.startswith(("third_party/", "bench/")):
        return
    begun = None
    for number, line in enumerate(text.split("\n"), 1):
        if line == "}":
            if begun and number - begun >= FUNCTION_LINES_MAX:
                wrong.append(f"{path}:{begun}: has a function of {number - begun + 1} lines, more than {FUNCTION_LINES_MAX}; divide it")
            begun = None
        elif line[:1].isalpha() or line[:2] == "[[":
            begun = None if NO_FUNCTION.match(line) else number


def says(path, code):
    """Whether the file has the code as a whole declaration, or as a statement in a string; in
    Python, as a line.
    """
    text = re.sub(r"\s+", " ", pathlib.Path(path).read_text())
    return any(code + end in text for end in ((" ",) if path.endswith((".py", ".go")) else (";", '"')))


def check_bounds(wrong):
    """Checks that each `NAME = VALUE` of a row is in the file named after it."""
    for line in pathlib.Path(BOUNDS).read_text().split("\n"):
        if not line.startswith("|"):
            continue
        named = []
        for code in re.findall(r"`([^`]+)`", line.strip("|").split("|")[-1]):
            if re.search(r" = |\{", code):
                named.append(code)
            elif "/" in code:
                wrong += [f"{BOUNDS}: {code} does not say `{it}`" for it in named if not says(code, it)]
                named = []
        wrong += [f"{BOUNDS}: no file is named for `{it}`" for it in named]


def check_image(wrong):
    """The image is built of each folder that a build adds without an option."""
    copied = pathlib.Path(".dockerignore").read_text().split("\n")
    for folder in re.findall(r"^add_subdirectory\((\w+)\)", pathlib.Path("CMakeLists.txt").read_text(), re.MULTILINE):
        if f"!{folder}" not in copied:
            wrong.append(f".dockerignore: leaves out {folder}, which CMakeLists.txt adds")


def check_mistakes(wrong):
    """Checks that the patches of the mistakes planted by tests still apply."""
    for patch in sorted(pathlib.Path("tests").glob("**/mistakes/*.patch")):
        applied = subprocess.run(["git", "apply", "--check", patch], capture_output=True, text=True)
        if applied.returncode:
            wrong.append(f"{patch} does not apply: {applied.stderr.splitlines()[0]}")


def main():
    wrong = []
    for path in files():
        if re.search(r"\.(cc|h)$", path):
            text = pathlib.Path(path).read_text()
            check_includes(path, text, wrong)
            check_length(path, text, wrong)
            check_functions(path, text, wrong)
    check_bounds(wrong)
    check_image(wrong)
    check_mistakes(wrong)
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
