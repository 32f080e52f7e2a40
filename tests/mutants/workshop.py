"""A copy of the sources, and a build directory for it, in which mistakes are planted: nothing is left behind in the sources themselves if
a run is aborted. One run at a time."""

import fcntl
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WORK = ROOT / "build" / "mutants"
SOURCES = WORK / "sources"
BUILD = WORK / "build"


def enter(grpc):
    """Waits until no other run is here, and tidies up. Returns an object that keeps others out while it lives."""
    WORK.mkdir(parents=True, exist_ok=True)
    door = (WORK / "door").open("w")
    fcntl.flock(door, fcntl.LOCK_EX)
    copy_sources()
    if not (BUILD / "build.ninja").is_file():
        subprocess.run(
            ["cmake", "-S", SOURCES, "-B", BUILD, "-G", "Ninja", "-DTENURE_TEST=ON", "-DCMAKE_CXX_FLAGS=-O1 -g0",
             "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=6", f"-DCMAKE_PREFIX_PATH={grpc}"],
            check=True, stdout=subprocess.DEVNULL)
    return door


def copy_sources():
    """Only what differs, so that nothing else is compiled again."""
    tracked = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True, capture_output=True)
    for name in filter(None, tracked.stdout.decode().split("\0")):
        source, target = ROOT / name, SOURCES / name
        if not source.is_file():
            continue
        content = source.read_bytes()
        if target.is_file() and target.read_bytes() == content:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(source.stat().st_mode)


def build(programs):
    return subprocess.run(["ninja", "-C", BUILD, *programs], capture_output=True, text=True)
