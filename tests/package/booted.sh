#!/usr/bin/env bash
# Under systemd, as a unit of its own: what systemd makes of tenured.service.
# Usage: tests/package/install.sh boots systemd with it.
set -euo pipefail

fail() {
  echo "test-package: $*" >&2
  systemctl status --no-pager --full tenured >&2 || true
  exit 1
}
property() { systemctl show --property "$1" --value tenured; }
# Each takes a PROPERTY of the unit, and a PATTERN of its value.
# shellcheck disable=SC2053
is() { [[ $(property "$1") == $2 ]] || fail "$1 is '$(property "$1")', not '$2'"; }
# shellcheck disable=SC2053
eventually_is() {
  for _ in {1..600}; do
    [[ $(property "$1") != $2 ]] || return 0
    sleep 0.1
  done
  is "$1" "$2"
}
# Sets lines of the unit, beside those of the package.
set_unit() {
  mkdir -p /run/systemd/system/tenured.service.d
  printf '%s\n' '[Service]' "$@" >/run/systemd/system/tenured.service.d/test.conf
  systemctl daemon-reload
}
# Sets variables, beside those of the package.
set_default() {
  cp /run/tenured.default /etc/default/tenured
  printf '%s\n' "$@" >>/etc/default/tenured
}
cp /etc/default/tenured /run/tenured.default

echo "   It starts, and runs as a dynamic user without capabilities"
systemctl start tenured 2>/dev/null || fail "it does not start"
is ActiveState active
eventually_is StatusText Serving
tenure run orders -- true 2>/dev/null
pid=$(property MainPID)
user=$(stat -c %u "/proc/$pid")
((user >= 61184 && user <= 65519)) || fail "its user $user is not one of systemd's dynamic users"
[ "$(awk '/^CapEff|^CapBnd/ { print $2 }' "/proc/$pid/status" | sort -u)" = 0000000000000000 ] || fail "it has capabilities"
[ -s /var/lib/private/tenure/tenure.db ] || fail "its database is missing"

echo "   It is restarted after a crash, and keeps what it knew"
kill -KILL "$pid"
eventually_is NRestarts 1
eventually_is ActiveState active
tenure history orders | grep -q RESIGNED || fail "the history is lost"

echo "   It is restarted after a hang, by the watchdog"
set_unit WatchdogSec=2s
systemctl restart tenured
kill -STOP "$(property MainPID)"
eventually_is NRestarts 1
eventually_is ActiveState active
journalctl --unit tenured | grep -q 'Watchdog timeout' || fail "the watchdog did not bark"

echo "   It stops cleanly"
systemctl stop tenured
is Result success
is ExecMainStatus 0

echo "   While its database is away, an attempt to start ends in time; a credential reaches it"
mkdir /etc/tenure
(umask 077 && echo secret >/etc/tenure/store-password)
set_unit TimeoutStartSec=3s LoadCredential=store-password:/etc/tenure/store-password \
  Environment=TENURE_STORE_PASSWORD_FILE=%d/store-password
set_default TENURE_STORE=mysql://tenure@127.0.0.1:9/tenure
systemctl start --no-block tenured
eventually_is StatusText 'Waiting for the store: *'
eventually_is NRestarts 1
journalctl --unit tenured | grep -q 'start operation timed out' || fail "it was not the start that ended"
systemctl stop tenured
rm -r /etc/tenure

echo "   A bad configuration fails the unit at once, with one line that says why"
set_unit
set_default TENURE_STORE=postgres://db.example/tenure
! systemctl start tenured 2>/dev/null || fail "it started"
is ActiveState failed
is Result exit-code
is ExecMainStatus 2
is NRestarts 0
journalctl --sync
said=$(journalctl --output cat "_PID=$(property ExecMainPID)")
[[ $said == "tenured: "*postgres* && $said != *$'\n'* ]] || fail "it said: '$said'"
echo "   > $said"
