#!/usr/bin/env bash
# Runs Tenure on clusters that fail, FAILOVERS times in each way; or 0: only the shorter tests, once; or else the contract of the stores on a server of
# each cluster.
# Usage: scripts/test-clusters.sh MYSQL_ROOT GALERA FAILOVERS|contract
set -euo pipefail
cd "$(dirname "$0")/.."
usage=$(sed -n 4p "$0" | cut -c 3-)
export TENURE_TEST_SYNC=${TENURE_TEST_SYNC:-off}
export TENURE_TEST_MYSQL_ROOT=${1:?$usage}
galera=${2:?$usage} what=${3:?$usage}

if [ "$(id -u)" -ne 0 ]; then
  exec sudo --preserve-env=TENURE_TEST_SYNC "$0" "$@"
fi
export PATH=$galera/usr/bin:$PATH

# Each program has a network of its own, for the tests that cut hosts off.
run() {
  timeout "$1" scripts/in-memory.sh "$TENURE_TEST_MYSQL_ROOT/tmp" \
    unshare --net sh -c 'ip link set lo up && exec "$@"' sh "${@:2}"
}

if [ "$what" != contract ]; then
  filter=()
  [ "$what" -gt 0 ] || filter=('--gtest_filter=-FailoverTest.*')
  TENURE_TEST_FAILOVERS=$((what > 0 ? what : 1)) run "$((900 + 300 * what))" build/bin/clusters_test "${filter[@]}"
  exit
fi
for cluster in galera group; do
  TENURE_TEST_CLUSTER=$cluster run 900 build/bin/clusters_contract_test --gtest_brief=1 '--gtest_filter=-*Sqlite*'
done
