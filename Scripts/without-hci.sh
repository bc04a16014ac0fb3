#!/bin/sh
# Builds the package without its trait RawHCI, in a folder of its own, checks that nothing refers to libbluetooth, and
# runs the tests of the targets in which the trait makes a difference.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

fail() { printf 'without-hci: %s\n' "$*" >&2; exit 1; }

build=.build/without-hci
set -- --disable-default-traits --scratch-path "$build"
# An earlier build, before the trait was complete, may have left one.
if [ -d "$build" ]; then find "$build" -name 'CBluetooth-*.pcm' -delete; fi
swift build --build-tests "$@"

# The compiler leaves a module of each header that was imported.
modules() { find "$build/debug/ModuleCache" -name "$1-*.pcm"; }
[ -n "$(modules CDBus)" ] || fail "no module of libdbus was found in $build/debug/ModuleCache"
[ -z "$(modules CBluetooth)" ] || fail "the headers of libbluetooth were imported: $(modules CBluetooth)"
for file in beaconscan beaconscanPackageTests.xctest; do
  libraries=$(readelf -d "$build/debug/$file" | grep NEEDED)
  case $libraries in
    *libbluetooth*) fail "$file links libbluetooth" ;;
    *libdbus*) ;;
    *) fail "the libraries of $file could not be read: $libraries" ;;
  esac
done

# The state of the tests' managers is kept apart from that of other programs.
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
XDG_STATE_HOME=$state swift test --skip-build --disable-xctest "$@" \
  --filter '^((BlueZ|HCISockets|LiveScanning)Tests\.|CommandTests\.Live)' >"$state/log" 2>&1 || {
  cat "$state/log" >&2
  fail 'tests failed'
}
# No tests are no success.
grep 'Test run with [1-9][0-9]* tests\{0,1\} .*passed' "$state/log" || fail 'no tests were run'
