#!/usr/bin/env bash
# Builds the programs and the unit, contract and RPC suites, and those of the C++ library, with the address and
# undefined-behaviour sanitizers, and runs them; then with the thread sanitizer. Both use Debian's gRPC: the thread
# sanitizer can only tell gRPC's internals from our code if gRPC is a shared library.
# Usage: scripts/test-sanitizers.sh [asan|tsan]...
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || set -- asan tsan
for sanitizer in "$@"; do
  # Reports go into a file, because nobody may read the output of a server under test.
  reports=$PWD/build/$sanitizer/reports
  rm -rf "$reports"
  mkdir -p "$reports"
  # A test preloads a library into the programs, before the sanitizer's own.
  export ASAN_OPTIONS=verify_asan_link_order=0:log_path=$reports/report
  export UBSAN_OPTIONS=print_stacktrace=1:log_path=$reports/report
  # The thread sanitizer compares each address with all suppressed reports, which made an answer of 5 MB take a minute;
  # and it cannot suppress a report whose stack it has forgotten.
  export TSAN_OPTIONS=suppressions=$PWD/tests/support/tsan.supp:log_path=$reports/report:suppress_equal_addresses=0:history_size=7
  GRPC=/usr scripts/build.sh --preset "$sanitizer" --with test \
    unit_tests store_contract_test admin_contract_test login_contract_test sql_surface_test rpc_test library_test
  echo "== under $sanitizer"
  BUILD=build/$sanitizer scripts/test.sh --label-regex '^(unit|contract|rpc|library)$' --timeout 1200
  [ -z "$(ls -A "$reports")" ] || { cat "$reports"/*; exit 1; } >&2
done
