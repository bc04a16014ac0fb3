#!/bin/bash
# Makes the Debian packages of this machine's architecture, in .build/packages: beaconscan, libbeaconscan0,
# libbeaconscan-dev and beaconscan-fleet. Their maintainer is who makes them: DEBFULLNAME and DEBEMAIL, or the author of the last commit.
#
#   Scripts/package.sh            builds the commands and the library for C, and packs them
#   Scripts/package.sh --check    also has lintian look at them, and installs them, starts the command and removes them in
#                                 a new root file system of this system's release, by the steps of
#                                 Packaging/Containerfile; as root
set -euo pipefail
# The examples have the characters of UTF-8.
export LC_ALL=C.UTF-8
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
packages=.build/packages
fail() { echo "package: $*" >&2; exit 1; }

# pack_one PACKAGE FILE…: moves files from what was installed to a package of their own, or packs all that is left.
pack_one() {
  local package=$1 tree=$packages/$1 share=$packages/$1/usr/share/doc/$1 file binaries
  shift
  for file; do
    mkdir -p "$(dirname "$tree/$file")"
    mv "$packages/beaconscan/$file" "$tree/$file"
  done
  mkdir -p "$tree/DEBIAN" "$share"
  install -m 644 "$packages"/debian/{copyright,changelog} "$share"
  mv "$share/changelog" "$share/changelog.Debian"
  install -m 644 CHANGELOG.md "$share/changelog"
  gzip -9n "$share"/changelog*
  (cd "$tree" && find usr -type f | sort | xargs -d '\n' md5sum >DEBIAN/md5sums)
  # The packages of the libraries that it links, with the versions whose symbols it uses.
  mapfile -t binaries < <(cd "$packages" && find "$package/usr" -type f \( -path '*/bin/*' -o -name '*.so.*' \))
  (
    cd "$packages"
    if [ ${#binaries[@]} -gt 0 ]; then
      dpkg-shlibdeps -T"debian/$package.substvars" "${binaries[@]}"
      # dpkg-shlibdeps does not see that packed relocations need glibc 2.36.
      if readelf -d "${binaries[@]}" | grep '(RELR)' >/dev/null; then
        sed -i 's/^shlibs:Depends=/&libc6 (>= 2.36), /' "debian/$package.substvars"
      fi
    fi
    dpkg-gencontrol -p"$package" -P"$package" -T"debian/$package.substvars"
  )
  dpkg-deb --root-owner-group -Zxz --build "$tree" "$packages" >/dev/null
}

pack() {
  local tool version maintainer library size package
  for tool in dpkg-deb dpkg-shlibdeps; do
    command -v "$tool" >/dev/null || fail "there is no $tool; on Debian and Ubuntu: apt-get install dpkg-dev"
  done
  maintainer=$(git log -1 --format='%an <%ae>' 2>/dev/null || true)
  [ -z "${DEBEMAIL-}" ] || maintainer="${DEBFULLNAME:-$DEBEMAIL} <$DEBEMAIL>"
  [ -n "$maintainer" ] || fail 'this is not a clone of the repository: say who makes the packages by DEBFULLNAME and DEBEMAIL'
  local product
  for product in beaconscan beaconscan-c beaconscan-fleet; do
    swift build -c release --static-swift-stdlib --product "$product"
  done
  Scripts/manual.sh
  version=$(.build/release/beaconscan --version)
  Scripts/notes.sh "$version" >/dev/null

  # The same source gives the same bytes.
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
  export SOURCE_DATE_EPOCH
  rm -rf "$packages"
  mkdir -p "$packages/debian"
  sed '/^Source:/r /dev/stdin' Packaging/debian/control <<<"Maintainer: $maintainer" >"$packages/debian/control"
  # This revision is older than the first one of a distribution's own package.
  printf 'beaconscan (%s-0upstream1) unstable; urgency=medium\n\n  * %s\n\n -- %s  %s\n' "$version" \
    "beaconscan $version: changelog.gz lists what changed." "$maintainer" "$(date -ud "@$SOURCE_DATE_EPOCH" -R)" \
    >"$packages/debian/changelog"
  sed "/^@LICENSE@$/{
    r /dev/stdin
    d
  }" Packaging/debian/copyright < <(sed -e 's/^$/./' -e 's/^/ /' LICENSE) >"$packages/debian/copyright"

  Scripts/install.sh --prefix /usr --root "$packages/beaconscan"
  size=$(stat -c %s "$packages/beaconscan/usr/bin/beaconscan")
  [ "$size" -le 27000000 ] || fail "the command has $size bytes, and the limit is 27,000,000: see Benchmarks/size.py"
  rm "$packages"/beaconscan/usr/share/doc/beaconscan/{LICENSE,CHANGELOG.md}
  library=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
  install -D -m 755 -t "$packages/beaconscan/DEBIAN" Packaging/debian/p*
  mkdir -p "$packages/libbeaconscan0/DEBIAN"
  echo "libbeaconscan 0 libbeaconscan0 (>= $version)" >"$packages/libbeaconscan0/DEBIAN/shlibs"
  echo 'activate-noawait ldconfig' >"$packages/libbeaconscan0/DEBIAN/triggers"
  pack_one libbeaconscan0 "$library"/libbeaconscan.so.{0,"$version"}
  install -D -m 644 -t "$packages/libbeaconscan-dev/usr/share/doc/libbeaconscan-dev/examples" Examples/C/*
  pack_one libbeaconscan-dev usr/include "$library"/{libbeaconscan.so,pkgconfig}
  find "$packages/beaconscan/usr/lib" -type d -empty -delete
  pack_one beaconscan
  Scripts/install.sh --prefix /usr --root "$packages/beaconscan-fleet" --fleet
  rm "$packages"/beaconscan-fleet/usr/share/doc/beaconscan-fleet/{LICENSE,CHANGELOG.md}
  install -D -m 755 -t "$packages/beaconscan-fleet/DEBIAN" Packaging/fleet/debian/p*
  pack_one beaconscan-fleet
  for package in "$packages"/*.deb; do echo "package: $package, $(du -k "$package" | cut -f 1) KiB"; done
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
  command -v lintian >/dev/null || fail 'there is no lintian; apt-get install lintian'
  lintian --allow-root --fail-on error,warning "$packages"/*.deb >&2 || fail 'lintian finds faults in the packages'
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

  check_library
  check_fleet "$version"
  inside "$tree" dpkg -L beaconscan >"$place/files"
  trial
  while read -r path; do
    case $path in *beaconscan*) [ ! -e "$tree$path" ] || fail "$path is still there after removing" ;; esac
  done <"$place/files"
  echo "package: installed $(grep -c beaconscan "$place/files") files and folders by Packaging/Containerfile, started, and" \
    "removed; doctor inside: $(grep -m 1 . "$place/doctor")"
}

# Installs the library for C, and runs a program that was built with what its packages have; removes them, so that the
# loader does not know the library any more.
check_library() {
  local directory flags shown
  directory=$tree/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
  cp "$packages"/libbeaconscan*.deb "$tree/tmp"
  inside "$tree" sh -c 'apt-get update && apt-get install -y --no-install-recommends /tmp/libbeaconscan*.deb' \
    >"$place/log" 2>&1 || { tail -n 20 "$place/log" >&2; fail 'the library for C cannot be installed'; }
  read -r -a flags <<<"$(PKG_CONFIG_LIBDIR=$directory/pkgconfig pkg-config --cflags --libs beaconscan)"
  cc -D_POSIX_C_SOURCE=200809L -I"$tree/usr/include" Examples/C/kiosk.c -L"$directory" \
    -Wl,-rpath-link="$directory:$tree/lib/${directory##*/}" "${flags[@]}" -o "$tree/kiosk"
  shown=$(inside "$tree" /kiosk 'region=screen=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:1:100' "replay=$recording")
  [ "$shown" = $'screen: welcome\nscreen: slides' ] || fail "a kiosk with the library for C shows: $shown"
  inside "$tree" apt-get purge -y libbeaconscan0 >"$place/log" 2>&1 || { cat "$place/log" >&2; fail 'the library cannot be removed'; }
  if inside "$tree" ldconfig -p | grep libbeaconscan; then fail 'the loader still knows the library'; fi
  rm "$tree/kiosk" "$tree"/tmp/libbeaconscan*.deb
}

# Installs the command of a fleet, computes the rooms of a simulated site with it, and removes it.
check_fleet() {
  local version=$1
  cp "$packages"/beaconscan-fleet_*.deb "$tree/tmp"
  inside "$tree" sh -c 'apt-get install -y --no-install-recommends /tmp/beaconscan-fleet_*.deb' \
    >"$place/log" 2>&1 || { tail -n 20 "$place/log" >&2; fail 'the command of a fleet cannot be installed'; }
  [ "$(inside "$tree" beaconscan-fleet --version)" = "$version" ] || fail 'the installed command of a fleet has another version'
  inside "$tree" beaconscan-fleet simulate /tmp/demo --seconds 60 >/dev/null
  inside "$tree" beaconscan-fleet replay /tmp/demo/site.toml /tmp/demo/reports.jsonl | grep '→ room ' >/dev/null ||
    fail 'the installed command of a fleet finds no room'
  inside "$tree" getent passwd beaconscan-fleet >/dev/null || fail 'the package does not make the user beaconscan-fleet'
  # As `systemctl enable beaconscan-fleet-work@1` makes it.
  mkdir -p "$tree/etc/systemd/system/multi-user.target.wants"
  ln -s /usr/lib/systemd/system/beaconscan-fleet-work@.service \
    "$tree/etc/systemd/system/multi-user.target.wants/beaconscan-fleet-work@1.service"
  inside "$tree" apt-get purge -y beaconscan-fleet >"$place/log" 2>&1 || { cat "$place/log" >&2; fail 'the command of a fleet cannot be removed'; }
  rm -r "$tree/tmp/demo" "$tree"/tmp/beaconscan-fleet_*.deb
  path=$(cd "$tree" && find etc usr var -path '*beaconscan-fleet*' ! -path 'var/lib/dpkg/*' ! -path 'var/log/*' | head -n 1)
  [ -z "$path" ] || fail "/$path is still there after removing beaconscan-fleet"
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
