#!/bin/bash
# Tests the installed packages under systemd: boots Debian 12 in a virtual machine, with real systemd, polkit and
# bluetoothd and with virtual beacons, installs the packages there, and runs Tests/Systemd/guest.py
# (Tests/Systemd/README.md). This machine needs neither Bluetooth nor KVM; run it as root.
#
#   Scripts/systemd-test.sh                    makes the packages, boots, and runs all tests
#   Scripts/systemd-test.sh --skip-build …     uses the packages of .build/packages
#   Scripts/systemd-test.sh NAME…              runs only these tests
#   Scripts/systemd-test.sh --set-up           only makes the file system
#
# Its status is 0 only if tests ran and all passed. GUEST_ACCEL=tcg or kvm chooses the accelerator.
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
place=.build/guest-systemd
fail() { echo "systemd-test: $*" >&2; exit 1; }

# What the guest has of Debian: the packages that ours need or suggest, and those that the tests use.
packages=systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,polkitd,bluez,kmod,udev,python3,bubblewrap
packages+=,initramfs-tools,linux-image-amd64,libdbus-1-3,libbluetooth3,passwd

# Makes the file system, once; every run of the tests has a copy of it.
set_up() {
  local program disk_free
  if [ "$place/base" -nt Scripts/systemd-test.sh ] && [ "$place/base" -nt Tests/Systemd/guest.service ]; then return; fi
  [ "$(id -u)" = 0 ] || fail 'the file system of the guest belongs to root: run it as root'
  [ "$(uname -m)" = x86_64 ] || fail "the guest is an x86-64 machine; this is $(uname -m), for which none is made yet"
  for program in mmdebstrap:mmdebstrap qemu-system-x86_64:qemu-system-x86 mkfs.ext4:e2fsprogs; do
    command -v "${program%:*}" >/dev/null ||
      fail "there is no ${program%:*}; apt-get install --no-install-recommends ${program#*:}"
  done
  mkdir -p "$place"
  disk_free=$(df --output=avail -k "$place" | tail -n 1)
  [ "$disk_free" -gt 6000000 ] || fail "the guest needs 6 GB in $place"
  echo 'Making a root file system of Debian 12 …'
  rm -rf "$place"/{root,base,accel}
  # The initial file system has only what mounts the disk: an emulated CPU unpacks it in a second.
  mmdebstrap --variant=minbase --include="$packages" --quiet \
    --essential-hook='mkdir -p "$1/etc/initramfs-tools/conf.d" "$1/usr/share/initramfs-tools/modules.d"
      echo MODULES=list >"$1/etc/initramfs-tools/conf.d/guest"
      printf "virtio_pci\nvirtio_blk\next4\n" >"$1/usr/share/initramfs-tools/modules.d/guest"' \
    bookworm "$place/root" http://deb.debian.org/debian >"$place/made.log" 2>&1 ||
    { tail -n 20 "$place/made.log" >&2; fail 'mmdebstrap failed'; }
  cp "$place"/root/boot/vmlinuz-* "$place/vmlinuz"
  cp "$place"/root/boot/initrd.img-* "$place/initrd"
  mkdir "$place"/root/{host,out}
  # The first mount loads the module, which finds both devices. A second one at the same time could find none.
  cat >"$place/root/etc/fstab" <<'FSTAB'
host /host 9p trans=virtio,version=9p2000.L,msize=262144,ro 0 0
out /out 9p trans=virtio,version=9p2000.L,msize=262144,cache=none,x-systemd.requires-mounts-for=/host 0 0
FSTAB
  cp Tests/Systemd/guest.service "$place/root/etc/systemd/system/guest.service"
  ln -s ../guest.service "$place/root/etc/systemd/system/multi-user.target.wants/guest.service"
  echo guest >"$place/root/etc/hostname"
  mkfs.ext4 -q -F -d "$place/root" "$place/base.new" 3G >/dev/null
  rm -rf "$place/root"
  mv "$place/base.new" "$place/base"
}

# boot ACCEL SECONDS WORD…: boots a copy of the file system; the tests have the words. Its changes last over a reboot.
boot() {
  local accel=$1 limit=$2 cpu out=$place/out status
  shift 2
  case $accel in
    tcg) cpu='-accel tcg,thread=multi -cpu max' ;;
    kvm) cpu='-accel kvm -cpu host' ;;
    *) fail "GUEST_ACCEL is kvm or tcg, not '$accel'" ;;
  esac
  rm -rf "$out" "$place/disk"
  mkdir -p "$out"
  cp --sparse=always "$place/base" "$place/disk"
  printf '%s\n' "$@" >"$out/wanted"
  : >"$out/printed"
  # shellcheck disable=SC2086
  timeout "$limit" qemu-system-x86_64 $cpu -smp "${GUEST_CPUS:-1}" -m 1024 \
    -nodefaults -no-user-config -display none -chardev "file,id=kernel,path=$out/kernel" -serial chardev:kernel \
    -drive "file=$place/disk,format=raw,if=virtio,cache=unsafe" -device virtio-rng-pci \
    -fsdev "local,id=host,path=$root,security_model=none,multidevs=remap,readonly=on" \
    -device virtio-9p-pci,fsdev=host,mount_tag=host \
    -fsdev "local,id=out,path=$out,security_model=none" -device virtio-9p-pci,fsdev=out,mount_tag=out \
    -kernel "$place/vmlinuz" -initrd "$place/initrd" \
    -append "root=/dev/vda rw console=ttyS0 quiet systemd.show_status=no cryptomgr.notests mitigations=off random.trust_cpu=on tsc=reliable ${GUEST_APPEND-}" \
    </dev/null &
  local guest=$!
  tail -q -f -s 0.2 --pid=$guest "$out/printed" &
  # shellcheck disable=SC2064
  trap "kill $guest" INT TERM
  status=0
  wait "$guest" || status=$?
  wait
  [ "$status" -ne 124 ] || echo "systemd-test: no end after $limit s" >&2
  rm -f "$place/disk"
  [ -s "$out/status" ]
}

main() {
  local build=yes began=$SECONDS
  case "${1-}" in
    --set-up) set_up; exit ;;
    --skip-build) build=no; shift ;;
    -*) echo "systemd-test: unknown argument '$1'; the first lines of this script list all" >&2; exit 64 ;;
  esac
  set_up
  [ "$build" = no ] || Scripts/package.sh
  ls .build/packages/beaconscan_*.deb >/dev/null 2>&1 || fail 'there are no packages; run Scripts/package.sh'
  exec 9>"$place/lock"
  flock -n 9 || { echo 'Waiting for another run of these tests …'; flock 9; }
  # A guest may fail to run on an existing /dev/kvm.
  if [ ! -s "$place/accel" ]; then
    if [ -w /dev/kvm ] && boot kvm 60 nothing >/dev/null 2>&1; then echo kvm; else echo tcg; fi >"$place/accel"
  fi
  echo "Booting the guest on ${GUEST_ACCEL:-$(cat "$place/accel")} …"
  boot "${GUEST_ACCEL:-$(cat "$place/accel")}" "${GUEST_LIMIT:-1800}" "$@" || {
    tail -n 40 "$place/out/kernel" >&2
    fail "the tests did not run to their end; $place/out has the guest's logs"
  }
  echo "systemd-test: $(cat "$place/out/status"), in $((SECONDS - began)) s"
  grep -q '^[1-9][0-9]* passed, 0 failed$' "$place/out/status"
}

main "$@"
