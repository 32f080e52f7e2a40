#!/usr/bin/env bash
# Runs what CTest knows, with one line for each test, all of what a failed one said, CTest's summary, and the first assertions that failed once more,
# where the end of a long log shows them. The databases do not wait for the disk, unless TENURE_TEST_SYNC=on. Usage: scripts/test.sh [OPTION OF ctest]...
set -euo pipefail
cd "$(dirname "$0")/.."
export TENURE_TEST_SYNC=${TENURE_TEST_SYNC:-off}

# " 7/1732 Test  #12: Suite.Name ......   Passed    0.01 sec" becomes "   7/1732  Passed    0.01 s  Suite.Name".
ctest --test-dir "${BUILD:-build}" --output-on-failure --timeout 300 --parallel "$(nproc)" --no-tests=error "$@" |
  awk '
    /^ *Start +[0-9]+: / { next }
    match($0, /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /) {
      result = substr($0, RLENGTH + 1)
      sub(/^[^ ]+ \.*/, "", result)
      sub(/ sec *$/, "", result)
      seconds = result
      sub(/^.* /, "", seconds)
      sub(/ +[0-9.]+$/, "", result)
      gsub(/^[ *]+/, "", result)
      split(substr($0, RLENGTH + 1), name, " ")
      $0 = sprintf("%9s  %-8s %6.2f s  %s", $1, result, seconds, name[1])
    }
    { print; fflush() }
    /^\[ RUN / { test = $NF }
    /: Failure$/ { left = 5; failures = failures "in " test ":\n" }
    left > 0 && lines < 25 { failures = failures $0 "\n"; left--; lines++ }
    END { if (failures) printf "%s", "\nfailed assertions:\n" failures }'
