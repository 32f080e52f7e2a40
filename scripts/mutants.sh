#!/usr/bin/env bash
# Plants mistakes in files, one at a time, and reports those that no test notices: see tests/mutants/run.py.
# Usage: scripts/mutants.sh [--most N] [--seed N] FILE...
set -euo pipefail
cd "$(dirname "$0")/.."
tool=${XDG_CACHE_HOME:-$HOME/.cache}/tenure/universalmutator-1.14.1
grpc=${GRPC:-$HOME/.cache/tenure/grpc}
[ -d "$grpc" ] || grpc=/usr

scripts/install-deps.sh build test mutants
if [ ! -x "$tool/bin/mutate" ]; then
  echo "Installing universalmutator into $tool"
  python3 -m venv "$tool"
  "$tool/bin/pip" --quiet install universalmutator==1.14.1
fi
PATH=$tool/bin:$PATH exec python3 tests/mutants/run.py --grpc "$grpc" "$@"
