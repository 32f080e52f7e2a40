#!/usr/bin/env bash
# Builds the candidate of client/examples/rust with the first command of its README, and lets it compete with itself:
# tests/polyglot/stubs.
# Usage: scripts/test-stubs.sh   (after build/bin/stubs_test is built)
set -euo pipefail
cd "$(dirname "$0")/.."

command -v cargo >/dev/null || scripts/install-deps.sh cargo
(
  cd client/examples/rust
  command=$(awk '/^```/ { if (inside) exit; inside = ($0 == "```sh"); next } inside' README.md)
  CARGO_BUILD_JOBS=2 nice bash -euo pipefail -c "$command"
)
exec build/bin/stubs_test
