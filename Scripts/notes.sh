#!/bin/sh
# Prints the notes of a version from CHANGELOG.md: those under its heading or, before its release, under Unreleased.
#
#   Scripts/notes.sh            of the version of this source
#   Scripts/notes.sh 0.1.0
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

current=$(sed -n 's/^package let release = "\(.*\)"$/\1/p' Sources/Release/Release.swift)
version=${1-$current}
# notes HEADING: the lines below a heading.
notes() {
  awk -v heading="## [$1]" '
    /^## / { inside = index($0, heading) == 1; next }
    inside' CHANGELOG.md | sed -e '/./,$!d'
}
text=$(notes "$version")
if [ -z "$text" ] && [ "$version" = "$current" ]; then text=$(notes Unreleased); fi
if [ -z "$text" ]; then
  echo "notes: CHANGELOG.md has no notes of version $version; it has those of" \
    "$(sed -n 's/^## \[\([^]]*\)\].*/\1/p' CHANGELOG.md | tr '\n' ' ')" >&2
  exit 65
fi
printf '%s\n' "$text"
