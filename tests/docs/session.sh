# shellcheck shell=bash disable=SC2154  # $folder and $installed are given
# The bash that runs a page of the documentation: tests/docs/run.py sources this in new namespaces. $folder
# is the page's own; $installed holds what `make install` installs. First comes the setup, then functions for
# the comments in pages. Waits have no bound of their own, since run.py bounds each block.
set -euo pipefail
trap 'echo "line $LINENO: exit status $?: $BASH_COMMAND" >&2' ERR

unset "${!TENURE_@}" # flags given elsewhere are not meant for this
ip link set lo up

# overlay FOLDER [LAYER]: discards, after the page, what is written there. LAYER adds files to the folder.
overlay() {
  local upper=$folder/layers$1/upper work=$folder/layers$1/work
  mkdir -p "$upper" "$work"
  mount -t overlay overlay -o "lowerdir=${2:+$2:}$1,upperdir=$upper,workdir=$work" "$1"
}
mkdir "$folder/layers" "$folder/home"
mount -t tmpfs tmpfs "$folder/layers"
overlay /etc
overlay /usr/local "$installed/usr/local"
overlay "$PWD"
mount -t tmpfs tmpfs /run
mkdir /run/mysqld
mount -o remount,bind,ro / # leaves only the layers and $folder, a mount of its own, to write to
cd "$PWD"
git clean -fdXq --exclude='!build' # such as the tenure.db of an earlier `make run`
echo "127.0.0.1 localhost db.example host-1 host-2 tenure tenure-0 tenure-1" >/etc/hosts
export HOME=$folder/home TMPDIR=$folder/home

# eventually COMMAND...: repeats it until it succeeds, as long as the latest process in the background runs.
eventually() {
  until "$@" >/dev/null 2>&1; do
    kill -0 "${!:-$$}"
    sleep 0.05
  done
}

# database: starts MariaDB on its usual port and socket. root has no password.
database() {
  mariadb-install-db --no-defaults --skip-test-db --auth-root-authentication-method=normal \
    --datadir="$folder/layers/data" >/dev/null
  mariadbd --no-defaults --user=root --datadir="$folder/layers/data" --socket=/run/mysqld/mysqld.sock &
  eventually mariadb --execute "SELECT 1"
}

# serve [FLAG]...: starts tenured in the background, and waits until it is ready.
serve() {
  tenured "$@" &
  eventually ready
}
ready() { curl --fail --silent http://127.0.0.1:7071/readyz; }

# each_serves: runs each line of its standard input, a tenured, until it is ready.
each_serves() {
  local command
  while read -r command; do
    [ -n "$command" ] || continue
    eval "$command" &
    eventually ready
    stop tenured
  done
}

# background COMMAND...: runs its standard input in the background, and waits until COMMAND succeeds.
background() {
  # shellcheck source=/dev/null
  . /dev/stdin &
  eventually "$@"
}

# terminals COMMAND...: the same, but each line runs by itself, and SIGINT ends it as Ctrl-C would.
terminals() {
  local line
  set -m
  while read -r line; do eval "$line" & done
  set +m
  eventually "$@"
}

# stop PROGRAM: ends all that run, and waits for their end.
stop() {
  pkill --exact "$1"
  while pgrep --exact "$1" >/dev/null; do sleep 0.05; done
}

# stand ELECTION CANDIDATE [OPTION]...: makes the candidate lead the election, or wait in its queue.
stand() {
  tenure campaign "$1" --candidate "$2" "${@:3}" &
  eventually stands "$1" "$2"
}
stands() { tenure describe "$1" | grep --fixed-strings " $2"; }

# lead ELECTION TERM: makes somebody lead the election, which is new, in that term.
lead() {
  local term
  for ((term = 1; term < $2; ++term)); do tenure run "$1" -- true; done
  tenure campaign "$1" &
  eventually leads "$@"
}

# leads ELECTION WHO: whether a candidate of that name leads the election, or anybody in that term.
leads() { tenure --json leader "$1" | grep --extended-regexp ":\"?$2\"?,"; }

# compile [BEFORE [AFTER]]: compiles the C++ of its standard input, between BEFORE and AFTER.
compile() {
  local flags
  read -ra flags < <(pkg-config --cflags tenure-client)
  { printf '%s\n' "${1:-}" '#line 1 "page"'; cat; printf '%s\n' "${2:-}"; } |
    g++ -std=c++20 -fsyntax-only "${flags[@]}" -x c++ -
}

# run_program: compiles and runs the C++ program of its standard input, a test with tenure/testing.h.
run_program() {
  local flags
  read -ra flags < <(pkg-config --cflags --libs tenure-testing)
  g++ -std=c++20 -o "$folder/program" -x c++ - -x none "${flags[@]}"
  "$folder/program"
}

# compile_statements [BEFORE]: the same for statements, with all headers of the library included.
compile_statements() {
  local headers=(/usr/local/include/tenure/*.h)
  compile "$(printf '#include "%s"\n' "${headers[@]}")
using namespace std::chrono_literals;
${1:-}
void Example() {" "}"
}
