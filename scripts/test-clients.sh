#!/usr/bin/env bash
# Tests the client libraries, or some of them, against build/bin/tenured, and installs what is in dist/ into empty projects.
# Usage: scripts/test-clients.sh [LANGUAGE]...   (after scripts/dist-clients.sh)
set -euo pipefail
cd "$(dirname "$0")/.."

libraries=(client/*/pack.sh)
libraries=("${libraries[@]%/pack.sh}")
[ $# -gt 0 ] || set -- "${libraries[@]#client/}"
for language; do
  SECONDS=0
  nice "client/$language/test.sh" dist
  printf 'Tested client/%-10s in %3d s\n' "$language" "$SECONDS"
done
