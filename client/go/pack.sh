#!/usr/bin/env bash
# Packs the module with its generated stubs: tenure-go-VERSION.zip. Usage: [TENURE_GO_MODULE=PATH] client/go/pack.sh DIST
# TENURE_GO_MODULE is the path under which programs import the packed module: `tenure`, as in this repository, unless it is set.
set -euo pipefail
dist=$(realpath -m "${1:?usage: client/go/pack.sh DIST}")
cd "$(dirname "$0")"

./prepare.sh
own=$(sed -n 's/^module //p' go.mod)
module=${TENURE_GO_MODULE:-$own}
version=$(sed -nE 's/^const Version = "(.*)"/\1/p' internal/version/version.go)
name=tenure-go-$version
mkdir -p "$dist"
rm -rf "build/$name" "$dist"/tenure-go-*.zip
mkdir -p "build/$name"
# The tests that need a service are their own module, and so is build/.
find . -path ./build -prune -o -path ./tests -prune -o -type f ! -name '*.sh' ! -name .gitignore -print0 |
  xargs --null cp --parents --target-directory "build/$name"
cp ../../LICENSE "build/$name"
if [ "$module" != "$own" ]; then
  sed -i "s|^module $own\$|module $module|" "build/$name/go.mod"
  # Rewrites imports. The stubs import nothing of the module, and describe themselves in bytes that must stay.
  find "build/$name" -path "build/$name/v1" -prune -o \( -name '*.go' -o -name '*.md' \) -print0 |
    xargs --null sed -i -E "s#^(import )?(\t*)([a-z]+ )?\"$own(/[a-z0-9/]+)?\"\$#\1\2\3\"$module\4\"#"
  gofmt -w "build/$name"
fi
(cd build && zip --quiet --recurse-paths -X "$dist/$name.zip" "$name")
