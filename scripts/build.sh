#!/usr/bin/env bash
# Configures (once) and builds the release preset. Usage: scripts/build.sh TARGET...
set -euo pipefail
cd "$(dirname "$0")/.."

[ -f build/build.ninja ] || cmake --preset release >/dev/null
cmake --build --preset release --target "$@"
