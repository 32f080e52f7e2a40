#!/usr/bin/env bash
# Checks that a file is a software bill of materials as the SPDX specification wants it.
# Usage: scripts/check-sbom.sh FILE
set -euo pipefail
file=${1:?usage: scripts/check-sbom.sh FILE}
tools=${XDG_CACHE_HOME:-$HOME/.cache}/tenure/spdx-tools-0.8.5

if [ ! -x "$tools/bin/pyspdxtools" ]; then
  echo "Installing spdx-tools into $tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" --quiet install spdx-tools==0.8.5
fi
"$tools/bin/pyspdxtools" --infile "$file"
echo "$file is SPDX 2.3"
