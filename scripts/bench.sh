#!/usr/bin/env bash
# Tenure beside etcd and ZooKeeper. Leaves the figures in build/bench as JSON, a table and a picture.
# Usage: scripts/bench.sh PEERS [ARGUMENTS OF tenure-bench]   (PEERS: see scripts/install-peers.sh)
set -euo pipefail
cd "$(dirname "$0")/.."
peers=${1:?usage: scripts/bench.sh PEERS [ARGUMENTS OF tenure-bench]}
shift
unset "${!TENURE_@}" "${!ETCD_@}" # flags given elsewhere are not meant for this

exec build/bin/tenure-bench --etcd "$peers/usr/bin/etcd" --report build/bench "$@"
