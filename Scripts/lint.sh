#!/bin/sh
# Checks the format of Swift code, the syntax of scripts, and the length of lines in documents; --fix formats the code and
# wraps the documents in place.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

# Build directories contain foreign code.
files=$(find Package.swift Sources Tests Fuzz Benchmarks Examples -name '*.swift' \
  -not -path '*/.build/*' 2>/dev/null || true)
case "${1-}" in
  '')
    # The names have no spaces.
    # shellcheck disable=SC2086
    swift format lint --strict --parallel $files
    for script in Scripts/*.sh Tests/Checks/*.sh Fuzz/*.sh Tests/Guest/*.sh Tests/Package/*.sh \
      Tests/Guest/init .ci/run Packaging/debian/p*; do
      [ -e "$script" ] || continue
      bash -n "$script"
      [ -x "$script" ] || { echo "lint: $script is not executable" >&2; exit 1; }
    done
    python3 Scripts/wrap.py
    echo "lint: $(echo "$files" | wc -l) Swift files are well formed"
    ;;
  --fix)
    # shellcheck disable=SC2086
    swift format --in-place --parallel $files
    python3 Scripts/wrap.py --fix
    ;;
  *)
    echo "lint: unknown argument '$1'; the only one is --fix" >&2
    exit 64
    ;;
esac
