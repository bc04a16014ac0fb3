#!/bin/bash
# Runs the tests that need Bluetooth, in a guest that has Linux's own and hears virtual beacons
# (Tests/Guest/README.md). Needs no Bluetooth here, and no KVM.
#
#   Scripts/guest-test.sh                    builds, boots, and runs all tests of GuestTests
#   Scripts/guest-test.sh FaultTests         those whose name matches
#   Scripts/guest-test.sh --skip-build …     with what was built last
#   Scripts/guest-test.sh --run 'COMMAND'    runs a line of shell in the guest instead
#   Scripts/guest-test.sh --set-up           only makes the guest ready
#
# Status 0 only where tests ran and all passed. GUEST_ACCEL=tcg or kvm chooses how the guest is run.
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

build=yes
case "${1-}" in
  --set-up)
    exec Tests/Guest/set-up.sh
    ;;
  --run)
    [ $# -eq 2 ] || { echo "guest-test: --run takes one line of shell" >&2; exit 64; }
    Tests/Guest/set-up.sh >&2
    mkdir -p .build/guest/out
    exec Tests/Guest/boot.sh -w .build/guest/out -t "${GUEST_LIMIT:-900}" "$2"
    ;;
  --skip-build)
    build=no
    shift
    ;;
  -*)
    echo "guest-test: unknown argument '$1'; the head of this script names all" >&2
    exit 64
    ;;
esac
wanted=${1-}

Tests/Guest/set-up.sh
if [ "$build" = yes ]; then
  Scripts/setup.sh
  echo 'Building the tests, and the command as it is released …'
  swift build --build-tests
  swift build -c release --static-swift-stdlib --product beaconscan
fi

# Copies, so that a build meanwhile pulls nothing away under the guest.
mkdir -p .build/guest/out .build/guest/built
cp -f .build/debug/beaconscanPackageTests.xctest .build/release/beaconscan .build/guest/built/
printed=.build/guest/out/printed
began=$SECONDS
echo "Booting the guest: Linux $(cat .build/guest/kernel) on ${GUEST_ACCEL:-$(cat .build/guest/accel)} …"
status=0
Tests/Guest/boot.sh -w .build/guest/out -t "${GUEST_LIMIT:-1200}" \
  "exec env NO_COLOR=1 SWIFT_BACKTRACE=enable=no .build/guest/built/beaconscanPackageTests.xctest \
    --testing-library swift-testing --filter '^GuestTests[.].*($wanted)'" 2>&1 |
  sed -u 's/\x1b\[[0-9;]*m//g' | tee "$printed" || status=$?

# A test's own line has its name and what became of it; a suite's and the run's are not counted.
count() {
  grep -cE "$1" "$printed" || true
}
passed=$(count '^. Test [^r].*\) (with [0-9]+ test cases? )?passed after ')
failed=$(count '^. Test [^r].*\) (with [0-9]+ test cases? )?failed after ')
skipped=$(count '^. Test [^r].*\) skipped')
if [ "$status" -eq 0 ] && ! grep -qE 'Test run with [1-9][0-9]* tests? .*passed' "$printed"; then
  echo 'guest-test: the guest ran no tests' >&2
  status=1
fi
if [ "$passed" -eq 0 ] && [ "$status" -eq 0 ]; then
  echo 'guest-test: no test passed' >&2
  status=1
fi
if [ "$failed" -eq 0 ] && [ "$status" -ne 0 ]; then
  failed=1
fi
echo "guest: $passed passed, $failed failed, $skipped skipped, in $((SECONDS - began)) s"
exit "$status"
