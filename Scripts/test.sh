#!/bin/sh
# Makes the machine ready, builds, and runs all tests. Arguments go to `swift test`:
#
#   Scripts/test.sh --filter RangingTests
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

Scripts/setup.sh
echo 'Building the package and its tests …'
swift build --build-tests
echo 'Running the tests …'
# The state of the tests' managers is kept apart from that of other programs.
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
XDG_STATE_HOME=$state swift test --skip-build --disable-xctest "$@"
