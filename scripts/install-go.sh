#!/usr/bin/env bash
# Installs Go from Debian's backports if it is missing or too old: from 1.21 on, Go fetches the version named in a
# go.mod, and Debian 12's own is older.
# Usage: scripts/install-go.sh   (silent if nothing is missing)
set -euo pipefail

installed=$(GOTOOLCHAIN=local go version 2>/dev/null | sed -E 's/^go version go([0-9.]+).*/\1/' || true)
printf '1.21\n%s\n' "$installed" | sort --version-sort --check=silent && exit 0

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

# Another apt configuration that has the backports, too; apt's own sources stay as they are.
echo "Installing: go"
as_root apt-get -qq update
folder=$(mktemp -d)
trap 'as_root rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir -p "$folder/lists/partial"
mirror=$("$(dirname "$0")/debian-mirror.sh")
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
printf "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror %s main\n" \
  "$release" "$release-backports" >"$folder/sources.list"
apt=(apt-get -qq -o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=-
  -o "Dir::State::Lists=$folder/lists")
as_root "${apt[@]}" update
as_root env DEBIAN_FRONTEND=noninteractive \
  "${apt[@]}" install -t "$release-backports" -y --no-install-recommends golang-go ca-certificates >/dev/null
