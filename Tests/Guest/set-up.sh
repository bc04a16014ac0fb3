#!/bin/sh
# Makes the guest: installs missing packages, unpacks Debian's kernel without installing it, and packs the initial file
# system. If everything exists, it ends at once.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
boot=${GUEST_BOOT:-$here/../../.build/guest}

say() { printf '%s\n' "$*"; }
fail() { printf 'guest: %s\n' "$*" >&2; exit 1; }

[ "$(uname -m)" = x86_64 ] || fail "the guest is an x86-64 machine; this is $(uname -m), for which none is made yet"

# Packages

export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
missing=''
# need PACKAGE PROGRAM…: the package, unless all its programs exist.
need() {
  package=$1
  shift
  for program in "$@"; do
    command -v "$program" >/dev/null 2>&1 || { missing="$missing $package"; return 0; }
  done
}
need qemu-system-x86 qemu-system-x86_64
need busybox-static busybox
need kmod modprobe depmod
need cpio cpio
need xz-utils xz
need bluez bluetoothctl btmon hciconfig hcitool btmgmt
need dbus dbus-daemon dbus-send
need rfkill rfkill
need xdg-dbus-proxy xdg-dbus-proxy
need strace strace
need procps pgrep
need libcap2-bin setcap
need curl curl
[ -x /usr/bin/python3 ] || missing="$missing python3"
missing=${missing# }
if [ -n "$missing" ] || [ ! -s "$boot/kernel" ]; then
  command -v apt-get >/dev/null 2>&1 ||
    fail "the guest's kernel and tools come by apt-get, which this system does not have"
fi
as_root=''
if [ -n "$missing" ] && [ "$(id -u)" != 0 ]; then
  sudo -n true 2>/dev/null ||
    fail "missing: $missing. Run: sudo apt-get install --no-install-recommends $missing"
  as_root='sudo -n'
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# apt ARGUMENT…: repeats with new package lists if the existing ones are stale or missing.
apt() {
  "$@" >"$log" 2>&1 </dev/null && return 0
  $as_root apt-get update >"$log" 2>&1 </dev/null || { cat "$log" >&2; fail 'apt-get update failed'; }
  "$@" >"$log" 2>&1 </dev/null || { cat "$log" >&2; fail "this failed: $*"; }
}
if [ -n "$missing" ]; then
  say "Installing $missing …"
  # shellcheck disable=SC2086
  apt $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
fi

# The kernel

mkdir -p "$boot"
boot=$(CDPATH='' cd -- "$boot" && pwd)
cd "$boot"
if [ ! -s kernel ]; then
  rm -rf lib boot ./*.deb
  package=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-.*\)/\1/p')
  if [ -z "$package" ]; then
    apt $as_root apt-get update
    package=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-.*\)/\1/p')
  fi
  [ -n "$package" ] || fail 'this system has no package linux-image-amd64: the guest needs the kernel of Debian'
  version=${package#linux-image-}
  say "Unpacking $package …"
  apt apt-get -o APT::Sandbox::User=root download "$package"
  dpkg --fsys-tarfile ./"$package"_*.deb | tar -x --wildcards './boot/vmlinuz-*' \
    './lib/modules/*/kernel/net/*' './lib/modules/*/kernel/drivers/bluetooth/*' \
    './lib/modules/*/kernel/drivers/hid/*' './lib/modules/*/kernel/drivers/virtio/*' \
    './lib/modules/*/kernel/fs/9p/*' './lib/modules/*/kernel/fs/netfs/*' \
    './lib/modules/*/kernel/fs/fscache/*' './lib/modules/*/kernel/fs/overlayfs/*' \
    './lib/modules/*/kernel/crypto/*' './lib/modules/*/kernel/arch/x86/crypto/*' \
    './lib/modules/*/kernel/lib/*' './lib/modules/*/modules.*'
  rm -f ./*.deb
  depmod -b . "$version"
  # Uncompressed, because an emulated CPU takes seconds to unpack it.
  /usr/bin/python3 - "boot/vmlinuz-$version" vmlinux <<'PY'
import lzma, sys
image = open(sys.argv[1], "rb").read()
start = image.find(b"\xfd7zXZ\0")
open(sys.argv[2], "wb").write(lzma.LZMADecompressor().decompress(image[start:]) if start >= 0 else image)
PY
  rm -rf boot initrd accel
  echo "$version" >kernel
fi

# The initial file system: busybox, our first program, and the modules to mount this machine's files

if [ ! -s initrd ] || [ "$here/init" -nt initrd ]; then
  version=$(cat kernel)
  rm -rf tree initrd
  mkdir -p tree/bin tree/m tree/proc tree/dev tree/host tree/rw tree/new
  cp "$(command -v busybox)" tree/bin/busybox
  cp "$here/init" tree/init
  chmod 755 tree/init
  modprobe -d . -S "$version" -a --show-depends virtio_pci 9p 9pnet_virtio overlay |
    awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r module; do
      name=$(basename "$module" .xz)
      case $module in
        *.xz) xz -dc "$module" >"tree/m/$name" ;;
        *) cp "$module" "tree/m/$name" ;;
      esac
      echo "$name"
    done >tree/m/order
  [ -s tree/m/order ] || fail "the kernel's package has no module 9p"
  (cd tree && find . | cpio -o -H newc --quiet -R 0:0) >initrd.new
  mv initrd.new initrd
  rm -rf tree
fi

# Its CPU. A guest may fail to run on an existing /dev/kvm.

if [ ! -s accel ]; then
  if [ -w /dev/kvm ] && GUEST_ACCEL=kvm "$here/boot.sh" -t 20 true >/dev/null 2>&1; then
    echo kvm >accel
  else
    echo tcg >accel
  fi
  say "The guest: Linux $(cat kernel) on $(cat accel)."
fi
