#!/usr/bin/env bash
# Runs a command as root in a fresh Debian with a minimal system and ca-certificates. FOLDER is its /mnt.
# It uses this machine's network, and apt's mirrors, proxies and certificates. When the command ends, the root is
# removed with all its processes and mounts.
# ROOTS/SUITE keeps the result of debootstrap and the packages downloaded by apt for a week: the first root takes
# minutes, the next ones seconds.
# Usage: scripts/bare-root.sh ROOTS SUITE FOLDER COMMAND...   (needs root)
set -euo pipefail
[ $# -ge 4 ] || { sed -n 7p "$0" | cut -c 3- >&2; exit 2; }
roots=$1 suite=$2 folder=$(cd "$3" && pwd)
shift 3
cd "$(dirname "$0")/.."

fail() {
  echo "bare-root: $*" >&2
  exit 1
}
[ "$(id -u)" -eq 0 ] || fail "only root can make a Debian root. Run this as root, or with sudo."
export PATH=$PATH:/usr/sbin:/sbin  # su keeps a PATH without them
scripts/install-deps.sh bare || true
command -v debootstrap >/dev/null || fail "debootstrap is missing. Install it: apt-get install debootstrap"

mkdir -p "$roots"
roots=$(cd "$roots" && pwd)
options=$(findmnt --noheadings --output OPTIONS --target "$roots")
[[ ! $options =~ (nodev|noexec) ]] || fail "$roots is on a file system that is mounted with ${BASH_REMATCH[1]}"
kept=$roots/$suite
work=$(mktemp -d "$roots/$suite-XXXXXX")
root=$work/root
pid=''
clean_up() {
  local code=$?
  trap - EXIT INT TERM
  if [ -n "$pid" ]; then
    { kill -KILL "$pid" && wait "$pid"; } 2>/dev/null || true
  fi
  # The processes of the root may need a moment to die.
  for _ in {1..50}; do
    ! rm -rf "$work" 2>/dev/null || exit "$code"
    sleep 0.1
  done
  fail "cannot remove $work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Where apt gets Debian from, for the suite: lines "MIRROR CODENAME COMPONENT".
mirror=$(scripts/debian-mirror.sh)
sources=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' \
  'Created-By: Packages' 'Origin: Debian' |
  sed -nE "s/ [a-z]+(-updates|-security)? / $suite\1 /p" | sort --unique)

if [ -n "$(find "$kept/root.tar" -mtime -7 2>/dev/null)" ]; then
  mkdir "$root"
  tar --extract --numeric-owner --file "$kept/root.tar" --directory "$root"
else
  echo "Making a root of Debian $suite in $kept"
  eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
  http_proxy=${http_proxy:-} https_proxy=${https_proxy:-} \
    unshare --mount debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror" >"$work/log" 2>&1 ||
    { tail -n 5 "$work/log" >&2; fail "debootstrap cannot make $suite from $mirror"; }
  rm -rf "$root"/var/{cache/apt/archives/*.deb,lib/apt/lists/*} "$root"/etc/apt/sources.list{,.d/*}
  tar --create --numeric-owner --file "$work/root.tar" --directory "$root" .
  mkdir -p "$kept/archives"
  rm -f "$kept"/archives/*.deb
  mv --force "$work/root.tar" "$kept/root.tar"
fi

cp --remove-destination /etc/resolv.conf /etc/hosts "$root/etc/"
sed 's/^/deb /' <<<"$sources" >"$root/etc/apt/sources.list"
apt-config dump | grep -E '^Acquire::(Check-|http:|https:)' >"$root/etc/apt/apt.conf.d/90machine" || true
[ ! -d /usr/local/share/ca-certificates ] || cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
# Linked, not mounted: apt locks the folder, and several roots may use it at once. Missing packages are downloaded.
ln "$kept"/archives/*.deb "$root/var/cache/apt/archives/" 2>/dev/null || true

variables=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "TERM=${TERM:-dumb}")
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
  [ -z "${!name:-}" ] || variables+=("$name=${!name}")
done

# shellcheck disable=SC2016  # expanded by the shell inside
unshare --mount --pid --fork --kill-child bash -euo pipefail -c '
  root=$1 folder=$2
  shift 2
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$root/dev/pts"
  mount -t tmpfs tmpfs "$root/dev/shm"
  mount --bind "$folder" "$root/mnt"
  # Not chroot: within one, user namespaces cannot be created, which services of systemd do.
  cd "$root"
  pivot_root . .
  umount --lazy .
  update-ca-certificates >/dev/null 2>&1
  env --ignore-environment --default-signal --chdir=/root "$@"
' bash "$root" "$folder" "${variables[@]}" "$@" <&0 &
pid=$!
code=0
wait "$pid" || code=$?
pid=''

ln "$root"/var/cache/apt/archives/*.deb "$kept/archives/" 2>/dev/null || true
exit "$code"
