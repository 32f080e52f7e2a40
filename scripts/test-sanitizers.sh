#!/usr/bin/env bash
# Runs the tests of the C++ client library under the address, undefined-behaviour and thread sanitizers, against the servers of
# build/. Usage: scripts/test-sanitizers.sh [asan|tsan]...
set -euo pipefail
cd "$(dirname "$0")/.."

tests=(client_test elector_test)
export ASAN_OPTIONS=detect_leaks=1
export TSAN_OPTIONS=suppressions=$PWD/tests/support/tsan.supp
[ $# -gt 0 ] || set -- asan tsan
for sanitizer in "$@"; do
  [ -f "build/$sanitizer/build.ninja" ] || cmake --preset "$sanitizer" -DTENURE_TEST_PROGRAMS="$PWD/build/bin" >/dev/null
  cmake --build --preset "$sanitizer" --target "${tests[@]}"
  for test in "${tests[@]}"; do
    echo "== $test under $sanitizer"
    "build/$sanitizer/bin/$test" --gtest_brief=1
  done
done
