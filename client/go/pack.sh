#!/usr/bin/env bash
# Packs the module with its generated stubs: tenure-go-VERSION.zip. Usage: client/go/pack.sh DIST
set -euo pipefail
dist=$(realpath -m "${1:?usage: client/go/pack.sh DIST}")
cd "$(dirname "$0")"

./prepare.sh
version=$(sed -nE 's/^const Version = "(.*)"/\1/p' internal/version/version.go)
name=tenure-go-$version
mkdir -p "$dist"
rm -rf "build/$name" "$dist"/tenure-go-*.zip
mkdir -p "build/$name"
# The tests that need a service are a module of their own, and so is build/.
find . -path ./build -prune -o -path ./tests -prune -o -type f ! -name '*.sh' ! -name .gitignore -print0 |
  xargs --null cp --parents --target-directory "build/$name"
cp ../../LICENSE "build/$name"
(cd build && zip --quiet --recurse-paths -X "$dist/$name.zip" "$name")
