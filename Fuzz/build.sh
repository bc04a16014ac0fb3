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
# reported. So would the tables of weak references, which the service for apps has.
detects_leaks() {
  case $1 in
    scenario | nmea | gpx | gpsd-json | app-messages | daemon-messages) echo 0 ;;
    *) echo 1 ;;
  esac
}

# Whether an entry needs the service for apps, without which the others are built faster.
uses_apps() {
  case $1 in
    app-messages | daemon-messages) return 0 ;;
    *) return 1 ;;
  esac
}

# The objects of modules. Only those of existing sources: an old build may have left others.
objects_of() {
  local build=$1 module source
  shift
  for module in "$@"; do
    if [[ -d "Sources/$module" ]]; then
      # The build does not have the folders of sources.
      find "Sources/$module" -name '*.swift' | while IFS= read -r source; do
        echo "$build/release/$module.build/$(basename "$source").o"
      done
    elif [[ -d "$build/release/$module.build" ]]; then
      find "$build/release/$module.build" -name '*.o'
    fi
  done
}

build_entries() {
  local build=Fuzz/out/.build target flag entry objects flags=()
  local targets=(Simulation Ranging DBusMessages TOMLDocuments LocationSources FleetReports)
  mkdir -p Fuzz/out/bin
  for flag in "${library_flags[@]}"; do flags+=(-Xswiftc "$flag"); done
  for entry in "$@"; do
    if [[ ! -f "Fuzz/entries/$entry.swift" ]]; then
      echo "There is no entry '$entry'; there are: ${all_entries[*]}." >&2
      return 64
    fi
    if uses_apps "$entry"; then targets+=(AppDaemon); fi
  done
  for target in "${targets[@]}"; do
    swift build -c release --scratch-path "$build" --target "$target" "${flags[@]}" \
      >Fuzz/out/build.log 2>&1 || { cat Fuzz/out/build.log >&2; return 1; }
  done

  local common apps
  mapfile -t common < <(objects_of "$build" Bytes Clocks Sources Advertising HCIPackets Scanning \
    Ranging Regions Records CaptureFiles Simulation DBusMessages TOMLDocuments Positioning \
    LocationSources FleetReports SystemPackage RealModule CSystem _NumericsShims HeapModule DequeModule \
    InternalCollectionsUtilities)
  mapfile -t apps < <(objects_of "$build" Storage ServiceCore AppDaemon Logging)

  for entry in "$@"; do
    local program="Fuzz/out/bin/$entry" sources=(Fuzz/support/*.swift) inputs libraries=(-lz)
    objects=("${common[@]}")
    if uses_apps "$entry"; then
      objects+=("${apps[@]}")
      sources+=(Fuzz/support/apps/*.swift)
      libraries+=(-lsqlite3)
    fi
    sources+=("Fuzz/entries/$entry.swift")
    inputs=(Fuzz/build.sh "${sources[@]}" "${objects[@]}")
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
      -Xcc -fmodule-map-file=Sources/CPidfd/module.modulemap \
      -Xcc -fmodule-map-file=Sources/CSQLite/module.modulemap \
      -Xcc -fmodule-map-file="$build/checkouts/swift-system/Sources/CSystem/include/module.modulemap" \
      -Xcc -fmodule-map-file="$build/checkouts/swift-numerics/Sources/_NumericsShims/include/module.modulemap" \
      "${sources[@]}" "${objects[@]}" "${libraries[@]}" -o "$program"
  done
}
