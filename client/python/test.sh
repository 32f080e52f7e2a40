#!/usr/bin/env bash
# Checks and tests the library, and what pack.sh has left in DIST, against build/bin/tenured. Usage: client/python/test.sh DIST
set -euo pipefail
dist=$(realpath "${1:?usage: client/python/test.sh DIST}")
cd "$(dirname "$0")"

venv=build/venv/bin
"$venv/ruff" check --quiet .
"$venv/ruff" format --check --quiet .
"$venv/mypy" --no-error-summary tenure
TENURE_DIST=$dist "$venv/python" -m pytest --quiet -rP --show-capture=stdout tests
