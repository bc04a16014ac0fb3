#!/bin/sh
# Installs the built command, with its man pages, completions, systemd units and their user, documents and recordings;
# and the library for C, if it was built (swift build -c release --static-swift-stdlib --product beaconscan-c).
#
#   swift build -c release --static-swift-stdlib --product beaconscan && Scripts/manual.sh
#   sudo Scripts/install.sh                             into /usr/local
#   Scripts/install.sh --prefix /usr --root DIRECTORY   for /usr, into a tree, as Scripts/package.sh does
#   sudo Scripts/install.sh --library                   only the library for C
#   sudo Scripts/install.sh --fleet                     only the command of a fleet of receivers, beaconscan-fleet
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
prefix=/usr/local
tree=''
only=''
while [ $# -gt 0 ]; do
  case $1 in
    --prefix | --root)
      [ $# -ge 2 ] || { echo "install: $1 needs a directory" >&2; exit 64; }
      if [ "$1" = --prefix ]; then prefix=$2; else tree=$(mkdir -p "$2" && cd "$2" && pwd); fi
      shift 2
      ;;
    --library | --fleet) only=${1#--}; shift ;;
    *)
      echo "install: unknown argument '$1'; there are --prefix and --root, each with a directory, --library and --fleet" >&2
      exit 64
      ;;
  esac
done
cd "$root"

# The library, its header and its pkg-config file.
install_library() {
  version=$(sed -n 's/^package let release = "\(.*\)"$/\1/p' Sources/Release/Release.swift)
  # Debian has a folder for the libraries of each architecture.
  directory=$prefix/lib
  [ "$prefix" != /usr ] || directory=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || true)
  lib=$tree$directory
  install -D -s -m 644 "$library" "$lib/libbeaconscan.so.$version"
  ln -sf "libbeaconscan.so.$version" "$lib/libbeaconscan.so.0"
  ln -sf libbeaconscan.so.0 "$lib/libbeaconscan.so"
  install -D -m 644 Sources/EmbeddingC/beaconscan.h "$tree$prefix/include/beaconscan.h"
  mkdir -p "$lib/pkgconfig"
  sed -e "s|@PREFIX@|$prefix|" -e "s|@LIB@|$directory|" -e "s|@VERSION@|$version|" Packaging/beaconscan.pc.in \
    >"$lib/pkgconfig/beaconscan.pc"
  chmod 644 "$lib/pkgconfig/beaconscan.pc"
  # The loader uses its cache.
  if [ -z "$tree" ] && [ "$(id -u)" = 0 ]; then ldconfig; fi
  echo "install: the library for C is in $lib"
}
library=.build/release/libbeaconscan-c.so
if [ "$only" = library ]; then
  [ -s "$library" ] || {
    echo "install: there is no $library; first run, without sudo: swift build -c release --static-swift-stdlib" \
      "--product beaconscan-c" >&2
    exit 66
  }
  install_library
  exit
fi

command=beaconscan
[ "$only" != fleet ] || command=beaconscan-fleet
for made in ".build/release/$command" ".build/manual/man/$command.1"; do
  [ -s "$made" ] || {
    echo "install: there is no $made; first run, without sudo: swift build -c release --static-swift-stdlib" \
      "--product $command && Scripts/manual.sh" >&2
    exit 66
  }
done

share=$tree$prefix/share
install -D -s -m 755 ".build/release/$command" "$tree$prefix/bin/$command"

# zsh has another folder for a distribution's packages.
zsh=site-functions
[ "$prefix" != /usr ] || zsh=vendor-completions
completions=.build/manual/completions
install -D -m 644 "$completions/$command.bash" "$share/bash-completion/completions/$command"
install -D -m 644 "$completions/_$command" "$share/zsh/$zsh/_$command"
install -D -m 644 "$completions/$command.fish" "$share/fish/vendor_completions.d/$command.fish"
mkdir -p "$share/man/man1"
for page in .build/manual/man/*.1; do
  name=$(basename "$page")
  case $name in
    beaconscan-fleet*) [ "$command" = beaconscan-fleet ] || continue ;;
    *) [ "$command" = beaconscan ] || continue ;;
  esac
  sed -e "s|captures/|$prefix/share/beaconscan/captures/|g" -e "s|docs/|$prefix/share/doc/$command/|g" "$page" |
    gzip -9n >"$share/man/man1/$name.gz"
  chmod 644 "$share/man/man1/$name.gz"
done

# systemd has an administrator's folder and a distribution's.
units=/etc/systemd/system
users=/etc/sysusers.d
[ "$prefix" != /usr ] || { units=/usr/lib/systemd/system; users=/usr/lib/sysusers.d; }
# install_units FOLDER FILE…
install_units() {
  folder=$tree$1
  shift
  mkdir -p "$folder"
  for unit; do
    sed "s|=/usr/local/bin/|=$prefix/bin/|" "$unit" >"$folder/$(basename "$unit")"
    chmod 644 "$folder/$(basename "$unit")"
  done
}
# install_user FILE: the user of the units, which a package creates when it is installed.
install_user() {
  install -D -m 644 "$1" "$tree$users/$command.conf"
  if [ -z "$tree" ] && [ "$(id -u)" = 0 ] && command -v systemd-sysusers >/dev/null 2>&1; then
    systemd-sysusers "$users/$command.conf"
  fi
}

if [ "$only" = fleet ]; then
  for file in docs/fleet.md CHANGELOG.md LICENSE; do
    install -D -m 644 "$file" "$share/doc/$command/$(basename "$file")"
  done
  install_units "$units" Packaging/fleet/*.service
  install_user Packaging/fleet/beaconscan-fleet.sysusers
  echo "install: $command is in $tree$prefix, its units in $tree$units"
  exit
fi

# The recordings of the examples, and the documents; the man pages state their places.
for file in captures/*.json captures/*.btsnoop captures/*.pcapng captures/*.gpx captures/INDEX.md; do
  install -D -m 644 "$file" "$share/beaconscan/$file"
done
for file in docs/*.md docs/json.schema.json Examples/beaconscan.toml Packaging/beaconscan-compass.conf \
  Packaging/beaconscan-kiosk.rules CHANGELOG.md LICENSE; do
  install -D -m 644 "$file" "$share/doc/beaconscan/$(basename "$file")"
done
# GeoClue's agents show its name.
install -D -m 644 Packaging/beaconscan.desktop "$share/applications/beaconscan.desktop"
# polkit has one folder for the actions of all programs.
install -D -m 644 Packaging/org.beaconscan.policy "$tree/usr/share/polkit-1/actions/org.beaconscan.policy"
install_units "$units" Packaging/*.service Packaging/*.socket
install_units "${units%system}user" Packaging/user/*
install_user Packaging/beaconscan.sysusers
echo "install: $command is in $tree$prefix, its units in $tree$units"
[ ! -s "$library" ] || install_library
