#!/usr/bin/env bash
# Does in a fresh, bare Debian what a new user does first: clones the committed tree, runs `make run` until it
# serves, campaigns, and builds and runs one suite, for which CMake asks for all that tests need. Nothing is installed there but git and make,
# so that this fails when scripts/install-deps.sh lacks a package. With arguments, `make` gets those instead.
# Usage: scripts/test-bare.sh ROOTS SUITE [MAKE ARGUMENT]...   (needs root)
set -euo pipefail
roots=${1:?usage: scripts/test-bare.sh ROOTS SUITE [MAKE ARGUMENT]...}
suite=${2:?usage: scripts/test-bare.sh ROOTS SUITE [MAKE ARGUMENT]...}
shift 2
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || { echo "test-bare: only root can make a Debian root. Run this as root, or with sudo." >&2; exit 1; }

# The functions below run inside.

# first_minutes: serves, on two free ports, campaigns, and tests.
first_minutes() {
  local log=/root/run.log port pid line=''
  port=$((20000 + RANDOM % 6000 * 2))
  export TENURE_LISTEN=127.0.0.1:$port TENURE_HTTP_LISTEN=127.0.0.1:$((port + 1))
  setsid make run >"$log" 2>&1 &
  pid=$!
  until ready "$((port + 1))" 2>/dev/null; do
    kill -0 "$pid" 2>/dev/null || fail "'make run' ended before it served"
    [ "$SECONDS" -lt 7200 ] || fail "'make run' did not serve within two hours"
    sleep 1
  done
  echo "make run serves after $SECONDS s"

  read -r -t 30 line < <(build/bin/tenure --endpoint "$TENURE_LISTEN" campaign orders --candidate alice --try 2>&1) || true
  [[ $line == elected:* ]] || fail "'tenure campaign --try' is not elected, but says: $line"
  echo "tenure campaign --try: $line"
  { kill -KILL "$!" "-$pid" && wait "$pid"; } 2>/dev/null || true
  unset TENURE_LISTEN TENURE_HTTP_LISTEN
  scripts/build.sh --with test log_test
  build/bin/log_test
}

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
  echo "test-bare: $1. The end of the output of 'make run' is above." >&2
  exit 1
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git -c safe.directory='*' clone --quiet --bare . "$folder/tenure.git"
# shellcheck disable=SC2016  # expanded by the shell inside
scripts/bare-root.sh "$roots" "$suite" "$folder" bash -euo pipefail -c "
  $(declare -f first_minutes ready fail)"'
  apt-get -qq update
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends git make >/dev/null
  git clone --quiet /mnt/tenure.git tenure
  cd tenure
  if [ $# -gt 0 ]; then make "$@"; else first_minutes; fi' bash "$@"
