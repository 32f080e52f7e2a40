#!/usr/bin/env bash
# Builds the container image with podman, which needs no daemon, in its own storage, and writes it to
# build/tenure-image.tar for `podman load` or `docker load`, with its bill of materials beside it. If no registry can be
# reached, Debian's image is made from Debian's packages, in that storage only.
# Usage: scripts/build-image.sh STORAGE TAG
set -euo pipefail
storage=${1:?usage: scripts/build-image.sh STORAGE TAG}
tag=${2:?usage: scripts/build-image.sh STORAGE TAG}
cd "$(dirname "$0")/.."
mkdir -p "$storage" build

if [ "$(id -u)" -ne 0 ]; then
  exec sudo "$0" "$@"
fi
podman() { command podman --root "$storage/images" --runroot "$storage/run" "$@"; }

# Debian 12, with this machine's apt sources.
make_base() (
  folder=$(mktemp -d "$storage/base-XXXXXX")
  trap 'rm -rf "$folder"' EXIT
  mirror=$(scripts/debian-mirror.sh)
  debootstrap --variant=minbase bookworm "$folder/root" "$mirror" >"$folder/log" 2>&1 || { tail "$folder/log" >&2; exit 1; }
  apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' >"$folder/root/etc/apt/sources.list"
  rm -rf "$folder"/root/var/{cache/apt/archives/*.deb,lib/apt/lists/*}
  tar --create --directory "$folder/root" . | podman import --quiet - "$1" >/dev/null
)

scripts/install-grpc.sh --fetch
base=$(sed -nE 's/^FROM ([^ ]+) AS build/\1/p' Dockerfile)
if ! podman image exists "$base" && ! podman pull --quiet "$base" >/dev/null 2>&1; then
  echo "No registry can be reached: making $base"
  make_base "$base"
fi

# Docker's format, because the OCI format has no health check. The weakest isolation, because a stronger one needs more
# than some build machines grant.
podman build --pull=never --format docker --isolation chroot --tag "$tag" \
  --build-arg REVISION="$(git -c safe.directory="$PWD" rev-parse HEAD)" .
rm -f build/tenure-image.tar
podman push --quiet "$tag" "docker-archive:build/tenure-image.tar:$tag"
cp "$(podman image mount "$tag")/usr/share/doc/tenure/sbom.spdx.json" build/tenure-image.spdx.json
podman image unmount "$tag" >/dev/null
echo "Built $tag: build/tenure-image.tar, $(du --human-readable build/tenure-image.tar | cut -f1)"
