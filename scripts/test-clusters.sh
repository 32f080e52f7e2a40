#!/usr/bin/env bash
# Runs Tenure on database clusters that fail, so often in each way.
# Usage: scripts/test-clusters.sh MYSQL_ROOT GALERA FAILOVERS
set -euo pipefail
cd "$(dirname "$0")/.."
export TENURE_TEST_MYSQL_ROOT=${1:?usage: scripts/test-clusters.sh MYSQL_ROOT GALERA FAILOVERS}
export TENURE_TEST_FAILOVERS=${3:?usage: scripts/test-clusters.sh MYSQL_ROOT GALERA FAILOVERS}
galera=${2:?usage: scripts/test-clusters.sh MYSQL_ROOT GALERA FAILOVERS}

if [ "$(id -u)" -ne 0 ]; then
  exec sudo "$0" "$@"
fi
# In a network of its own, for the tests that cut hosts off.
PATH=$galera/usr/bin:$PATH timeout "$((900 + 300 * TENURE_TEST_FAILOVERS))" \
  unshare --net sh -c 'ip link set lo up && exec build/bin/clusters_test'
