#!/usr/bin/python3
"""Runs what the documentation tells people to type: each shell, SQL, YAML and C++ block of each page.

Usage: tests/docs/run.py [PAGE]...      (as root, after what `make install` builds)

The blocks of a page run in order, in one bash, which session.sh sets up: it has this checkout, but its own
network and processes, and leaves nothing behind. The language of a block decides what happens to it:

  sh                   runs, with errexit, nounset and pipefail
  sql                  is piped to `mariadb`, as root
  cpp                  is piped to `compile`, a function of session.sh
  yaml, json, ini      is parsed, and so are python and xml
  promql, mermaid      is ignored (`make test-monitoring` runs the queries)
  none                 If it is a transcript, its lines that start with "$ " run, and must print the lines
                       shown below them. Spaces, and words that contain a digit, may differ

Comments, which readers do not see, change that for the block directly below them:

  <!-- doc-test: piped to COMMAND -->       COMMAND may be a function of session.sh
  <!-- doc-test: run by make TARGET... -->  other suites run it; .ci must run each of them
  <!-- doc-test: not run: REASON -->        it cannot run here

Another comment runs commands between blocks, to prepare what the page assumes, or to check what it says:

  <!-- doc-test: run COMMANDS -->           on one line or more
"""
import ast
import configparser
import dataclasses
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from xml.etree import ElementTree

import yaml

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
SECONDS_MAX = 120  # for one block

ITEM = re.compile(r"""
    ^(?P<indent>\ *)```(?P<language>.*)\n(?P<text>(?:.*\n)*?)(?P=indent)```$
  | <!--\ doc-test:\s(?P<comment>(?s:.*?))\s*-->
  | (?P<wrong>^\ *```.*|<!--.*doc-?test.*)""", re.MULTILINE | re.VERBOSE)
COMMENT = re.compile(r"(run by make|run|piped to|not run:)\s+(?s:(.+))")
READERS = {"sql": "mariadb", "cpp": "compile"}
PARSERS = {
    "ini": lambda text: configparser.ConfigParser(interpolation=None).read_string(text),
    "json": lambda text: [json.loads(line) for line in text.splitlines() if line],
    "python": ast.parse,
    "xml": lambda text: ElementTree.fromstring(f"<all>{text}</all>"),
    "yaml": lambda text: list(yaml.safe_load_all(text)),
}
IGNORED = {"promql", "mermaid", "ts"}
NAMESPACES = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]


class WrongPage(Exception):
    """The message says in which line, and what is wrong."""


@dataclasses.dataclass
class Step:
    """A block, a command of a transcript, or the commands of a comment."""
    line: int  # the first one of the text
    text: str
    reader: str | None = None  # the command that the text is piped to; None: bash runs the text
    expected: str = ""  # what the page shows as its output
    why_not: str = ""  # why it does not run here
    hidden: bool = False  # from a comment


def suites():
    """The make targets that .ci runs."""
    targets = set(re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(), re.MULTILINE))
    everything = subprocess.run([CHECKOUT / "scripts/ci-parts.py", "all"], check=True, capture_output=True, text=True).stdout
    return targets & {*re.findall(r"[\w-]+", everything), *re.findall(r"[\w-]+", (CHECKOUT / ".ci/nightly").read_text())}


def steps_of_transcript(line, text):
    """One step for each command, with the output that the page shows."""
    for shown in re.finditer(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        yield Step(line + text.count("\n", 0, shown.start()), shown[1], expected=shown[2])


def steps_of_block(line, language, text, verb, argument):
    if verb == "not run:":
        return [Step(line, text, why_not=argument)]
    if verb == "run by make":
        for target in set(argument.split()) - suites():
            raise WrongPage(f"{line}: nothing in .ci runs `make {target}`")
        return [Step(line, text, why_not=f"run by make {argument}")]
    if verb == "piped to":
        return [Step(line, text, reader=argument)]
    if language == "sh" or language in READERS:
        return [Step(line, text, reader=READERS.get(language))]
    if language == "":
        return list(steps_of_transcript(line, text))
    if language in PARSERS:
        try:
            PARSERS[language](text)
        except (ValueError, SyntaxError, configparser.Error, yaml.YAMLError, ElementTree.ParseError) as error:
            raise WrongPage(f"{line}: not {language}: {error}") from error
    elif language not in IGNORED:
        raise WrongPage(f"{line}: unknown language '{language}'")
    return []


def parse(page):
    """The steps of a page, in order."""
    steps, verb, argument, end = [], None, None, 0

    def line_of(position):
        return page.count("\n", 0, position) + 1

    for item in ITEM.finditer(page + "\n"):
        line = line_of(item.start())
        if verb and (item["text"] is None or page[end:item.start()].strip()):
            raise WrongPage(f"{line_of(end)}: '{verb} {argument}' has no block right below it")
        if item["wrong"]:
            raise WrongPage(f"{line}: this has no end, or is misspelt: {item['wrong'].strip()}")
        if item["text"] is not None:
            text = re.sub(f"^{item['indent']}", "", item["text"], flags=re.MULTILINE)
            steps += steps_of_block(line + 1, item["language"].strip(), text, verb, argument)
            verb = None
            continue
        known = COMMENT.fullmatch(item["comment"])
        if not known:
            raise WrongPage(f"{line}: unknown comment '{item['comment']}'")
        if known[1] == "run":
            begin = line_of(item.start("comment") + known.start(2))
            steps.append(Step(begin, known[2] + "\n", hidden=True))
        else:
            verb, argument, end = known[1], known[2], item.end()
    if verb:
        raise WrongPage(f"{line_of(end)}: '{verb} {argument}' has no block right below it")
    return steps


def shapes(output):
    """Its lines, without what may differ: spaces, and words that contain a digit."""
    return {" ".join(re.sub(r"[\w.:-]*\d[\w.:-]*", "#", line).split()) for line in output.splitlines()}


def run(steps, folder, installed):
    """Runs the steps in one session."""
    command = [*NAMESPACES, "bash", "-c", 'mount --bind "$0" "$0" && exec bash -s', folder]
    given = shlex.join([f"folder={folder}", f"installed={installed}"])
    setup = Step(1, f"declare -r {given}; . tests/docs/session.sh\n")
    with subprocess.Popen(command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
        try:
            for number, step in enumerate([setup, *steps]):
                run_step(session, step, folder / f"{number}.text", folder / f"{number}.output")
        finally:
            session.kill()


def run_step(session, step, text, output):
    # With the empty lines, the line numbers in messages are those of the page.
    text.write_text("\n" * (step.line - 1) + step.text)
    command = f"{{ {step.reader}\n}} <{text}" if step.reader else f". {text} </dev/null"
    may_fail = "|| true" if step.expected else ""
    alarm = threading.Timer(SECONDS_MAX, session.kill)
    alarm.start()
    print(f"{command} >{output} 2>&1 {may_fail}; echo", file=session.stdin, flush=True)
    succeeded = session.stdout.readline()  # nothing if the shell has ended
    alarm.cancel()
    printed = output.read_text(errors="replace")
    if not succeeded:
        late = f" within {SECONDS_MAX} s" if session.wait() == -signal.SIGKILL else ""
        raise WrongPage(f"{step.line}: this did not succeed{late}:\n{step.text}\n{printed}")
    missing = shapes(step.expected) - shapes(printed)
    if missing:
        raise WrongPage(f"{step.line}: this did not print {', '.join(map(repr, missing))}:\n{step.text}\n{printed}")


def check(name, page, installed):
    """Runs a page, prints how that went, and returns whether it went well."""
    try:
        steps = parse(page)
        to_run = [step for step in steps if not step.why_not]
        if to_run:
            with tempfile.TemporaryDirectory(prefix="tenure-docs-") as folder:
                run(to_run, pathlib.Path(folder), installed)
    except WrongPage as wrong:
        print(f"{name}:{wrong}", flush=True)
        return False
    shown = [step for step in steps if not step.hidden]
    if shown:
        not_run = [step.why_not for step in shown if step.why_not]
        print(f"{name}: {len(shown) - len(not_run)} run" +
              (f", {len(not_run)} not ({'; '.join(dict.fromkeys(not_run))})" if not_run else ""), flush=True)
    return True


def require_namespaces():
    if subprocess.run([*NAMESPACES, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        sys.exit("tests/docs/run.py cannot make network, mount and process namespaces: run it as root")


def main(pages):
    # A shell that starts this in the background has all that it starts ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    require_namespaces()
    pages = pages or subprocess.run(["git", "ls-files", "-zco", "--exclude-standard", "*.md"], cwd=CHECKOUT,
                                    check=True, stdout=subprocess.PIPE, text=True).stdout.split("\0")[:-1]
    with tempfile.TemporaryDirectory(prefix="tenure-docs-") as installed:
        subprocess.run(["scripts/install.sh", "/usr/local"], cwd=CHECKOUT, env=os.environ | {"DESTDIR": installed},
                       check=True, stdout=subprocess.DEVNULL)
        went_well = [check(page, (CHECKOUT / page).read_text(), installed) for page in pages]
    sys.exit(0 if all(went_well) else 1)


if __name__ == "__main__":
    main(sys.argv[1:])
