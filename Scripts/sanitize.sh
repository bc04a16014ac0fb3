#!/usr/bin/env bash
# Runs the whole test suite under ThreadSanitizer and under AddressSanitizer.
#
#   Scripts/sanitize.sh [thread] [address]      both by default; half an hour
set -euo pipefail
cd "$(dirname "$0")/.."
# See Package.swift: optimized arithmetic is five times as fast.
export OPTIMIZED_TEST_BUILD=1

state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
kinds=("$@")
[[ ${#kinds[@]} -gt 0 ]] || kinds=(thread address)
for kind in "${kinds[@]}"; do
  preload=
  options=(--sanitize="$kind" --scratch-path ".build/$kind" --disable-xctest)
  case $kind in
    thread)
      # Without it, synchronization by the libraries is reported as races.
      clang -O2 -shared -fPIC Scripts/tsan-runtime.c -o "$state/tsan-runtime.so" -ldl
      preload=$state/tsan-runtime.so
      export TSAN_OPTIONS="halt_on_error=0 exitcode=66"
      ;;
    address)
      options+=(-Xswiftc -use-ld=lld)
      # XCTest, Foundation and the argument parser do not free all memory; the suite counts our own objects.
      # Foundation copies 256 bytes of each directory entry when it starts a process, past the end of the last one.
      # The standard library's key paths copy a value of 17 bytes between places that are 16 bytes apart.
      printf 'interceptor_via_fun:%s\n' findMaximumOpenFromProcSelfFD KeyPathC16_projectReadOnly \
        >"$state/address.supp"
      export ASAN_OPTIONS="detect_leaks=0 suppressions=$state/address.supp"
      ;;
    *)
      echo "Scripts/sanitize.sh: '$kind' is neither thread nor address" >&2
      exit 64
      ;;
  esac
  swift build --build-tests "${options[@]}" 2>&1 | grep -E 'error:|Compiling|Build complete' | tail -1
  bundle=$(swift build --show-bin-path "${options[@]}")/beaconscanPackageTests.xctest
  logs=.build/$kind-logs
  rm -rf "$logs"
  mkdir "$logs"
  export XDG_STATE_HOME=$state preload bundle logs
  # Each target runs in its own process: unspecialized generic code waits for one lock of the runtime, which would slow
  # down hundreds of concurrent tests. Tests that wait for commands run concurrently.
  status=0
  for target in Tests/*Tests; do basename "$target"; done | sort -u |
    xargs -P 4 -I TARGET bash -c '
      width=3
      [[ TARGET != CommandTests ]] || width=12
      SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$width LD_PRELOAD=$preload \
        "$bundle" --testing-library swift-testing --filter "^TARGET\." >"$logs/TARGET" 2>&1' || status=$?
  grep -hE '^✘' "$logs"/* || true
  findings=$(cat "$logs"/* | grep -cE 'WARNING: ThreadSanitizer|ERROR: (Address|Leak)Sanitizer' || true)
  tests=$(cat "$logs"/* | grep -oE 'Test run with [0-9]+ tests?' | awk '{ sum += $4 } END { print sum + 0 }')
  echo "$kind: $tests tests, $findings findings, status $status; the whole output is in $logs"
  [[ $status -eq 0 && $findings -eq 0 && $tests -gt 0 ]] || exit 1
done
