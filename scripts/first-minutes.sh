#!/usr/bin/env bash
# Does what a new user does first: runs `make run` until it serves, campaigns, and builds and runs one suite, for which CMake
# asks for all that tests need. Usage: scripts/first-minutes.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# ready PORT: does /readyz say yes?
ready() (
  exec 3<>"/dev/tcp/127.0.0.1/$1"
  printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3
  read -r -t 5 line <&3
  [[ $line == *" 200 "* ]]
)

# fail WHAT: shows the end of the log, and ends.
fail() {
  tail -n 30 "$log" >&2
  echo "first-minutes: $1. The end of the output of 'make run' is above." >&2
  exit 1
}

log=$(mktemp)
port=$((20000 + RANDOM % 6000 * 2))
export TENURE_LISTEN=127.0.0.1:$port TENURE_HTTP_LISTEN=127.0.0.1:$((port + 1))
setsid make run >"$log" 2>&1 &
pid=$!
trap '{ kill -KILL "-$pid" && wait "$pid"; } 2>/dev/null || true; rm -f "$log"' EXIT
until ready "$((port + 1))" 2>/dev/null; do
  kill -0 "$pid" 2>/dev/null || fail "'make run' ended before it served"
  [ "$SECONDS" -lt 7200 ] || fail "'make run' did not serve within two hours"
  sleep 1
done
echo "make run serves after $SECONDS s"

line=''
read -r -t 30 line < <(build/bin/tenure --endpoint "$TENURE_LISTEN" campaign "first-minutes-$$" --candidate alice --try 2>&1) || true
campaign=$!
[[ $line == elected:* ]] || fail "'tenure campaign --try' is not elected, but says: $line"
echo "tenure campaign --try: $line"
kill -KILL "$campaign" 2>/dev/null || true

unset TENURE_LISTEN TENURE_HTTP_LISTEN
scripts/build.sh --with test log_test
build/bin/log_test
