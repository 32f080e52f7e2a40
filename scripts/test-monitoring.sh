#!/usr/bin/env bash
# Holds alerts to their cases, with promtool.
# Usage: scripts/test-monitoring.sh PROMETHEUS   (where scripts/install-prometheus.sh unpacked it)
set -euo pipefail
prometheus=$(cd "${1:?usage: scripts/test-monitoring.sh PROMETHEUS}" && pwd)
cd "$(dirname "$0")/.."
PATH=$prometheus/usr/bin:$PATH

promtool check rules helm/tenure/alerts/*.yaml
promtool test rules tests/alerts/*.yaml
build/bin/alerts_test
