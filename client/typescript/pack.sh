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
# ES modules import the CommonJS ones, so that a process has each class once.
node - <<'END'
const { mkdirSync, writeFileSync } = require("node:fs");
for (const key of Object.keys(require("./package.json").exports)) {
  if (key === "./package.json") continue;
  const name = key === "." ? "index" : key.slice(2);
  for (const ending of ["mjs", "d.mts"]) {
    writeFileSync(`build/package/dist/${name}.${ending}`, `export * from "./${name}.js";\n`);
  }
  if (key === ".") continue;
  // For what knows no exports: older Jest, TypeScript's moduleResolution node10.
  mkdirSync(`build/package/${name}`);
  const entry = { main: `../dist/${name}.js`, types: `../dist/${name}.d.ts` };
  writeFileSync(`build/package/${name}/package.json`, JSON.stringify(entry));
}
END
node - "$version" >build/package/package.json <<'END'
const { version, private: _, scripts, prettier, devDependencies, ...shipped } = require("./package.json");
console.log(JSON.stringify({ ...shipped, version: process.argv[2] }, null, 2));
END
npm pack --silent --pack-destination "$folder" ./build/package >/dev/null
