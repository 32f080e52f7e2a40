#!/usr/bin/env bash
# Makes a root directory with MySQL, which Debian 12 does not package: a small Debian unstable with mysql-server-core.
# Usage: scripts/install-mysql.sh DIRECTORY   (does nothing if it exists)
set -euo pipefail
root=${1:?usage: scripts/install-mysql.sh DIRECTORY}

if [ "$(id -u)" -ne 0 ]; then
  exec sudo "$0" "$root"
fi
[ -x "$root/usr/sbin/mysqld" ] && exit 0

echo "Installing MySQL into $root"
partial="$root.partial"
rm -rf "$partial"
mkdir -p "$partial"
mirror=$("$(dirname "$0")/debian-mirror.sh")
debootstrap --variant=minbase sid "$partial" "$mirror" >"$partial.log" 2>&1 || { tail "$partial.log" >&2; exit 1; }
chroot "$partial" apt-get -qq install -y --no-install-recommends mysql-server-core \
  >>"$partial.log" 2>&1 || { tail "$partial.log" >&2; exit 1; }
mkdir -p "$partial/var/run/mysqld"
rm -rf "$partial.log" "$root"
mv "$partial" "$root"
