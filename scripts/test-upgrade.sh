#!/usr/bin/env bash
# Upgrades three replicas from the last version that cannot serve beside this one: all stop, the schema is migrated, and
# all start.
# Usage: scripts/test-upgrade.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# The last commit before schema 15.
previous=2dc8b1590fddae0d11cc2caef527915dc3fee5de
folder=build/previous/$previous

if [ ! -x $folder/build/bin/tenured ]; then
  rm -rf $folder
  mkdir -p $folder
  git archive "$previous" | tar --extract --directory $folder
  $folder/scripts/build.sh tenured
fi
export TENURE_TEST_PREVIOUS=$PWD/$folder/build/bin/tenured
ctest --test-dir build --output-on-failure --no-tests=error -R '^rolling_restart_test$'
