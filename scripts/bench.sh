#!/usr/bin/env bash
# Compares Tenure with etcd and ZooKeeper, on MariaDB and on MySQL. Writes the figures to build/bench as JSON, a table
# and pictures.
# Usage: scripts/bench.sh PEERS [ARGUMENTS OF tenure-bench]   (PEERS: see scripts/install-peers.sh)
set -euo pipefail
cd "$(dirname "$0")/.."
peers=${1:?usage: scripts/bench.sh PEERS [ARGUMENTS OF tenure-bench]}
shift
unset "${!TENURE_@}" "${!ETCD_@}" # ignore flags that are meant for other runs

code=0
build/bin/tenure-bench --etcd "$peers/usr/bin/etcd" --report build/bench "$@" || code=$? # 1: a goal was missed
scripts/draw-benchmarks.py build/bench >&2
exit "$code"
