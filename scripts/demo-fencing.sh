#!/usr/bin/env bash
# Shows why a lease is not enough, and what a fence does, on a private MariaDB: a worker is paused in the middle of its
# work, past its lease; a successor does the work; the first wakes up, and writes. Once with the fence, once without.
# Fails if anything is not as expected.
# Usage: scripts/demo-fencing.sh [DIRECTORY OF tenured AND tenure]
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(cd "${1:-build/bin}" && pwd)
unset "${!TENURE_@}" # ignore flags that are meant for other runs

readonly ttl=1500ms stock=10
folder=''
declare -A pid=() output=() # of each process started by this script that has not ended

clean_up() {
  local code=$? name
  trap - EXIT INT TERM
  exec 2>/dev/null # bash reports every process that is killed
  for name in "${!pid[@]}"; do kill -KILL -- "-${pid[$name]}" || true; done
  wait
  [ -z "$folder" ] || rm -rf "$folder"
  exit "$code"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
folder=$(mktemp -d)

fail() {
  echo "demo-fencing: $*" >&2
  tail -q -n 5 "$folder"/*log >&2 || true
  exit 1
}

say() { printf '\n%s\n' "$@"; }
show() { printf '  %-9s %s\n' "$1" "$2"; }

# start NAME COMMAND...: in the background, in its own process group.
start() {
  local name=$1
  shift
  set -m
  "$@" &
  set +m
  pid[$name]=$!
}

# into FILE COMMAND...: the background process opens the file, because opening waits for a reader.
into() { "${@:2}" >"$1"; }

# end NAME SIGNAL
end() {
  kill "-$2" -- "-${pid[$1]}" 2>/dev/null || true
  wait "${pid[$1]}" 2>/dev/null || true
  unset "pid[$1]"
}

# next_line NAME: the next line of its output, in `line`.
next_line() { read -r -t 10 -u "${output[$1]}" line || fail "$1 says nothing"; }

# expect NAME PATTERN: its next line, which must match.
expect() {
  next_line "$1"
  # shellcheck disable=SC2053  # it is a pattern
  [[ $line == $2 ]] || fail "$1 said '$line', not '$2'"
  show "$1" "$line"
}

# sql USER: runs the SQL on standard input; prints rows on standard output.
sql() {
  mariadb --no-defaults --host=127.0.0.1 --port="$port" --user="$1" --batch --skip-column-names
}

# serve NAME READY COMMAND...: starts it on port $port, or on another one if that is taken; READY is a command that
# succeeds once it serves.
serve() {
  local name=$1 ready=$2
  shift 2
  for _ in 1 2 3 4 5; do
    port=$((20000 + RANDOM % 12000))
    start "$name" "$@"
    for _ in {1..150}; do
      if "$ready" >/dev/null 2>&1; then return; fi
      kill -0 "${pid[$name]}" 2>/dev/null || break
      sleep 0.1
    done
    end "$name" KILL
  done
  fail "$name does not start"
}

run_database() {
  local as=()
  [ "$(id -u)" -ne 0 ] || as=(--user=root)
  exec mariadbd --no-defaults --datadir="$folder/data" --socket="$folder/socket" \
    --pid-file="$folder/pid" --bind-address=127.0.0.1 --port="$port" "${as[@]}" >>"$folder/log" 2>&1
}
database_answers() { sql root <<<'SELECT 1'; }

run_tenured() {
  exec "$bin/tenured" --listen "127.0.0.1:$port" --http-listen "127.0.0.1:$((port + 1))" \
    --store "mysql://tenure@127.0.0.1:$database_port/tenure" 2>"$folder/tenured-log"
}
tenured_answers() { grep -q " ready$" "$folder/tenured-log"; }

# The work of one leader: sell one piece. It reads the stock, thinks, and writes the rest.
# worker NAME ELECTION GUARD: GUARD is the first statement of the transaction, with TERM in it.
worker() {
  local left campaign term line=''
  exec {campaign}< <(exec "$bin/tenure" --endpoint "$endpoint" --json \
    campaign "$2" --candidate "$1" --ttl "$ttl" 2>>"$folder/log")
  until [[ $line =~ \"elected\".*\"term\":([0-9]+) ]]; do
    read -r -u "$campaign" line || return 1
    [[ $line != *standing* ]] || echo "waits"
  done
  term=${BASH_REMATCH[1]}
  left=$(sql shop <<<"SELECT pieces FROM shop.stock") || return 1
  echo "leads in term $term; there are $left pieces"
  sleep 0.5 # thinks
  if sql shop 2>"$folder/error-$1" <<TRANSACTION; then
START TRANSACTION;
${3/TERM/$term};
INSERT INTO shop.sales (seller, term) VALUES ('$1', $term);
UPDATE shop.stock SET pieces = $left - 1;
COMMIT;
TRANSACTION
    echo "sold one in term $term, and noted that $((left - 1)) are left"
  else
    grep ERROR "$folder/error-$1"
  fi
  read -r -u "$campaign" line || return 1 # until the term has ended
  [[ $line =~ \"(lost)\".*\"cause\":\"([A-Z]+) ]] && echo "${BASH_REMATCH[1]} the seat: ${BASH_REMATCH[2]}"
}

# hire NAME ELECTION GUARD: a worker, with its standard output for next_line.
hire() {
  local descriptor
  [ -p "$folder/$1" ] || mkfifo "$folder/$1"
  start "$1" into "$folder/$1" worker "$@"
  exec {descriptor}<"$folder/$1"
  output[$1]=$descriptor
}

# round ELECTION GUARD ALICE: the outcome of alice's write must match.
round() {
  sql root <<<"DELETE FROM shop.sales; UPDATE shop.stock SET pieces = $stock"
  hire alice "$1" "$2"
  expect alice "leads in term 1; there are $stock pieces"
  kill -STOP -- "-${pid[alice]}"
  show alice "is paused in the middle of her work, longer than her lease of $ttl"
  hire bob "$1" "$2"
  expect bob "waits"
  expect bob "leads in term 2; there are $stock pieces"
  expect bob "sold one in term 2, and noted that $((stock - 1)) are left"
  kill -CONT -- "-${pid[alice]}"
  show alice "goes on where she was"
  expect alice "$3"
  expect alice "lost the seat: EXPIRED"
  end alice TERM
  end bob TERM
}

# books: the numbers of pieces left and of pieces sold.
books() { sql root <<<"SELECT pieces, (SELECT COUNT(*) FROM shop.sales) FROM shop.stock"; }

mariadb-install-db --no-defaults --skip-test-db --auth-root-authentication-method=normal \
  --datadir="$folder/data" >"$folder/log" 2>&1 || fail "MariaDB cannot be set up"
serve database database_answers run_database
readonly database_port=$port

# The rights to migrate and to serve, from the page that users read: a copy would become outdated.
rights=$(sed -n '/^GRANT CREATE,.* ON tenure\.\* TO .*/ { s/^GRANT \(.*\) ON tenure\..*/\1/p; q }' docs/operations.md)
[ -n "$rights" ] || fail "docs/operations.md has no line 'GRANT CREATE, ... ON tenure.* TO ...'"
sql root <<SETUP
CREATE DATABASE tenure;
CREATE USER tenure@localhost;
GRANT $rights ON tenure.* TO tenure@localhost;
CREATE DATABASE shop;
CREATE TABLE shop.stock (pieces INT NOT NULL);
CREATE TABLE shop.sales (seller VARCHAR(255) NOT NULL, term BIGINT NOT NULL);
INSERT INTO shop.stock VALUES ($stock);
CREATE USER shop@localhost;
GRANT SELECT, INSERT, UPDATE ON shop.* TO shop@localhost;
SETUP
serve tenured tenured_answers run_tenured
readonly endpoint="127.0.0.1:$port"
port=$database_port
sql root <<<"GRANT EXECUTE ON PROCEDURE tenure.tenure_fence TO shop@localhost"

echo "A shop has $stock pieces. The leader sells one: it reads how many there are, and writes how many are left."

say "With the fence: each transaction begins with CALL tenure_fence(election, term)."
round fenced "CALL tenure.tenure_fence('fenced', TERM)" \
  "ERROR 1644 (45000) * tenure_fence: term 1 of election 'fenced' does not stand"
read -r left sold < <(books)
[ "$left $sold" = "$((stock - 1)) 1" ] || fail "the books say $left left, $sold sold"
show books "$left left and $sold sold make $stock: they are right"

say "Without: the same pause, the same leases, the same order of events."
round unfenced "DO 'nothing is guarded'" \
  "sold one in term 1, and noted that $((stock - 1)) are left"
read -r left sold < <(books)
[ "$left $sold" = "$((stock - 1)) 2" ] || fail "the books say $left left, $sold sold"
show books "$left left and $sold sold do not make $stock: alice overwrote what bob had done"

say "In both cases one led at a time. The lease ended alice's term; only the fence ended her writes."
