#!/usr/bin/env python3
"""Compares the crossings that Positioning reports with the truth, and prints the table of the documents.

usage: Scripts/geofences.py TRACE [LOG...] [--runs N] [--only NAME] [--verbose]

TRACE is the program geofences-trace, built with BEACONSCAN_TRACES=1. Each scenario is a true path, made by seed, and the
fixes that a receiver makes of it. The truth is known to the second; distances to the centers of the circles are by
PROJ's geodesics (pip install numpy pyproj), which share no code with Positioning. LOG are NMEA 0183 logs of receivers, whose (GGA)
fixes are taken for the truth: circles are laid across the path and beside it.

A crossing must be reported where the true path lies beyond the boundary by twice the accuracy of the fixes (68 %) for a
minute, or for 100 m of the way where the receiver moves on, and for three fixes; before the path is as far on the other side again. A crossing
that is reported is false where the true path was not on that side at all since the crossing before. Delays are counted from
the true boundary.
"""

import argparse
import dataclasses
import math
import pathlib
import subprocess
import typing

import numpy
import pyproj

GEOD = pyproj.Geod(ellps="WGS84")
# From the 68 % radius to the standard deviation along each axis of a circular normal distribution.
RADIUS = math.sqrt(-2 * math.log(1 - 0.68))
Random = numpy.random.Generator
Path = numpy.ndarray


@dataclasses.dataclass
class Run:
    """A path with one row a second (east and north of the origin, in meters), its fixes, and circles."""
    truth: Path
    times: numpy.ndarray
    places: Path
    accuracy: numpy.ndarray
    # East, north, radius.
    circles: list[tuple[float, float, float]]
    # The error of the fixes as it is, whatever the receiver states: a radius of 68 %.
    error: float
    origin: tuple[float, float] = (52.5, 13.4)


def noise(random: Random, count: int, deviation: float, correlation: float, step: float = 1) -> Path:
    """Errors along both axes, whose correlation falls to 1/e in so many seconds; independent at 0."""
    white = random.normal(size=(count, 2))
    if correlation == 0:
        return deviation * white
    kept = math.exp(-step / correlation)
    errors = numpy.empty((count, 2))
    errors[0] = white[0]
    for index in range(1, count):
        errors[index] = kept * errors[index - 1] + math.sqrt(1 - kept * kept) * white[index]
    return deviation * errors


def legs(start: numpy.ndarray, steps: list[tuple[numpy.ndarray, float]]) -> Path:
    """A path along legs: each a destination and a speed, or the same place and, as a negative number, seconds to stay."""
    rows, here = [start], start
    for destination, speed in steps:
        if speed < 0:
            rows += [here] * int(-speed)
            continue
        way = destination - here
        count = max(1, int(round(float(numpy.hypot(*way)) / speed)))
        rows += [here + way * (index + 1) / count for index in range(count)]
        here = destination
    return numpy.array(rows)


def observed(random: Random, truth: Path, circles: list, accuracy: float, correlation: float = 20, every: int = 1,
             deviation: float | None = None, **others: typing.Any) -> Run:
    """Fixes of a path: half of the variance of their errors is correlated, unless all of it is given."""
    times = numpy.arange(0, len(truth), every)
    if deviation is None:
        share = accuracy / RADIUS / math.sqrt(2)
        errors = noise(random, len(times), share, correlation, every) + noise(random, len(times), share, 0)
    else:
        errors = noise(random, len(times), deviation, correlation, every)
    error = accuracy if deviation is None else deviation * RADIUS
    return Run(truth, times, truth[times] + errors, numpy.full(len(times), float(accuracy)), circles, error, **others)


def scattered(random: Random, count: int, extent: float, radii: tuple[float, float]) -> list:
    return [(*random.uniform(-extent, extent, 2), math.exp(random.uniform(*numpy.log(radii)))) for _ in range(count)]


def walk(random: Random, origin: tuple[float, float] = (52.5, 13.4)) -> Run:
    steps = []
    for _ in range(25):
        steps.append((random.uniform(-800, 800, 2), random.uniform(1.1, 1.7)))
        if random.uniform() < 0.5:
            steps.append((steps[-1][0], -random.uniform(30, 900)))
    truth = legs(random.uniform(-800, 800, 2), steps)
    return observed(random, truth, scattered(random, 12, 700, (40, 400)), accuracy=5, origin=origin)


def city(random: Random) -> Run:
    here, steps = numpy.zeros(2), []
    for _ in range(80):
        axis = int(random.integers(2))
        here = here.copy()
        here[axis] = numpy.clip(here[axis] + random.choice([-1, 1]) * random.uniform(100, 700), -3000, 3000)
        steps.append((here, random.uniform(7, 15)))
        if random.uniform() < 0.3:
            steps.append((here, -random.uniform(10, 60)))
    return observed(random, legs(numpy.zeros(2), steps), scattered(random, 20, 2500, (100, 1000)), accuracy=6)


def fast(random: Random) -> Run:
    truth = legs(numpy.array([-15000.0, 0]), [(numpy.array([15000.0, 0]), 50)])
    circles = [(east, random.uniform(-40, 40), 100) for east in range(-13000, 14000, 1500)]
    return observed(random, truth, circles, accuracy=6)


def sparse(random: Random) -> Run:
    steps = []
    for _ in range(20):
        steps.append((random.uniform(-15000, 15000, 2), random.uniform(10, 30)))
        steps.append((steps[-1][0], -random.uniform(300, 1800)))
    return observed(random, legs(numpy.zeros(2), steps), scattered(random, 12, 12000, (2500, 6000)), accuracy=15, every=60)


def tunnels(random: Random) -> Run:
    truth = legs(numpy.array([-12000.0, 0]), [(numpy.array([12000.0, 0]), random.uniform(15, 25)),
                                             (numpy.array([12000.0, 6000]), 20), (numpy.array([-12000.0, 6000]), 20)])
    run = observed(random, truth, [(random.uniform(-10000, 10000), 6000 * index % 12000, random.uniform(300, 1500))
                                   for index in range(12)], accuracy=6)
    kept = numpy.ones(len(run.times), dtype=bool)
    for start in range(200, len(truth) - 300, 300):
        end = start + int(random.integers(20, 120))
        kept[start:end] = False
        angle = random.uniform(0, 2 * math.pi)
        run.places[end] += 500 * numpy.array([math.cos(angle), math.sin(angle)])
    run.times, run.places, run.accuracy = run.times[kept], run.places[kept], run.accuracy[kept]
    return run


def edge(random: Random, hours: float, **receiver: typing.Any) -> Run:
    truth = numpy.zeros((int(hours * 3600), 2))
    circles = []
    for radius in (30, 50, 100, 200, 500):
        for offset in (0.0, random.uniform(-20, 20)):
            angle = random.uniform(0, 2 * math.pi)
            circles.append(((radius + offset) * math.cos(angle), (radius + offset) * math.sin(angle), radius))
    return observed(random, truth, circles, **receiver)


def outliers(random: Random) -> Run:
    run = edge(random, 4, accuracy=5)
    for index in range(300, len(run.times), 600):
        angle = random.uniform(0, 2 * math.pi)
        run.places[index] += 500 * numpy.array([math.cos(angle), math.sin(angle)])
    return run


def visit(random: Random) -> Run:
    """Walks to a house at the edges of circles, stays there indoors for hours, and leaves."""
    stay = 7200
    truth = legs(numpy.array([-600.0, 100]), [(numpy.zeros(2), 1.4), (numpy.zeros(2), -stay),
                                             (numpy.array([500.0, 500]), 1.4), (numpy.array([500.0, 500]), -900)])
    circles = []
    for radius in (50, 100, 200, 400):
        for offset in (-20, 0, 20):
            angle = random.uniform(0, 2 * math.pi)
            circles.append(((radius + offset) * math.cos(angle), (radius + offset) * math.sin(angle), radius))
    run = observed(random, truth, circles, accuracy=5)
    still = numpy.flatnonzero((truth == 0).all(axis=1))
    indoors = noise(random, len(still), 30, 60)
    # The receiver loses the sky little by little.
    indoors *= numpy.minimum(1, numpy.arange(len(still)) / 30)[:, None]
    run.places[still] = truth[still] + indoors
    run.error = 30 * RADIUS
    return run


def cells(random: Random) -> Run:
    steps = []
    for _ in range(12):
        steps.append((random.uniform(-25000, 25000, 2), random.uniform(10, 25)))
        steps.append((steps[-1][0], -random.uniform(600, 2400)))
    truth = legs(numpy.zeros(2), steps)
    return observed(random, truth, scattered(random, 8, 20000, (10000, 20000)) + scattered(random, 8, 20000, (100, 400)),
                    accuracy=2000, correlation=120, every=30, deviation=2000 / RADIUS)


SCENARIOS: dict[str, tuple[str, typing.Callable[[Random], Run]]] = {
    "walk": ("walks with stops, 5 m", walk),
    "date-line": ("the same, across the antimeridian", lambda random: walk(random, (-17.0, 180.0))),
    "pole": ("the same, across the north pole", lambda random: walk(random, (90.0, 0.0))),
    "city": ("drives in a city, 6 m", city),
    "fast": ("50 m/s through circles of 100 m", fast),
    "sparse": ("drives, one fix a minute, 15 m", sparse),
    "tunnels": ("tunnels, first fix 500 m off", tunnels),
    "outliers": ("stays at an edge, outliers of 500 m", outliers),
    "edge-good": ("stays at an edge, 5 m", lambda random: edge(random, 8, accuracy=5, correlation=60)),
    "edge-white": ("stays at an edge, jitter 30 m, stated",
                   lambda random: edge(random, 8, accuracy=30 * RADIUS, deviation=30, correlation=0)),
    "edge-slow": ("stays at an edge, jitter 30 m over a minute, stated",
                  lambda random: edge(random, 8, accuracy=30 * RADIUS, deviation=30, correlation=60)),
    "edge-white-5": ("stays at an edge, jitter 30 m, 5 m stated",
                     lambda random: edge(random, 8, accuracy=5, deviation=30, correlation=0)),
    "edge-slow-5": ("stays at an edge, jitter 30 m over a minute, 5 m stated",
                    lambda random: edge(random, 8, accuracy=5, deviation=30, correlation=60)),
    "edge-slow-5-10s": ("the same, one fix in 10 s",
                    lambda random: edge(random, 8, accuracy=5, deviation=30, correlation=60, every=10)),
    "visit": ("walks to an edge, stays with that jitter, leaves", visit),
    "cells": ("drives, cells of 2 km, a fix in 30 s", cells),
}


def to_degrees(origin: tuple[float, float], places: Path) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Latitudes and longitudes of places that lie so far from the origin."""
    east, north = places[:, 0], places[:, 1]
    count = len(places)
    longitude, latitude, _ = GEOD.fwd(numpy.full(count, origin[1]), numpy.full(count, origin[0]),
                                      numpy.degrees(numpy.arctan2(east, north)), numpy.hypot(east, north))
    return latitude, longitude


def required(outside: numpy.ndarray, speed: numpy.ndarray, margin: float, times: numpy.ndarray) -> list[tuple[int, float, bool]]:
    """The crossings that must be reported, and the first state: the second of the true crossing, when it is beyond
    doubt, and whether it leads inside."""
    found: list[tuple[int, float, bool]] = []
    side = numpy.where(outside <= -margin, 1, numpy.where(outside >= margin, -1, 0))
    index, state = 0, 0
    while index < len(side):
        here = side[index]
        if here == 0 or here == state:
            index += 1
            continue
        end = index
        while end < len(side) and side[end] == here:
            end += 1
        sure = next((at for at in range(index + 1, end)
                     if numpy.count_nonzero((times >= index) & (times <= at)) >= 3 and (at - index >= 60 or speed[index:at].sum() >= 100)), None)
        if sure is not None:
            # The true boundary was crossed after the last second on the other side.
            other = numpy.flatnonzero(outside[:index] * here > 0)
            found.append((int(other[-1]) + 1 if len(other) else 0, float(sure), bool(here == 1)))
            state = here
        index = end
    return found


@dataclasses.dataclass
class Tally:
    hours: float = 0
    fixes: int = 0
    crossings: int = 0
    missed: int = 0
    false: int = 0
    wrong: int = 0
    looks: int = 0
    delays: list[float] = dataclasses.field(default_factory=list)
    first: list[float] = dataclasses.field(default_factory=list)
    rules: dict[str, int] = dataclasses.field(default_factory=dict)
    remarks: list[str] = dataclasses.field(default_factory=list)


def judge(run: Run, circle: int, outside: numpy.ndarray, events: list[list[str]], tally: Tally, remark: str) -> None:
    speed = numpy.hypot(*numpy.diff(run.truth, axis=0, append=run.truth[-1:]).T)
    must = required(outside, speed, 2 * run.error, run.times)
    reports = [(float(event[0]), event[2] in ("enter", "inside"), event) for event in events]
    # Nothing false.
    before = 0.0
    for time, inside, event in reports:
        tally.rules[event[3]] = tally.rules.get(event[3], 0) + (event[2] in ("enter", "exit"))
        since = outside[int(before):int(time) + 1]
        if event[2] in ("enter", "exit"):
            if not ((since < 0) if inside else (since > 0)).any():
                tally.false += 1
                tally.remarks.append(f"{remark}: false {event} (truth {outside[int(time)]:.0f} m)")
        elif (outside[int(time)] > run.accuracy[0]) if inside else (outside[int(time)] < -run.accuracy[0]):
            tally.wrong += 1
        before = time
    # Nothing missed.
    for number, (crossed, sure, inside) in enumerate(must):
        end = must[number + 1][0] + 60 if number + 1 < len(must) else math.inf
        state, seen = None, None
        for time, side, _ in reports:
            if time <= end and side == inside and (time >= crossed or state is None or state != inside):
                if time >= crossed:
                    seen = time
                    break
            if time < crossed:
                state = side
        if state == inside and seen is None:
            seen = float(crossed)
        if number == 0:
            if seen is not None:
                tally.first.append(max(0, seen - crossed))
            continue
        tally.crossings += 1
        if seen is None and (end < math.inf or len(outside) - sure > 600):
            tally.missed += 1
            tally.remarks.append(f"{remark}: missed {'enter' if inside else 'exit'} at {crossed} s, sure at {sure} s,"
                                 f" radius {run.circles[circle][2]:.0f}, deepest"
                                 f" {numpy.abs(outside[crossed:int(min(end, len(outside)))]).max():.0f} m")
        elif seen is None:
            tally.crossings -= 1  # The path ends before it can be reported.
        else:
            tally.delays.append(max(0, seen - crossed))


def trace(program: str, runs: list[Run]) -> list[tuple[dict[int, list[list[str]]], int]]:
    """What Positioning reports, by circle, and how often it looked at a circle."""
    lines = []
    for run in runs:
        lines.append("run")
        latitude, longitude = to_degrees(run.origin, numpy.array([circle[:2] for circle in run.circles]))
        for index, circle in enumerate(run.circles):
            lines.append(f"circle {index} {latitude[index]!r} {longitude[index]!r} {circle[2]}".replace("np.float64(", "")
                         .replace(")", ""))
        latitude, longitude = to_degrees(run.origin, run.places)
        lines += [f"fix {time} {north:.9f} {east:.9f} {accuracy:.2f}"
                  for time, north, east, accuracy in zip(run.times, latitude, longitude, run.accuracy)]
        lines.append(f"time {len(run.truth)}")
    output = subprocess.run([program], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True).stdout
    results: list[tuple[dict[int, list[list[str]]], int]] = []
    for line in output.splitlines():
        words = line.split()
        if words[0] == "run":
            events: dict[int, list[list[str]]] = {}
        elif words[0] == "looks":
            results.append((events, int(words[1])))
        else:
            events.setdefault(int(words[1]), []).append(words)
    return results


def evaluate(program: str, runs: list[Run]) -> Tally:
    tally = Tally()
    for number, (run, (events, looks)) in enumerate(zip(runs, trace(program, runs))):
        tally.hours += len(run.truth) / 3600
        tally.fixes += len(run.times)
        tally.looks += looks
        latitude, longitude = to_degrees(run.origin, run.truth)
        centers = to_degrees(run.origin, numpy.array([circle[:2] for circle in run.circles]))
        for index, circle in enumerate(run.circles):
            count = len(run.truth)
            _, _, distance = GEOD.inv(longitude, latitude, numpy.full(count, centers[1][index]),
                                      numpy.full(count, centers[0][index]))
            outside = numpy.round(distance - circle[2], 3)
            judge(run, index, outside, events.get(index, []), tally, f"run {number} circle {index}")
    return tally


def degrees(text: str, hemisphere: str) -> float:
    value = float(text)
    whole = int(value / 100)
    return (whole + (value - 100 * whole) / 60) * (-1 if hemisphere in "SW" else 1)


def logged(path: pathlib.Path) -> Run | None:
    """A receiver's log: the accuracy is the HDOP times 5 m; of fixes in the same second the first."""
    fixes: dict[int, tuple[float, float, float]] = {}
    for line in path.read_bytes().split(b"\n"):
        text = line[line.rfind(b"$"):].decode("ascii", "replace").strip()
        fields = text.partition("*")[0].split(",")
        if len(fields) < 10 or fields[0][3:] != "GGA" or fields[6] in ("", "0") or not fields[2] or not fields[4]:
            continue
        checksum = 0
        for character in text[1:].partition("*")[0]:
            checksum ^= ord(character)
        if f"{checksum:02X}" != text.partition("*")[2].upper():
            continue
        second = int(fields[1][:2]) * 3600 + int(fields[1][2:4]) * 60 + int(fields[1][4:6])
        fixes.setdefault(second, (degrees(fields[2], fields[3]), degrees(fields[4], fields[5]), 5 * float(fields[8] or 2)))
    if len(fixes) < 10:
        return None
    times = numpy.array(sorted(fixes))
    values = numpy.array([fixes[time] for time in times])
    origin = (float(values[0, 0]), float(values[0, 1]))
    count = len(times)
    azimuth, _, length = GEOD.inv(numpy.full(count, origin[1]), numpy.full(count, origin[0]), values[:, 1], values[:, 0])
    places = numpy.stack([length * numpy.sin(numpy.radians(azimuth)), length * numpy.cos(numpy.radians(azimuth))], axis=1)
    seconds = numpy.arange(times[0], times[-1] + 1)
    truth = numpy.stack([numpy.interp(seconds, times, places[:, axis]) for axis in (0, 1)], axis=1)
    way = float(numpy.hypot(*places.max(axis=0) - places.min(axis=0)))
    middle = places[len(places) // 2]
    circles = [(*middle, radius) for radius in (100, 250, 500)]
    circles += [(*(places[-1] + numpy.array([radius, 0])), radius) for radius in (50, 200)]
    print(f"{path.name}: {len(times)} fixes, extent {way:.0f} m")
    return Run(truth, times - times[0], places, values[:, 2], circles, float(numpy.median(values[:, 2])), origin)


def row(name: str, tally: Tally) -> str:
    def quantile(values: list[float], share: float) -> str:
        return f"{numpy.quantile(values, share):.0f} s" if values else "–"
    return (f"| {name} | {tally.hours:.1f} | {tally.crossings} | {tally.missed} | {tally.false} |"
            f" {quantile(tally.delays, 0.5)} | {quantile(tally.delays, 0.95)} | {quantile(tally.first, 0.5)} |")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("logs", nargs="*", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    print("| Scenario | Hours | Crossings | Missed | False | Delay, median | 95 % | First state, median |")
    print("| - | - | - | - | - | - | - | - |")
    for key, (name, scenario) in SCENARIOS.items():
        if arguments.only in (None, key):
            runs = [scenario(numpy.random.default_rng([seed, len(key)])) for seed in range(arguments.runs)]
            tally = evaluate(arguments.trace, runs)
            print(row(name, tally), flush=True)
            if arguments.verbose:
                print(f"  wrong first states {tally.wrong}, looks per fix {tally.looks / tally.fixes:.2f}, {tally.rules}")
                print("".join(f"  {remark}\n" for remark in tally.remarks[:12]), end="")
    logs = [run for run in map(logged, arguments.logs) if run]
    if logs:
        tally = evaluate(arguments.trace, logs)
        print(row("receivers' logs", tally))
        print("".join(f"  {remark}\n" for remark in tally.remarks))


if __name__ == "__main__":
    main()
