#!/usr/bin/env bash
# Prepares the client libraries, or some of them, and runs their candidates through bad days: tests/polyglot/bad_days.
# Usage: scripts/bad-days.sh ROUNDS [LANGUAGE]...
#        scripts/bad-days.sh mistakes [LANGUAGE]...   (plants a mistake in each library, which must be noticed)
# LANGUAGE is the name of a folder in client/, or cpp for the C++ library, or run for `tenure run`.
set -euo pipefail
cd "$(dirname "$0")/.."

casts_max=4 # playing at the same time, for each language
what=${1:?$(sed -n 3,4p "$0" | cut -c 3-)}
shift
[ $# -gt 0 ] || set -- cpp go java python run typescript
for language; do
  [ -x "client/$language/prepare.sh" ] || continue
  scripts/install-clients.sh "$language"
  nice "client/$language/prepare.sh"
done
if [ "$what" = mistakes ]; then
  grpc=${GRPC:-$HOME/.cache/tenure/grpc}
  [ -d "$grpc" ] || grpc=/usr
  scripts/install-deps.sh build test chaos
  exec python3 tests/polyglot/bad_days/mistakes.py --grpc "$grpc" "$@"
fi
exec build/bin/bad_days --rounds "$what" --casts "$((what < casts_max ? what : casts_max))" "${@/#/--language=}"
