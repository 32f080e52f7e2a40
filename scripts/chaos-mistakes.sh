#!/usr/bin/env bash
# Checks that chaos notices mistakes: see tests/chaos/mistakes.py. Usage: scripts/chaos-mistakes.sh [--seconds N]
set -euo pipefail
cd "$(dirname "$0")/.."
grpc=${GRPC:-$HOME/.cache/tenure/grpc}
[ -d "$grpc" ] || grpc=/usr
scripts/install-deps.sh build test chaos
exec python3 tests/chaos/mistakes.py --grpc "$grpc" "$@"
