#!/usr/bin/env bash
# Unpacks Debian's Prometheus into a directory, as usr/bin/prometheus and usr/bin/promtool. It is not installed, because
# that would start a server now and at every boot.
# Usage: scripts/install-prometheus.sh DIRECTORY   (does nothing if it exists)
set -euo pipefail
root=${1:?usage: scripts/install-prometheus.sh DIRECTORY}
[ -x "$root/usr/bin/prometheus" ] && exit 0

echo "Unpacking Prometheus into $root"
mkdir -p "$(dirname "$root")"
partial=$(mktemp -d "$root.partial-XXXXXX")
trap 'rm -rf "$partial"' EXIT
mkdir "$partial/root"
as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
download() { (cd "$partial" && apt-get -qq -o APT::Sandbox::User="$(id -un)" download prometheus); }
download 2>/dev/null || { as_root apt-get -qq update && download; }
dpkg-deb --extract "$partial"/prometheus_*.deb "$partial/root"
rm -rf "$root"
mv "$partial/root" "$root"
