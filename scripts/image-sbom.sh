#!/usr/bin/env bash
# Prints the software bill of materials of the image's root file system, as SPDX 2.3: each Debian package
# that it contains, and each whose headers or archives were compiled into the programs of build/.
# Usage: scripts/image-sbom.sh ROOT
set -euo pipefail
root=$(realpath "${1:?usage: scripts/image-sbom.sh ROOT}")
cd "$(dirname "$0")/.."

format='${Package}\t${Version}\t${Architecture}\n'
contained=$(dpkg-query --admindir="$root/var/lib/dpkg" --show --showformat "$format")
headers=$(ninja -C build -t deps | sed -nE 's|^ +(/usr/.*)|\1|p' | sort -u | xargs realpath)
compiled_in=$(xargs dpkg-query --search <<<"$headers" | cut -d: -f1 | sort -u |
  xargs dpkg-query --show --showformat "$format")

# gRPC of its own, with what that brings, if it was built with one.
grpc=$(sed -nE 's/^CMAKE_PREFIX_PATH:[A-Z]*=(.*)/\1/p' build/CMakeCache.txt)
linked_in=$(cat "$grpc/share/grpc/components" 2>/dev/null || true)

jq --null-input \
  --arg linked_in "$linked_in" \
  --arg contained "$contained" \
  --arg compiled_in "$compiled_in" \
  --arg version "$(build/bin/tenured --version | awk 'NR == 1 { print $2 }')" \
  --arg created "$(date --utc +%Y-%m-%dT%H:%M:%SZ)" \
  --arg id "$(cat /proc/sys/kernel/random/uuid)" '
  def common: {downloadLocation: "NOASSERTION", filesAnalyzed: false, copyrightText: "NOASSERTION",
    licenseConcluded: "NOASSERTION", licenseDeclared: "NOASSERTION"};
  def packages: split("\n") | map(split("\t") | . as [$name, $version, $architecture] | common + {
    SPDXID: "SPDXRef-\($name | gsub("[^A-Za-z0-9.]"; "-"))",
    name: $name,
    versionInfo: $version,
    supplier: "Organization: Debian",
    externalRefs: [{
      referenceCategory: "PACKAGE-MANAGER",
      referenceType: "purl",
      referenceLocator: "pkg:deb/debian/\($name | @uri)@\($version | @uri)?arch=\($architecture)&distro=debian-12"
    }]
  });
  def sources: split("\n") | map(select(. != "") | split("\t") | . as [$name, $version, $purl] | common + {
    SPDXID: "SPDXRef-\($name)",
    name: $name,
    versionInfo: $version,
    supplier: "NOASSERTION",
    externalRefs: [{referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: $purl}]
  });
  def relation($from; $type; $to):
    {spdxElementId: $from, relationshipType: $type, relatedSpdxElement: $to};

  ($contained | packages) as $contained | (($compiled_in | packages) + ($linked_in | sources)) as $compiled_in
  | (common + {name: "tenure", versionInfo: $version, supplier: "NOASSERTION",
      licenseConcluded: "Apache-2.0", licenseDeclared: "Apache-2.0"}) as $tenure
  | {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: "tenure-image-\($version)",
    documentNamespace: "urn:uuid:\($id)",
    creationInfo: {created: $created, creators: ["Tool: image-sbom.sh"]},
    packages: ([
      $tenure + {SPDXID: "SPDXRef-image", name: "tenure-image", primaryPackagePurpose: "CONTAINER"},
      $tenure + {SPDXID: "SPDXRef-tenure", primaryPackagePurpose: "APPLICATION"}
    ] + $contained + $compiled_in),
    relationships: ([
      relation("SPDXRef-DOCUMENT"; "DESCRIBES"; "SPDXRef-image"),
      relation("SPDXRef-image"; "CONTAINS"; "SPDXRef-tenure")
    ] + [$contained[] | relation("SPDXRef-image"; "CONTAINS"; .SPDXID)]
      + [$compiled_in[] | relation(.SPDXID; "BUILD_DEPENDENCY_OF"; "SPDXRef-tenure")])
  }'
