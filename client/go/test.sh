#!/usr/bin/env bash
# Checks and tests the library, and what pack.sh has left in DIST, against build/bin/tenured. Usage: client/go/test.sh DIST
set -euo pipefail
dist=$(realpath "${1:?usage: client/go/test.sh DIST}")
cd "$(dirname "$0")"

unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "gofmt would change: $unformatted" >&2; exit 1; }
go vet ./...
GOOS=windows go vet ./...
go test -race ./...
renamed=$(mktemp -d)
trap 'rm -rf "$renamed"' EXIT
TENURE_GO_MODULE=example.com/tenure ./pack.sh "$renamed"
(cd "$renamed" && unzip -q tenure-go-*.zip && cd tenure-go-*/ && go vet ./...)
cd tests
go vet .
TENURE_DIST=$dist go test -count=1 -timeout 20m -race -v . | grep -v '^=== '
