#!/usr/bin/env bash
# Runs the contract suites of the stores, of their views in plain SQL, and of the C++ fence, on MySQL.
# Usage: scripts/test-engines.sh MYSQL_ROOT
set -euo pipefail
cd "$(dirname "$0")/.."
export TENURE_TEST_SYNC=${TENURE_TEST_SYNC:-off}
export TENURE_TEST_MYSQL_ROOT=${1:?usage: scripts/test-engines.sh MYSQL_ROOT}

if [ "$(id -u)" -ne 0 ]; then
  exec sudo --preserve-env=TENURE_TEST_MYSQL_ROOT,TENURE_TEST_SYNC "$0" "$@"
fi
chroot "$TENURE_TEST_MYSQL_ROOT" mysqld --version
scripts/in-memory.sh "$TENURE_TEST_MYSQL_ROOT/tmp" \
  ctest --test-dir build --output-on-failure --timeout 600 --no-tests=error -R '^(store_contract|admin_contract|login_contract|sql_surface|guarded_transaction)_test$'
