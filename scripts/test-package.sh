#!/usr/bin/env bash
# Installs the packages of build/packages into a bare Debian 12, and uses them there: tests/package/install.sh.
# Usage: scripts/test-package.sh ROOTS   (needs root; ROOTS: see scripts/bare-root.sh)
set -euo pipefail
roots=${1:?usage: scripts/test-package.sh ROOTS}
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r build/packages/*.deb tests/package/*.sh tests/install/program "$folder"
scripts/bare-root.sh "$roots" bookworm "$folder" /mnt/install.sh
