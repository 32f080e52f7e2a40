#!/usr/bin/env bash
# Tests the container image built by scripts/build-image.sh: inspects it, and runs it.
# Usage: scripts/test-image.sh STORAGE TAG
set -euo pipefail
export TENURE_TEST_IMAGE_STORAGE=${1:?usage: scripts/test-image.sh STORAGE TAG}
export TENURE_TEST_IMAGE=${2:?usage: scripts/test-image.sh STORAGE TAG}
cd "$(dirname "$0")/.."

if [ "$(id -u)" -ne 0 ]; then
  exec sudo "$0" "$@"
fi
# In separate namespaces: when the test ends, for any reason, so do all containers that it started.
# crun supports control groups of version 1 or of version 2, but not both side by side.
exec unshare --mount --pid --fork --kill-child --mount-proc bash -c '
  ! mountpoint --quiet /sys/fs/cgroup/unified || umount /sys/fs/cgroup/unified
  exec build/bin/image_test'
