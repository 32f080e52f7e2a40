#!/usr/bin/env bash
# Lints the contract with buf, generates stubs from it by buf.gen.yaml into build/stubs, and looks for changes that break clients
# of the last release, if there is one.
set -euo pipefail
cd "$(dirname "$0")/.."

buf=build/buf/node_modules/.bin/buf
[ -x "$buf" ] || npm install --silent --no-audit --no-fund --no-package-lock --prefix build/buf @bufbuild/buf@1 >/dev/null
"$buf" lint
rm -rf build/stubs
"$buf" generate --output build/stubs
echo "buf: lint and generate: $(find build/stubs -type f | wc -l) files in build/stubs"
release=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)
if [ -n "$release" ]; then
  "$buf" breaking --against ".git#tag=$release"
  echo "buf: nothing breaks clients of $release"
else
  echo "buf: no release to compare with"
fi
