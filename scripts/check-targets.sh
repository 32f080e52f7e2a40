#!/usr/bin/env bash
# Checks that .ci/run or .ci/nightly makes each target of the Makefile, directly or as a dependency, and that each
# target named there or in the documents exists. Usage: scripts/check-targets.sh
set -euo pipefail
cd "$(dirname "$0")/.."

exempt=(
  help  # prints the Makefile's comments
  run   # serves until it is stopped; test-run runs it
  fix   # changes the code
  clean # removes what was built
)
declare -A needs=() covered=()
wrong=()

cover() {
  local needed
  covered[$1]=yes
  for needed in ${needs[$1]-}; do cover "$needed"; done
}

# FILE:LINE:TARGET of each `make TARGET` in the code of the documents.
documented() {
  # shellcheck disable=SC2016  # awk expands it
  git ls-files -z '*.md' | xargs -0 awk '
    FNR == 1 { fenced = 0 }
    /^ *```/ { fenced = !fenced; next }
    {
      count = fenced ? 1 : split($0, parts, "`")
      for (i = fenced ? 1 : 2; i <= count; i += 2) {
        code = fenced ? $0 : parts[i]
        while (match(code, /(^ *|[;&|(] *|sudo |nice )make( +[A-Z_]+=[^ ]*)* +[a-z][a-z-]*/)) {
          count_words = split(substr(code, RSTART, RLENGTH), words, " ")
          print FILENAME ":" FNR ":" words[count_words]
          code = substr(code, RSTART + RLENGTH)
        }
      }
    }'
}

while read -r target prerequisites; do
  needs[$target]=$prerequisites
done < <(sed -nE 's/^([a-z-]+):([^#=]*)## .*/\1\2/p' Makefile)

for script in .ci/run .ci/nightly; do
  while read -r target; do
    [ -v "needs[$target]" ] || wrong+=("$script: there is no target '$target'")
    cover "$target"
  done < <(MAKE=true "$script" $([ "$script" = .ci/nightly ] || echo all) | sed -nE 's/^== make ([a-z-]+).*/\1/p') # makes nothing
done
for target in "${exempt[@]}"; do
  [ -v "needs[$target]" ] || wrong+=("$0: there is no target '$target'")
  cover "$target"
done
for target in "${!needs[@]}"; do
  [ -v "covered[$target]" ] || wrong+=("Makefile: neither .ci/run nor .ci/nightly makes '$target'")
done
while IFS=: read -r file line target; do
  [ -v "needs[$target]" ] || wrong+=("$file:$line: there is no target '$target'")
done < <(documented)

[ "${#wrong[@]}" -eq 0 ] || { printf '%s\n' "${wrong[@]}" >&2; exit 1; }
