#!/usr/bin/env bash
# Makes the root file system of the container image, inside the Dockerfile's build stage, which sets GRPC: the two
# programs, the Debian packages with their shared libraries, and a software bill of materials. It has no shell, no
# package manager and no setuid program.
# Usage: scripts/image-root.sh DIRECTORY
set -euo pipefail
root=${1:?usage: scripts/image-root.sh DIRECTORY}
cd "$(dirname "$0")/.."

programs=(build/bin/tenured build/bin/tenure)
user=65532

mkdir -p "$root"/usr/{bin,sbin,lib,lib64,local/bin,share/doc/tenure} \
  "$root"/etc/ssl/certs "$root"/var/lib/{dpkg,tenure}
for name in bin sbin lib lib64; do
  ln -s "usr/$name" "$root/$name"
done

chown "$user:$user" "$root/var/lib/tenure"
install --strip "${programs[@]}" "$root/usr/local/bin"
install --mode 644 LICENSE "$root/usr/share/doc/tenure/copyright"
install --mode 644 "$GRPC/share/grpc/copyright" "$root/usr/share/doc/tenure/copyright.grpc"

# dpkg may list a library loaded from /lib under /usr/lib. base-files says that this is Debian.
libraries=$(ldd "${programs[@]}" | awk '$3 ~ "^/" { print $3 }' | sort -u)
owners=$(sed -E 's|^(/usr)?|*|' <<<"$libraries" | xargs dpkg-query --search | cut -d: -f1 | sort -u)
debs=$(mktemp -d)
trap 'rm -rf "$debs"' EXIT
apt-get -qq update
(cd "$debs" && xargs apt-get -qq -o APT::Sandbox::User=root download base-files ca-certificates <<<"$owners")
for deb in "$debs"/*.deb; do
  dpkg-deb --fsys-tarfile "$deb" | tar --extract --directory "$root" --keep-directory-symlink \
    --exclude './usr/lib/*/gconv' --exclude './usr/share/doc/*/changelog*' --exclude './usr/sbin/*' \
    --exclude './usr/share/man' --exclude './usr/share/lintian' --exclude './usr/share/locale'
  { dpkg-deb --field "$deb" | sed '1a Status: install ok installed' && echo; } >>"$root/var/lib/dpkg/status"
done

# The results of these packages' scripts.
echo "hosts: files dns" >"$root/etc/nsswitch.conf"
cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
rm -r "$root/usr/share/ca-certificates"
printf '%s\n' root:x:0:0:root:/:/sbin/nologin "tenure:x:$user:$user::/var/lib/tenure:/sbin/nologin" >"$root/etc/passwd"
printf '%s\n' root:x:0: "tenure:x:$user:" >"$root/etc/group"

scripts/sbom.sh --root "$root" tenure-image tenured tenure >"$root/usr/share/doc/tenure/sbom.spdx.json"
