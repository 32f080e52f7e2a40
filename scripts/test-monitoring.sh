#!/usr/bin/env bash
# Runs the alerts' test cases with promtool, and then checks everything that operators see against a real fail-over: on
# a MariaDB, three replicas and a Prometheus started for this.
# Usage: scripts/test-monitoring.sh PROMETHEUS   (where scripts/install-prometheus.sh unpacked it)
set -euo pipefail
prometheus=$(cd "${1:?usage: scripts/test-monitoring.sh PROMETHEUS}" && pwd)
cd "$(dirname "$0")/.."
PATH=$prometheus/usr/bin:$PATH

helm/dashboards/generate.py --check
promtool check rules helm/tenure/alerts/*.yaml
promtool test rules tests/alerts/*.yaml
build/bin/alerts_test
build/bin/monitoring_test
