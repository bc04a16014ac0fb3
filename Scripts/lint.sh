#!/bin/sh
# Checks the format of all Swift code, strictly, and the syntax of all scripts; --fix formats the code
# in place.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

# Build directories hold other people's code.
files=$(find Package.swift Sources Tests Fuzz Benchmarks Examples -name '*.swift' \
  -not -path '*/.build/*' 2>/dev/null || true)
case "${1-}" in
  '')
    # The names have no spaces.
    # shellcheck disable=SC2086
    swift format lint --strict --parallel $files
    for script in Scripts/*.sh Fuzz/*.sh Tests/Guest/*.sh Tests/Guest/init .ci/run; do
      [ -e "$script" ] || continue
      bash -n "$script"
      [ -x "$script" ] || { echo "lint: $script is not executable" >&2; exit 1; }
    done
    echo "lint: $(echo "$files" | wc -l) Swift files are well formed"
    ;;
  --fix)
    # shellcheck disable=SC2086
    swift format --in-place --parallel $files
    ;;
  *)
    echo "lint: unknown argument '$1'; the only one is --fix" >&2
    exit 64
    ;;
esac
