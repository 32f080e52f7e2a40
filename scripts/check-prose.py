#!/usr/bin/env python3
"""Checks the prose of the Markdown pages: no line is above 120 columns, except where it cannot be broken.

Usage: scripts/check-prose.py
"""

import pathlib
import re
import subprocess
import sys

COLUMNS_MAX = 120

FENCE = re.compile(r" *(```|~~~)")
# Tables, headings and HTML: their lines cannot be broken.
WHOLE = re.compile(r" *(\||#|<)")
INDENT = re.compile(r" *([-*+] +|\d+[.)] +|> *)*")
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


def files():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], check=True, capture_output=True, text=True)
    return [name for name in names.stdout.split("\n") if pathlib.Path(name).is_file()]


def prose(text):
    """The number and text of each line outside of code blocks and HTML comments."""
    fenced = comment = False
    for number, line in enumerate(text.split("\n"), 1):
        if FENCE.match(line) and not comment:
            fenced = not fenced
        elif not fenced:
            begins = line.lstrip().startswith("<!--")
            if not comment and not begins:
                yield number, line
            comment = (comment or begins) and "-->" not in line


def without_code(line):
    return CODE.sub(lambda code: "`" * len(code.group()), line)


def check_columns(path, text, wrong):
    for number, line in prose(text):
        if len(line) <= COLUMNS_MAX or WHOLE.match(line):
            continue
        begin = INDENT.match(line).end()
        if " " in without_code(line)[begin:COLUMNS_MAX + 1]:  # so it can be broken
            wrong.append(f"{path}:{number}: has {len(line)} columns; wrap prose at {COLUMNS_MAX}")


def main():
    wrong = []
    for path in files():
        if path.endswith(".md"):
            check_columns(path, pathlib.Path(path).read_text(), wrong)
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
