#!/usr/bin/env bash
# Builds the fuzz entries and runs each for some seconds. See README.md.
#
#   Fuzz/run.sh [SECONDS] [ENTRY…]      60 seconds and every entry, if not given
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=60
if [[ "${1:-}" =~ ^[0-9]+$ ]]; then
  seconds=$1
  shift
fi
# shellcheck source=Fuzz/build.sh
source Fuzz/build.sh
entries=("$@")
[[ ${#entries[@]} -gt 0 ]] || entries=("${all_entries[@]}")
build_entries "${entries[@]}"

failed=()
printf '%-16s %12s %9s %9s %8s  %s\n' ENTRY RUNS 'RUNS/S' COVERAGE CORPUS RESULT
for entry in "${entries[@]}"; do
  mkdir -p "Fuzz/out/corpus/$entry" "Fuzz/findings/$entry"
  options=(-max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=2048
    -print_final_stats=1 -detect_leaks="$(detects_leaks "$entry")" -artifact_prefix="Fuzz/findings/$entry/")
  [[ -f "Fuzz/$entry.dict" ]] && options+=(-dict="Fuzz/$entry.dict")
  log="Fuzz/out/$entry.log"
  result=ok
  # The inputs that are kept have the whole stacks of allocations in replay.sh.
  ASAN_OPTIONS=detect_leaks=$(detects_leaks "$entry"):malloc_context_size=2 "Fuzz/out/bin/$entry" "${options[@]}" "Fuzz/out/corpus/$entry" "Fuzz/corpus/$entry" \
    >"$log" 2>&1 || result=FAILED
  rmdir --ignore-fail-on-non-empty "Fuzz/findings/$entry"
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
  coverage=$(grep -ao ' cov: [0-9]*' "$log" | tail -1 | cut -d' ' -f3 || true)
  corpus=$(find "Fuzz/out/corpus/$entry" -type f | wc -l)
  printf '%-16s %12s %9s %9s %8s  %s\n' \
    "$entry" "${runs:-?}" "${rate:-?}" "${coverage:-?}" "$corpus" "$result"
  [[ $result == ok ]] || failed+=("$entry")
done

[[ ${#failed[@]} -eq 0 ]] && exit 0
for entry in "${failed[@]}"; do
  {
    echo
    echo "== $entry: Fuzz/out/$entry.log"
    grep -E 'Fatal error|ERROR:|SUMMARY:|Test unit written' "Fuzz/out/$entry.log" | head -8 || true
  } >&2
done
echo "Fuzzing found something; the inputs are kept under Fuzz/findings. Fuzz/replay.sh runs them." >&2
exit 1
