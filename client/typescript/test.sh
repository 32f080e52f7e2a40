#!/usr/bin/env bash
# Checks and tests the library, and what pack.sh has left in DIST, against build/bin/tenured. Usage: client/typescript/test.sh DIST
set -euo pipefail
dist=$(realpath "${1:?usage: client/typescript/test.sh DIST}")
cd "$(dirname "$0")"

npm run --silent check
TENURE_DIST=$dist npm test --silent
