#!/usr/bin/env bash
# Packs the client libraries, or some of them, into dist/, after installing what they need; or tests them against
# build/bin/tenured, and their packages in dist/ in empty projects. client/LANGUAGE/pack.sh or test.sh does it for each.
# Usage: scripts/clients.sh pack|test [LANGUAGE]...   (test: after pack)
set -euo pipefail
cd "$(dirname "$0")/.."

step=${1:?$(sed -n 4p "$0" | cut -c 3-)}
shift
libraries=(client/*/pack.sh)
libraries=("${libraries[@]%/pack.sh}")
[ $# -gt 0 ] || set -- "${libraries[@]#client/}"
for language; do
  SECONDS=0
  [ "$step" = test ] || scripts/install-clients.sh "$language"
  nice "client/$language/$step.sh" dist
  printf '%s client/%-10s: %3d s\n' "$step" "$language" "$SECONDS"
done
