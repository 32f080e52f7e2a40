#!/usr/bin/env bash
# Generates the stubs that ship in the library, into tenure/v1, and creates a virtual environment,
# client/python/build/venv, with the tools that pack and test it. The library itself is installed there as this folder.
# Usage: client/python/prepare.sh
set -euo pipefail
cd "$(dirname "$0")"

venv=build/venv
pip=("$venv/bin/python" -m pip --quiet --disable-pip-version-check install)
fresh=false
cmp --silent requirements-dev.txt "$venv/requirements-dev.txt" || fresh=true
if "$fresh"; then
  python3 -m venv --clear "$venv"
  "${pip[@]}" -r requirements-dev.txt
fi
cp ../../LICENSE .
mkdir -p tenure/v1
"$venv/bin/python" -m grpc_tools.protoc -I ../../proto \
  --python_out=. --pyi_out=. --grpc_python_out=. tenure/v1/election.proto
if "$fresh"; then
  "${pip[@]}" --no-deps --no-build-isolation --editable .
  cp requirements-dev.txt "$venv"
fi
