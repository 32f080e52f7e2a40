#!/usr/bin/env bash
# Installs the programs of build/ and the C++ library of build/library, under DESTDIR if it is set.
# Usage: scripts/install.sh PREFIX
set -euo pipefail
prefix=$(realpath --canonicalize-missing "${1:?usage: scripts/install.sh PREFIX}")
cd "$(dirname "$0")/.."

# component NAME FOLDER: without the additions of packaging/ for Debian's packages.
component() {
  cmake -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_COMPONENT="$1" -DCMAKE_INSTALL_LOCAL_ONLY=ON \
    -P "$2/cmake_install.cmake"
}
component server build
component cli build
component dev build/library
