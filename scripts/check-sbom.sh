#!/usr/bin/env bash
# Checks that files are software bills of materials that conform to the SPDX specification.
# Usage: scripts/check-sbom.sh FILE...
set -euo pipefail
[ $# -gt 0 ] || { sed -n 3p "$0" | cut -c 3- >&2; exit 2; }
tools=${XDG_CACHE_HOME:-$HOME/.cache}/tenure/spdx-tools-0.8.5

if [ ! -x "$tools/bin/pyspdxtools" ]; then
  echo "Installing spdx-tools into $tools"
  "$(dirname "$0")/install-deps.sh" sbom
  python3 -m venv "$tools"
  "$tools/bin/pip" --quiet install spdx-tools==0.8.5
fi
for file; do
  "$tools/bin/pyspdxtools" --infile "$file"
  echo "$file is SPDX 2.3"
done
