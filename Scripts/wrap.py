#!/usr/bin/env python3
"""Checks that no line of the documents is longer than 120 columns; with --fix, wraps their paragraphs.

Code, tables and headings stay as they are, and so do paragraphs without such a line. A line that cannot be
wrapped, such as a long address, may be longer.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 120
# Kept on one line: code, emphasis, and what has no space, with what is attached to it.
WORD = re.compile(r"(?:`[^`]*`|\*\*[^*]+\*\*|\S)+")
ITEM = re.compile(r"( *)([-*] |\d+\. )?")
MARKER = re.compile(r"[-+*#>|]|\d+\.$")


def wrapped(lines):
    """A paragraph or an item of a list, in lines that are short enough."""
    indent, marker = ITEM.match(lines[0]).groups()
    first = indent + (marker or "")
    rest = " " * len(first)
    words = WORD.findall(" ".join(line.strip() for line in [lines[0][len(first):], *lines[1:]]))
    result, line = [], first + words[0]
    for number, word in enumerate(words[1:], 1):
        # A line must not begin with what would make it something else.
        following = number + 1 < len(words) and MARKER.fullmatch(words[number + 1])
        needed = word + (" " + words[number + 1] if following else "")
        if len(line) + 1 + len(needed) > LIMIT and not MARKER.fullmatch(word):
            result.append(line)
            line = rest + word
        else:
            line += " " + word
    return [*result, line]


def paragraphs(text):
    """The lines of a document, in groups of which those that may be wrapped are marked."""
    group, code = [], False
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        if fence or code or not line.strip() or re.match(r" *(\||#|<|>)", line) or line.startswith("    "):
            if group:
                yield True, group
            group = []
            code = code != fence
            yield False, [line]
        elif re.match(r" *([-*]|\d+\.) ", line):
            if group:
                yield True, group
            group = [line]
        else:
            group.append(line)
    if group:
        yield True, group


def main():
    fixes = sys.argv[1:] == ["--fix"]
    names = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    long = []
    for name in names.stdout.splitlines():
        path = ROOT / name
        lines = []
        for wraps, group in paragraphs(path.read_text()):
            if wraps and any(len(line) > LIMIT for line in group) and (better := wrapped(group)) != group:
                number = len(lines) + next(i for i, line in enumerate(group, 1) if len(line) > LIMIT)
                long.append(f"{name}:{number}")
                group = better if fixes else group
            lines += group
        if fixes:
            path.write_text("\n".join(lines))
    if fixes:
        print(f"wrap: wrapped {len(long)} paragraphs")
    elif long:
        sys.exit(f"wrap: lines longer than {LIMIT} columns, which Scripts/lint.sh --fix wraps: {' '.join(long)}")
    else:
        print(f"wrap: no line of the documents is longer than {LIMIT} columns")


if __name__ == "__main__":
    main()
