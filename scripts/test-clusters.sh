#!/usr/bin/env bash
# Runs Tenure on database clusters that fail. Usage: scripts/test-clusters.sh MYSQL_ROOT GALERA
set -euo pipefail
cd "$(dirname "$0")/.."
export TENURE_TEST_MYSQL_ROOT=${1:?usage: scripts/test-clusters.sh MYSQL_ROOT GALERA}
galera=${2:?usage: scripts/test-clusters.sh MYSQL_ROOT GALERA}

if [ "$(id -u)" -ne 0 ]; then
  exec sudo --preserve-env=TENURE_TEST_MYSQL_ROOT "$0" "$@"
fi
PATH=$galera/usr/bin:$PATH timeout 1200 build/bin/clusters_test
