#!/usr/bin/env bash
# Makes targets, one after the other, and says when each begins. The first failure ends it; with --keep-going the rest is made,
# too, and what failed is named at the end. Usage: scripts/make-each.sh [--keep-going] 'TARGET [VARIABLE=VALUE]...'...
set -euo pipefail
cd "$(dirname "$0")/.."

keep_going=''
[ "${1:-}" != --keep-going ] || { keep_going=yes; shift; }
failed=()

# A bare machine may lack make itself.
command -v make >/dev/null || { apt-get -qq update && apt-get -qq install -y make >/dev/null; }
for suite; do
  echo "== make $suite, after $((SECONDS / 60)) min"
  read -ra words <<<"$suite"
  "${MAKE:-make}" "${words[@]}" || { failed+=("make $suite") && [ -n "$keep_going" ]; }
done
[ "${#failed[@]}" -eq 0 ] || { printf 'failed: %s\n' "${failed[@]}" >&2; exit 1; }
