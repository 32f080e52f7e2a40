#!/usr/bin/env bash
# Packs the library with its generated stubs: tenure-VERSION.tgz. Usage: client/typescript/pack.sh DIST
set -euo pipefail
folder=$(realpath --canonicalize-missing "${1:?usage: client/typescript/pack.sh DIST}")
cd "$(dirname "$0")"

./prepare.sh
version=$(sed --quiet 's/^project(tenure VERSION \([0-9.]*\) .*/\1/p' ../../CMakeLists.txt)
rm -rf build/package "$folder"/tenure-[0-9]*.tgz
mkdir -p build/package "$folder"
cp -r dist README.md ../../LICENSE build/package
node - "$version" >build/package/package.json <<'END'
const { version, private: _, scripts, prettier, devDependencies, ...shipped } = require("./package.json");
console.log(JSON.stringify({ ...shipped, version: process.argv[2] }, null, 2));
END
npm pack --silent --pack-destination "$folder" ./build/package >/dev/null
