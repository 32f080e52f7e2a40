#!/usr/bin/env bash
# Checks the product with clang: everything TENURE_GUARDED_BY a mutex is used under its lock only (base/mutex.h), and
# .clang-tidy finds nothing. Compiles several files of a folder as one, because most of the time goes into their
# includes.
# Usage: scripts/check-clang.sh [--locks]   (after scripts/build.sh tenure_proto tenure_proto_replicas tenure_rich_error grpc_services_proto)
# --locks: only the locks, which takes a fraction of the time.
set -euo pipefail
cd "$(dirname "$0")/.."

together=6
locks_only=${1:-}
units=$(mktemp -d)
trap 'rm -r "$units"' EXIT

unit=0 count=0 last=''
while read -r file; do
  folder=$(dirname "$file")
  # The migrations of both dialects use the same names.
  if [ "$folder" != "$last" ] || [ "$count" -eq "$together" ] || [ "$folder" = storage/schema ]; then
    unit=$((unit + 1)) count=0 last=$folder
  fi
  count=$((count + 1))
  echo "#include \"$PWD/$file\"  // NOLINT" >>"$units/$(printf %03d "$unit").cc"
done < <(git ls-files -co --exclude-standard -- {base,client,command_line,core,metrics,proto,server,storage,tls}/'*.cc' \
  ':!*_test.cc' | sort)

# The headers of libmariadb, and of the gRPC that scripts/build.sh used; Debian's are found anyway.
grpc=$(sed -n 's/^CMAKE_PREFIX_PATH:[A-Z]*=//p' build/CMakeCache.txt)
includes=(-I"$PWD" -I"$PWD/client/cpp" -isystem build/proto -isystem build/proto/internal -isystem build/third_party)
read -ra mariadb < <(pkg-config --cflags-only-I libmariadb)
includes+=("${mariadb[@]/#-I/-isystem}")
[ "$grpc" = /usr ] || includes+=(-isystem "$grpc/include")

checks=()
# clang-tidy must have at least one check besides the compiler's.
[ "$locks_only" != --locks ] ||
  checks=('--checks=-*,clang-diagnostic-thread-safety*,misc-unused-alias-decls' '--warnings-as-errors=*')
cp .clang-tidy "$units"
printf '%s\n' "$units"/*.cc |
  xargs -P "$(nproc)" -I{} clang-tidy --quiet "${checks[@]}" --header-filter="^$PWD/[a-z_/]*\\.(cc|h)\$" {} -- \
    -std=c++20 -Wthread-safety -DTENURE_VERSION=\"check\" "${includes[@]}" \
    2> >(grep -v 'warnings\? generated' >&2)
