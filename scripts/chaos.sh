#!/usr/bin/env bash
# Breaks everything around candidates that contend, and checks what they saw (tests/chaos). For root, the database has a disk of its own,
# which is filled up, too. Usage: scripts/chaos.sh [ARGUMENTS OF build/bin/chaos]
set -euo pipefail
cd "$(dirname "$0")/.."

disk=$(mktemp -d)
trap 'rmdir "$disk"' EXIT
if unshare --mount true 2>/dev/null; then
  # shellcheck disable=SC2016  # it is the inner shell that expands
  unshare --mount sh -c 'mount -t tmpfs -o size=400m tmpfs "$0" && exec build/bin/chaos --small-disk "$0" "$@"' "$disk" "$@"
else
  build/bin/chaos "$@"
fi
