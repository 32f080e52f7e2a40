#!/usr/bin/env bash
# Packs the client libraries, or some of them, into dist/: for each, client/LANGUAGE/pack.sh installs what it needs into its own folder.
# Usage: scripts/dist-clients.sh [LANGUAGE]...
set -euo pipefail
cd "$(dirname "$0")/.."

libraries=(client/*/pack.sh)
libraries=("${libraries[@]%/pack.sh}")
[ $# -gt 0 ] || set -- "${libraries[@]#client/}"
for language; do
  SECONDS=0
  scripts/install-clients.sh "$language"
  nice "client/$language/pack.sh" dist
  printf 'Packed client/%-10s in %3d s\n' "$language" "$SECONDS"
done
