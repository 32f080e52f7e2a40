#!/usr/bin/env bash
# Tests the container image that scripts/build-image.sh has built: looks into it, and runs it.
# Usage: scripts/test-image.sh STORAGE TAG
set -euo pipefail
export TENURE_TEST_IMAGE_STORAGE=${1:?usage: scripts/test-image.sh STORAGE TAG}
export TENURE_TEST_IMAGE=${2:?usage: scripts/test-image.sh STORAGE TAG}
cd "$(dirname "$0")/.."

if [ "$(id -u)" -ne 0 ]; then
  exec sudo "$0" "$@"
fi
# In namespaces of its own: when the test ends, however that is, so does every container that it started.
# crun knows control groups of version 1 and of version 2, but not the two side by side.
exec unshare --mount --pid --fork --kill-child --mount-proc bash -c '
  ! mountpoint --quiet /sys/fs/cgroup/unified || umount /sys/fs/cgroup/unified
  exec build/bin/image_test'
