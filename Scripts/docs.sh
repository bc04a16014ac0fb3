#!/bin/sh
# Builds the DocC reference of every library target with public declarations in docs/html/<Target>, with warnings as
# errors; open one with a web server, for example
#
#   Scripts/docs.sh && python3 -m http.server --directory docs/html/Ranging
#
# Arguments are the targets to build.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
# See Package.swift: one build for all checks.
export OPTIMIZED_TEST_BUILD=1

if [ $# -eq 0 ]; then
  # Other modules have nothing to document.
  for target in Sources/*; do
    if grep -rqsE '^ *public (final |static )?(actor|class|enum|func|protocol|struct)' "$target"; then
      set -- "$@" "${target#Sources/}"
    fi
  done
fi
[ $# -gt 0 ] || { echo 'docs: no target has public declarations' >&2; exit 1; }

# The package manager extracts the declarations and comments from the modules that are compiled for the command; DocC's
# plugin would compile all of them again.
swift package dump-symbol-graph --minimum-access-level public --emit-extension-block-symbols
graphs=$(swift build --show-bin-path)/../symbolgraph
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

mkdir -p docs/html
failed=''
for target in "$@"; do
  echo "Documenting $target …"
  rm -rf "docs/html/$target"
  mkdir "$place/$target"
  for graph in "$graphs/$target.symbols.json" "$graphs/$target@"*.symbols.json; do
    [ ! -e "$graph" ] || cp "$graph" "$place/$target"
  done
  # Targets without articles have no catalog.
  catalog=Sources/$target/Documentation.docc
  [ -d "$catalog" ] || catalog=''
  # shellcheck disable=SC2086
  docc convert $catalog --additional-symbol-graph-dir "$place/$target" --warnings-as-errors \
    --fallback-display-name "$target" --fallback-bundle-identifier "$target" \
    --output-path "docs/html/$target" || failed="$failed $target"
  # A page must exist.
  [ -s "docs/html/$target/data/documentation/$(echo "$target" | tr '[:upper:]' '[:lower:]').json" ] ||
    failed="$failed $target"
done
if [ -n "$failed" ]; then
  echo "docs: DocC reports errors or warnings in:$failed" >&2
  exit 1
fi
echo "docs: $# targets documented without warnings, in docs/html"
