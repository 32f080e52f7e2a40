#!/usr/bin/env bash
# Breaks everything around candidates that contend, and checks what they saw (tests/chaos), on mariadb, galera or group. For root, a single
# server has a disk of its own, which is filled up, too.
# Usage: scripts/chaos.sh DATABASES MYSQL_ROOT GALERA [ARGUMENTS OF build/bin/chaos]
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 3 ] || { sed -n 4p "$0" | cut -c 3- >&2; exit 2; }
databases=$1 mysql_root=$2 galera=$3
shift 3
set -- --databases "$databases" "$@"

case $databases in
  galera)
    scripts/install-deps.sh clusters
    scripts/install-galera.sh "$galera"
    PATH=$galera/usr/bin:$PATH exec build/bin/chaos "$@"
    ;;
  group)
    scripts/install-deps.sh engines
    scripts/install-mysql.sh "$mysql_root"
    TENURE_TEST_MYSQL_ROOT=$mysql_root exec build/bin/chaos "$@"
    ;;
esac
if ! unshare --mount true 2>/dev/null; then
  exec build/bin/chaos "$@"
fi
disk=$(mktemp -d)
trap 'rmdir "$disk"' EXIT
# shellcheck disable=SC2016  # the inner shell expands it
unshare --mount sh -c 'mount -t tmpfs -o size=400m tmpfs "$0" && exec build/bin/chaos --small-disk "$0" "$@"' "$disk" "$@"
