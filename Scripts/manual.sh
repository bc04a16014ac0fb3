#!/bin/sh
# Makes the man pages and completions from the command itself.
#
#   Scripts/manual.sh [DIRECTORY]    writes DIRECTORY/man and DIRECTORY/completions (.build/manual)
#   Scripts/manual.sh --check        also checks their form
set -eu
# The examples contain UTF-8.
export LC_ALL=C.UTF-8
place=$PWD
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

# The pages' date is fixed: the same command gives the same pages.
date=2026-01-01

check=no
case "${1-}" in
  --check) check=yes; set -- ;;
  -*) echo "manual: unknown argument '$1'; the only option is --check" >&2; exit 64 ;;
esac
directory=${1:-$root/.build/manual}
case $directory in
  /*) ;;
  *) directory=$place/$directory ;;
esac

# See Package.swift: one build for all checks.
export OPTIMIZED_TEST_BUILD=1
swift build --product beaconscan
beaconscan=$(swift build --show-bin-path)/beaconscan
swift package plugin generate-manual --configuration debug --multi-page --date "$date" \
  --authors 'the beaconscan authors'
pages=.build/plugins/GenerateManual/outputs/beaconscan

rm -rf "$directory/man" "$directory/completions"
mkdir -p "$directory/man" "$directory/completions"
for page in "$pages"/*.1; do
  # Names as `man beaconscan range` and `whatis` look for them, the command as it is typed in its synopsis, and the
  # statuses that beaconscan.1 lists.
  name=$(basename "$page" .1 | tr . -)
  typed=$(sed -n '/^\.Nm "/{s/^\.Nm //p;q;}' "$page")
  sed -e "s/^\.Nm \".*/.Nm $name/" -e "s/^\.Nm$/.Nm $typed/" -e 's/^\.Nd "\(.*\)\."$/.Nd \1/' \
    -e :dots -e 's/^\(\.Xr beaconscan[^ .]*\)\./\1-/' -e 's/^\(\.Dt BEACONSCAN[^ .]*\)\./\1-/' -e 't dots' \
    -e 's/^\.Ex -std$/0 on success, otherwise a status that beaconscan(1) lists./' \
    -e 's/[[:space:]]*$//' -e 's/^$/.Pp/' "$page" >"$directory/man/$name.1"
  # Files and environment, which the command's help does not describe.
  sections=$name
  [ -e "Packaging/manual/$name.mdoc" ] || sections=subcommand
  sed -i "/^\.Sh \"EXIT STATUS\"$/{
    e cat Packaging/manual/$sections.mdoc
  }" "$directory/man/$name.1"
done
# This file is sourced, not run.
"$beaconscan" --generate-completion-script bash | sed '1{/^#!/d}' >"$directory/completions/beaconscan.bash"
"$beaconscan" --generate-completion-script zsh >"$directory/completions/_beaconscan"
"$beaconscan" --generate-completion-script fish >"$directory/completions/beaconscan.fish"
# The parser does not complete what `help` takes: a subcommand.
names=$(sed -n "s/.*compgen -W '\(scan .*\) help'.*/\1/p" "$directory/completions/beaconscan.bash")
sed -i "/^_beaconscan_help()/,/^}/s/^}/    COMPREPLY+=(\$(compgen -W '$names' -- \"\$cur\"))\n}/" \
  "$directory/completions/beaconscan.bash"
sed -i "s/'\*:subcommands:'/'*:subcommands:($names)'/" "$directory/completions/_beaconscan"
echo "complete -c 'beaconscan' -n '__beaconscan_should_offer_completions_for_positional \"beaconscan help\" -eq 1'" \
  "-fa '$names'" >>"$directory/completions/beaconscan.fish"

if [ "$check" = yes ]; then
  mandoc -T lint -W error "$directory"/man/*.1
  for page in "$directory"/man/*.1; do
    for section in ENVIRONMENT FILES; do
      grep -q "^\.Sh $section$" "$page" || { echo "manual: $page has no section $section" >&2; exit 1; }
    done
  done
  # All references lead to existing pages.
  for name in $(sed -n 's/^\.Xr \(beaconscan[^ ]*\) 1.*/\1/p' "$directory"/man/*.1 | sort -u); do
    [ -s "$directory/man/$name.1" ] || { echo "manual: there is no page $name(1)" >&2; exit 1; }
  done
  bash -n "$directory/completions/beaconscan.bash"
  # `beaconscan ra` and `beaconscan help ra`, with a tabulator.
  for words in 'beaconscan' 'beaconscan help'; do
    # shellcheck disable=SC2016
    found=$(bash -c '. "$1"; read -ra COMP_WORDS <<<"$2 ra"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
      _beaconscan beaconscan ra "${COMP_WORDS[COMP_CWORD - 1]}"; echo "${COMPREPLY[@]}"' - \
      "$directory/completions/beaconscan.bash" "$words")
    [ "$found" = range ] || { echo "manual: bash completes '$words ra' with '$found'" >&2; exit 1; }
  done
  zsh -n "$directory/completions/_beaconscan"
  # fish may be missing.
  ! command -v fish >/dev/null 2>&1 || fish --no-execute "$directory/completions/beaconscan.fish"
  for page in "$directory"/man/beaconscan-*.1; do
    subcommand=$(basename "$page" .1)
    # Completions omit hidden subcommands.
    [ "$subcommand" != beaconscan-schema ] || continue
    for word in $(echo "${subcommand#beaconscan-}" | tr - ' '); do
      for file in "$directory"/completions/*; do
        grep -qw -- "$word" "$file" || { echo "manual: $file does not complete $word" >&2; exit 1; }
      done
    done
  done
fi
echo "manual: wrote $(find "$directory/man" -name '*.1' | wc -l) man pages and 3 completions to $directory"
