#!/usr/bin/env bash
# Builds the helm named in tests/helm/go.mod into a directory: takes some minutes the first time.
# Usage: scripts/install-helm.sh DIRECTORY   (silent if it exists)
set -euo pipefail
directory=${1:?usage: scripts/install-helm.sh DIRECTORY}
cd "$(dirname "$0")/.."

scripts/install-go.sh
[ -x "$directory/helm" ] || echo "Building helm into $directory"
cd tests/helm
GOBIN=$directory GOMAXPROCS=2 nice go install -ldflags=-s helm.sh/helm/v3/cmd/helm 2>&1 |
  sed '/^go: downloading /d' >&2
