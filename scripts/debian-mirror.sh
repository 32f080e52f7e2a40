#!/usr/bin/env bash
# Prints the mirror that this machine's apt gets Debian from. Usage: scripts/debian-mirror.sh
set -euo pipefail

# shellcheck disable=SC2016  # apt expands it
mirror() {
  apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' 'Origin: Debian' |
    awk '$2 !~ /-/ && !found++ { print $1 }'
}
as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

# The contents of a mirror are known only after an update.
[ -n "$(mirror)" ] || as_root apt-get -qq update
found=$(mirror)
[ -n "$found" ] || { echo "apt on this machine has no mirror of Debian. Add one to its sources." >&2; exit 1; }
echo "$found"
