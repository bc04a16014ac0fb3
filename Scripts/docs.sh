#!/bin/sh
# Builds the reference of every library target that has public declarations with DocC, warnings being
# errors, to docs/html/<Target>; open one with a web server, for example
#
#   Scripts/docs.sh && python3 -m http.server --directory docs/html/Ranging
#
# Names of targets as arguments build those alone.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

# DocC's plugin is a dependency only if this is set: other builds never fetch it.
export BEACONSCAN_DOCS=1
build=.build/docs

# The resolved versions of the other dependencies must not change.
resolved=$(mktemp)
[ ! -e Package.resolved ] || cp Package.resolved "$resolved"
trap '[ ! -s "$resolved" ] || cp "$resolved" Package.resolved; rm -f "$resolved"' EXIT

if [ $# -eq 0 ]; then
  targets=$(swift package --scratch-path "$build" describe |
    awk '/^    Name: /{ name = $2 } /^    Type: library/{ print name }' |
    while read -r name; do
      # Modules of the package's own, and those of the tests, have nothing to document.
      ! grep -rqsE '^ *public (final |static )?(actor|class|enum|func|protocol|struct)' \
        "Sources/$name" || echo "$name"
    done)
  # shellcheck disable=SC2086
  set -- $targets
fi
[ $# -gt 0 ] || { echo 'docs: the package describes no library target' >&2; exit 1; }

mkdir -p docs/html
failed=''
for target in "$@"; do
  echo "Documenting $target …"
  rm -rf "docs/html/$target"
  swift package --scratch-path "$build" --allow-writing-to-directory docs/html \
    generate-documentation --target "$target" --warnings-as-errors \
    --transform-for-static-hosting --output-path "docs/html/$target" || failed="$failed $target"
done
if [ -n "$failed" ]; then
  echo "docs: DocC reports errors or warnings in:$failed" >&2
  exit 1
fi
echo "docs: $# targets documented without warnings, in docs/html"
