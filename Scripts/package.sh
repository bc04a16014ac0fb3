#!/bin/bash
# Makes the Debian package of this machine's architecture, in .build/packages.
#
#   Scripts/package.sh            builds the command and packs it
#   Scripts/package.sh --check    also installs it, starts it and removes it, in a new root file system of this
#                                 system's release, by the steps of Packaging/Containerfile; as root
set -euo pipefail
# The examples have the characters of UTF-8.
export LC_ALL=C.UTF-8
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
packages=.build/packages
fail() { echo "package: $*" >&2; exit 1; }

pack() {
  local tool version architecture tree depends
  for tool in dpkg-deb dpkg-shlibdeps; do
    command -v "$tool" >/dev/null || fail "there is no $tool; on Debian and Ubuntu: apt-get install dpkg-dev"
  done
  swift build -c release --static-swift-stdlib --product beaconscan
  swift build -c release --static-swift-stdlib --product beaconscan-c
  Scripts/manual.sh
  version=$(.build/release/beaconscan --version)
  Scripts/notes.sh "$version" >/dev/null
  architecture=$(dpkg --print-architecture)

  tree=$packages/tree
  rm -rf "$packages"
  mkdir -p "$tree/DEBIAN"
  Scripts/install.sh --prefix /usr --root "$tree"
  rm "$tree"/usr/share/doc/beaconscan/LICENSE
  gzip -9n <CHANGELOG.md >"$tree/usr/share/doc/beaconscan/changelog.gz"
  rm "$tree/usr/share/doc/beaconscan/CHANGELOG.md"
  sed "/^@LICENSE@$/{
    r /dev/stdin
    d
  }" Packaging/debian/copyright < <(sed -e 's/^$/./' -e 's/^/ /' LICENSE) \
    >"$tree/usr/share/doc/beaconscan/copyright"
  chmod 644 "$tree"/usr/share/doc/beaconscan/*

  # The packages of the libraries that the command and the library link, with the versions whose symbols it uses.
  mkdir -p "$packages/control/debian"
  printf 'Source: beaconscan\n\nPackage: beaconscan\nArchitecture: any\n' >"$packages/control/debian/control"
  depends=$(cd "$packages/control" && dpkg-shlibdeps -O "$OLDPWD/$tree/usr/bin/beaconscan" \
    "$OLDPWD/$tree/usr/lib/libbeaconscan.so.0" |
    sed -n 's/^shlibs:Depends=//p')
  [ -n "$depends" ] || fail 'dpkg-shlibdeps names no library that the command needs'
  sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@DEPENDS@/$depends/" \
    -e "s/@SIZE@/$(du -sk --exclude=DEBIAN "$tree" | cut -f 1)/" Packaging/debian/control >"$tree/DEBIAN/control"
  install -m 755 Packaging/debian/postinst Packaging/debian/prerm Packaging/debian/postrm "$tree/DEBIAN"

  # The same source gives the same bytes.
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
  export SOURCE_DATE_EPOCH
  package=$packages/beaconscan_${version}_$architecture.deb
  dpkg-deb --root-owner-group -Zxz --build "$tree" "$package" >/dev/null
  echo "package: $package, $(du -k "$package" | cut -f 1) KiB; it needs $depends"
}

# A minimal system of this release, made once.
new_root() {
  local release made
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  made=.build/root-$release.tar
  if [ ! -s "$made" ]; then
    command -v debootstrap >/dev/null || fail 'there is no debootstrap; apt-get install debootstrap'
    echo "Making a root file system of $release …"
    debootstrap --variant=minbase "$release" "$1" >"$1.log" 2>&1 || { tail -n 20 "$1.log" >&2; fail 'debootstrap failed'; }
    rm -f "$1"/var/cache/apt/archives/*.deb
    tar -C "$1" -cf "$made.new" . && mv "$made.new" "$made"
  else
    mkdir -p "$1" && tar -C "$1" -xf "$made"
  fi
  cp -L /etc/resolv.conf "$1/etc/resolv.conf"
}

# inside ARGUMENT…: chroot to the root file system, with its own processes, as in a container.
inside() {
  DEBIAN_FRONTEND=noninteractive TMPDIR=/tmp \
    unshare --pid --fork --mount-proc="$tree/proc" chroot "$@" </dev/null
}

# Follows Packaging/Containerfile in the root file system.
follow() {
  local step rest files
  while read -r step rest; do
    case $step in
      FROM | CMD | '#'* | '') ;;
      COPY) read -r -a files <<<"$rest"; cp "$packages"/${files[0]} "$tree/${files[1]}" ;;
      RUN) inside "$tree" sh -c "$rest" >"$tree.log" 2>&1 || { tail -n 20 "$tree.log" >&2; fail "this step fails: RUN $rest"; } ;;
      USER) user=$rest ;;
      ENTRYPOINT) entry=$(tr -d '[]"' <<<"$rest") ;;
      *) fail "the check does not know the step '$step' of Packaging/Containerfile" ;;
    esac
  done < <(sed -e ':join' -e '/\\$/{N;s/\\\n */ /;b join' -e '}' Packaging/Containerfile)
}

check() {
  local place=$1 tree=$1/root user='' entry='' shown version status unit start path
  [ "$(id -u)" = 0 ] || fail 'the check makes a root file system: run it as root'
  new_root "$tree"
  follow
  run() { inside --userspec "$user" "$tree" "$entry" "$@"; }

  version=$(.build/release/beaconscan --version)
  [ "$(run --version)" = "$version" ] || fail 'the installed command has another version'
  recording=/usr/share/beaconscan/captures/visitor.btsnoop
  shown=$(run range --replay "$recording")
  [ "$shown" = "$(.build/release/beaconscan range --replay captures/visitor.btsnoop)" ] ||
    fail "the installed command shows something else: $shown"
  status=0
  run doctor >"$place/doctor" 2>&1 || status=$?
  case $status in 0 | 69 | 77) ;; *) cat "$place/doctor" >&2; fail "doctor ends with status $status" ;; esac

  # The unit's own line, as systemd expands it, with a recording.
  unit=$tree/usr/lib/systemd/system/beaconscan.service
  start=$(sed -n 's/^ExecStart=//p' "$unit")
  inside --userspec "$user" "$tree" env STATE_DIRECTORY=/tmp \
    BEACONSCAN_OPTIONS="--uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 --replay $recording" sh -c "$start" >"$place/events"
  grep -q '"type":"enter"' "$place/events" || { cat "$place/events" >&2; fail "the unit's command reports no entry: $start"; }

  # What the man pages name is there, and every file is as it was packed.
  while read -r path; do
    [ -e "$tree$path" ] || fail "the man pages name $path, which the package does not install"
  done < <(zcat "$tree"/usr/share/man/man1/beaconscan*.gz | grep -oE '/usr/[A-Za-z0-9/._-]*[A-Za-z0-9]' | sort -u)
  [ -z "$(inside "$tree" dpkg --verify beaconscan)" ] || fail 'files differ from those of the package'

  inside "$tree" dpkg -L beaconscan >"$place/files"
  trial
  while read -r path; do
    case $path in *beaconscan*) [ ! -e "$tree$path" ] || fail "$path is still there after removing" ;; esac
  done <"$place/files"
  echo "package: installed $(grep -c beaconscan "$place/files") files and folders by Packaging/Containerfile, started, and" \
    "removed; doctor inside: $(grep -m 1 . "$place/doctor")"
}

# Starts the services with systemd and removes the package meanwhile (Tests/Package/trial.sh); where systemd cannot be
# booted, only removes it.
trial() {
  inside "$tree" sh -c 'apt-get update && apt-get install -y --no-install-recommends systemd systemd-sysv curl' \
    >"$place/log" 2>&1 || { tail -n 20 "$place/log" >&2; fail 'systemd cannot be installed'; }
  cp Tests/Package/trial.sh "$tree/trial.sh"
  # The options and the drop-in that docs/installation.md has for it.
  sed -n '/^### Commands that use the network$/,/^### /p' docs/installation.md >"$place/section"
  grep '^BEACONSCAN_OPTIONS=' "$place/section" >"$tree/options"
  sed -n '/^\[Service\]$/,/^```$/p' "$place/section" | sed '$d' >"$tree/drop-in"
  if Tests/Package/boot.sh "$tree"; then
    grep -qx passed "$tree/trial.log" || { cat "$tree/trial.log" >&2; fail 'the service does not do under systemd what it should'; }
    echo 'package: systemd starts beaconscan, forbids and permits its command the network, and stops it for good'
    echo "package: beaconscan-serve answers over HTTP and its sockets, and survives each kind of end; $(grep -h '^serve ' "$tree/trial.log")"
  else
    echo 'package: systemd cannot be booted here: the service was only started by its own line'
    inside "$tree" apt-get purge -y beaconscan >"$place/log" 2>&1 || { cat "$place/log" >&2; fail 'it cannot be removed'; }
  fi
}

case "${1-}" in
  '') pack ;;
  --check)
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
    pack
    check "$place"
    ;;
  *) echo "package: unknown argument '$1'; the only one is --check" >&2; exit 64 ;;
esac
