#!/usr/bin/env bash
# Unpacks etcd 3.5 from Debian unstable into a directory, as usr/bin/etcd. Debian 12 itself has only 3.4. Nothing is
# installed, and apt's own sources stay as they are.
# Usage: scripts/install-peers.sh DIRECTORY   (does nothing if it exists)
set -euo pipefail
root=${1:?usage: scripts/install-peers.sh DIRECTORY}
[ -x "$root/usr/bin/etcd" ] && exit 0

echo "Unpacking etcd into $root"
mkdir -p "$(dirname "$root")"
partial=$(mktemp -d "$root.partial-XXXXXX")
trap 'rm -rf "$partial"' EXIT
chmod 755 "$partial"
mkdir -p "$partial/apt/lists/partial" "$partial/apt/cache/archives/partial" "$partial/root"
mirror=$("$(dirname "$0")/debian-mirror.sh")
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror sid main" \
  >"$partial/apt/sources.list"

# Another apt configuration that knows only unstable.
unstable() {
  apt-get -qq -o Dir::Etc::SourceList="$partial/apt/sources.list" -o Dir::Etc::SourceParts=- \
    -o Dir::State::Lists="$partial/apt/lists" -o Dir::Cache="$partial/apt/cache" \
    -o Acquire::Languages=none -o APT::Sandbox::User="$(id -un)" "$@"
}
unstable update
(cd "$partial/apt" && unstable download etcd-server)
dpkg-deb --extract "$partial"/apt/etcd-server_*.deb "$partial/root"
rm -rf "$root"
mv "$partial/root" "$root"
