#!/usr/bin/env bash
# Packs what prepare.sh has compiled, with the version of the project. Usage: client/typescript/pack.sh [FOLDER]
# The package is FOLDER/tenure-VERSION.tgz (default: client/typescript/build).
set -euo pipefail
folder=$(realpath --canonicalize-missing "${1:-$(dirname "$0")/build}")
cd "$(dirname "$0")"

version=$(sed --quiet 's/^project(tenure VERSION \([0-9.]*\) .*/\1/p' ../../CMakeLists.txt)
rm -rf build/package
mkdir -p build/package "$folder"
cp -r dist README.md ../../LICENSE build/package
node - "$version" >build/package/package.json <<'END'
const { version, private: _, scripts, prettier, devDependencies, ...shipped } = require("./package.json");
console.log(JSON.stringify({ ...shipped, version: process.argv[2] }, null, 2));
END
npm pack --silent --pack-destination "$folder" ./build/package >/dev/null
echo "$folder/tenure-$version.tgz"
