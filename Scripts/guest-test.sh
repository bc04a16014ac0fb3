#!/bin/bash
# Runs the tests that need Bluetooth in a virtual machine with Linux's Bluetooth and virtual beacons
# (Tests/Guest/README.md). This machine needs neither Bluetooth nor KVM.
#
#   Scripts/guest-test.sh                    builds, boots, and runs all tests of GuestTests
#   Scripts/guest-test.sh FaultTests         runs the matching tests
#   Scripts/guest-test.sh --skip-build …     uses the last build
#   Scripts/guest-test.sh --run 'COMMAND'    runs a shell command in the guest instead
#   Scripts/guest-test.sh --set-up           only prepares the guest
#
# Its status is 0 only if tests ran and all passed. GUEST_ACCEL=tcg or kvm chooses the accelerator;
# GUEST_LONG=1 runs the long forms, such as 20 restarts of bluetoothd instead of 4.
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# See Package.swift: one build for all checks.
export OPTIMIZED_TEST_BUILD=1
out=.build/guest/out

# With two CPUs these tests, half of the total time, run in a second guest.
apart='BothBackendsTests|LosslessTests|HotplugTests|TrackTests|HarnessTests|ReceptionTests'

# in_guest NAME ARGUMENT…: runs the selected tests; their output is also in $out/NAME.
in_guest() {
  local name=$1
  shift
  Tests/Guest/boot.sh -w "$out" -t "${GUEST_LIMIT:-3000}" env NO_COLOR=1 SWIFT_BACKTRACE=enable=no \
    GUEST_LONG="${GUEST_LONG-}" .build/guest/built/beaconscanPackageTests.xctest --testing-library swift-testing "$@" 2>&1 |
    sed -u 's/\x1b\[[0-9;]*m//g' | tee "$out/$name"
  grep -qE 'Test run with [1-9][0-9]* tests? .*passed' "$out/$name"
}

# count WHAT: the number of tests whose lines have WHAT; lines of suites and of the run have no parentheses.
count() {
  cat "$out"/printed-* | grep -cE "^. Test [^ (]+\([^)]*\) (with [0-9]+ test cases? )?$1" || true
}

main() {
  local build=yes wanted status=0 passed failed skipped began=$SECONDS first second=''
  case "${1-}" in
    --set-up)
      exec Tests/Guest/set-up.sh
      ;;
    --run)
      [ $# -eq 2 ] || { echo 'guest-test: --run takes one line of shell' >&2; exit 64; }
      Tests/Guest/set-up.sh >&2
      mkdir -p "$out"
      exec Tests/Guest/boot.sh -w "$out" -t "${GUEST_LIMIT:-900}" "$2"
      ;;
    --skip-build)
      build=no
      shift
      ;;
    -*)
      echo "guest-test: unknown argument '$1'; the first lines of this script list all" >&2
      exit 64
      ;;
  esac
  wanted=${1-}

  Tests/Guest/set-up.sh
  if [ "$build" = yes ]; then
    Scripts/setup.sh
    echo 'Building the tests, and the command as it is released …'
    swift build --build-tests
    for product in beaconscan beaconscan-c; do
      swift build -c release --static-swift-stdlib --product "$product"
    done
  fi
  mkdir -p "$out" .build/guest/built
  exec 9>.build/guest/lock
  flock -n 9 || { echo 'Waiting for another run of these tests …'; flock 9; }
  # Copies, so that a build at the same time does not replace files that the guest reads.
  rm -f "$out"/printed-*
  cp -f .build/debug/beaconscanPackageTests.xctest .build/release/beaconscan .build/guest/built/
  cp -f .build/release/libbeaconscan-c.so .build/guest/built/libbeaconscan.so.0
  cc -I Sources/EmbeddingC Examples/C/kiosk.c .build/guest/built/libbeaconscan.so.0 -Wl,-rpath,'$ORIGIN' \
    -o .build/guest/built/kiosk

  echo "Booting the guest: Linux $(cat .build/guest/kernel) on ${GUEST_ACCEL:-$(cat .build/guest/accel)} …"
  if [ -n "$wanted" ]; then
    in_guest printed-1 --filter "^GuestTests[.].*($wanted)" || status=1
  elif [ "$(nproc)" -lt 2 ]; then
    in_guest printed-1 --filter '^GuestTests[.]' || status=1
  else
    in_guest printed-1 --filter '^GuestTests[.]' --skip "^GuestTests[.].*($apart)" &
    first=$!
    in_guest printed-2 --filter "^GuestTests[.].*($apart)" &
    second=$!
    wait "$first" || status=1
    wait "$second" || status=1
  fi

  passed=$(count 'passed after ')
  failed=$(count 'failed after ')
  skipped=$(count 'skipped')
  if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
    echo 'guest-test: the tests did not run, or not to their end' >&2
    failed=1
  fi
  if [ "$passed" -eq 0 ] || [ "$skipped" -ne 0 ]; then
    echo "guest-test: $passed tests passed and $skipped were skipped; in the guest no test may be skipped" >&2
    status=1
  fi
  echo "guest: $passed passed, $failed failed, in $((SECONDS - began)) s"
  exit "$status"
}

main "$@"
