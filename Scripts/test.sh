#!/bin/sh
# Makes the machine ready, builds, and runs all tests. Arguments choose some of them, as for `swift test`:
#
#   Scripts/test.sh --filter RangingTests
#   Scripts/test.sh --skip-build …           runs what was built last
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
# See Package.swift: one build for all checks.
export OPTIMIZED_TEST_BUILD=1

if [ "${1-}" = --skip-build ]; then
  shift
else
  Scripts/setup.sh
  echo 'Building the package and its tests …'
  # No test is one of XCTest, and looking for those takes ten seconds.
  swift build --build-tests --disable-xctest
fi
echo 'Running the tests …'
# The state of the tests' managers is kept apart from that of other programs.
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
# As `swift test` runs them, which lets nothing be built meanwhile.
XDG_STATE_HOME=$state .build/debug/beaconscanPackageTests.xctest --testing-library swift-testing "$@"
