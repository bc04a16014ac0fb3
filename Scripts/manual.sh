#!/bin/sh
# Makes the man pages and completions from the commands themselves.
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
swift build --product beaconscan-fleet
built=$(swift build --show-bin-path)
swift package plugin generate-manual --configuration debug --multi-page --date "$date" \
  --authors 'the beaconscan authors'

rm -rf "$directory/man" "$directory/completions"
mkdir -p "$directory/man" "$directory/completions"
for command in beaconscan beaconscan-fleet; do
  for page in ".build/plugins/GenerateManual/outputs/$command"/*.1; do
    # Names as `man beaconscan range` and `whatis` look for them, the command as it is typed in its synopsis, and the
    # statuses that the page of the command lists.
    name=$(basename "$page" .1 | tr . -)
    typed=$(sed -n '/^\.Nm "/{s/^\.Nm //p;q;}' "$page")
    sed -e "s/^\.Nm \".*/.Nm $name/" -e "s/^\.Nm$/.Nm $typed/" -e 's/^\.Nd "\(.*\)\."$/.Nd \1/' \
      -e :dots -e 's/^\(\.Xr beaconscan[^ .]*\)\./\1-/' -e 's/^\(\.Dt BEACONSCAN[^ .]*\)\./\1-/' -e 't dots' \
      -e "s/^\.Ex -std$/0 on success, otherwise a status that $command(1) lists./" \
      -e 's/[[:space:]]*$//' -e 's/^$/.Pp/' "$page" >"$directory/man/$name.1"
    # Files and environment, which the command's help does not describe.
    sections=$name
    [ -e "Packaging/manual/$name.mdoc" ] || sections=subcommand
    sed -i "/^\.Sh \"EXIT STATUS\"$/{
      e sed s/@COMMAND@/$command/ Packaging/manual/$sections.mdoc
    }" "$directory/man/$name.1"
  done
  # This file is sourced, not run.
  "$built/$command" --generate-completion-script bash | sed '1{/^#!/d}' >"$directory/completions/$command.bash"
  "$built/$command" --generate-completion-script zsh >"$directory/completions/_$command"
  "$built/$command" --generate-completion-script fish >"$directory/completions/$command.fish"
  # The parser does not complete what `help` takes: a subcommand.
  names=$(sed -n "s/.*compgen -W '\([a-z].*\) help'.*/\1/p" "$directory/completions/$command.bash" | head -n 1)
  sed -i "/^_${command}_help()/,/^}/s/^}/    COMPREPLY+=(\$(compgen -W '$names' -- \"\$cur\"))\n}/" \
    "$directory/completions/$command.bash"
  sed -i "s/'\*:subcommands:'/'*:subcommands:($names)'/" "$directory/completions/_$command"
  echo "complete -c '$command' -n '__${command}_should_offer_completions_for_positional \"$command help\" -eq 1'" \
    "-fa '$names'" >>"$directory/completions/$command.fish"
done

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
  for command in beaconscan beaconscan-fleet; do
    bash -n "$directory/completions/$command.bash"
    zsh -n "$directory/completions/_$command"
    # fish may be missing.
    ! command -v fish >/dev/null 2>&1 || fish --no-execute "$directory/completions/$command.fish"
  done
  # `beaconscan ra` and `beaconscan help ra`, with a tabulator.
  # complete COMMAND WORDS BEGINNING EXPECTED
  complete() {
    # shellcheck disable=SC2016
    found=$(bash -c '. "$1"; read -ra COMP_WORDS <<<"$2 $3"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
      "_$4" "$4" "$3" "${COMP_WORDS[COMP_CWORD - 1]}"; echo "${COMPREPLY[@]}"' - \
      "$directory/completions/$1.bash" "$2" "$3" "$1")
    [ "$found" = "$4" ] || { echo "manual: bash completes '$2 $3' with '$found'" >&2; exit 1; }
  }
  complete beaconscan 'beaconscan' ra range
  complete beaconscan 'beaconscan help' ra range
  complete beaconscan-fleet 'beaconscan-fleet' occ occupancy
  complete beaconscan-fleet 'beaconscan-fleet help' occ occupancy
  for page in "$directory"/man/beaconscan-*.1; do
    subcommand=$(basename "$page" .1)
    case $subcommand in
      # Completions omit hidden subcommands.
      beaconscan-schema | beaconscan-fleet) continue ;;
      beaconscan-fleet-*) command=beaconscan-fleet ;;
      *) command=beaconscan ;;
    esac
    for word in $(echo "${subcommand#"$command"-}" | tr - ' '); do
      for file in "$directory"/completions/"$command".* "$directory/completions/_$command"; do
        grep -qw -- "$word" "$file" || { echo "manual: $file does not complete $word" >&2; exit 1; }
      done
    done
  done
fi
echo "manual: wrote $(find "$directory/man" -name '*.1' | wc -l) man pages and 6 completions to $directory"
