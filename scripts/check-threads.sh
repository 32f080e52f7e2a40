#!/usr/bin/env bash
# Has clang check that what is TENURE_GUARDED_BY a mutex (core/mutex.h) is used under its lock only.
# Usage: scripts/check-threads.sh   (after scripts/build.sh tenure_proto)
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck disable=SC2016  # xargs' shell expands
git ls-files -co --exclude-standard -- 'metrics/*.cc' 'server/*.cc' ':!*_test.cc' |
  xargs -P "$(nproc)" -n 1 clang++ -std=c++20 -fsyntax-only -Wthread-safety -Werror \
    -I . -isystem build/proto -isystem build/proto/internal
