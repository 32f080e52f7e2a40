#!/usr/bin/env bash
# Tenure beside etcd and ZooKeeper, on MariaDB and on MySQL. Leaves the figures in build/bench as JSON, as a table and as pictures.
# Usage: scripts/bench.sh PEERS [ARGUMENTS OF tenure-bench]   (PEERS: see scripts/install-peers.sh)
set -euo pipefail
cd "$(dirname "$0")/.."
peers=${1:?usage: scripts/bench.sh PEERS [ARGUMENTS OF tenure-bench]}
shift
unset "${!TENURE_@}" "${!ETCD_@}" # flags given elsewhere are not meant for this

code=0
build/bin/tenure-bench --etcd "$peers/usr/bin/etcd" --report build/bench "$@" || code=$? # 1: a goal was missed
scripts/draw-benchmarks.py build/bench >&2
exit "$code"
