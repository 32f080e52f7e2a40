#!/usr/bin/env bash
# Runs the contract of the stores on database clusters, and Tenure on clusters that fail, so often in each way.
# Usage: scripts/test-clusters.sh MYSQL_ROOT GALERA FAILOVERS
set -euo pipefail
cd "$(dirname "$0")/.."
export TENURE_TEST_MYSQL_ROOT=${1:?usage: scripts/test-clusters.sh MYSQL_ROOT GALERA FAILOVERS}
export TENURE_TEST_FAILOVERS=${3:?usage: scripts/test-clusters.sh MYSQL_ROOT GALERA FAILOVERS}
export TENURE_TEST_SYNC=${TENURE_TEST_SYNC:-off}
galera=${2:?usage: scripts/test-clusters.sh MYSQL_ROOT GALERA FAILOVERS}

if [ "$(id -u)" -ne 0 ]; then
  exec sudo --preserve-env=TENURE_TEST_SYNC "$0" "$@"
fi
export PATH=$galera/usr/bin:$PATH

# Each program has a network of its own, for the tests that cut hosts off.
run() {
  timeout "$1" scripts/in-memory.sh "$TENURE_TEST_MYSQL_ROOT/tmp" \
    unshare --net sh -c 'ip link set lo up && exec "$@"' sh "${@:2}"
}

for cluster in galera group; do
  TENURE_TEST_CLUSTER=$cluster run 600 build/bin/clusters_contract_test --gtest_brief=1 '--gtest_filter=-*Sqlite*'
done
run "$((900 + 300 * TENURE_TEST_FAILOVERS))" build/bin/clusters_test
