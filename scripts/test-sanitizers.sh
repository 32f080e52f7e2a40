#!/usr/bin/env bash
# Runs the tests of the C++ client library under the address, undefined-behaviour and thread sanitizers, against the servers of
# build/. Usage: scripts/test-sanitizers.sh [asan|tsan]...
set -euo pipefail
cd "$(dirname "$0")/.."

programs=(client_test library_test)
tests=(client_test 'library_test elector_test')
export ASAN_OPTIONS=detect_leaks=1
export TSAN_OPTIONS=suppressions=$PWD/tests/support/tsan.supp
[ $# -gt 0 ] || set -- asan tsan
for sanitizer in "$@"; do
  [ -f "build/$sanitizer/build.ninja" ] || cmake --preset "$sanitizer" -DTENURE_TEST=ON -DTENURE_TEST_PROGRAMS="$PWD/build/bin" >/dev/null
  cmake --build --preset "$sanitizer" --target "${programs[@]}"
  for test in "${tests[@]}"; do
    echo "== $test under $sanitizer"
    read -ra command <<<"$test"
    "build/$sanitizer/bin/${command[0]}" "${command[@]:1}" --gtest_brief=1
  done
done
