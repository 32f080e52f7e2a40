#!/usr/bin/env bash
# Runs a command for which FOLDER is in memory, and empty, unless TENURE_TEST_SYNC=on. For MySQL's data: the tests end servers, never the machine, and
# wait for the disk most of their time. Usage: scripts/in-memory.sh FOLDER COMMAND...   (needs root)
set -euo pipefail
[ $# -ge 2 ] || { sed -n 3p "$0" | grep -o 'Usage.*' >&2; exit 2; }
[ "${TENURE_TEST_SYNC:-}" != on ] || exec "${@:2}"
# shellcheck disable=SC2016  # expanded by the shell inside
exec unshare --mount sh -c 'mount -t tmpfs tmpfs "$1" && shift && exec "$@"' sh "$@"
