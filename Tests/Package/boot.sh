#!/bin/bash
# Boots systemd of the root file system $1, in namespaces of its own, and runs /trial.sh there; what that prints is in
# its /trial.log. Ends with status 1 where systemd cannot be booted, such as in a container without cgroups.
set -euo pipefail
tree=$1

# A group of its own in each hierarchy that systemd uses, which is removed with all that systemd makes in it.
groups=()
for groups_of in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
  [ ! -e "$groups_of/cgroup.procs" ] || groups+=("$groups_of/beaconscan-$$")
done
[ ${#groups[@]} -gt 0 ] && mkdir "${groups[@]}" 2>/dev/null || exit 1
trap 'find "${groups[@]}" -depth -type d -exec rmdir {} + 2>/dev/null || true' EXIT

cat >"$tree/etc/systemd/system/trial.service" <<'UNIT'
[Service]
Type=oneshot
ExecStart=/bin/bash /trial.sh
StandardOutput=file:/trial.log
StandardError=inherit
TimeoutStartSec=480
ExecStopPost=/bin/systemctl --no-block exit
[Install]
WantedBy=multi-user.target
UNIT
mkdir -p "$tree/etc/systemd/system/multi-user.target.wants"
ln -sf ../trial.service "$tree/etc/systemd/system/multi-user.target.wants/trial.service"

# systemd must change no setting of this machine's kernel: /proc/sys and /sys are read-only.
mounts='
  set -e
  tree=$1
  shift
  for group; do echo $$ >"$group/cgroup.procs"; done
  exec unshare --pid --mount --uts --ipc --net --cgroup --fork --kill-child sh -ec '\''
    mount --make-rprivate /
    mount --bind "$1" "$1"
    mount -t proc proc "$1/proc"
    mount --bind "$1/proc/sys" "$1/proc/sys"
    mount -o remount,bind,ro "$1/proc/sys"
    mount -t sysfs -o ro sysfs "$1/sys"
    mount -t tmpfs tmpfs "$1/run"
    mount -t tmpfs tmpfs "$1/dev"
    for device in null:3 zero:5 full:7 random:8 urandom:9; do
      mknod -m 666 "$1/dev/${device%:*}" c 1 "${device#*:}"
    done
    mknod -m 666 "$1/dev/tty" c 5 0
    mkdir "$1/dev/shm" "$1/dev/pts" "$1/dev/mqueue"
    mount -t devpts -o newinstance,ptmxmode=666 devpts "$1/dev/pts"
    ln -s pts/ptmx "$1/dev/ptmx"
    mount -t mqueue mqueue "$1/dev/mqueue"
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
      mount -t cgroup2 cgroup2 "$1/sys/fs/cgroup"
    else
      mount -t tmpfs -o mode=755 tmpfs "$1/sys/fs/cgroup"
      mkdir "$1/sys/fs/cgroup/systemd" "$1/sys/fs/cgroup/unified"
      mount -t cgroup -o none,name=systemd cgroup "$1/sys/fs/cgroup/systemd"
      mount -t cgroup2 cgroup2 "$1/sys/fs/cgroup/unified"
    fi
    exec env -i container=docker PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$1" \
      /lib/systemd/systemd --system --unit=multi-user.target --log-target=null
  '\'' sh "$tree"'
timeout -k 10 540 sh -c "$mounts" sh "$tree" "${groups[@]}" >/dev/null 2>&1 </dev/null || true
[ -s "$tree/trial.log" ]
