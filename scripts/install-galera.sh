#!/usr/bin/env bash
# Unpacks the programs that transfer a Galera node's state to another one. In Debian they are part of mariadb-server,
# whose installation would start a server. Usage: scripts/install-galera.sh DIRECTORY   (does nothing if they exist)
set -euo pipefail
directory=${1:?usage: scripts/install-galera.sh DIRECTORY}
[ -x "$directory/usr/bin/wsrep_sst_mariabackup" ] && exit 0

echo "Unpacking Galera's state transfer into $directory"
partial=$(mktemp -d)
trap 'rm -rf "$partial"' EXIT
(cd "$partial" && apt-get -qq download mariadb-server) || { echo "apt-get cannot download mariadb-server" >&2; exit 1; }
mkdir -p "$directory"
dpkg-deb --extract "$partial"/mariadb-server_*.deb "$directory"
