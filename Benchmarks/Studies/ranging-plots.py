#!/usr/bin/env python3
"""Draws docs/images/ranging-*.svg from the output of the Swift filter and the command.

    BUILD_STUDIES=1 swift build -c release --product ranging-trace
    swift build --product beaconscan
    python3 Benchmarks/Studies/ranging-plots.py

Run it from the project's root. Arguments may name other programs, in that order, and then the folder HALL of walks.py,
without which its drawing is not updated. The same source gives the same drawings.
"""

import csv
import dataclasses
import datetime
import io
import json
import math
import pathlib
import subprocess
import sys

import walks

# Okabe and Ito's colors, which color-blind readers can distinguish.
GREY, BLUE, ORANGE = "#777777", "#0072B2", "#D55E00"
WIDTH, LEFT, RIGHT, TOP, BOTTOM, GAP, PLOT = 800, 62, 14, 56, 44, 60, 280

# The UUID of those that walk in the recordings.
WALKERS = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

STEPS = {
    "step10": "A jump of 15 dB, 10 packets a second, noise of 5 dB",
    "step5": "A fall of 15 dB, 5 packets a second, half of the fading slow",
    "step1": "A jump of 15 dB, 1 packet a second, noise of 5 dB",
    "still10": "Nothing moves: 10 packets a second, half of the fading slow",
}


@dataclasses.dataclass
class Series:
    """What is drawn of a beacon over seconds, in dBm or in meters; the estimate is NaN where it is not known."""
    title: str = ""
    truth: list[tuple[float, float]] = dataclasses.field(default_factory=list)
    raw: list[tuple[float, float]] = dataclasses.field(default_factory=list)
    estimate: list[tuple[float, float, float, float]] = dataclasses.field(default_factory=list)

    def known(self) -> list[list[tuple[float, float, float, float]]]:
        """The stretches in which there is an estimate."""
        stretches = [[]]
        for point in self.estimate:
            if math.isnan(point[1]):
                stretches.append([])
            else:
                stretches[-1].append(point)
        return [stretch for stretch in stretches if stretch]


def output(*words: object) -> str:
    return subprocess.run(
        [str(word) for word in words], check=True, capture_output=True, text=True).stdout


def step(program: str, experiment: str) -> Series:
    """The packets of an experiment in dBm, and the level with two standard errors."""
    series = Series()
    for row in csv.DictReader(io.StringIO(output(program, experiment))):
        seconds, mean, error = (float(row[key]) for key in ("seconds", "mean", "standard_error"))
        series.truth.append((seconds, float(row["truth"])))
        series.raw.append((seconds, float(row["rssi"])))
        series.estimate.append((seconds, mean, mean - 2 * error, mean + 2 * error))
    return series


def walk(program: str) -> Series:
    """The simulated walk, in meters."""
    series = Series()
    for row in csv.DictReader(io.StringIO(output(program, "walk"))):
        value = {key: float(text) for key, text in row.items() if text}
        if "truth" in value:
            series.truth.append((value["seconds"], value["truth"]))
        if "raw" in value:
            series.raw.append((value["seconds"], value["raw"]))
        if "estimate" in value:
            series.estimate.append(tuple(value[key] for key in ("seconds", "estimate", "low", "high")))
    return series


def recording(command: str, name: str, minor: int, title: str) -> Series:
    """A beacon of a shipped recording in meters, with the exponent of the recording's scenario."""
    series, scenario = Series(title), f"captures/{name}.json"
    exponent = json.loads(pathlib.Path(scenario).read_text())["environment"]["pathLossExponent"]
    replay = ("--replay", f"captures/{name}.btsnoop", "--uuid", WALKERS, "--format", "json")
    start = None

    def lines(*words: object):
        for text in output(command, *words).splitlines():
            line = json.loads(text)
            if "time" in line:
                time = datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00")).timestamp()
                yield line, time

    for line, time in lines("simulate", scenario, "--output", "/dev/null", "--truth", "-"):
        start = time if start is None else start
        if line["type"] == "position" and (line["uuid"], line["minor"]) == (WALKERS, minor):
            series.truth.append((time - start, line["distance"]))
    for line, time in lines("scan", *replay):
        if line["type"] == "sighting" and line["minor"] == minor:
            loss = line["measuredPower"] - line["rssi"]
            series.raw.append((time - start, 10 ** (loss / 10 / exponent)))
    for line, time in lines("range", "--environment", exponent, *replay):
        for beacon in line.get("beacons", []):
            if beacon["minor"] == minor:
                numbers = (beacon[key] or math.nan for key in ("distance", "distanceLow", "distanceHigh"))
                series.estimate.append((time - start, *numbers))
    return series


def walked(walk: walks.Walk) -> Series:
    """A recorded walk, its distances with the standard exponent."""
    truth = [(seconds, distance) for seconds, distance, _ in walk.packets]
    raw = [(seconds, 10 ** ((walk.power - rssi) / 20)) for seconds, _, rssi in walk.packets]
    return Series(walk.name.capitalize(), truth, raw, walk.estimates)


def steps(low: float, high: float) -> list[float]:
    """Round numbers between two, five or so."""
    size = 10 ** math.floor(math.log10((high - low) / 4))
    size *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (factor * size) <= 7)
    return [size * index for index in range(math.ceil(low / size), math.floor(high / size) + 1)]


def panel(series: Series, top: int, first: float, last: float, axis: str, isDistance: bool) -> list[str]:
    """One beacon's plot; distances have a logarithmic axis."""
    scale = math.log10 if isDistance else float
    values = [scale(value) for _, value in series.truth + series.raw]
    values += [scale(value) for stretch in series.known() for point in stretch for value in point[1:]]
    margin = 0.04 * (max(values) - min(values))
    low, high = min(values) - margin, max(values) + margin

    def x(seconds: float) -> str:
        return f"{LEFT + (WIDTH - LEFT - RIGHT) * (seconds - first) / (last - first):.1f}"

    def y(value: float) -> str:
        return f"{top + PLOT * (high - scale(value)) / (high - low):.1f}"

    def points(pairs) -> str:
        return " ".join(f"{x(seconds)},{y(value)}" for seconds, value in pairs)

    parts = []
    if series.title:
        parts.append(f'<text x="{LEFT}" y="{top - 8}">{series.title}</text>')
    ticks = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100] if isDistance else steps(low, high)
    for tick in ticks:
        if low <= scale(tick) <= high:
            parts.append(f'<path d="M{LEFT},{y(tick)}H{WIDTH - RIGHT}" stroke="#dddddd"/>')
            parts.append(
                f'<text x="{LEFT - 6}" y="{y(tick)}" dy="4" text-anchor="end">{tick:g}</text>'.replace(">-", ">−"))
    for tick in steps(first, last):
        parts.append(f'<path d="M{x(tick)},{top}V{top + PLOT}" stroke="#dddddd"/>')
        parts.append(
            f'<text x="{x(tick)}" y="{top + PLOT + 16}" text-anchor="middle">{tick:g}</text>')
    middle = top + PLOT // 2
    parts.append(
        f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">{axis}</text>')
    for stretch in series.known():
        band = [(point[0], point[3]) for point in stretch] + [(point[0], point[2]) for point in stretch[::-1]]
        parts.append(f'<polygon points="{points(band)}" fill="{BLUE}" fill-opacity="0.2"/>')
    dots = "".join(f"M{x(seconds)},{y(value)}h0" for seconds, value in series.raw)
    parts.append(f'<path d="{dots}" stroke="{GREY}" stroke-width="3.2" stroke-linecap="round"/>')
    parts.append(
        f'<polyline points="{points(series.truth)}" fill="none" stroke="{ORANGE}" stroke-width="1.8" '
        'stroke-dasharray="6 4"/>')
    for stretch in series.known():
        parts.append(
            f'<polyline points="{points(point[:2] for point in stretch)}" fill="none" stroke="{BLUE}" '
            'stroke-width="1.8" stroke-linejoin="round"/>')
    return parts


def legend(names: tuple[str, str, str, str]) -> list[str]:
    """The marks as they are drawn, and their names."""
    marks = (
        f'd="M7,0h0" stroke="{GREY}" stroke-width="5" stroke-linecap="round"',
        f'd="M0,0H20" stroke="{ORANGE}" stroke-width="1.8" stroke-dasharray="6 4"',
        f'd="M0,0H20" stroke="{BLUE}" stroke-width="1.8"',
        f'd="M0,0H20" stroke="{BLUE}" stroke-width="12" stroke-opacity="0.2"')
    parts, place = [], LEFT
    for name, mark in zip(names, marks):
        parts.append(f'<path transform="translate({place:.0f} 36)" {mark}/>')
        parts.append(f'<text x="{place + 26:.0f}" y="40">{name}</text>')
        place += 54 + 6.4 * len(name)
    return parts


def draw(name: str, title: str, panels: list[Series], isDistance: bool = True) -> None:
    """Writes a drawing with a plot for each beacon, one below the other, over the same seconds."""
    target = pathlib.Path(f"docs/images/ranging-{name}.svg")
    tops = [TOP + (24 if panels[0].title else 0) + (PLOT + GAP) * index for index in range(len(panels))]
    height = tops[-1] + PLOT + BOTTOM
    times = [
        point[0] for series in panels for points in (series.truth, series.raw, *series.known()) for point in points]
    axis = "Distance in meters" if isDistance else "Signal strength in dBm"
    names = (
        ("distance by one packet", "true distance", "estimate", "its 95 % interval") if isDistance
        else ("packet", "true mean", "estimate", "two standard errors (95 %)"))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{title}</text>',
        *legend(names)]
    for series, top in zip(panels, tops):
        parts += panel(series, top, min(times), max(times), axis, isDistance)
    parts.append(f'<text x="{WIDTH // 2}" y="{height - 8}" text-anchor="middle">Time in seconds</text>')
    target.write_text("\n".join([*parts, "</svg>", ""]))
    print(target)


def curve(program: str) -> None:
    """Draws the error of each family of filters against its lag."""
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for row in csv.DictReader(io.StringIO(output(program, "curve", 51000, 12))):
        rows.setdefault(row["filter"], []).append(tuple(float(row[key]) for key in ("lag", "median", "setting")))
    colors = {"exponential": ORANGE, "ARMA": "#009E73", "median": GREY, "Kalman": "#CC79A7", "beaconscan": BLUE}
    points = [point for family in rows.values() for point in family]
    right, low, high = max(x for x, _, _ in points) * 1.05, min(y for _, y, _ in points) - 0.02, 0.56
    height = TOP + PLOT + BOTTOM

    def x(lag: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * lag / right

    def y(error: float) -> float:
        return TOP + PLOT * (high - error) / (high - low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">Error against lag while somebody walks, the same posterior after '
        'each filter</text>']
    for tick in steps(low, high):
        parts.append(f'<path d="M{LEFT},{y(tick):.1f}H{WIDTH - RIGHT}" stroke="#dddddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(tick):.1f}" dy="4" text-anchor="end">{tick:.2f}</text>')
    for tick in steps(0, right):
        parts.append(f'<path d="M{x(tick):.1f},{TOP}V{TOP + PLOT}" stroke="#dddddd"/>')
        parts.append(f'<text x="{x(tick):.1f}" y="{TOP + PLOT + 16}" text-anchor="middle">{tick:g}</text>')
    place = LEFT
    for name, family in rows.items():
        color = colors[name]
        line = " ".join(f"{x(lag):.1f},{y(error):.1f}" for lag, error, _ in family if error <= high)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.8"/>')
        for lag, error, setting in family:
            if error <= high:
                size = 6 if (name, setting) == ("beaconscan", 1) else 3
                parts.append(f'<circle cx="{x(lag):.1f}" cy="{y(error):.1f}" r="{size}" fill="{color}"/>')
        parts.append(f'<path d="M{place},36H{place + 20}" stroke="{color}" stroke-width="1.8"/>')
        parts.append(f'<text x="{place + 26}" y="40">{name}</text>')
        place += 60 + int(6.4 * len(name))
    middle = TOP + PLOT // 2
    parts.append(
        f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">'
        'Median |log₂| of the factor</text>')
    parts.append(f'<text x="{WIDTH // 2}" y="{height - 8}" text-anchor="middle">Lag in seconds</text>')
    target = pathlib.Path("docs/images/ranging-curve.svg")
    target.write_text("\n".join([*parts, "</svg>", ""]))
    print(target)


def main() -> None:
    program = sys.argv[1] if len(sys.argv) > 1 else ".build/release/ranging-trace"
    command = sys.argv[2] if len(sys.argv) > 2 else ".build/debug/beaconscan"
    pathlib.Path("docs/images").mkdir(parents=True, exist_ok=True)
    for experiment, title in STEPS.items():
        draw(experiment, title, [step(program, experiment)], isDistance=False)
    curve(program)
    draw("walk", "A simulated walk at 0.5 m/s from 10 m to 1 m and back, 2 packets a second", [walk(program)])
    draw(
        "visitor", "captures/visitor.btsnoop: a visitor comes, stays, and goes, 10 packets a second",
        [recording(command, "visitor", 100, "")])
    draw(
        "lobby", "captures/lobby.btsnoop: two that walk through a crowded lobby",
        [recording(command, "lobby", 7, "A cart, 5 packets a second"),
         recording(command, "lobby", 8, "A phone, 10 packets a second, sent 6 dB weaker than it states")])
    *flat, last = (walked(walk) for walk in walks.walks(command, sys.argv[3] if len(sys.argv) > 3 else None))
    if len(sys.argv) > 3:
        last.title = ""
        draw("hall", "Recorded: a beacon that moves through a hall, past a receiver, 2 packets a second", [last])
    else:
        flat.append(last)
    draw("flat", "Recorded: a robot carries a beacon through a flat, 2.2 packets a second", flat)


if __name__ == "__main__":
    main()
