#!/usr/bin/env bash
# Checks that every file that spells out Tenure's version has that of `project` in CMakeLists.txt, and that this version
# has a section in CHANGELOG.md and a frozen contract. Usage: scripts/check-version.sh
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -nE 's/^project\(tenure VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
wrong=()

# expect_after PATTERN PATH...: checks each version after the pattern in these files; there must be one.
expect_after() {
  local file line written
  while IFS=: read -r file line written; do
    [ "$written" = "$version" ] || wrong+=("$file:$line: the version is $written; CMakeLists.txt says $version")
  done < <(git grep -noP "(?:$1)\K\d+\.\d+\.\d+" -- "${@:2}" || echo "${*:2}:0:nowhere after '$1'")
}

expect_after '^version: ' helm/tenure/Chart.yaml
expect_after '^appVersion: "' helm/tenure/Chart.yaml
expect_after '^ARG VERSION=' Dockerfile
expect_after '^version = "' client/python/pyproject.toml
expect_after '^ {2,4}<version>' client/java/pom.xml 'client/java/*/pom.xml' client/java/README.md
# The image's tag, the packages' names, the programs' output. History keeps its numbers.
expect_after '\b(?:tenured?|tenure-server|tenure-cli|libtenure-dev)[:_ ]|^Version ' . ':!CHANGELOG.md' ':!docs/adr'

contract=proto/released/$version.binpb
[ -f "$contract" ] || wrong+=("$contract: missing; proto/released/README.md says how to freeze the contract")
grep -q "^## \[$version\]" CHANGELOG.md || wrong+=("CHANGELOG.md: there is no section [$version]")

[ "${#wrong[@]}" -eq 0 ] || { printf '%s\n' "${wrong[@]}" >&2; exit 1; }
