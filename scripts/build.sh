#!/usr/bin/env bash
# Installs what a build needs, configures it, and builds the targets: the preset `release` in build/, or another one in
# build/PRESET.
# Usage: scripts/build.sh [--preset PRESET] [--with GROUP]... TARGET...
# GROUP is one of scripts/install-deps.sh. Where CMake has an option of that name (`test` is TENURE_TEST,
# `bench` is TENURE_BENCH), it is switched on, and stays on in this build directory.
# Uses the gRPC that scripts/install-grpc.sh has built in GRPC (`make grpc`), if there is one, or else Debian's.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=release folder=build
if [ "${1:-}" = --preset ]; then
  preset=${2:?--preset needs a preset of CMakePresets.json} folder=build/$2
  shift 2
fi
# With the system's gRPC, the library is part of the release build already.
if [ "$preset" = library ]; then
  [ ! -L build/library ] || rm build/library
  if grep -qsx 'CMAKE_PREFIX_PATH:[A-Z]*=/usr' build/CMakeCache.txt && [ ! -d build/library ]; then
    preset=release folder=build
    ln -s . build/library
  fi
fi
groups=(build)
while [ "${1:-}" = --with ]; do
  groups+=("${2:?--with needs a group of scripts/install-deps.sh}")
  shift 2
done
[ $# -gt 0 ] || { sed -n 4p "$0" | cut -c 3- >&2; exit 2; }

scripts/install-deps.sh "${groups[@]}"
options=()
for group in "${groups[@]:1}"; do
  option=TENURE_${group^^}
  if grep -q "option($option " CMakeLists.txt && ! grep -qsx "$option:BOOL=ON" "$folder/CMakeCache.txt"; then
    options+=("-D$option=ON")
  fi
done
grpc=${GRPC:-$HOME/.cache/tenure/grpc}
[ -d "$grpc" ] || grpc=/usr
grep -qsx "CMAKE_PREFIX_PATH:[A-Z]*=$grpc" "$folder/CMakeCache.txt" ||
  options+=("-DCMAKE_PREFIX_PATH=$grpc" -UgRPC_DIR -Uabsl_DIR)
[ "$folder/build.ninja" -nt CMakePresets.json ] && [ ${#options[@]} -eq 0 ] || cmake --preset "$preset" "${options[@]}" >/dev/null
cmake --build --preset "$preset" --target "$@"
