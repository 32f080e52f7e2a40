#!/usr/bin/env python3
"""Writes the dashboards of the chart, helm/tenure/dashboards, from the pages beside this file.

Usage: helm/dashboards/generate.py [--check]   (fails if a file would change, and writes none)
"""

import json
import pathlib
import sys

import election
import overview
import server

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tenure" / "dashboards"


def main():
    stale = []
    for page in (overview, election, server):
        file = FOLDER / f"{page.__name__}.json"
        content = json.dumps(page.DASHBOARD, indent=2) + "\n"
        if file.exists() and file.read_text() == content:
            continue
        stale.append(file.name)
        if "--check" not in sys.argv[1:]:
            FOLDER.mkdir(exist_ok=True)
            file.write_text(content)
    if stale and "--check" in sys.argv[1:]:
        sys.exit(f"Not as helm/dashboards/generate.py makes them: {', '.join(stale)}")


main()
