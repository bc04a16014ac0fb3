#!/usr/bin/env python3
"""Compares the distances of `beaconscan range` with the truth in captures/, and prints the table of docs/ranging.md.

usage: Benchmarks/Studies/accuracy.py [BEACONSCAN]
The command is .build/release/beaconscan unless named.
"""
import datetime
import json
import math
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent.parent
command = sys.argv[1] if len(sys.argv) > 1 else root / ".build/release/beaconscan"


def second(text):
    return round(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


def identity(line):
    return line["uuid"], line["major"], line["minor"]


def measure(recording, arguments):
    """The row of a recording, ranged with some more arguments; nothing where no truth has a track."""
    truth = {}
    simulated = subprocess.run(
        [command, "simulate", recording.with_suffix(".json"), "--output", "/dev/null", "--truth", "-"],
        check=True, capture_output=True, text=True).stdout
    for text in simulated.splitlines():
        line = json.loads(text)
        if line["type"] == "position":
            truth[identity(line), second(line["time"])] = line["distance"]
    output = subprocess.run(
        [command, "range", "--replay", recording, "--format", "json", *arguments],
        check=True, capture_output=True, text=True).stdout
    errors, factors, held = [], [], 0
    for text in output.splitlines():
        line = json.loads(text)
        for beacon in line.get("beacons", []) if line["type"] == "range" else []:
            distance = truth.get((identity(beacon), second(line["time"])))
            if distance and beacon["distance"]:
                errors.append(abs(beacon["distance"] - distance))
                factors.append(math.exp(abs(math.log(beacon["distance"] / distance))))
                held += beacon["distanceLow"] <= distance <= beacon["distanceHigh"]
    if not errors:
        return
    errors.sort(), factors.sort()
    count = len(errors)
    how = " ".join(arguments) or "default"
    print(f"| `{recording.name}` | {how} | {count} | {errors[count // 2]:.2f} m | {factors[count // 2]:.2f} "
          f"| {factors[count * 9 // 10]:.2f} | {100 * held / count:.0f} % |")


print("| Recording | Ranged | Estimates | Median error | Median factor | 90 % within a factor of | 95 % interval holds |")
print("| - | - | - | - | - | - | - |")
for recording in sorted([*root.glob("captures/*.btsnoop"), *root.glob("captures/*.pcapng")]):
    exponent = json.loads(recording.with_suffix(".json").read_text())["environment"].get("pathLossExponent", 2)
    measure(recording, [])
    if exponent != 2:
        measure(recording, ["--environment", str(exponent)])
