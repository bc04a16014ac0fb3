#!/bin/sh
# Prepares the machine, builds the command, and runs it on a recording that ships with it.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

Scripts/setup.sh
echo 'Building beaconscan; the first time this takes some minutes …'
swift build -c release --static-swift-stdlib --product beaconscan
# A linker's warning of mktemp is about Swift's own Foundation.
beaconscan=.build/release/beaconscan

cat <<'TEXT'

captures/visitor.btsnoop has 100 seconds of what a kiosk received: two beacons on the wall (minor 1 and 2),
and a visitor (minor 100) who comes in, stands in front of the kiosk, and leaves. Times are in UTC.

TEXT
set -- range --uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 --replay captures/visitor.btsnoop
echo "\$ beaconscan $*"
"$beaconscan" "$@"

cat <<TEXT

Next, in $root:
  $beaconscan range --replay captures/visitor.btsnoop --speed 10x   at ten times the speed, on a terminal
  $beaconscan inspect captures/hostile.pcapng                       the contents of a recording
  $beaconscan --help                                                all subcommands
TEXT
