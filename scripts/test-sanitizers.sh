#!/usr/bin/env bash
# Builds the programs and the unit, contract and RPC suites, and those of the C++ library, with the address and
# undefined-behaviour sanitizers, and runs them; then the same with the thread sanitizer. Both with Debian's gRPC: for the thread
# sanitizer, what happens inside of it can only be told from what is ours if it is a shared library.
# Usage: scripts/test-sanitizers.sh [asan|tsan]...
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || set -- asan tsan
for sanitizer in "$@"; do
  # What a program says goes into a file, since nobody may look at what a server under test writes.
  reports=$PWD/build/$sanitizer/reports
  rm -rf "$reports"
  mkdir -p "$reports"
  # A test loads a library into the programs that stands before the sanitizer's own.
  export ASAN_OPTIONS=verify_asan_link_order=0:log_path=$reports/report
  export UBSAN_OPTIONS=print_stacktrace=1:log_path=$reports/report
  # The thread sanitizer compares each address with all whose reports were suppressed, which made an answer of 5 MB take a minute; and it cannot
  # suppress what it has forgotten the stack of.
  export TSAN_OPTIONS=suppressions=$PWD/tests/support/tsan.supp:log_path=$reports/report:suppress_equal_addresses=0:history_size=7
  GRPC=/usr scripts/build.sh --preset "$sanitizer" --with test \
    unit_tests store_contract_test admin_contract_test login_contract_test sql_surface_test rpc_test library_test
  echo "== under $sanitizer"
  BUILD=build/$sanitizer scripts/test.sh --label-regex '^(unit|contract|rpc|library)$' --timeout 1200
  [ -z "$(ls -A "$reports")" ] || { cat "$reports"/*; exit 1; } >&2
done
