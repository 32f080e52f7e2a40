#!/usr/bin/env bash
# Installs the tools that build and test the library, generates the stubs that ship in it into src/stubs, and compiles
# it into dist. Needs Node.js with npm, and protoc. Usage: client/typescript/prepare.sh
set -euo pipefail
cd "$(dirname "$0")"

npm install --silent --no-package-lock
mkdir -p src/stubs
generate() {
  protoc --plugin=node_modules/.bin/protoc-gen-ts_proto --ts_proto_out=src/stubs \
    --ts_proto_opt=importSuffix=.js,oneof=unions-value,stringEnums=true,enumsAsLiterals=true \
    --ts_proto_opt=removeEnumPrefix=true,env=node,"$1" "${@:2}"
}
generate outputServices=grpc-js -I ../../proto tenure/v1/election.proto
generate outputServices=none -I ../../proto/internal tenure/rich_error.proto
rm -rf dist
npx tsc --project tsconfig.json
rm -rf build/test build/src
npx tsc --project tsconfig.test.json
