#!/usr/bin/env bash
# Packs the library: a wheel, and the sources with the generated stubs. Usage: client/python/pack.sh DIST
set -euo pipefail
dist=$(realpath -m "${1:?usage: client/python/pack.sh DIST}")
cd "$(dirname "$0")"

./prepare.sh
mkdir -p "$dist"
rm -f "$dist"/tenure-*.whl "$dist"/tenure-*.tar.gz
build/venv/bin/python -m build --no-isolation --outdir "$dist" . >build/pack.log 2>&1 || { cat build/pack.log >&2; exit 1; }
