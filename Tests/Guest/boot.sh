#!/bin/sh
# Runs a command as root in a QEMU guest that has Linux's Bluetooth and sees this machine's files.
# Prints its output and returns its exit status. Its changes of files are lost, except in DIR.
#
#   boot.sh [-w DIR] [-t SECONDS] [-k] COMMAND [ARGUMENT…]
#
#   -w DIR      a directory that the guest may write to, at the same path there
#   -t SECONDS  time limit, 300 by default; then the status is 124
#   -k          print the guest's kernel log and the times on standard error
#
# A command without arguments is a shell command. Environment: GUEST_ACCEL (kvm or tcg), GUEST_CPUS, GUEST_MEMORY (MiB),
# GUEST_MODULES, GUEST_APPEND (kernel arguments).
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
boot=${GUEST_BOOT:-$root/.build/guest}
write='' limit=300 keep=''
while getopts w:t:k option; do
  case $option in
    w) write=$(CDPATH='' cd -- "$OPTARG" && pwd) ;;
    t) limit=$OPTARG ;;
    k) keep=yes ;;
    *) exit 64 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { sed -n '2,13s/^#[ ]*//p' "$0" >&2; exit 64; }
[ -s "$boot/initrd" ] || { echo 'guest: it is not made yet; run Scripts/guest-test.sh --set-up' >&2; exit 69; }

accel=${GUEST_ACCEL:-$(cat "$boot/accel" 2>/dev/null || echo tcg)}
case $accel in
  tcg) cpu='-accel tcg,thread=multi -cpu max' ;;
  kvm) cpu='-accel kvm -cpu host' ;;
  *) echo "guest: GUEST_ACCEL is kvm or tcg, not '$accel'" >&2; exit 64 ;;
esac
# A second CPU is faster on an idle machine, and much slower on a busy one.
cpus=${GUEST_CPUS:-1}

control=$(mktemp -d "${TMPDIR:-/tmp}/guest.XXXXXX")
trap 'rm -rf "$control"' EXIT
quote() { printf "'%s' " "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }
if [ $# -eq 1 ]; then printf '%s\n' "$1"; else for word; do quote "$word"; done; fi >"$control/command"
{
  echo "export GUEST_BOOT=$(quote "$boot")"
  echo "export BEACONSCAN_GUEST=1"
  echo "GUEST_PLACE=$(quote "$PWD")"
  echo "GUEST_WRITE=$(quote "$write")"
  echo "GUEST_MODULES=$(quote "${GUEST_MODULES-bluetooth hci_vhci}")"
} >"$control/environment"
cp "$here/stage2" "$control/stage2"
: >"$control/out"
: >"$control/err"
share() {
  echo "-fsdev local,id=$1,path=$2,security_model=none,multidevs=remap$3" \
    "-device virtio-9p-pci,fsdev=$1,mount_tag=$1"
}
# Without huge pages: each is 2 MiB, and one more would look like a leak.
began=$(date +%s.%N)
set +e
# shellcheck disable=SC2046,SC2086
timeout "$limit" qemu-system-x86_64 $cpu -smp "$cpus" -m "${GUEST_MEMORY:-1024}" \
  -nodefaults -no-user-config -no-reboot -display none \
  -chardev file,id=kernel,path="$control/kernel" -serial chardev:kernel \
  $(share host / ,readonly=on) $(share control "$control" '') ${write:+$(share write "$write" '')} \
  -kernel "$boot/vmlinux" -initrd "$boot/initrd" \
  -append "console=ttyS0 quiet transparent_hugepage=never panic=-1 cryptomgr.notests mitigations=off random.trust_cpu=on tsc=reliable ${GUEST_APPEND-}" \
  </dev/null &
guest=$!
tail -q -f -s 0.1 --pid=$guest "$control/out" &
tail -q -f -s 0.1 --pid=$guest "$control/err" >&2 &
trap 'kill $guest' INT TERM
wait $guest
status=$?
wait
set -e
if [ -n "$keep" ]; then
  cat "$control/kernel"
  echo "guest: $accel; ready after $(cat "$control/up" 2>/dev/null) s," \
    "the command's end at $(cat "$control/down" 2>/dev/null) s (its own clock);" \
    "in all $(date +%s.%N | awk "{ printf \"%.1f\", \$1 - $began }") s"
fi >&2
[ "$status" -ne 124 ] || { echo "guest: no end after $limit s" >&2; exit 124; }
if [ ! -s "$control/status" ]; then
  echo "guest: it did not finish (QEMU's status $status); its log:" >&2
  cat "$control/kernel" >&2
  exit 125
fi
exit "$(cat "$control/status")"
