#!/usr/bin/env bash
# Runs every stored input, the corpus and the findings, once.
#
#   Fuzz/replay.sh [ENTRY…]
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=Fuzz/build.sh
source Fuzz/build.sh
entries=("$@")
[[ ${#entries[@]} -gt 0 ]] || entries=("${all_entries[@]}")
build_entries "${entries[@]}"

failed=0
for entry in "${entries[@]}"; do
  count=0
  bad=0
  while IFS= read -r -d '' input; do
    count=$((count + 1))
    if ! ASAN_OPTIONS=detect_leaks=$(detects_leaks "$entry") "Fuzz/out/bin/$entry" -timeout=10 "$input" >Fuzz/out/replay.log 2>&1; then
      bad=$((bad + 1))
      echo "$entry: $input" >&2
      grep -E 'Fatal error|ERROR:|SUMMARY:' Fuzz/out/replay.log | head -3 >&2 || true
    fi
  done < <(find "Fuzz/corpus/$entry" "Fuzz/findings/$entry" -type f -print0 2>/dev/null)
  printf '%-16s %5d inputs, %d failed\n' "$entry" "$count" "$bad"
  failed=$((failed + bad))
done
[[ $failed -eq 0 ]]
