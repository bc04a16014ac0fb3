#!/usr/bin/env python3
"""Draws docs/images/ranging-*.svg from what the Swift filter and the command print.

    BEACONSCAN_TRACES=1 swift build -c release --product ranging-trace
    swift build --product beaconscan
    python3 Scripts/ranging-plots.py

Run it from the project's root; other programs may be named as arguments, in that order. The same source gives the same
drawings.
"""

import csv
import datetime
import io
import json
import math
import pathlib
import subprocess
import sys

# Okabe and Ito's colors, which color-blind readers can distinguish.
GREY, BLUE, ORANGE = "#777777", "#0072B2", "#D55E00"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 800, 360, 62, 14, 52, 44

TRACES = {
    "step10": "A jump of 15 dB, 10 packets a second, noise of 5 dB",
    "step5": "A fall of 15 dB, 5 packets a second, half of the fading slow",
    "step1": "A jump of 15 dB, 1 packet a second, noise of 5 dB",
    "still10": "Nothing moves: 10 packets a second, half of the fading slow",
    "walk": "A simulated walk at 0.5 m/s from 10 m to 1 m and back, 5 packets a second",
}


def output(*words: object) -> str:
    return subprocess.run(
        [str(word) for word in words], check=True, capture_output=True, text=True).stdout


def trace(program: str, experiment: str) -> list[dict[str, float | None]]:
    """The rows of an experiment: seconds, raw, truth, estimate, and the ends of its interval, in dBm."""
    rows = []
    for row in csv.DictReader(io.StringIO(output(program, experiment))):
        mean, error = float(row["mean"]), float(row["standard_error"])
        rows.append({
            "seconds": float(row["seconds"]), "truth": float(row["truth"]),
            "raw": float(row["rssi"]) if row["rssi"] else None,
            "estimate": mean, "low": mean - 2 * error, "high": mean + 2 * error})
    return rows


def recording(command: str, name: str, minor: int) -> list[dict[str, float | None]]:
    """The same rows of a beacon in a shipped recording, in meters, once a second."""
    def seconds(line: dict) -> float:
        return datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00")).timestamp()

    truth = {}
    scenario = f"captures/{name}.json"
    for text in output(command, "simulate", scenario, "--output", "/dev/null", "--truth", "-").splitlines():
        line = json.loads(text)
        if line["type"] == "position" and line["minor"] == minor:
            truth[round(seconds(line))] = line["distance"]
    rows, start = [], min(truth)
    replay = output(command, "range", "--replay", f"captures/{name}.btsnoop", "--format", "json")
    for text in replay.splitlines():
        line = json.loads(text)
        for beacon in line.get("beacons", []) if line["type"] == "range" else []:
            if beacon["minor"] == minor and beacon["distance"] and beacon["rssi"]:
                rows.append({
                    "seconds": seconds(line) - start, "truth": truth.get(round(seconds(line))),
                    "raw": 10 ** ((beacon["measuredPower"] - beacon["rssi"]) / 20), "estimate": beacon["distance"],
                    "low": beacon["distanceLow"], "high": beacon["distanceHigh"]})
    return rows


def steps(low: float, high: float) -> list[float]:
    """Round numbers between two, five or so."""
    size = 10 ** math.floor(math.log10((high - low) / 4))
    size *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (factor * size) <= 7)
    return [size * index for index in range(math.ceil(low / size), math.floor(high / size) + 1)]


def draw(rows: list[dict], title: str, unit: str, interval: str, target: pathlib.Path) -> None:
    """Writes a drawing; meters have a logarithmic axis."""
    scale = math.log10 if unit == "m" else float
    values = [scale(row[key]) for row in rows for key in ("raw", "truth", "estimate")
              if row[key] is not None]
    margin = 0.04 * (max(values) - min(values))
    low, high = min(values) - margin, max(values) + margin
    first, last = rows[0]["seconds"], rows[-1]["seconds"]

    def x(seconds: float) -> str:
        return f"{LEFT + (WIDTH - LEFT - RIGHT) * (seconds - first) / (last - first):.1f}"

    def y(value: float) -> str:
        share = min(max((scale(value) - low) / (high - low), 0), 1)
        return f"{HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share:.1f}"

    def line(key: str, some: list[dict]) -> str:
        return " ".join(f"{x(row['seconds'])},{y(row[key])}" for row in some if row[key] is not None)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{title}</text>',
    ]
    ticks = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100] if unit == "m" else steps(low, high)
    for tick in ticks:
        if low <= scale(tick) <= high:
            parts.append(f'<path d="M{LEFT},{y(tick)}H{WIDTH - RIGHT}" stroke="#dddddd"/>')
            parts.append(
                f'<text x="{LEFT - 6}" y="{y(tick)}" dy="4" text-anchor="end">{tick:g}</text>')
    for tick in steps(first, last):
        parts.append(f'<path d="M{x(tick)},{TOP}V{HEIGHT - BOTTOM}" stroke="#dddddd"/>')
        parts.append(
            f'<text x="{x(tick)}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{tick:g}</text>')
    parts.append(
        f'<text x="{WIDTH // 2}" y="{HEIGHT - 8}" text-anchor="middle">seconds</text>')
    parts.append(
        f'<text x="16" y="{HEIGHT // 2}" text-anchor="middle" '
        f'transform="rotate(-90 16 {HEIGHT // 2})">{unit}</text>')
    parts.append(
        f'<polygon points="{line("high", rows)} {line("low", rows[::-1])}" fill="{BLUE}" '
        'fill-opacity="0.2"/>')
    for row in rows:
        if row["raw"] is not None:
            parts.append(
                f'<circle cx="{x(row["seconds"])}" cy="{y(row["raw"])}" r="1.8" fill="{GREY}"/>')
    parts.append(
        f'<polyline points="{line("truth", rows)}" fill="none" stroke="{ORANGE}" '
        'stroke-width="1.6" stroke-dasharray="6 4"/>')
    parts.append(
        f'<polyline points="{line("estimate", rows)}" fill="none" stroke="{BLUE}" '
        'stroke-width="1.8"/>')
    legend = LEFT
    raw = "distance by the mean signal of the second" if unit == "m" else "packets"
    for text, color in ((raw, GREY), ("truth", ORANGE), ("estimate", BLUE), (interval, "#cce3f0")):
        parts.append(f'<rect x="{legend}" y="30" width="14" height="10" fill="{color}"/>')
        parts.append(f'<text x="{legend + 19}" y="40">{text}</text>')
        legend += 40 + 6.5 * len(text)
    target.write_text("\n".join([*parts, "</svg>", ""]))
    print(target)


def main() -> None:
    program = sys.argv[1] if len(sys.argv) > 1 else ".build/release/ranging-trace"
    command = sys.argv[2] if len(sys.argv) > 2 else ".build/debug/beaconscan"
    folder = pathlib.Path("docs/images")
    folder.mkdir(parents=True, exist_ok=True)
    for experiment, title in TRACES.items():
        target = folder / f"ranging-{experiment}.svg"
        draw(trace(program, experiment), title, "dBm", "two standard errors", target)
    draw(
        recording(command, "visitor", 100), "captures/visitor.btsnoop: a visitor's beacon, once a second",
        "m", "95 % interval", folder / "ranging-visitor.svg")


if __name__ == "__main__":
    main()
