#!/usr/bin/env bash
# Packs the libraries, with their generated stubs, sources and pages: a Maven repository in DIST/maven.
# Usage: client/java/pack.sh DIST
set -euo pipefail
dist=$(realpath --canonicalize-missing "${1:?usage: client/java/pack.sh DIST}")
cd "$(dirname "$0")"

rm -rf "$dist/maven"
mkdir -p target "$dist"
mvn --quiet --batch-mode -DskipTests deploy "-DaltDeploymentRepository=dist::file://$dist/maven" >target/pack.log 2>&1 ||
  { cat target/pack.log >&2; exit 1; }
