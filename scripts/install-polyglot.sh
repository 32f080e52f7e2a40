#!/usr/bin/env bash
# Installs what building the programs of client/examples needs, where it is missing or too old: from
# Debian 12, and Go by scripts/install-go.sh.
# Usage: scripts/install-polyglot.sh   (if nothing is missing, it is silent)
set -euo pipefail
cd "$(dirname "$0")/.."

# What the manifests in client/examples ask for.
tools="python3 3.11
javac 17
mvn 3.8
node 18
npm 8
cargo 1.88
protoc 3.15"

version_of() {
  case "$1" in
    mvn) mvn --quiet --version ;;
    *) "$1" --version ;;
  esac 2>/dev/null | sed -E 's/\x1b\[[0-9;]*m//g; s/^[^0-9]*([0-9]+(\.[0-9]+)*).*/\1/' | head -1
}

new_enough() { printf '%s\n%s\n' "$2" "$(version_of "$1")" | sort --version-sort --check=silent; }

packages_of() {
  case "$1" in
    python3) echo python3 python3-venv ;;
    javac) echo openjdk-17-jdk-headless ;;
    mvn) echo maven ;;
    node) echo nodejs ;;
    cargo) echo cargo-web rustc-web ;; # newer than cargo and rustc, which stay as they were
    protoc) echo protobuf-compiler libprotobuf-dev ;;
    *) echo "$1" ;;
  esac
}

missing() {
  while read -r tool least; do
    new_enough "$tool" "$least" || echo "$tool"
  done <<<"$tools"
}

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
install() {
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq install -y --no-install-recommends "${packages[@]}" >/dev/null
}

scripts/install-deps.sh build test # C++, and what the test itself needs
scripts/install-go.sh
mapfile -t wanted < <(missing)
if [ "${#wanted[@]}" -gt 0 ]; then
  echo "Installing: ${wanted[*]}"
  as_root apt-get -qq update
  for tool in "${wanted[@]}"; do
    read -ra packages <<<"$(packages_of "$tool")"
    install
  done
  hash -r
fi
# Debian's Python makes no virtual environment without this package.
python3 -c 'import ensurepip, venv' 2>/dev/null || { packages=(python3-venv) && install; }

mapfile -t wanted < <(missing)
for tool in "${wanted[@]}"; do
  echo "client/examples needs $(grep "^$tool " <<<"$tools") or later, and Debian has none: install it." >&2
done
[ "${#wanted[@]}" -eq 0 ]
