#!/usr/bin/env python3
"""Compares the crossings that Positioning reports with the truth, and prints the table of docs/geofences.md.

usage: Benchmarks/Studies/geofences.py TRACE [LOG...] [--seeds FIRST:END] [--only NAME] [--verbose]

TRACE is the program geofences-trace, built with BUILD_STUDIES=1. Each scenario is a true path, made by seed, and
the fixes that a receiver makes of it. Distances to the centers of the circles are by PROJ's geodesics, which are
those of GeographicLib (pip install numpy pyproj); they share no code with Positioning. LOG are NMEA 0183 logs of
receivers: the path through their fixes is taken for the truth.

The error of a fix is the radius of 68 %, the stated or the true one, whichever is larger. A crossing is

- missed if it must be reported and is not, before the path is on the other side again for a minute. It must be where
  the true path lies beyond the boundary by more than twice the error (three times for cells and Wi-Fi; once for logs,
  which have no other truth) without interruption, either for 100 m of the way (or ten errors, where that is more) and three fixes
  (16, of a source with more than 2 s between them), or for 120 fixes and 20 minutes (or five times the time in
  which the errors change, where that is more); a reflection and the half minute after it do not count;
- false if the true path was at no time on that side since what was reported last for this circle, nor in the
  five seconds after.

A first state is wrong if the true path lies on the other side by more than the error. Delays are counted from the
true boundary.
"""

import argparse
import dataclasses
import math
import pathlib
import subprocess

import numpy
import pyproj

from geofence_paths import LIMITS, Path, Run, SCENARIOS, at_edges, scattered

GEOD = pyproj.Geod(ellps="WGS84")


def to_degrees(origin: tuple[float, float], places: Path) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Latitudes and longitudes of places that lie so far from the origin."""
    east, north = places[:, 0], places[:, 1]
    count = len(places)
    longitude, latitude, _ = GEOD.fwd(numpy.full(count, origin[1]), numpy.full(count, origin[0]),
                                      numpy.degrees(numpy.arctan2(east, north)), numpy.hypot(east, north))
    return latitude, longitude


def required(run: Run, outside: numpy.ndarray, way: numpy.ndarray) -> list[tuple[int, int, bool]]:
    """The crossings that must be reported, and the first state: the second of the true crossing, when it is beyond
    doubt, and whether it leads inside."""
    margin = run.margin * run.error
    side = numpy.where(outside <= -margin, 1, numpy.where(outside >= margin, -1, 0))
    starts = numpy.concatenate([[0], numpy.flatnonzero(numpy.diff(side)) + 1])
    ends = numpy.concatenate([starts[1:], [len(side)]])
    # What happens while the receiver is off does not count.
    interval = float(numpy.median(numpy.diff(run.times)))
    age = numpy.arange(len(side)) - run.times[numpy.searchsorted(run.times, numpy.arange(len(side)), side="right") - 1]
    counted = age <= 3 * interval
    if run.reflected is not None:
        counted &= ~run.reflected
    way = numpy.concatenate([[0], numpy.cumsum(numpy.diff(way) * counted[1:])])
    lasted = numpy.cumsum(counted)
    needed = max(1200, 5 * run.correlation)
    few, many = 3 if interval <= 2 else 16, 120
    found: list[tuple[int, int, bool]] = []
    state = 0
    for start, end in zip(starts, ends):
        here = int(side[start])
        if here in (0, state):
            continue
        fixes = run.times[(run.times >= start) & (run.times < end)]
        fixes = fixes[counted[fixes]]
        moved = int(numpy.searchsorted(way, way[start] + max(100, 10 * run.error[start])))
        sure = end
        if len(fixes) >= few:
            sure = max(moved, int(fixes[few - 1]))
        if len(fixes) >= many:
            sure = min(sure, max(int(numpy.searchsorted(lasted, lasted[start] + needed)), int(fixes[many - 1])))
        if sure >= end:
            continue
        # The true boundary was crossed after the last second on the other side.
        other = numpy.flatnonzero(outside[:start] * here > 0)
        found.append((int(other[-1]) + 1 if len(other) else 0, sure, here == 1))
        state = here
    return found


@dataclasses.dataclass
class Tally:
    hours: float = 0
    fixes: int = 0
    crossings: int = 0
    missed: int = 0
    reported: int = 0
    false: int = 0
    wrong: int = 0
    looks: int = 0
    delays: list[float] = dataclasses.field(default_factory=list)
    first: list[float] = dataclasses.field(default_factory=list)
    rules: dict[str, int] = dataclasses.field(default_factory=dict)
    remarks: list[str] = dataclasses.field(default_factory=list)


def judge(run: Run, circle: int, outside: numpy.ndarray, way: numpy.ndarray, events: list[list[str]], tally: Tally,
          remark: str) -> None:
    reports = [(float(event[0]), event[2] in ("enter", "inside"), event) for event in events]
    # Nothing false.
    before = 0.0
    for time, inside, event in reports:
        since = outside[int(before):int(time) + 6]
        if event[2] in ("enter", "exit"):
            tally.reported += 1
            tally.rules[event[3]] = tally.rules.get(event[3], 0) + 1
            if not ((since < 0) if inside else (since > 0)).any():
                tally.false += 1
                tally.remarks.append(f"{remark}: false {event} (truth {outside[int(time)]:.0f} m)")
        elif ((since.min() > run.error[int(time)]) if inside else (since.max() < -run.error[int(time)])):
            tally.wrong += 1
            tally.remarks.append(f"{remark}: wrong {event} (truth {outside[int(time)]:.0f} m)")
        before = time
    # Nothing missed.
    must = required(run, outside, way)
    for number, (crossed, sure, inside) in enumerate(must):
        end = must[number + 1][0] + 60 if number + 1 < len(must) else math.inf
        state, seen = None, None
        for time, side, _ in reports:
            if time < crossed:
                state = side
            elif time <= end and side == inside:
                seen = time
                break
        if state == inside and seen is None:
            seen = float(crossed)
        if number == 0:
            if seen is not None:
                tally.first.append(max(0, seen - crossed))
            continue
        tally.crossings += 1
        if seen is not None:
            tally.delays.append(max(0, seen - crossed))
        else:
            tally.missed += 1
            tally.remarks.append(f"{remark}: missed {'enter' if inside else 'exit'} at {crossed} s, sure at {sure} s,"
                                 f" radius {run.circles[circle][2]:.0f}, deepest"
                                 f" {numpy.abs(outside[crossed:int(min(end, len(outside)))]).max():.0f} m")


def trace(program: str, runs: list[Run]) -> list[tuple[dict[int, list[list[str]]], int]]:
    """What Positioning reports, by circle, and how often it looked at a circle."""
    lines = []
    for run in runs:
        lines.append("run")
        latitude, longitude = to_degrees(run.origin, numpy.array([circle[:2] for circle in run.circles]))
        lines += [f"circle {index} {north:.9f} {east:.9f} {circle[2]:.3f}"
                  for index, (north, east, circle) in enumerate(zip(latitude, longitude, run.circles))]
        latitude, longitude = to_degrees(run.origin, run.places)
        lines += [f"fix {time} {north:.9f} {east:.9f} {accuracy:.2f}"
                  for time, north, east, accuracy in zip(run.times, latitude, longitude, run.accuracy)]
        lines.append(f"time {len(run.truth) - 1}")
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


def evaluate(program: str, runs: list[Run], first: int = 0) -> Tally:
    tally = Tally()
    for number, (run, (events, looks)) in enumerate(zip(runs, trace(program, runs))):
        count = len(run.truth)
        tally.hours += count / 3600
        tally.fixes += len(run.times)
        tally.looks += looks
        latitude, longitude = to_degrees(run.origin, run.truth)
        centers = to_degrees(run.origin, numpy.array([circle[:2] for circle in run.circles]))
        way = numpy.concatenate([[0], numpy.cumsum(numpy.hypot(*numpy.diff(run.truth, axis=0).T))])
        for index, circle in enumerate(run.circles):
            _, _, distance = GEOD.inv(longitude, latitude, numpy.full(count, centers[1][index]),
                                      numpy.full(count, centers[0][index]))
            outside = numpy.round(distance - circle[2], 3)
            judge(run, index, outside, way, events.get(index, []), tally, f"seed {first + number} circle {index}")
    return tally


def degrees(text: str, hemisphere: str) -> float:
    value = float(text)
    whole = int(value / 100)
    return (whole + (value - 100 * whole) / 60) * (-1 if hemisphere in "SW" else 1)


def logged(path: pathlib.Path) -> tuple[Run, Run] | None:
    """A receiver's log: the accuracy is the HDOP times 9.25 m; of fixes in the same second the first. The second run
    repeats the errors of the log forth and back for an hour, at a place that stands still: the mean of the log."""
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
        fixes.setdefault(second, (degrees(fields[2], fields[3]), degrees(fields[4], fields[5]), 9.25 * float(fields[8] or 2)))
    if len(fixes) < 8:
        return None
    times = numpy.array(sorted(fixes))
    values = numpy.array([fixes[time] for time in times])
    origin = (float(values[0, 0]), float(values[0, 1]))
    count = len(times)
    azimuth, _, length = GEOD.inv(numpy.full(count, origin[1]), numpy.full(count, origin[0]), values[:, 1], values[:, 0])
    places = length[:, None] * numpy.stack([numpy.sin(numpy.radians(azimuth)), numpy.cos(numpy.radians(azimuth))], axis=1)
    seconds = numpy.arange(times[0], times[-1] + 1)
    truth = numpy.stack([numpy.interp(seconds, times, places[:, axis]) for axis in (0, 1)], axis=1)
    extent = float(numpy.hypot(*(places.max(axis=0) - places.min(axis=0))))
    random = numpy.random.default_rng(count)
    middle = (places.max(axis=0) + places.min(axis=0)) / 2
    circles = [(*(middle + offset), radius) for *offset, radius in scattered(random, 100, extent / 2, (20, max(extent, 40)))]
    print(f"{path.name}: {count} fixes, extent {extent:.0f} m, accuracy {numpy.median(values[:, 2]):.0f} m")
    moving = Run(truth, times - times[0], places, values[:, 2], circles,
                 numpy.interp(seconds, times, values[:, 2]), 20, origin, margin=1)
    if extent > 100:
        return moving, moving
    order = numpy.resize(numpy.concatenate([numpy.arange(count), numpy.arange(count)[::-1]]), 3600)
    still = numpy.tile(places.mean(axis=0), (3600, 1))
    return moving, Run(still, numpy.arange(3600), places[order], values[order, 2],
                       at_edges(random, still[0], (30, 50, 100, 200, 500), (0.0, 5.0, -5.0, 10.0, -10.0)),
                       numpy.full(3600, extent), 60, origin)


def row(name: str, tally: Tally) -> str:
    def quantile(values: list[float], share: float) -> str:
        return f"{numpy.quantile(values, share):.0f} s" if values else "–"
    return (f"| {name} | {tally.hours:.0f} | {tally.crossings} | {tally.missed} | {tally.reported} | {tally.false} |"
            f" {tally.wrong} | {quantile(tally.delays, 0.5)} | {quantile(tally.delays, 0.95)} |"
            f" {quantile(tally.delays, 1)} |")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("logs", nargs="*", type=pathlib.Path)
    parser.add_argument("--seeds", default="0:10")
    parser.add_argument("--only")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    first, end = map(int, arguments.seeds.split(":"))
    print("| Scenario | Hours | Required | Missed | Reported | False | Wrong first states | Delay, median | 95 % | Longest |")
    print("| - | - | - | - | - | - | - | - | - | - |")
    total = Tally()

    def add(name: str, tally: Tally) -> None:
        print(row(name, tally), flush=True)
        if arguments.verbose:
            print(f"  looks per fix {tally.looks / tally.fixes:.2f}, {tally.rules}")
            print("".join(f"  {remark}\n" for remark in tally.remarks[:12]), end="")
        for field in ("hours", "crossings", "missed", "reported", "false", "wrong", "delays"):
            setattr(total, field, getattr(total, field) + getattr(tally, field))

    for number, (key, (name, scenario)) in enumerate((SCENARIOS | LIMITS).items()):
        if number == len(SCENARIOS):
            print(row("all", total))
        if arguments.only is None or key.startswith(arguments.only):
            runs = [scenario(numpy.random.default_rng([seed, number])) for seed in range(first, end)]
            add(name, evaluate(arguments.trace, runs, first))
    logs = [run for run in map(logged, arguments.logs) if run]
    if logs:
        add("receivers' logs", evaluate(arguments.trace, [moving for moving, _ in logs]))
        add("errors of receivers' logs at rest", evaluate(
            arguments.trace, [still for moving, still in logs if moving is not still]))


if __name__ == "__main__":
    main()
