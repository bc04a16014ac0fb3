#!/bin/bash
# Builds and runs the example in Examples and the Swift programs in the documents as readers do: unchanged, in an empty
# folder beside the clone. Each runs twice on a recording and must print the same both times, and once without
# reception, which it must report in a sentence.
set -euo pipefail
# The examples contain UTF-8.
export LC_ALL=C.UTF-8
# Built as by a reader.
unset OPTIMIZED_TEST_BUILD
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# The clone, and a folder beside it. Both packages share one build of the libraries.
build=$root/.build/examples
outside=$(mktemp -d)
trap 'rm -rf "$outside"' EXIT
mkdir -p "$build" "$outside/beaconscan"
git ls-files -co --exclude-standard | tar -cT - | tar -xC "$outside/beaconscan"
state=$outside/state
mkdir "$state"
# Apps neither keep their regions' states nor use earlier ones.
export XDG_STATE_HOME="$state/kept"

# block FILE NUMBER AFTER FENCE: the block of a document that is the first, second … after a line, by its fence.
# The line is a regular expression.
block() {
  awk -v number="$2" -v after="$3" -v fence="$4" '
    inside && $0 == "```" { exit }
    inside { print }
    ready && !inside && $0 == fence { found += 1; inside = found == number }
    $0 ~ after { ready = 1 }' "$1"
}

# run NAME COMMAND…: runs a program twice, and compares its output with $state/NAME.expected.
run() {
  local name=$1 time
  shift
  [ -s "$state/$name.expected" ] || { echo "examples: nothing is expected of $name" >&2; exit 1; }
  for time in first second; do
    timeout 120 "$@" >"$state/$name.printed"
    diff "$state/$name.expected" "$state/$name.printed" ||
      { echo "examples: $name does not print this in its $time run" >&2; exit 1; }
  done
  echo "examples: $name prints what it should, twice"
}

# refuse NAME COMMAND…: a program that cannot receive reports it in a sentence, without a backtrace, whether it waits for
# the radio or ends.
refuse() {
  local name=$1 process line
  shift
  # Without Bluetooth and a message bus, whatever the machine has.
  coproc env DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nowhere SWIFT_BACKTRACE=enable=no \
    unshare --net --map-root-user "$@" 2>&1
  process=$COPROC_PID
  exec 5<&"${COPROC[0]}"
  while line='' && read -r -t 120 line <&5; do
    case $line in
      *'Fatal error'* | *'Error raised'*) break ;;
      *'no Bluetooth'* | *'no such file'*)
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
        exec 5<&-
        echo "examples: $name where nothing can be received: $line"
        return
        ;;
    esac
  done
  kill "$process" 2>/dev/null || true
  echo "examples: $name does not say why nothing is received, but: ${line:-nothing}" >&2
  exit 1
}

# The example.
swift build --package-path "$outside/beaconscan/Examples/Kiosk" --scratch-path "$build/build"
# An app fetches only the libraries' packages, not the command's.
packages=$(grep -c '"identity"' "$outside/beaconscan/Examples/Kiosk/Package.resolved")
[ "$packages" -le 8 ] || { echo "examples: an app fetches $packages packages, and 8 are the limit" >&2; exit 1; }
echo "examples: an app fetches $packages packages"
cp Examples/Kiosk/Expected/visitor.txt "$state/kiosk.expected"
kiosk=$build/build/debug/Kiosk
run kiosk "$kiosk" "$outside/beaconscan/captures/visitor.btsnoop"
refuse kiosk "$kiosk"
refuse 'kiosk, of a recording that is not there,' "$kiosk" nowhere.btsnoop

# The programs in the documents. The package of the first one has targets for the others too.
apple=docs/corelocation.md core=Sources/ServiceCore/Documentation.docc/ServiceCore.md begins='^## A first program$'
readme=$outside/welcome
mkdir -p "$readme/Sources/welcome" "$readme/Sources/chosen" "$readme/Sources/nearby"
block "$apple" 1 "$begins" '```swift' >"$readme/Package.swift"
block README.md 1 '^## As a library$' '```swift' >"$readme/Sources/welcome/main.swift"
cat >>"$readme/Package.swift" <<'MANIFEST'

for (name, products) in [
  ("chosen", ["CoreLocation", "LiveScanning"]),
  ("nearby", ["BeaconKit", "LiveScanning", "ServiceCore"]),
] {
  package.targets.append(
    .executableTarget(
      name: name, dependencies: products.map { .product(name: $0, package: "beaconscan") }))
}
MANIFEST
{
  block "$apple" 2 "$begins" '```swift'
  cat "$readme/Sources/welcome/main.swift"
} >"$readme/Sources/chosen/main.swift"
block "$core" 1 "$begins" '```swift' >"$readme/Sources/nearby/main.swift"
swift build --package-path "$readme" --scratch-path "$build/build"

cd "$readme"
line=$(cd "$root" && block "$apple" 1 "$begins" '```sh' | sed 's/ swift run$//')
cd "$root"
block "$apple" 1 '^prints$' '```' >"$state/welcome.expected"
block "$core" 1 '^.swift run nearby .* prints$' '```' >"$state/nearby.expected"
cd "$readme"
# shellcheck disable=SC2086
run welcome env $line "$build/build/debug/welcome"
refuse welcome stdbuf -oL "$build/build/debug/welcome"
refuse 'welcome, with its adapters chosen,' stdbuf -oL "$build/build/debug/chosen"
refuse 'welcome, of a recording that is not there,' stdbuf -oL env BEACONSCAN_REPLAY=nowhere "$build/build/debug/welcome"
run nearby "$build/build/debug/nearby" ../beaconscan/captures/visitor.btsnoop
refuse nearby stdbuf -oL "$build/build/debug/nearby"
refuse 'nearby, of a recording that is not there,' stdbuf -oL "$build/build/debug/nearby" nowhere.btsnoop
