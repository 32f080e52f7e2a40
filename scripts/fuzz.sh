#!/usr/bin/env bash
# Looks for inputs that break the fuzz targets of build/fuzz, two targets for each processor at a time. Says of each how many inputs it ran, and how much code
# they reached; or what broke it, and in which file that input is. Goes on from the inputs of earlier runs, in build/fuzz/corpus.
# Usage: scripts/fuzz.sh SECONDS [TARGET]...   (SECONDS for each; every target of tests/fuzz, if none is named)
set -euo pipefail
cd "$(dirname "$0")/.."

# Libraries built without the sanitizer do not report which part of a container is in use.
export ASAN_OPTIONS=detect_container_overflow=0
export UBSAN_OPTIONS=print_stacktrace=1

fuzz() {
  local seconds=$1 target=$2 results=build/fuzz/results/$2 found=build/fuzz/corpus/$2 options=()
  mkdir -p "$results" "$found"
  [ ! -f "tests/fuzz/$target.dict" ] || options=("-dict=tests/fuzz/$target.dict")
  if "build/fuzz/bin/fuzz_$target" -max_total_time="$seconds" -timeout=120 -print_final_stats=1 \
    -artifact_prefix="$results/" "${options[@]}" "$found" "tests/fuzz/corpus/$target" >"$results/log" 2>&1; then
    awk -v target="$target" '
      match($0, /cov: [0-9]+/) { edges = substr($0, RSTART + 5, RLENGTH - 5) }
      /^stat::number_of_executed_units/ { runs = $2 }
      END { printf "%-12s %10d runs  %6d edges  nothing found\n", target, runs, edges }' "$results/log"
  else
    grep -vE '^#[0-9]|NEW_FUNC' "$results/log" | tail -n 60
    echo "$target: broken; build/fuzz/bin/fuzz_$target FILE runs the file again that is named above"
    return 1
  fi
}
export -f fuzz

seconds=${1:?$(sed -n 4p "$0" | cut -c 3-)}
shift
mapfile -t every < <(basename -a tests/fuzz/corpus/*)
[ $# -gt 0 ] || set -- "${every[@]}"
printf '%s\n' "$@" | xargs -P $((2 * $(nproc))) -I{} bash -c "fuzz $seconds {}"
