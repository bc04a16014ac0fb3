#!/bin/bash
# Builds the example in Examples and the programs in README.md as packages of others, runs them on a
# recording, and compares what they print with what they should.
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# All share one build of the libraries.
build=$root/.build/examples
mkdir -p "$build"
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
# What an app keeps of its regions is not to stay, nor is what it kept before to count.
export XDG_STATE_HOME="$state"
recording=captures/visitor.btsnoop

# block NUMBER AFTER FENCE: the block of README.md that is the first, second … after a line, by its fence.
block() {
  awk -v number="$1" -v after="$2" -v fence="$3" '
    inside && $0 == "```" { exit }
    inside { print }
    ready && !inside && $0 == fence { found += 1; inside = found == number }
    $0 == after { ready = 1 }' README.md
}

# run NAME COMMAND…: runs a program, and compares what it prints with $state/NAME.expected.
run() {
  local name=$1
  shift
  [ -s "$state/$name.expected" ] || { echo "examples: nothing is expected of $name" >&2; exit 1; }
  timeout 60 "$@" >"$state/$name.printed"
  diff "$state/$name.expected" "$state/$name.printed"
  echo "examples: $name prints what it should"
}

# The example.
swift build --package-path Examples/Kiosk --scratch-path "$build/build"
cp Examples/Kiosk/Expected/visitor.txt "$state/kiosk.expected"
run kiosk "$build/build/debug/Kiosk" "$recording"

# The programs in README.md, with the manifest that stands there.
readme=$build/readme
mkdir -p "$readme/Sources/welcome" "$readme/Sources/nearby"
block 1 '## As a library' '```swift' |
  sed -e "s|\.package(path: \"../beaconscan\")|.package(name: \"beaconscan\", path: \"$root\")|" \
    >"$readme/Package.swift"
block 2 '## As a library' '```swift' >"$readme/Sources/welcome/main.swift"
block 1 'the recording, it prints' '```' >"$state/welcome.expected"
cat >>"$readme/Package.swift" <<'MANIFEST'

package.targets.append(
  .executableTarget(
    name: "nearby", dependencies: [.product(name: "BeaconKit", package: "beaconscan")]))
MANIFEST
block 1 '## In Swift, without a manager' '```swift' >"$readme/Sources/nearby/main.swift"
block 1 'prints' '```' >"$state/nearby.expected"
swift build --package-path "$readme" --scratch-path "$build/build"
BEACONSCAN_REPLAY=$recording BEACONSCAN_SPEED=max run welcome "$build/build/debug/welcome"
run nearby "$build/build/debug/nearby"
