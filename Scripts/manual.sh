#!/bin/sh
# Makes the man pages (docs/man) and the shells' completions (docs/completions) from the command
# itself. They are committed; .ci/run checks that they are those of the command.
#
#   Scripts/manual.sh            write them
#   Scripts/manual.sh --check    say whether they are up to date, and write nothing
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

# The pages' date stands still, so that the same command gives the same pages.
date=2026-01-01

case "${1-}" in
  '' | --check) ;;
  *) echo "manual: unknown argument '$1'; the only one is --check" >&2; exit 64 ;;
esac

swift build --product beaconscan
beaconscan=$(swift build --show-bin-path)/beaconscan
swift package plugin generate-manual --configuration debug --multi-page --date "$date" \
  --authors 'the beaconscan authors'
pages=.build/plugins/GenerateManual/outputs/beaconscan

new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
mkdir -p "$new/man" "$new/completions"
for page in "$pages"/*.1; do
  # Names as `man beaconscan range` looks for them, and the statuses that beaconscan.1 lists.
  name=$(basename "$page" .1 | tr . -)
  sed -e 's/^\(\.Xr beaconscan\)\./\1-/' -e 's/^\(\.Dt BEACONSCAN\)\./\1-/' \
    -e 's/^\.Ex -std$/0 where all is done, else a status that beaconscan(1) lists./' \
    -e 's/[[:space:]]*$//' -e 's/^$/.Pp/' "$page" >"$new/man/$name.1"
done
"$beaconscan" --generate-completion-script bash >"$new/completions/beaconscan.bash"
"$beaconscan" --generate-completion-script zsh >"$new/completions/_beaconscan"
"$beaconscan" --generate-completion-script fish >"$new/completions/beaconscan.fish"

if [ "${1-}" = --check ]; then
  for kind in man completions; do
    diff -r "docs/$kind" "$new/$kind" ||
      { echo "manual: docs/$kind is not up to date; run Scripts/manual.sh" >&2; exit 1; }
  done
  echo 'manual: man pages and completions are up to date'
else
  for kind in man completions; do
    rm -rf "docs/$kind"
    cp -r "$new/$kind" "docs/$kind"
  done
  echo 'manual: wrote docs/man and docs/completions'
fi
