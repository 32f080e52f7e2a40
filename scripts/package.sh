#!/usr/bin/env bash
# Makes Debian packages of the programs built in build/ and of the library in build/library, and checks them with
# lintian.
# Usage: scripts/package.sh
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/sbom.sh tenure-server tenured >build/packaging/tenure-server.spdx.json
scripts/sbom.sh tenure-cli tenure >build/packaging/tenure-cli.spdx.json
cd build
rm -rf packages
cpack --config CPackConfig.cmake >packages.log 2>&1 || { cat packages.log >&2; exit 1; }
rm -r packages/_CPack_Packages
# The library is for one architecture at a time: it is in /usr/lib, like the lib of any other PREFIX.
lintian --allow-root --fail-on error,warning --suppress-tags pkg-config-unavailable-for-cross-compilation packages/*.deb
printf 'build/%s\n' packages/*.deb
