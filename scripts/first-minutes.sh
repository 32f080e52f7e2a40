#!/usr/bin/env bash
# Does what a new user does first: `make run`, until it serves, and a campaign. Then builds and runs one suite, for which CMake asks for all
# that tests need. What is missing is installed in the foreground, where sudo can ask for a password. Usage: scripts/first-minutes.sh
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
log=$folder/log
server='' campaign=''
clean_up() {
  [ -z "$campaign" ] || kill "$campaign" 2>/dev/null || true
  [ -z "$server" ] || { kill -- "-$server" && wait "$server"; } 2>/dev/null || true
  rm -rf "$folder"
}
trap clean_up EXIT

# ready PORT: whether /readyz answers yes.
ready() (
  exec 3<>"/dev/tcp/127.0.0.1/$1"
  printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3
  read -r -t 5 line <&3
  [[ $line == *" 200 "* ]]
)

# fail TEXT: prints the end of the log, and exits.
fail() {
  tail -n 30 "$log" >&2
  echo "first-minutes: $1. The end of the output of 'make run' is above." >&2
  exit 1
}

make build
port=$((20000 + RANDOM % 6000 * 2))
address=127.0.0.1:$port
TENURE_LISTEN=$address TENURE_HTTP_LISTEN=127.0.0.1:$((port + 1)) TENURE_STORE=sqlite:$folder/tenure.db \
  setsid make run >"$log" 2>&1 &
server=$!
until ready "$((port + 1))" 2>/dev/null; do
  kill -0 "$server" 2>/dev/null || fail "'make run' ended before it served"
  [ "$SECONDS" -lt 7200 ] || fail "'make run' did not serve within two hours"
  sleep 1
done
echo "make run serves after $SECONDS s"

line=''
exec 3< <(exec build/bin/tenure --endpoint "$address" campaign orders --candidate alice --try 2>&1)
campaign=$!
read -r -t 30 line <&3 || true
[[ $line == elected:* ]] || fail "'tenure campaign --try' is not elected, but says: $line"
echo "tenure campaign --try: $line"

scripts/build.sh --with test log_test
build/bin/log_test
