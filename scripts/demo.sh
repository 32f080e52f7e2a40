#!/usr/bin/env bash
# An election in one terminal: three candidates and an observer, on a private tenured in memory. The first leader is
# killed, the second resigns. Fails if anything is not as expected.
# Usage: scripts/demo.sh [DIRECTORY OF tenured AND tenure]
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(cd "${1:-build/bin}" && pwd)
unset "${!TENURE_@}" # ignore flags that are meant for other runs

readonly election=demo ttl=2s
folder=''
declare -A pid=() output=() # of each process started by this script that has not ended

clean_up() {
  local code=$?
  trap - EXIT INT TERM
  exec 2>/dev/null # bash reports every process that is killed
  if [ "${#pid[@]}" -gt 0 ]; then
    kill -KILL "${pid[@]}" || true
    wait "${pid[@]}" || true
  fi
  [ -z "$folder" ] || rm -rf "$folder"
  exit "$code"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
folder=$(mktemp -d)

fail() {
  echo "demo: $*" >&2
  [ ! -s "$folder/log" ] || tail -n 5 "$folder/log" >&2
  exit 1
}

# now_us: this machine's time in microseconds.
now_us() { echo "${EPOCHREALTIME//[!0-9]/}"; }
# seconds FROM_US UNTIL_US
seconds() { printf '%d.%03d s' $((($2 - $1) / 1000000)) $((($2 - $1) / 1000 % 1000)); }

say() { printf '\n%s\n' "$@"; }
show() { printf '  %-9s %s\n' "$1" "$2"; }

# start NAME COMMAND...: runs it in the background, with its standard output for next_line.
start() {
  local name=$1 descriptor
  shift
  mkfifo "$folder/$name"
  "$@" >"$folder/$name" 2>>"$folder/log" &
  pid[$name]=$!
  exec {descriptor}<"$folder/$name"
  output[$name]=$descriptor
}

# next_line NAME: the next line of its output, in `line`.
next_line() { read -r -t 10 -u "${output[$1]}" line || fail "$1 says nothing"; }

# field NAME: a field of the JSON object in `line`.
field() { [[ $line =~ \"$1\":\"?([^\",}]*) ]] && echo "${BASH_REMATCH[1]}"; }

# expect_event TYPE LEADER TERM CAUSE: reads the observer's next line, and shows it.
expect_event() {
  next_line observer
  local seen
  seen="$(field type) $(field leader) $(field term) $(field cause)"
  [ "$seen" = "$*" ] || fail "the observer saw '$seen', not '$*'"
  show observer "$1: $2, term $3$([ "$4" = null ] || echo " ($4)")"
}

# stand NAME POSITION: a candidate campaigns; position 0 is the seat.
stand() {
  start "$1" "$bin/tenure" --endpoint "$endpoint" --json \
    campaign "$election" --candidate "$1" --ttl "$ttl"
  next_line "$1"
  if [ "$2" -eq 0 ]; then
    [ "$(field event)" = elected ] || fail "$1 is not elected: $line"
    show "$1" "leads in term $(field term)"
  else
    [ "$(field event) $(field position)" = "standing $2" ] || fail "$1 does not wait at position $2: $line"
    show "$1" "waits at position $2 while $(field leader) leads"
  fi
}

# expect_elected NAME TERM: the candidate reports it, after it has renewed its lease.
expect_elected() {
  next_line "$1"
  [ "$(field event) $(field term)" = "elected $2" ] || fail "$1 is not elected in term $2: $line"
}

# Serves on two free ports: on two others if one of them is taken.
serve() {
  local port
  for _ in 1 2 3 4 5; do
    port=$((20000 + RANDOM % 12000))
    endpoint="127.0.0.1:$port"
    "$bin/tenured" --listen "$endpoint" --http-listen "127.0.0.1:$((port + 1))" \
      --store sqlite::memory: 2>"$folder/log" &
    pid[tenured]=$!
    for _ in {1..100}; do
      if grep -q " ready$" "$folder/log" 2>/dev/null; then return; fi
      if ! kill -0 "${pid[tenured]}" 2>/dev/null; then break; fi
      sleep 0.1
    done
    kill -KILL "${pid[tenured]}" 2>/dev/null || true
    wait "${pid[tenured]}" 2>/dev/null || true
    unset 'pid[tenured]'
  done
  fail "tenured does not start"
}

serve
echo "Three candidates stand for the election '$election', each with a lease of $ttl."
start observer "$bin/tenure" --endpoint "$endpoint" --json observe "$election"
next_line observer
[ "$(field type) $(field leader)" = "SNAPSHOT null" ] || fail "the election is not new: $line"
stand alice 0
expect_event ELECTED alice 1 null
stand bob 1
stand carol 2
sleep 1

say "kill -9 alice: nobody resigns for her, so bob waits until her lease is over."
killed_us=$(now_us)
{ kill -KILL "${pid[alice]}" && wait "${pid[alice]}"; } 2>/dev/null || true
unset 'pid[alice]'
expect_event VACATED alice 1 EXPIRED
expect_event ELECTED bob 2 null
crash_us=$(($(now_us) - killed_us))
expect_elected bob 2
show bob "leads in term 2, $(seconds 0 "$crash_us") after the kill"
sleep 1

say "kill -TERM bob: he resigns, and carol need not wait for a lease."
told_us=$(now_us)
kill -TERM "${pid[bob]}"
expect_event VACATED bob 2 RESIGNED
expect_event ELECTED carol 3 null
handover_us=$(($(now_us) - told_us))
expect_elected carol 3
show carol "leads in term 3, $(seconds 0 "$handover_us") after the signal"
wait "${pid[bob]}" || fail "bob did not end well (exit code $?)"
unset 'pid[bob]'
[ "$handover_us" -lt "$crash_us" ] || fail "a resignation took longer than a crash"

say "Three leaders, one at a time, in terms 1, 2 and 3. No term is ever used again."
