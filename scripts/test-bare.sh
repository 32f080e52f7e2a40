#!/usr/bin/env bash
# Does in a fresh, bare Debian what a new user does first: clones the committed tree, and runs scripts/first-minutes.sh in it, or `make` with the
# arguments. Nothing is installed there but git and make, so that this fails when scripts/install-deps.sh lacks a package.
# Usage: scripts/test-bare.sh ROOTS SUITE [MAKE ARGUMENT]...   (needs root)
set -euo pipefail
roots=${1:?usage: scripts/test-bare.sh ROOTS SUITE [MAKE ARGUMENT]...}
suite=${2:?usage: scripts/test-bare.sh ROOTS SUITE [MAKE ARGUMENT]...}
shift 2
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || { echo "test-bare: only root can make a Debian root. Run this as root, or with sudo." >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git -c safe.directory='*' clone --quiet --bare . "$folder/tenure.git"
# shellcheck disable=SC2016  # expanded by the shell inside
scripts/bare-root.sh "$roots" "$suite" "$folder" bash -euo pipefail -c '
  apt-get -qq update
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends git make >/dev/null
  git clone --quiet /mnt/tenure.git tenure
  cd tenure
  if [ $# -gt 0 ]; then make "$@"; else scripts/first-minutes.sh; fi' bash "$@"
