#!/usr/bin/env bash
# Installs the packages of Debian 12 or 13 that building, running and testing Tenure need.
# Usage: scripts/install-deps.sh [GROUP]...   (the groups below; default: `build`; silent if nothing is missing)
# shellcheck disable=SC2034  # the groups are used by name
set -euo pipefail

build=(g++ cmake ninja-build pkg-config
  libgrpc++-dev protobuf-compiler-grpc protobuf-compiler libprotobuf-dev
  libmysqlcppconn-dev libmariadb-dev libsqlite3-dev libsqlitecpp-dev prometheus-cpp-dev libcpp-httplib-dev
  libcli11-dev libspdlog-dev libfmt-dev libexpected-dev nlohmann-json3-dev libssl-dev libyaml-cpp-dev)
grpc=(patch libprotoc-dev libc-ares-dev zlib1g-dev)  # what scripts/install-grpc.sh needs to build gRPC
cargo=(cargo-web rustc-web)
mariadb=(mariadb-server-core mariadb-client)
test=("${mariadb[@]}" libgtest-dev libgmock-dev libfaketime openssl procps zlib1g-dev)
fuzz=(clang libclang-rt-dev libgtest-dev libgmock-dev)
engines=(debootstrap)
clusters=(galera-4 mariadb-backup socat lsof iproute2 haproxy)
bare=(debootstrap)
bench=(libzookeeper-java libzookeeper-mt-dev default-jre-headless)
monitoring=(python3)
pictures=(python3-matplotlib)
client_go=(gcc libc6-dev openssl libprotobuf-dev protobuf-compiler unzip zip)
client_java=(default-jdk-headless maven openssl procps unzip)
client_python=(python3 python3-venv)
client_typescript=(openssl libprotobuf-dev protobuf-compiler)
docs=("${mariadb[@]}" python3 python3-yaml curl jq sqlite3 openssl procps iproute2)
check=(clang-format clang-tidy python3)
model=(spin gcc libc6-dev python3)  # checks docs/model
proto=(nodejs npm)
package=(dpkg-dev file help2man jq lintian)  # for `make package` and its checks
sbom=(python3-venv)  # checks bills of materials
mutants=(python3-venv)  # plants mistakes
chaos=(python3 patch)  # plants mistakes for chaos
image=(podman crun debootstrap)  # builds and runs the container image
image_root=(ccache jq)  # inside its build stage, in addition to `build`

wanted=()
for group in "${@:-build}"; do
  declare -n packages="$group"
  for package in "${packages[@]}"; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || wanted+=("$package")
  done
done
[ "${#wanted[@]}" -eq 0 ] && exit 0

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
  echo "These packages are missing: ${wanted[*]}. Install them as root, or install sudo." >&2
  exit 1
fi
echo "Installing: ${wanted[*]}"
as_root apt-get -qq update
as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${wanted[@]}" >/dev/null
