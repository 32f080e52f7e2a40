#!/usr/bin/env bash
# Installs the packages of build/packages into a bare Debian of this release, and uses them there:
# tests/package/install.sh.
# Usage: scripts/test-package.sh ROOTS   (needs root; ROOTS: see scripts/bare-root.sh)
set -euo pipefail
roots=${1:?usage: scripts/test-package.sh ROOTS}
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r build/packages/*.deb tests/package/*.sh tests/install/program "$folder"
suite=$(sed -n "s/^VERSION_CODENAME=//p" /etc/os-release)
scripts/bare-root.sh "$roots" "$suite" "$folder" bash /mnt/install.sh
