#!/bin/sh
# Makes the machine ready, builds the command, and shows who came how near in a recording that ships
# with it.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

Scripts/setup.sh
echo 'Building beaconscan; the first time this takes some minutes …'
swift build -c release --static-swift-stdlib --product beaconscan
# What the linker may say of mktemp is about Swift's own Foundation.
beaconscan=.build/release/beaconscan

cat <<'TEXT'

captures/visitor.btsnoop is 100 seconds of what a kiosk hears: two beacons on the wall (minor 1 and 2),
and a visitor (minor 100) who comes in, stands before the kiosk, and leaves. Time is UTC.

TEXT
set -- range --uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 --replay captures/visitor.btsnoop
echo "\$ beaconscan $*"
"$beaconscan" "$@"

cat <<TEXT

Next, in $root:
  $beaconscan range --replay captures/visitor.btsnoop --speed 10x   as it happens, on a terminal
  $beaconscan inspect captures/hostile.pcapng                       what is in a recording
  $beaconscan --help                                                everything else
TEXT
