#!/usr/bin/env bash
# Makes targets, one after the other, and says when each begins, and at the end how long each took. The first failure ends it; with --keep-going the rest
# is made, too, and what failed is named at the end. The last line counts what passed and failed. Usage: scripts/make-each.sh [--keep-going] 'TARGET [VARIABLE=VALUE]...'...
set -euo pipefail
cd "$(dirname "$0")/.."

keep_going=''
[ "${1:-}" != --keep-going ] || { keep_going=yes; shift; }
failed=() times=() passed=0

# A bare machine may lack make itself.
command -v make >/dev/null || { apt-get -qq update && apt-get -qq install -y make >/dev/null; }
for suite; do
  echo "== make $suite, after $((SECONDS / 60)) min"
  began=$SECONDS outcome=passed
  mapfile -t words < <(xargs -n 1 <<<"$suite")
  "${MAKE:-make}" "${words[@]}" || outcome=FAILED
  times+=("$(printf '%4d s  %s  make %s' "$((SECONDS - began))" "$outcome" "$suite")")
  if [ "$outcome" = passed ]; then
    passed=$((passed + 1))
    continue
  fi
  failed+=("make $suite")
  [ -n "$keep_going" ] || break
done
printf '%s\n' "== times" "${times[@]}"
[ "${#failed[@]}" -eq 0 ] || printf 'failed: %s\n' "${failed[@]}" >&2
echo "$passed passed, ${#failed[@]} failed"
[ "${#failed[@]}" -eq 0 ]
