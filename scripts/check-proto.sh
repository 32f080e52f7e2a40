#!/usr/bin/env bash
# Lints the contract with buf, generates stubs from it with buf.gen.yaml into build/stubs, and looks for changes that
# break clients of the last release, whose contract is in proto/released. Usage: scripts/check-proto.sh
set -euo pipefail
cd "$(dirname "$0")/.."

buf=build/buf/node_modules/.bin/buf
[ -x "$buf" ] || npm install --silent --no-audit --no-fund --no-package-lock --prefix build/buf @bufbuild/buf@1 >/dev/null
"$buf" lint
rm -rf build/stubs
"$buf" generate --output build/stubs
echo "buf: lint and generate: $(find build/stubs -type f | wc -l) files in build/stubs"

released=$(find proto/released -name '*.binpb' | sort --version-sort | tail -n 1)
version=$(basename "${released:?there is no contract in proto/released}" .binpb)
"$buf" breaking --against "$released"

# The same check must refuse a contract with renumbered fields: 100 is buf's exit code for findings.
rm -rf build/broken
mkdir -p build/broken
cp -R buf.yaml proto build/broken
sed -i -E 's/ = 2;$/ = 2000;/' build/broken/proto/tenure/v1/*.proto
code=0
breaks=$("$buf" breaking build/broken --against "$released") || code=$?
[ "$code" -eq 100 ] || { printf '%s\n' "$breaks" "buf: does not see that renumbered fields break clients (exit code $code)" >&2; exit 1; }
echo "buf: nothing breaks clients of $version; of fields with other numbers it finds $(wc -l <<<"$breaks")"
