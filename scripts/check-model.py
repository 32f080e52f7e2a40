#!/usr/bin/env python3
"""Checks the models in docs/model with Spin: that the required properties hold, that each rule is
needed, and that the models reach the states that they are about.

Usage: scripts/check-model.py [NAME OF A WEAK RULE]...     (with names: shows only what these break)
"""

import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import typing

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs" / "model"
MEMORY_MAX_MB = 1800
DEPTH_MAX = 1000000


class Model(typing.NamedTuple):
    """A file of docs/model, and the definitions that it is checked with."""
    file: str
    must_hold: list  # in plain words, with the definitions
    weak_rules: dict  # weakened rules, which must break something: in plain words, with the definitions
    covering: list  # small runs that together must reach each line


TWO_CLIENTS = "TERMS=3 STRAYS=0"
ONE_AND_OTHERS = "OTHERS STRAYS=1"
FROM_MEMORY = "OTHERS MEMORY STRAYS=1"
FENCE = "OTHERS APPLICATION ANY_END STRAYS=0"
PROGRESS = "OTHERS PROGRESS STRAYS=1"
LITTLE_PROGRESS = "OTHERS PROGRESS STRAYS=0"

# Each check but the last three also checks that terms rise, and that a seat is granted only if it
# is empty, and only to a session that has not ended.
HANDOVER = Model(
    file="handover.pml",
    must_hold=[
        ("of two clients, at most one believes that it leads", TWO_CLIENTS),
        ("a client believes only while the database says that it leads, whatever others do", "OTHERS TERMS=4 STRAYS=2"),
        ("the same, with a replica that decides from memory", "OTHERS MEMORY STRAYS=2"),
        ("whatever ends, and whatever clients believe, the fence lets only the current term write", FENCE),
        ("a waiting candidate leads in the end, if leaders leave", f"{PROGRESS} WHO_WAITS_LEADS"),
        ("a dead leader is replaced in the end, even if its Campaign is granted later", f"{PROGRESS} WHO_IS_DEAD_IS_FOLLOWED"),
    ],
    weak_rules={
        "BELIEF_UNTIL_ANSWER": ("a client believes until its resignation is answered", TWO_CLIENTS),
        "TERM_OPENS_AGAIN": ("late news makes a client believe in a term that it has given up", ONE_AND_OTHERS),
        "UNMARKED": ("a seat is given up, and its session is not marked as ended", ONE_AND_OTHERS),
        "GRANT_TO_THE_DEAD": ("a grant does not look whether the session has ended", ONE_AND_OTHERS),
        "RESIGN_ANY_TERM": ("a resignation does not name its term", ONE_AND_OTHERS),
        "RETAKE_ANY_TERM": ("a Campaign for the next term of its own seat ends any term", ONE_AND_OTHERS),
        "NO_COMPARISON": ("what a replica remembers is compared without the term", FROM_MEMORY),
        "FENCE_NOT_LOWER": ("the fence lets every term through that is not higher than the current one", FENCE),
        "FENCE_WITHOUT_LOCK": ("the fence compares terms without a lock", FENCE),
        "NOT_SETTLED": ("a session ends, its replica dies, and no other gives up the seat",
                        f"{LITTLE_PROGRESS} WHO_IS_DEAD_IS_FOLLOWED"),
        "ONLY_HINTS": ("a candidate is notified of its election only once", f"{LITTLE_PROGRESS} WHO_WAITS_LEADS"),
    },
    covering=[
        "TERMS=1 STRAYS=0",
        ONE_AND_OTHERS,
        "OTHERS MEMORY TERMS=2 STRAYS=0",
        "OTHERS APPLICATION ANY_END TERMS=2 STRAYS=0",
        PROGRESS,
    ],
)

REMEMBERED = "ALL_REMEMBER"
READS = "ALL_REMEMBER READS TERMS=1"

HISTORY = Model(
    file="history.pml",
    must_hold=[
        ("commits are lost that one home remembers: nobody believes when terms are raised, or afterwards in an old one",
         "LEASE=2"),
        ("the same, if commits are lost twice", "TERMS=1 LOSSES=2"),
        ("commits are lost that each home remembers: also, no term is granted twice", f"{REMEMBERED} TERMS=3"),
        ("a read shows no leader whose session had ended, and nothing older than was known before", "READS LOSSES=0 TERMS=3"),
        ("the same, if commits are lost that each home remembers", READS),
    ],
    weak_rules={
        "RAISED_AFTER_A_LEASE": ("terms are raised a lease after a loss was noticed, and not H later", "LEASE=2"),
        "INCARNATION_GOES_ON": ("homes whose own row was not lost continue", ""),
        "BEAT_ANY_ROW": ("a beat in flight hides that the row went back", REMEMBERED),
        "DOUBT_IS_LOSS": ("a row that has the number of a beat in doubt is taken for a loss", "LOSSES=0"),
        "NO_WITNESS": ("a transaction does not compare the own row", REMEMBERED),
        "SHORT_LOSS": ("commits are lost that no own row shows (a limit: no rule prevents it)", ""),
        "READ_BY_OFFSETS": ("a read does not look which sessions have ended", READS),
        "READ_WITHOUT_OWN_ROW": ("a read does not look at the own row", READS),
    },
    covering=[
        "",
        "READS TERMS=1 H=0",
    ],
)

OUTAGES = "OUTAGES LEASE=5 IDLE=2"

HOMES = Model(
    file="homes.pml",
    must_hold=[
        ("a session ends by silence or as an orphan only once its client believes no more",
         "H=2 LEASE=2 READ_AT_ONCE"),
        ("the same, with renewals at two replicas at a time", "CALLS=2"),
        ("the same, with replicas that drain", "DRAINS READ_AT_ONCE"),
        ("an end by somebody else is known to the home before its next beat counts", "OPERATOR"),
        ("nothing ends if only the database fails, however long, and the client reaches a replica afterwards", OUTAGES),
        ("once nothing fails, the session of a client that is gone ends within H and a lease, even if a Campaign that "
         "it had given up opens it", "PROGRESS LEASE=2"),
        ("the same, with replicas that drain: within two H, two leases and a beat", "PROGRESS DRAINS READ_AT_ONCE"),
    ],
    weak_rules={
        "ANSWER_WITHOUT_BEAT": ("a replica answers although its beat is not good", ""),
        "BEAT_FROM_REPLY": ("a beat is good from when its answer comes", ""),
        "BEAT_WITHOUT_MARGIN": ("a beat is good for longer than others wait", ""),
        "LEASE_WITHOUT_MARGIN": ("the client trusts the whole lease", ""),
        "LEASE_FROM_REPLY": ("a lease is counted from when the answer comes", ""),
        "BEAT_IGNORES_DEPARTURES": ("a beat counts at once, although departures that it has shown are not read", ""),
        "BEAT_FROM_READING": ("a beat that has shown departures is good from when these are known", ""),
        "BEAT_WHILE_READING": ("a reading of departures makes a beat good that was sent later", ""),
        "UNDONE_ADOPTION": ("an answer makes a replica keep a session that has left it meanwhile", ""),
        "ADOPTION_IS_BEAT": ("an adoption counts as a beat", ""),
        "ADOPTION_UNNUMBERED": ("an adoption does not change the beat of the row", ""),
        "ANSWER_ALL_THAT_WAIT": ("an adoption answers renewals that came after it was sent", ""),
        "ADOPT_THE_ENDED": ("a session that has ended is adopted", ""),
        "ADOPT_BY_THE_DEAD": ("a replica adopts although its row is dead", ""),
        "OPEN_BY_THE_DEAD": ("a replica opens a session although its row is dead", ""),
        "NO_GRACE": ("a session that was adopted counts its silence at once", ""),
        "NO_GRACE_FOR_OWN": ("a session that comes back to its home counts its silence at once", ""),
        "END_ANY_MOVES": ("an END compares the home, and not the moves", ""),
        "SWEEP_KEEPS_THE_ENDING": ("the sweep keeps a session whose END is on its way", ""),
        "DEAD_ANY_BEAT": ("a replica is declared dead whatever its beat is by then", ""),
        "ORPHANS_AT_ONCE": ("the sessions of a dead home end at once", ""),
        "ORPHAN_ANY_HOME": ("an orphan is ended whatever its home is by then", ""),
        "DRAIN_AT_ONCE": ("a drain declares itself dead at once", "DRAINS"),
        "DRAIN_IN_DOUBT": ("a drain forgets an adoption that may yet be done", "DRAINS"),
        "SILENCE_IN_OUTAGES": ("silence is also counted while the beat is not good", OUTAGES),
        "WATCH_BY_READING": ("others watch a home as long as they can read", OUTAGES),
        "NO_SWEEP": ("a replica does not look which sessions it is the home of", "PROGRESS"),
        "BEAT_WITH_ENDS_DUE": ("a replica whose ENDs fail keeps beating", "PROGRESS"),
        "QUIET_END": ("an end by somebody else is no departure", "OPERATOR"),
        "GRANT_BY_DEPARTURES": ("a grant compares departures, and not whether the session has ended", "OPERATOR"),
    },
    covering=[
        "DRAINS READ_AT_ONCE H=0",
        "OPERATOR H=0",
        "CALLS=2 H=0",
        "PROGRESS DRAINS READ_AT_ONCE H=0",
        OUTAGES,
    ],
)

MODELS = [HOMES, HISTORY, HANDOVER]
WEAK_RULES = {name: (model, *rule) for model in MODELS for name, rule in model.weak_rules.items()}


class Failure(Exception):
    pass


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def options(definitions):
    return [f"-D{definition}" for definition in definitions.split()]


class Checker:
    """A model with definitions, as a program in its own folder."""

    def __init__(self, model, definitions, spin=(), compiler=("-O2",)):
        self.folder = tempfile.TemporaryDirectory(prefix="tenure-model-")
        self.file = model.file
        self.definitions = options(definitions)
        self.of_progress = "WHO_" in definitions
        shutil.copy(FOLDER / self.file, self.folder.name)
        run(["spin", "-a", *spin, *self.definitions, self.file], self.folder.name)
        kind = [] if self.of_progress else ["-DSAFETY"]
        run(["gcc", "-w", *kind, f"-DMEMLIM={MEMORY_MAX_MB}", *compiler, "-o", "pan", "pan.c"], self.folder.name)

    def search(self, *arguments):
        """Runs the checker; returns the numbers of errors and states, the MB used, and the output.
        """
        search = ["-a"] if self.of_progress else []
        said = run(["./pan", *search, *arguments], self.folder.name)
        errors = re.search(r"errors: (\d+)", said)
        states = re.search(r"(\d+) states, stored", said)
        memory = re.search(r"([\d.]+)\s+total actual memory usage", said)
        if not errors or not states or not memory:
            raise Failure(said)
        incomplete = "Search not completed" in said or "too small" in said
        if incomplete and int(errors[1]) == 0:
            raise Failure(f"the search was not completed:\n{said}")
        return int(errors[1]), int(states[1]), float(memory[1]), said

    def trail(self):
        return run(["spin", "-t", "-T", *self.definitions, self.file], self.folder.name)


def seconds_used():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def report(verdict, what, states, seconds, memory=None):
    print(f"  {verdict:7} {what:110} {states:>10,} states {seconds:5.1f} s", f"{memory:5.0f} MB" if memory else "", flush=True)


def check_holds(model, what, definitions):
    before = seconds_used()
    checker = Checker(model, definitions)
    errors, states, memory, _ = checker.search("-n", f"-m{DEPTH_MAX}")
    report("FAILS" if errors else "holds", what, states, seconds_used() - before, memory)
    if errors:
        print(story(checker.trail(), model, definitions))
    return errors == 0


def shortest(model, definitions):
    """Returns the checker with the shortest error, or a short one if something never comes, and the
    number of states.
    """
    if "WHO_" not in definitions:
        definitions += " BREADTH_FIRST"
        checker = Checker(model, definitions, compiler=["-O1", "-DBFS"])
        errors, states, _, _ = checker.search("-n")
        return (checker if errors else None), states
    checker = Checker(model, definitions, compiler=["-O1"])
    for depth in (*range(20, 120, 5), DEPTH_MAX):
        said = run(["./pan", "-a", "-n", f"-m{depth}"], checker.folder.name)
        if "errors: 0" not in said:
            break
    return (checker if "errors: 0" not in said else None), int(re.search(r"(\d+) states, stored", said)[1])


def story(trail, model, definitions):
    """The steps of an error, each with the ticks that had passed before it."""
    lines, ticks = [], 0
    for line in trail.splitlines():
        line = line.strip()
        if line.startswith(("spin:", "ltl ", "Never claim", "starting claim", "#processes")):
            if line.startswith("spin: trail ends"):
                break
            continue
        if line == "tick":
            ticks += 1
        elif "START OF CYCLE" in line:
            lines.append("          and this repeats:")
        elif line:
            text = line.replace("_", " ")
            for number, letter in enumerate("AB"):
                other = "another client" if number and "OTHERS" in definitions else f"client {letter}"
                text = text.replace(f"replica {number}", f"replica {letter}").replace(f"client {number}", other)
            lines.append(f"      {'' if model is HANDOVER else ticks:2}  {text}")
            if line.startswith("WRONG"):
                break
    if lines[-1].endswith("repeats:"):
        lines.append("          nothing else happens")
    return "\n".join(lines)


def check_breaks(name):
    model, what, base = WEAK_RULES[name]
    before = seconds_used()
    definitions = f"{base} WEAK_{name}"
    checker, states = shortest(model, definitions)
    report("breaks" if checker else "HOLDS", what, states, seconds_used() - before)
    if checker:
        print(story(checker.trail(), model, definitions) + "\n")
    return checker is not None


def check_reaches(model):
    """Checks that one of the small runs reaches each line of each step."""
    text = (FOLDER / model.file).read_text().splitlines()
    lines, reached, states, before = set(), set(), 0, seconds_used()
    for definitions in model.covering:
        checker = Checker(model, f"{definitions} SEE_STATEMENTS", spin=["-o3"], compiler=["-O0"])
        # These runs are too small for all properties to hold: errors do not end the search.
        _, found, _, said = checker.search("-c0", f"-m{DEPTH_MAX}")
        states += found
        unreached = set()
        process = None
        for line in said.splitlines():
            if match := re.match(r"unreached in (?:proctype )?(\w+)", line):
                process = match[1]
            elif match := re.match(r"\s+\S+:(\d+), state (\d+)", line):
                unreached.add((process, int(match[2])))
        for line in run(["./pan", "-d"], checker.folder.name).splitlines():
            if match := re.match(r"(?:proctype|init) ?(\w*)", line):
                process = match[1] or "init"
            elif match := re.match(r"\s+state\s+(\d+) .*\.pml:(\d+) => (.*)", line):
                if "-end-" in match[3] or "WRONG" in text[int(match[2]) - 1]:
                    continue
                lines.add(int(match[2]))
                if (process, int(match[1])) not in unreached:
                    reached.add(int(match[2]))
    situations = [number for number, line in enumerate(text, 1) if 'printf("SEEN: ' in line]
    for number in situations:
        seen = number in reached
        print(f"  {'seen' if seen else 'NEVER':7} {re.search(r'SEEN: (.*)', text[number - 1])[1][:-6]}")
    missed = sorted(lines - reached) + [number for number in situations if number not in lines]
    for number in missed:
        print(f"  NEVER   {model.file}:{number}: {text[number - 1].strip()}")
    report("reached", f"each of the {len(lines)} lines of the steps of {model.file}", states, seconds_used() - before)
    return not missed


def main():
    names = sys.argv[1:]
    unknown = [name for name in names if name not in WEAK_RULES]
    if unknown:
        raise Failure(f"there is no weak rule {', '.join(unknown)}; there are {', '.join(WEAK_RULES)}")
    if names:
        return all([check_breaks(name) for name in names])
    print("What must hold:")
    good = all([check_holds(model, *check) for model in MODELS for check in model.must_hold])
    print("\nWhat the models do, so that this means something:")
    good = all([check_reaches(model) for model in MODELS]) and good
    print("\nWhat breaks if a rule is made weaker, with the shortest story (ticks of the clock on the left):\n")
    return all([check_breaks(name) for name in WEAK_RULES]) and good


if __name__ == "__main__":
    try:
        sys.exit(0 if main() else 1)
    except Failure as failure:
        sys.exit(f"{sys.argv[0]}: {failure}")
