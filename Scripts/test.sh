#!/bin/sh
# Prepares the machine, builds, and runs all tests, or those that the arguments of `swift test` select:
#
#   Scripts/test.sh --filter RangingTests
#   Scripts/test.sh --skip-build …           runs the last build
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
  # No test uses XCTest, and the search for such tests takes ten seconds.
  swift build --build-tests --disable-xctest
fi
echo 'Running the tests …'
# Managers in tests do not share state with other programs.
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
# Without a limit all tests begin at once. What a test waits for then waits after thousands of others for one of the few
# threads, for minutes on a busy machine.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-12}
# As `swift test` does, which would block other builds.
XDG_STATE_HOME=$state .build/debug/beaconscanPackageTests.xctest --testing-library swift-testing "$@"
