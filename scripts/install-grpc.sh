#!/usr/bin/env bash
# Builds gRPC 1.56.2 as static libraries, and installs it into its own directory, where scripts/build.sh finds it.
# Debian's is 1.51.1, without later fixes (SECURITY.md). It takes a quarter of an hour on two cores, once.
# The source is in third_party/grpc/source: a tree of that version with its Abseil and RE2. If it is missing, cargo
# fetches the crate grpcio-sys, which contains one, and compares it with the checksum below. The patches beside it are
# applied. OpenSSL, zlib, c-ares and protobuf remain Debian's.
# PREFIX/share/grpc describes the parts of a program linked with it: `components`, for bills of materials, and
# `copyright`, the notices that such a program must carry.
# Usage: scripts/install-grpc.sh PREFIX    (does nothing if it exists, or if PREFIX is /usr, which has Debian's)
#        scripts/install-grpc.sh --fetch   (only the source)
set -euo pipefail
prefix=${1:?usage: scripts/install-grpc.sh PREFIX | --fetch}
version=1.56.2
crate=grpcio-sys crate_version=0.13.0+1.56.2-patched
checksum=b3dae9132320ae1b03ea55b5ddc88ca72a31fb85fa631a241a40157f5feffe43
cd "$(dirname "$0")/.."
patches=$PWD/third_party/grpc
source=$patches/source

# Cargo compares its download with the checksum in the lock file that it writes.
fetch() (
  command -v cargo >/dev/null || scripts/install-deps.sh cargo
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  cd "$folder"
  : >lib.rs
  printf '[package]\nname = "fetch"\nversion = "0.0.0"\n[lib]\npath = "lib.rs"\n[dependencies]\n%s = "=%s"\n' \
    "$crate" "$crate_version" >Cargo.toml
  cargo metadata --quiet --format-version 1 --filter-platform x86_64-unknown-linux-gnu >metadata
  grep -A 3 "^name = \"$crate\"" Cargo.lock | grep -qx "checksum = \"$checksum\"" ||
    { echo "install-grpc: the crate $crate $crate_version is not the one that was expected" >&2; exit 1; }
  manifest=$(grep -o "\"manifest_path\":\"[^\"]*/$crate-[^\"]*/Cargo.toml\"" metadata | cut -d '"' -f 4)
  rm -rf "$source.partial"
  cp -r "$(dirname "$manifest")/grpc" "$source.partial"
  mv "$source.partial" "$source"
)

# It is rebuilt when this script or a patch has changed.
recipe=$(cat scripts/install-grpc.sh "$patches"/*.{patch,h} | sha256sum | cut -c 1-16)
[ "$prefix" != /usr ] && [ ! -e "$prefix/share/grpc/tenure-$recipe" ] || exit 0
# Replaces the contents of PREFIX.
[ ! -e "$prefix" ] || compgen -G "$prefix/share/grpc/tenure-*" >/dev/null ||
  { echo "install-grpc: $prefix is something else. Name a folder that does not exist" >&2; exit 1; }
[ -d "$source" ] || fetch
grep -q "set(gRPC_CPP_VERSION *\"$version\")" "$source/CMakeLists.txt" ||
  { echo "install-grpc: $source is not gRPC $version" >&2; exit 1; }
[ "$prefix" != --fetch ] || exit 0

scripts/install-deps.sh build grpc
echo "Building gRPC $version: about a quarter of an hour on two cores"
# Kept on failure: the next attempt continues from there.
work=$prefix.build-$recipe
mkdir -p "$work"
if [ ! -d "$work/grpc" ]; then
  rm -rf "$work/copy"
  cp -r "$source" "$work/copy"
  cat "$patches"/*.patch | patch --quiet --strip 1 --directory "$work/copy"
  cp "$patches/peer_guard.h" "$work/copy/src/core/ext/transport/chttp2/"
  mv "$work/copy" "$work/grpc"
fi
cd "$work/grpc"
# Of the generators, only the one for C++: those for other languages need headers that Debian does not package.
sed -i -E '/^ +src\/compiler\/(csharp|node|objective_c|php|python|ruby)_generator\.cc$/d' CMakeLists.txt
sed -i '/compiler\/csharp\/names.h/d' src/compiler/config_protobuf.h
# Debian's libprotobuf-dev has no CMake configuration; CMake itself finds it.
sed -i 's/find_package(Protobuf REQUIRED CONFIG)/find_package(Protobuf REQUIRED)/; s/find_dependency(Protobuf CONFIG)//' \
  cmake/protobuf.cmake
# Precompiles the headers that most of its files include, which saves a third of the time.
printf '#include <%s>\n' algorithm functional map memory string utility vector \
  absl/container/inlined_vector.h absl/functional/any_invocable.h absl/status/statusor.h absl/types/variant.h \
  absl/strings/str_{cat,format,join}.h >precompiled.h
for library in grpc grpc++; do
  # shellcheck disable=SC2016  # expanded by CMake
  echo "target_precompile_headers($library PRIVATE "'"$<$<COMPILE_LANGUAGE:CXX>:${CMAKE_SOURCE_DIR}/precompiled.h>")'
done >>CMakeLists.txt

# Log messages name source files; they must not reveal where this was built.
flags="-O2 -DNDEBUG -ffile-prefix-map=$PWD=grpc"
options=(-DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=$flags" "-DCMAKE_C_FLAGS_RELEASE=$flags" -DCMAKE_CXX_STANDARD=17
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON "-DCMAKE_INSTALL_PREFIX=$prefix" -DgRPC_INSTALL=ON -DgRPC_BUILD_TESTS=OFF
  -DgRPC_BUILD_CSHARP_EXT=OFF -DABSL_PROPAGATE_CXX_STD=ON)
for language in CSHARP NODE OBJECTIVE_C PHP PYTHON RUBY; do
  options+=("-DgRPC_BUILD_GRPC_${language}_PLUGIN=OFF")
done
for library in ABSL RE2; do options+=("-DgRPC_${library}_PROVIDER=module"); done
for library in PROTOBUF CARES SSL ZLIB; do options+=("-DgRPC_${library}_PROVIDER=package"); done
cmake -G Ninja -B build "${options[@]}" >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; exit 1; }
cmake --build build --target third_party/abseil-cpp/all grpc++ grpc++_reflection grpc_cpp_plugin >"$work/log" 2>&1 ||
  { tail -n 40 "$work/log" >&2; exit 1; }
# Everything else that would be installed is not built, because nothing here links it: it would double the time.
for library in grpc_unsecure grpc++_unsecure grpc++_alts grpc++_error_details grpcpp_channelz grpc_authorization_provider; do
  [ -e "build/lib$library.a" ] || ar rc "build/lib$library.a"
done
# The system's authorities must be found first.
mkdir -p etc && : >etc/roots.pem
# Moved into place as a whole, because scripts/build.sh uses anything that is there.
rm -rf "$work/installed"
DESTDIR=$work/installed cmake --install build >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; exit 1; }
share=$work/installed$prefix/share/grpc
mkdir -p "$share"
# component NAME VERSION PACKAGE_URL [COMMENT]
component() { (IFS=$'\t' && echo "$*") >>"$share/components"; }
# The versions of the trees in third_party are those that Bazel would fetch.
pinned() { sed -nE "s/^ +strip_prefix = \"$1-([^/]+)\",$/\1/p" bazel/grpc_deps.bzl; }
patch_names=("$patches"/*.patch)
component gRPC "$version" "pkg:github/grpc/grpc@v$version" "with ${patch_names[*]##*/}"
component Abseil "$(pinned abseil-cpp)" "pkg:github/abseil/abseil-cpp@$(pinned abseil-cpp)"
component RE2 "$(pinned re2)" "pkg:github/google/re2@$(pinned re2)"
component upb "$(pinned upb)" "pkg:github/protocolbuffers/upb@$(pinned upb)"
xxhash=$(awk '/^#define XXH_VERSION_(MAJOR|MINOR|RELEASE) / { printf "%s%s", dot, $3; dot = "." }' third_party/xxhash/xxhash.h)
component xxHash "$xxhash" "pkg:github/Cyan4973/xxHash@v$xxhash"
for notice in LICENSE NOTICE.txt third_party/{abseil-cpp,address_sorting,re2,upb,utf8_range,xxhash}/LICENSE; do
  printf '%s\n\n%s\n\n\n' "==== gRPC $version: $notice" "$(cat "$notice")"
done >"$share/copyright"
: >"$share/tenure-$recipe"
rm -rf "$prefix"
mv "$work/installed$prefix" "$prefix"
rm -rf "$prefix".build-*
