#!/usr/bin/env bash
# Inside a bare Debian: installs the packages that are in /mnt, and uses them as their users do.
# Usage: scripts/test-package.sh starts it.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive

step() { echo "-- $*"; }
fail() { echo "test-package: $*" >&2; exit 1; }
install() { apt-get -qq install -y --no-install-recommends "$@" >/tmp/apt.log 2>&1 || { cat /tmp/apt.log >&2; exit 1; }; }

# Waits until a command succeeds.
eventually() {
  for _ in {1..300}; do
    ! "$@" >/dev/null 2>&1 || return 0
    sleep 0.1
  done
  fail "this did not come true within 30 s: $*"
}

step "tenure-server and tenure-cli install, with all that they need"
apt-get -qq update
install /mnt/tenure-server_*.deb /mnt/tenure-cli_*.deb

step "Both programs run by their names, and elect a leader"
tenured --version
tenure --version
tenured --store sqlite::memory: 2>/tmp/tenured.log &
server=$!
trap 'kill -KILL "$server" 2>/dev/null || true' EXIT
eventually tenure run orders -- true
tenure history orders | grep -q RESIGNED || fail "tenure history does not show who led"

step "Both have gRPC 1.56.2 with our patches, and their bills of materials and notices say so"
tenured --version | grep -qxF 'gRPC 1.56.2 (patched)' || fail "tenured --version says: $(tenured --version)"
for program in tenured:tenure-server tenure:tenure-cli; do
  documents=/usr/share/doc/${program#*:}
  ! ldd "/usr/bin/${program%:*}" | grep -E 'libgrpc|not found' || fail "${program%:*} has Debian's gRPC, or lacks something"
  grep -A 1 -xF '      "name": "gRPC",' "$documents/sbom.spdx.json" | grep -qxF '      "versionInfo": "1.56.2",' ||
    fail "$documents/sbom.spdx.json does not name gRPC 1.56.2"
  ! grep -E '"name": "(libgrpc|libgtest)' "$documents/sbom.spdx.json" || fail "$documents/sbom.spdx.json names what it should not"
  grep -q 'third_party/re2/LICENSE' "$documents/copyright.grpc" || fail "$documents lacks the notices of gRPC"
done

step "Each shell completes"
install bash-completion zsh fish
candidates=$(bash -c 'source /usr/share/bash-completion/completions/tenure
  COMP_WORDS=(tenure campaign --sup) COMP_CWORD=2; _tenure; echo "${COMPREPLY[*]}"')
[ "$candidates" = --supersede ] || fail "bash completes 'campaign --sup' with '$candidates'"
fish -c 'complete -C "tenure campaign --sup"' | grep -q ^--supersede || fail "fish does not complete 'campaign --sup'"
# zsh completes only in a terminal, so it gets one. It waits there until it sees what it expects.
candidates=$(timeout 60 zsh -f -c '
  zmodload zsh/zpty
  zpty shell zsh -f -i
  zpty -w shell "PROMPT=; unsetopt zle_bracketed_paste; autoload -U compinit; compinit -u; print re""ady"
  zpty -r shell answer "*ready*"
  zpty -w -n shell "tenure campaign --sup"$'"'\t'"'
  zpty -r shell answer "*--supersede*" && print found') || true
[[ $candidates == *found* ]] || fail "zsh does not complete 'campaign --sup'"

step "Each program and each command has a man page"
install man-db
for page in tenured tenure $(sed -nE 's/^.*__fish_use_subcommand -a ([a-z-]+) .*$/tenure-\1/p' \
  /usr/share/fish/vendor_completions.d/tenure.fish); do
  man --where "$page" >/dev/null || fail "$page has no man page"
done

step "The unit is well-formed, and confines tenured (an exposure of at most 2.0)"
install systemd systemd-container dbus
systemd-analyze verify --man=no /lib/systemd/system/tenured.service
systemd-analyze security --offline=true --threshold=20 --no-pager /lib/systemd/system/tenured.service | tail -n 1

step "A small program builds with libtenure-dev alone, and leads"
install g++ make cmake pkg-config /mnt/libtenure-dev_*.deb
cmake -S /mnt/program -B /tmp/with-cmake >/dev/null
cmake --build /tmp/with-cmake >/dev/null
[ "$(/tmp/with-cmake/application 127.0.0.1:7070)" = "term 1" ] || fail "the program built with CMake does not lead"
read -ra flags <<<"$(pkg-config --cflags --libs tenure-client)"
g++ -std=c++20 -o /tmp/with-pkg-config /mnt/program/application.cc "${flags[@]}"
kill -TERM "$server"
wait "$server"
tenured --store sqlite::memory: 2>/tmp/tenured.log &
server=$!
eventually tenure list
[ "$(/tmp/with-pkg-config 127.0.0.1:7070)" = "term 1" ] || fail "the program built with pkg-config does not lead"
kill -TERM "$server"
wait "$server"

step "systemd runs tenured as its unit says"
cat >/etc/systemd/system/booted.service <<END
[Service]
Type=oneshot
ExecStart=/bin/bash /mnt/booted.sh
StandardOutput=append:/root/booted.log
StandardError=append:/root/booted.log
TimeoutStartSec=300
[Unit]
SuccessAction=exit
FailureAction=exit
FailureActionExitStatus=1
END
mount -t sysfs sysfs /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir /tmp/booted
mount --bind / /tmp/booted
systemd-nspawn --quiet --directory=/tmp/booted --bind=/mnt --register=no --keep-unit --private-network \
  --boot -- --unit=booted.service </dev/null >/tmp/boot.log 2>&1 || { cat /tmp/boot.log /root/booted.log >&2; exit 1; }
cat /root/booted.log
umount /tmp/booted

step "Purging leaves the database, and nothing else"
apt-get -qq purge -y tenure-server tenure-cli libtenure-dev >/dev/null 2>&1
[ -s /var/lib/tenure/tenure.db ] || fail "the database is gone"
left=$(find /etc /usr /var -name '*tenure*' -not -path /var/lib/tenure -not -path '/var/lib/private/*' \
  -not -path '/var/cache/apt/*')
[ -z "$left" ] || fail "this is left: $left"
