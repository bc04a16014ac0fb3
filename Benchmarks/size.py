#!/usr/bin/env python3
"""Prints what takes how much of the stripped command, from the linker's map: docs/architecture.md has the table.

    Benchmarks/size.py    links the release build anew, with a map
"""

import collections
import os
import pathlib
import re
import subprocess

os.chdir(pathlib.Path(__file__).resolve().parent.parent)
MAP = pathlib.Path(".build/beaconscan.map")
BUILD = ["swift", "build", "-c", "release", "--static-swift-stdlib", "--product", "beaconscan"]
KINDS = {
    "code": re.compile(r"\.text|\.init|\.fini|\.plt"),
    "unwinding": re.compile(r"\.eh_frame|\.gcc_except"),
    "metadata": re.compile(r"swift5_|\.swift_modhash"),
    "data": re.compile(r"\.(ro)?data|\.tdata|\.got|\.relr|\.rela|\.dyn|\.gnu|\.hash|swift5_backtrace"),
}
PARTS = [
    ("Swift: library and runtime", r"lib(swiftCore|swiftRuntime|swift_Concurrency|swiftSynchronization|swiftGlibc)|swiftrt"),
    ("Swift: regular expressions", r"libswift_(RegexParser|StringProcessing)"),
    ("FoundationEssentials", r"lib_?Foundation"),
    ("libdispatch", r"lib(dispatch|swiftDispatch|BlocksRuntime)"),
    ("SwiftNIO", r"/C?NIO\w*\.build/"),
    ("swift-http-types", r"/HTTPTypes\.build/"),
    ("swift-collections", r"/(\w*Collections|\w*Module|\w*Containers)\.build/"),
    ("swift-argument-parser", r"/ArgumentParser\w*\.build/"),
]


def part(file):
    for name, pattern in PARTS:
        if re.search(pattern, file):
            return name
    module = re.search(r"/(\w+)\.build/", file)
    if module and pathlib.Path("Sources", module[1]).is_dir():
        return f"`{module[1]}`"
    return "other packages" if module else "the linker and C"


sizes = collections.defaultdict(collections.Counter)
subprocess.run([*BUILD, "-Xlinker", f"-Map={MAP.resolve()}"], check=True, stdout=subprocess.DEVNULL)
# Addresses, size and alignment; then, by columns, the section of the command, or a file with its section.
line = re.compile(r"\s*[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)\s+\d+ (?: {8}(\S.*):\((\S*)\)|(\S+))$")
section = ""
for match in filter(None, map(line.match, MAP.read_text().splitlines())):
    if match[4]:
        section = match[4]
        continue
    kind = next((kind for kind, pattern in KINDS.items() if pattern.match(section)), None)
    if kind:
        sizes[part(match[2])][kind] += int(match[1], 16)

stripped = MAP.with_suffix(".stripped")
subprocess.run(["strip", "-o", stripped, ".build/release/beaconscan"], check=True)
total = stripped.stat().st_size
stripped.unlink()
print("| Part | " + " | ".join(KINDS) + " | all, kB |")
print("| - " + "| -: " * (len(KINDS) + 1) + "|")
for name, kinds in sorted(sizes.items(), key=lambda item: -item[1].total()):
    print(f"| {name} | " + " | ".join(f"{kinds[kind] / 1e3:,.0f}" for kind in KINDS) + f" | {kinds.total() / 1e3:,.0f} |")
every = sum(sizes.values(), collections.Counter())
print("| all | " + " | ".join(f"{every[kind] / 1e3:,.0f}" for kind in KINDS) + f" | {every.total() / 1e3:,.0f} |")
print(f"stripped: {total:,} bytes")
