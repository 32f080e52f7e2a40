#!/usr/bin/env python3
"""Checks prose. In Markdown pages, no line is above 120 columns, except where it cannot be broken. In pages, tests, and
comments of code, there are none of the turns of phrase that make English sound foreign.

Usage: scripts/check-prose.py
"""

import io
import pathlib
import re
import subprocess
import sys
import tokenize

COLUMNS_MAX = 120

FOREIGN = (r"so (?:many|long|often)|anew|whoever|into being|(?:is|are|was|were) told|tells? of|passed? by|for ever")
# A comment may be broken between two words.
FOREIGN_RE = re.compile(rf"\b(?:{FOREIGN})\b".replace(" ", r"(?: +| *\n *)"), re.IGNORECASE)
ADVICE = "say who acts, and what (a maximum, again, anyone, create, is notified, reports, skipped, indefinitely)"

# What begins a comment.
SLASHES = re.compile(r"//|/\*|^ *\*(?!/)")
HASH = re.compile(r"(?:^|(?<=\s))#")
COMMENTS = {
    **dict.fromkeys(("cc", "h", "java", "go", "ts", "rs", "proto", "pml", "mjs", "js"), SLASHES),
    **dict.fromkeys(("sh", "yaml", "yml", "cmake", "toml", "txt", "in", "cfg", "tpl", "dict", "Dockerfile", "Makefile", "run",
                     "nightly", "postinst", "postrm", "prerm"), HASH),
}
TEST = re.compile(r"^tests/|/tests?/|_test\.(cc|go|py)$|testing\.h$|\.test\.ts$")
DATA = re.compile(r"^tests/fuzz/corpus/")

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


def python_comments(text):
    """Comments and docstrings, by line."""
    lines = {}
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        statement = before in (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT)
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and statement):
            for number, line in enumerate(token.string.split("\n"), token.start[0]):
                lines[number] = line
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type
    return lines


def english(path, text):
    """Each line that people read as English, by number."""
    if path.endswith(".md"):
        return {number: CODE.sub("``", line) for number, line in prose(text)}
    if TEST.search(path):  # a quoted word by itself is data
        return {number: re.sub(r'"[\w-]+"', '""', line) for number, line in enumerate(text.split("\n"), 1)}
    if path.endswith(".py"):
        return python_comments(text)
    begin = COMMENTS.get(re.split(r"[./]", path)[-1])
    if path.endswith(".patch"):  # what it adds
        begin = re.compile(r"^\+.*?//")
    if begin is None:
        return {}
    return {number: line[found.start():] for number, line in enumerate(text.split("\n"), 1) if (found := begin.search(line))}


def check_words(path, text, wrong):
    lines = english(path, text)
    # Without what begins a comment, so that it can be read across lines.
    whole = "\n".join(re.sub(r"^\s*(\+?\s*//+|/?\*+|#+)?", "", lines.get(number, ""))
                      for number in range(1, max(lines, default=0) + 1))
    for found in FOREIGN_RE.finditer(whole):
        number = whole.count("\n", 0, found.start()) + 1
        words = " ".join(found.group().split())
        wrong.append(f"{path}:{number}: '{words}' sounds foreign: {ADVICE}")


def main():
    wrong = []
    for path in files():
        try:
            text = pathlib.Path(path).read_text()
        except UnicodeDecodeError:
            continue
        if path.endswith(".md"):
            check_columns(path, text, wrong)
        if not DATA.match(path):
            check_words(path, text, wrong)
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
