#!/usr/bin/env python3
"""Plants a mistake in a copy of each library: a lease that is counted from the answer to a renewal. The bad days must see each.

The mistakes are patches of code that ships, so that they follow it: a patch that no longer applies must be made again. The libraries
have been prepared before, as scripts/bad-days.sh does.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "mutants"))
from workshop import BUILD, ROOT, SOURCES, build, copy_sources, enter  # noqa: E402

COPY = BUILD.parent / "libraries"
MADE = ["build", "dist", "node_modules", "target"]  # which the copy makes again, or borrows
# "  12.3 s  cut off: go-1 a1 believes in term 3 70.2 ms after its deadline"
VIOLATION = re.compile(r"^ *[\d.]+ s  [^:]*: ([a-z]+)-\d+ \S+ (?:believes|has a deadline) .*$", re.MULTILINE)


def patch(language, folder):
    mistake = HERE / "mistakes" / f"{language}.patch"
    subprocess.run(["patch", "--quiet", "--strip=1", f"--directory={folder}", f"--input={mistake}"], check=True)


def copy(language, *borrowed):
    """Copies a library with its generated stubs. Returns its folder."""
    source, target = ROOT / "client" / language, COPY / "client" / language
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(*MADE))
    for name in borrowed:
        (target / name).symlink_to(source / name)
    patch(language, COPY)
    return target


def plant_python():
    os.environ["PYTHONPATH"] = str(copy("python", "build"))


def plant_go():
    folder = copy("go")
    subprocess.run(["go", "build", "-o", "../build/candidate", "./candidate"], cwd=folder / "tests", check=True)


def plant_typescript():
    folder = copy("typescript", "node_modules")
    subprocess.run(["npx", "tsc", "--project", "tsconfig.test.json"], cwd=folder, check=True)


def plant_java():
    folder = copy("java")
    # Its build reads these files of the whole project.
    shutil.rmtree(COPY / "proto", ignore_errors=True)
    shutil.copytree(ROOT / "proto", COPY / "proto")
    shutil.copy(ROOT / "LICENSE", COPY)
    subprocess.run([folder / "prepare.sh"], check=True)


def plant_cpp():
    patch("cpp", SOURCES)
    built = build(["bad_days_candidate", "bad_days_command", "tenure"])
    copy_sources()
    if built.returncode != 0:
        sys.exit(f"the C++ library with its mistake does not compile: {built.stdout[-2000:]}")


# What plants the mistake for each language.
PLANTERS = {
    "cpp": plant_cpp,
    "go": plant_go,
    "java": plant_java,
    "python": plant_python,
    "run": plant_cpp,
    "typescript": plant_typescript,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--grpc", default="/usr", help="where gRPC is installed")
    parser.add_argument("languages", nargs="*", default=[], help="only these")
    options = parser.parse_args()
    languages = options.languages or list(PLANTERS)

    door = enter(options.grpc)  # noqa: F841  # held until the end
    for planter in {PLANTERS[language] for language in languages}:
        planter()
    command = [ROOT / "build" / "bin" / "bad_days", f"--root={COPY}", f"--programs={BUILD / 'bin'}"]
    command += [f"--language={language}" for language in languages]
    run = subprocess.run(command, capture_output=True, text=True)
    seen = {}
    for violation in VIOLATION.finditer(run.stdout):
        seen.setdefault(violation[1], []).append(violation[0].strip())
    for language in languages:
        violations = seen.get(language, [])
        print(f"{language}: {len(violations)} violations, {violations[0]}" if violations else f"{language}: NOT SEEN", flush=True)
    if len(seen) < len(languages):
        sys.exit(run.stdout[-4000:] + run.stderr[-2000:])


if __name__ == "__main__":
    main()
