# shellcheck shell=bash
# Sourced by run.sh and replay.sh, from the project's root: builds the library and the entries with
# libFuzzer's coverage and AddressSanitizer.
#
# The package manager builds the library's modules with their settings and dependencies; the compiler then links them
# with an entry, because libFuzzer has its own `main`.

# The runtime's backtraces would interfere with libFuzzer's.
export SWIFT_BACKTRACE=enable=no

# Every build checks arithmetic; this one also checks assertions.
fuzz_flags=(-sanitize=fuzzer,address)
library_flags=("${fuzz_flags[@]}" -g -assert-config Debug)

all_entries=()
for file in Fuzz/entries/*.swift; do
  all_entries+=("$(basename "$file" .swift)")
done

# Whether an entry is checked for leaks. Swift stores the tag of an indirect enumeration in spare bits of its pointer,
# which LeakSanitizer does not recognize: the permanent descriptions of records, which scenarios and tracks use, would be
# reported.
detects_leaks() {
  case $1 in
    scenario | nmea | gpx | gpsd-json) echo 0 ;;
    *) echo 1 ;;
  esac
}

build_entries() {
  local build=Fuzz/out/.build target flag entry objects=() flags=()
  mkdir -p Fuzz/out/bin
  for flag in "${library_flags[@]}"; do flags+=(-Xswiftc "$flag"); done
  for target in Simulation Ranging DBusMessages TOMLDocuments LocationSources; do
    swift build -c release --scratch-path "$build" --target "$target" "${flags[@]}" \
      >Fuzz/out/build.log 2>&1 || { cat Fuzz/out/build.log >&2; return 1; }
  done

  # Only objects of existing sources: an old build may have left others.
  local module source
  for module in Bytes Clocks Sources Advertising HCIPackets Scanning Ranging Regions Records \
    CaptureFiles Simulation DBusMessages TOMLDocuments Positioning LocationSources; do
    while IFS= read -r source; do
      # The build does not have the folders of sources.
      objects+=("$build/release/$module.build/$(basename "$source").o")
    done < <(find "Sources/$module" -name '*.swift')
  done
  for module in SystemPackage RealModule CSystem _NumericsShims HeapModule DequeModule \
    InternalCollectionsUtilities; do
    [[ -d "$build/release/$module.build" ]] || continue
    while IFS= read -r source; do objects+=("$source"); done \
      < <(find "$build/release/$module.build" -name '*.o')
  done

  for entry in "$@"; do
    if [[ ! -f "Fuzz/entries/$entry.swift" ]]; then
      echo "There is no entry '$entry'; there are: ${all_entries[*]}." >&2
      return 64
    fi
    local program="Fuzz/out/bin/$entry" inputs
    inputs=(Fuzz/build.sh Fuzz/support/*.swift "Fuzz/entries/$entry.swift" "${objects[@]}")
    local input stale=no
    for input in "${inputs[@]}"; do [[ "$program" -nt "$input" ]] || stale=yes; done
    [[ $stale == yes ]] || continue
    echo "Building $entry" >&2
    swiftc -O -gline-tables-only -wmo -parse-as-library -swift-version 6 -module-name FuzzEntry \
      -package-name "$(basename "$PWD" | tr '[:upper:]' '[:lower:]')" \
      "${fuzz_flags[@]}" -assert-config Debug -use-ld=lld -strict-memory-safety \
      -enable-experimental-feature Lifetimes -enable-upcoming-feature ExistentialAny \
      -enable-upcoming-feature MemberImportVisibility -warnings-as-errors \
      -I "$build/release/Modules" \
      -Xcc -fmodule-map-file=Sources/CZlib/module.modulemap \
      -Xcc -fmodule-map-file=Sources/CXattr/module.modulemap \
      -Xcc -fmodule-map-file=Sources/CDBus/module.modulemap \
      -Xcc -fmodule-map-file="$build/checkouts/swift-system/Sources/CSystem/include/module.modulemap" \
      -Xcc -fmodule-map-file="$build/checkouts/swift-numerics/Sources/_NumericsShims/include/module.modulemap" \
      Fuzz/support/*.swift "Fuzz/entries/$entry.swift" "${objects[@]}" -lz -o "$program"
  done
}
