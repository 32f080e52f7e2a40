#!/usr/bin/env bash
# Builds the programs of client/examples, each by the commands that its README shows first, and says
# how long each took. Usage: scripts/build-polyglot.sh [LANGUAGE]...
set -euo pipefail
cd "$(dirname "$0")/../client/examples"

# At most two jobs, whatever the language.
export CMAKE_BUILD_PARALLEL_LEVEL=2 CARGO_BUILD_JOBS=2 GOMAXPROCS=2

first_commands() { awk '/^```/ { if (inside) exit; inside = ($0 == "```sh"); next } inside' "$1"; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
[ $# -gt 0 ] || set -- */
for language in "${@%/}"; do
  SECONDS=0
  commands=$(first_commands "$language/README.md")
  if ! (cd "$language" && nice bash -euo pipefail -c "$commands") >"$log" 2>&1; then
    cat "$log" >&2
    echo "client/examples/$language: the commands of its README fail" >&2
    exit 1
  fi
  printf 'Built client/examples/%-7s in %3d s\n' "$language" "$SECONDS"
done
