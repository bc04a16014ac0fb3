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
exec swift test --skip-build --disable-xctest "$@"
