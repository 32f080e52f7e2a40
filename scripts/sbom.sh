#!/usr/bin/env bash
# Prints the software bill of materials of a package or an image with programs of build/bin, as SPDX 2.3: each Debian
# package whose headers or archives were compiled into them; gRPC and its parts unless it is Debian's; and, with the
# root file system of an image, each Debian package in it.
# Usage: scripts/sbom.sh [--root ROOT] NAME PROGRAM...
set -euo pipefail
usage='usage: scripts/sbom.sh [--root ROOT] NAME PROGRAM...'
format='${Package}\t${Version}\t${Architecture}\n'
purpose=INSTALL contained=''
if [ "${1:-}" = --root ]; then
  purpose=CONTAINER
  contained=$(dpkg-query --admindir="${2:?$usage}/var/lib/dpkg" --show --showformat "$format")
  shift 2
fi
name=${1:?$usage}
shift
[ $# -gt 0 ] || { echo "$usage" >&2; exit 2; }
cd "$(dirname "$0")/.."

headers=$(ninja -C build -t inputs "${@/#/bin/}" | grep '\.o$' | xargs ninja -C build -t deps |
  sed -nE 's|^ +(/usr/.*)|\1|p' | sort -u | xargs realpath)
compiled_in=$(xargs dpkg-query --search <<<"$headers" | cut -d: -f1 | sort -u |
  xargs dpkg-query --show --showformat "$format")
grpc=$(sed -nE 's/^CMAKE_PREFIX_PATH:[A-Z]*=(.*)/\1/p' build/CMakeCache.txt)
linked_in=$(cat "$grpc/share/grpc/components" 2>/dev/null || true)

jq --null-input \
  --arg name "$name" \
  --arg purpose "$purpose" \
  --arg linked_in "$linked_in" \
  --arg contained "$contained" \
  --arg compiled_in "$compiled_in" \
  --arg version "$(build/bin/tenured --version | awk 'NR == 1 { print $2 }')" \
  --arg created "$(date --utc +%Y-%m-%dT%H:%M:%SZ)" \
  --arg release "$(. /etc/os-release && echo "$VERSION_ID")" \
  --arg id "$(cat /proc/sys/kernel/random/uuid)" '
  def common: {downloadLocation: "NOASSERTION", filesAnalyzed: false, copyrightText: "NOASSERTION",
    licenseConcluded: "NOASSERTION", licenseDeclared: "NOASSERTION"};
  def package($supplier; $purl): . as [$name, $version] | common + {
    SPDXID: "SPDXRef-\($name | gsub("[^A-Za-z0-9.]"; "-"))",
    name: $name,
    versionInfo: $version,
    supplier: $supplier,
    externalRefs: [{referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: $purl}]
  };
  def lines: split("\n") | map(split("\t"));
  def packages: lines | map(. as [$name, $version, $architecture] | package("Organization: Debian";
    "pkg:deb/debian/\($name | @uri)@\($version | @uri)?arch=\($architecture)&distro=debian-\($release)"));
  def sources: lines | map(. as [$name, $version, $purl, $comment] | package("NOASSERTION"; $purl)
    + if $comment then {$comment} else {} end);
  def relation($from; $type; $to):
    {spdxElementId: $from, relationshipType: $type, relatedSpdxElement: $to};

  ($contained | packages) as $contained | ($compiled_in | packages) as $compiled_in | ($linked_in | sources) as $linked_in
  | "SPDXRef-\($name)" as $whole
  | (common + {name: "tenure", versionInfo: $version, supplier: "NOASSERTION",
      licenseConcluded: "Apache-2.0", licenseDeclared: "Apache-2.0"}) as $tenure
  | {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: "\($name)-\($version)",
    documentNamespace: "urn:uuid:\($id)",
    creationInfo: {created: $created, creators: ["Tool: sbom.sh"]},
    packages: ([
      $tenure + {SPDXID: $whole, name: $name, primaryPackagePurpose: $purpose},
      $tenure + {SPDXID: "SPDXRef-tenure", primaryPackagePurpose: "APPLICATION"}
    ] + $contained + $compiled_in + $linked_in),
    relationships: ([
      relation("SPDXRef-DOCUMENT"; "DESCRIBES"; $whole),
      relation($whole; "CONTAINS"; "SPDXRef-tenure")
    ] + [$contained[] | relation($whole; "CONTAINS"; .SPDXID)]
      + [$compiled_in[] | relation(.SPDXID; "BUILD_DEPENDENCY_OF"; "SPDXRef-tenure")]
      + [$linked_in[] | relation("SPDXRef-tenure"; "STATIC_LINK"; .SPDXID)])
  }'
