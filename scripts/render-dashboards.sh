#!/usr/bin/env bash
# Draws the dashboards into docs/dashboards, as they look after real fail-overs.
# Usage: scripts/render-dashboards.sh PROMETHEUS   (where scripts/install-prometheus.sh unpacked it)
set -euo pipefail
prometheus=$(cd "${1:?usage: scripts/render-dashboards.sh PROMETHEUS}" && pwd)
cd "$(dirname "$0")/.."

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
PATH=$prometheus/usr/bin:$PATH TENURE_TEST_ROUNDS=20 TENURE_TEST_RESULTS=$results \
  build/bin/monitoring_test --gtest_filter='*EveryQueryOfEveryDashboardHasData'
scripts/render-dashboards.py "$results" docs/dashboards
