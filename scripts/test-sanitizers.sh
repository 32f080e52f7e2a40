#!/usr/bin/env bash
# Builds the programs and the unit, contract and RPC suites, and those of the C++ library, with the address and
# undefined-behaviour sanitizers, and runs them; then the same with the thread sanitizer. Both with Debian's gRPC: for the thread
# sanitizer, what happens inside of it can only be told from what is ours if it is a shared library.
# Usage: scripts/test-sanitizers.sh [asan|tsan]...
set -euo pipefail
cd "$(dirname "$0")/.."

# A test loads a library into the programs that stands before the sanitizer's own.
export ASAN_OPTIONS=verify_asan_link_order=0 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=suppressions=$PWD/tests/support/tsan.supp
[ $# -gt 0 ] || set -- asan tsan
for sanitizer in "$@"; do
  GRPC=/usr scripts/build.sh --preset "$sanitizer" --with test \
    unit_tests store_contract_test admin_contract_test login_contract_test sql_surface_test rpc_test library_test
  echo "== under $sanitizer"
  BUILD=build/$sanitizer scripts/test.sh --label-regex '^(unit|contract|rpc|library)$' --timeout 1200
done
