#!/bin/sh
# Builds the package without its trait RawHCI, checks that nothing refers to libbluetooth, and runs the tests of the
# targets that depend on the trait. It builds in the usual directory, so that only modules that depend on the trait are
# compiled again, now and in the next build with the trait.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$root"
# See Package.swift: one build for all checks.
export OPTIMIZED_TEST_BUILD=1

fail() { printf 'without-hci: %s\n' "$*" >&2; exit 1; }

debug=.build/debug
export BEACONSCAN_TESTS='BlueZTests CommandTests HCISocketsTests LiveScanningTests TestDaemons TestSupport'
# The compiler stores a module of each imported header: those of other builds are removed first.
modules() { find "$debug/ModuleCache" -name "$1-*.pcm"; }
if [ -d "$debug/ModuleCache" ]; then find "$debug/ModuleCache" -name 'C*-*.pcm' -delete; fi
# Afterwards the test program has few tests, and the command has no sockets: both are removed.
state=$(mktemp -d)
trap 'rm -rf "$state" "$debug/beaconscan" "$debug/beaconscanPackageTests.xctest"' EXIT
swift build --build-tests --disable-xctest --traits Command
[ -n "$(modules CDBus)" ] || fail "no module of libdbus was found in $debug/ModuleCache"
[ -z "$(modules CBluetooth)" ] || fail "the headers of libbluetooth were imported: $(modules CBluetooth)"
for file in beaconscan beaconscanPackageTests.xctest; do
  libraries=$(readelf -d "$debug/$file" | grep NEEDED)
  case $libraries in
    *libbluetooth*) fail "$file links libbluetooth" ;;
    *libsqlite3*) ;;
    *) fail "the libraries of $file could not be read: $libraries" ;;
  esac
done

# Managers in tests do not share state with other programs.
XDG_STATE_HOME=$state "$debug/beaconscanPackageTests.xctest" --testing-library swift-testing \
  --filter '^((BlueZ|HCISockets|LiveScanning)Tests\.|CommandTests\.Live)' >"$state/log" 2>&1 || {
  cat "$state/log" >&2
  fail 'tests failed'
}
# At least one test must have run.
grep 'Test run with [1-9][0-9]* tests\{0,1\} .*passed' "$state/log" || fail 'no tests were run'
