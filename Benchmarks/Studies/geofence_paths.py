"""The scenarios of geofences.py: random true paths, and the fixes of a receiver on them."""

import dataclasses
import math
import typing

import numpy

# From the 68 % radius to the standard deviation along each axis of a circular normal distribution.
RADIUS = math.sqrt(-2 * math.log(1 - 0.68))
Random = numpy.random.Generator
Path = numpy.ndarray
Circles = list[tuple[float, float, float]]


@dataclasses.dataclass
class Run:
    """A path with one row a second (east and north of the origin, in meters), its fixes, and circles."""
    truth: Path
    times: numpy.ndarray
    places: Path
    # What the receiver states with each fix: a radius of 68 %.
    accuracy: numpy.ndarray
    # East, north, radius.
    circles: Circles
    # The error of the fixes as it is, in each second: a radius of 68 %.
    error: numpy.ndarray
    # The seconds in which the errors change.
    correlation: float
    origin: tuple[float, float] = (52.5, 13.4)
    # How many errors beyond the boundary is beyond doubt.
    margin: float = 2
    # The seconds of reflections, and the half minute after each: no crossing is promised by them.
    reflected: numpy.ndarray | None = None

    def keep(self, kept: numpy.ndarray) -> None:
        self.times, self.places, self.accuracy = self.times[kept], self.places[kept], self.accuracy[kept]


def direction(random: Random) -> numpy.ndarray:
    angle = random.uniform(0, 2 * math.pi)
    return numpy.array([math.cos(angle), math.sin(angle)])


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


def observed(random: Random, truth: Path, circles: Circles, accuracy: float, correlation: float = 20, every: int = 1,
             deviation: float | None = None, **others: typing.Any) -> Run:
    """Fixes of a path: half of the variance of their errors is correlated, unless all of it is given."""
    times = numpy.arange(0, len(truth), every)
    if deviation is None:
        share = accuracy / RADIUS / math.sqrt(2)
        errors = noise(random, len(times), share, correlation, every) + noise(random, len(times), share, 0)
    else:
        errors = noise(random, len(times), deviation, correlation, every)
    error = accuracy if deviation is None else deviation * RADIUS
    return Run(truth, times, truth[times] + errors, numpy.full(len(times), float(accuracy)), circles,
               numpy.full(len(truth), max(error, accuracy)), correlation, **others)


def scattered(random: Random, count: int, extent: float, radii: tuple[float, float]) -> Circles:
    return [(*random.uniform(-extent, extent, 2), math.exp(random.uniform(*numpy.log(radii)))) for _ in range(count)]


def at_edges(random: Random, place: numpy.ndarray, radii: tuple[int, ...], offsets: tuple[float, ...]) -> Circles:
    """Circles whose boundary lies so far from a place."""
    return [(*(place + (radius + offset) * direction(random)), radius) for radius in radii for offset in offsets]


def walk(random: Random, origin: tuple[float, float] = (52.5, 13.4), every: int = 1, **receiver: typing.Any) -> Run:
    steps = []
    for _ in range(25):
        steps.append((random.uniform(-800, 800, 2), random.uniform(1.1, 1.7)))
        if random.uniform() < 0.5:
            steps.append((steps[-1][0], -random.uniform(30, 900)))
    truth = legs(random.uniform(-800, 800, 2), steps)
    return observed(random, truth, scattered(random, 12, 700, (40, 400)), accuracy=5, origin=origin, every=every)


def turns(random: Random, accuracy: float, correlation: float) -> Run:
    """A walk that turns every few seconds, as in a shop or a market, and goes somewhere by that."""
    here, steps, bound = numpy.zeros(2), [], 500
    aim = direction(random)
    for _ in range(360):
        if random.uniform() < 0.04 or float(numpy.hypot(*here)) > bound:
            aim = direction(random) if float(numpy.hypot(*here)) <= bound else -here / float(numpy.hypot(*here))
        here = here + random.uniform(10, 20) * (direction(random) + 0.5 * aim)
        steps.append((here, random.uniform(1.0, 1.6)))
    return observed(random, legs(numpy.zeros(2), steps), scattered(random, 12, 500, (80, 400)), accuracy, correlation)


def city(random: Random) -> Run:
    here, steps = numpy.zeros(2), []
    for _ in range(80):
        axis = int(random.integers(2))
        before, here = here, here.copy()
        here[axis] = numpy.clip(here[axis] + random.choice([-1, 1]) * random.uniform(100, 700), -3000, 3000)
        # Slowly round the corners.
        way = (here - before) / max(float(numpy.hypot(*(here - before))), 50)
        steps += [(before + 20 * way, 5), (here - 20 * way, random.uniform(7, 15)), (here, 5)]
        if random.uniform() < 0.3:
            steps.append((here, -random.uniform(10, 60)))
    return observed(random, legs(numpy.zeros(2), steps), scattered(random, 20, 2500, (100, 1000)), accuracy=6)


def multipath(random: Random) -> Run:
    """A drive in a city, in which the fixes jump aside for some seconds behind each house."""
    run = city(random)
    index, reflected = 0, numpy.zeros(len(run.truth), dtype=bool)
    while (index := index + int(random.exponential(90))) < len(run.times):
        end = index + int(random.uniform(3, 20))
        run.places[index:end] += random.uniform(20, 80) * direction(random)
        run.error[index:end] = 80
        reflected[index:end + 30] = True
        index = end
    run.reflected = reflected
    return run


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
        run.places[end] += 500 * direction(random)
        run.error[end] = 500
    run.keep(kept)
    return run


def off(random: Random) -> Run:
    """Walks during which the receiver is switched off again and again, for up to an hour."""
    run = walk(random)
    kept = numpy.ones(len(run.times), dtype=bool)
    index = 0
    while (index := index + int(random.exponential(1800))) < len(kept):
        end = index + int(random.uniform(60, 3600))
        kept[index:end] = False
        index = end
    run.keep(kept)
    return run


def cold(random: Random) -> Run:
    """Walks that begin with fixes kilometers off, each of which states half of its error."""
    run = walk(random)
    error = random.uniform(1000, 5000) * numpy.exp(-run.times / random.uniform(5, 15))
    run.places += error[:, None] * direction(random)
    run.accuracy = numpy.maximum(run.accuracy, error / 2)
    run.error = numpy.maximum(run.error, error)
    return run


def edge(random: Random, hours: float, **receiver: typing.Any) -> Run:
    truth = numpy.zeros((int(hours * 3600), 2))
    circles = at_edges(random, truth[0], (30, 50, 100, 200, 500), (0.0, random.uniform(-20, 20)))
    return observed(random, truth, circles, **receiver)


def outliers(random: Random) -> Run:
    run = edge(random, 4, accuracy=5)
    for index in range(300, len(run.times), 600):
        run.places[index] += 500 * direction(random)
    return run


def visits(random: Random, stated: float, correlation: float, speed: float = 1.4, every: int = 1) -> Run:
    """Comes to houses at the edges of circles, stays in each for an hour, and leaves."""
    steps, circles, house = [], [], numpy.zeros(2)
    for _ in range(6):
        house = house + random.uniform(500, 900) * direction(random)
        steps += [(house, speed), (house, -3600)]
        circles += at_edges(random, house, (50, 100, 200, 400), (-20.0, random.uniform(-20, 20), 20.0))
    steps += [(house + numpy.array([600, 600]), speed), (house, -600)]
    truth = legs(numpy.array([-600.0, 100]), steps)
    run = observed(random, truth, circles, accuracy=stated, every=every)
    still = (truth == numpy.roll(truth, -1, axis=0)).all(axis=1)
    # Errors of 30 m that begin at nothing where it stands still, and end within 10 s where it moves.
    indoors, kept = numpy.zeros((len(truth), 2)), math.exp(-1 / correlation)
    for index in range(1, len(truth)):
        indoors[index] = (kept * indoors[index - 1] + 30 * math.sqrt(1 - kept * kept) * random.normal(size=2)
                          if still[index] else 0.9 * indoors[index - 1])
    run.places += indoors[run.times]
    # A path that is short of a house by the jitter is judged by the jitter.
    run.error = numpy.where(numpy.abs(indoors).max(axis=1) > 1, 30 * RADIUS, stated)
    run.correlation = correlation
    return run


def wifi(random: Random) -> Run:
    """Walks with stops and fixes by Wi-Fi: errors that hold for a minute, then jump."""
    run = walk(random)
    run.times = numpy.arange(0, len(run.truth), 10)
    count = len(run.times)
    hold = numpy.cumsum(random.uniform(size=count) < 1 / 6)
    run.accuracy = random.uniform(30, 100, hold[-1] + 1)[hold]
    errors = random.normal(size=(hold[-1] + 1, 2))[hold] * run.accuracy[:, None] / RADIUS
    run.places = run.truth[run.times] + errors + random.normal(size=(count, 2)) * 5
    run.error = numpy.full(len(run.truth), 100.0)
    run.correlation, run.margin = 60, 3
    run.circles = scattered(random, 12, 700, (150, 500))
    return run


def cells(random: Random) -> Run:
    steps = []
    for _ in range(12):
        steps.append((random.uniform(-25000, 25000, 2), random.uniform(10, 25)))
        steps.append((steps[-1][0], -random.uniform(600, 2400)))
    truth = legs(numpy.zeros(2), steps)
    return observed(random, truth, scattered(random, 8, 20000, (10000, 20000)) + scattered(random, 8, 20000, (100, 400)),
                    accuracy=2000, correlation=120, every=30, deviation=2000 / RADIUS, margin=3)


def jitter(stated: float, correlation: float, **receiver: typing.Any) -> typing.Callable[[Random], Run]:
    return lambda random: edge(random, 8, accuracy=stated, deviation=30, correlation=correlation, **receiver)


SCENARIOS: dict[str, tuple[str, typing.Callable[[Random], Run]]] = {
    "walk": ("walks with stops, 5 m", walk),
    "walk-10s": ("the same, a fix in 10 s", lambda random: walk(random, every=10)),
    "walk-60s": ("the same, a fix in 60 s", lambda random: walk(random, every=60)),
    "date-line": ("the same at 1 s, across the antimeridian", lambda random: walk(random, (-17.0, 180.0))),
    "pole": ("the same, across the north pole", lambda random: walk(random, (90.0, 0.0))),
    "off": ("the same, switched off for up to an hour", off),
    "cold": ("the same, first fixes kilometers off", cold),
    "city": ("drives in a city, 6 m", city),
    "multipath": ("the same, jumps by 20 to 80 m for 3 to 20 s", multipath),
    "fast": ("50 m/s through circles of 100 m", fast),
    "sparse": ("drives, a fix in 60 s, 15 m", sparse),
    "tunnels": ("tunnels, first fix 500 m off", tunnels),
    "outliers": ("stays at an edge, outliers of 500 m", outliers),
    "edge-good": ("stays at an edge, 5 m", lambda random: edge(random, 8, accuracy=5, correlation=60)),
    "edge-white": ("stays at an edge, jitter 30 m, stated", jitter(30 * RADIUS, 0)),
    "edge-60": ("the same, over a minute", jitter(30 * RADIUS, 60)),
    "edge-600": ("the same, over ten minutes", jitter(30 * RADIUS, 600)),
    "edge-5-0": ("stays at an edge, jitter 30 m, 5 m stated", jitter(5, 0)),
    "edge-5-20": ("the same, over 20 s", jitter(5, 20)),
    "edge-5-60": ("the same, over a minute", jitter(5, 60)),
    "edge-10-60": ("the same, 10 m stated", jitter(10, 60)),
    "edge-5-300": ("the same, over five minutes, 5 m stated", jitter(5, 300)),
    "edge-10-600": ("the same, over ten minutes, 10 m stated", jitter(10, 600)),
    "edge-10s": ("the same, over a minute, a fix in 10 s", jitter(5, 60, every=10)),
    "edge-60s": ("the same, a fix in 60 s", jitter(5, 60, every=60)),
    "visits-60": ("walks to edges, stays with 30 m over a minute, 5 m stated", lambda random: visits(random, 5, 60)),
    "visits-300": ("the same, over five minutes, 10 m stated", lambda random: visits(random, 10, 300)),
    "visits-10s": ("the same, over a minute, a fix in 10 s", lambda random: visits(random, 5, 60, every=10)),
    "visits-60s": ("the same, a fix in 60 s", lambda random: visits(random, 5, 60, every=60)),
    "visits-car": ("the same by car, a fix in 1 s", lambda random: visits(random, 5, 60, speed=10)),
    "wifi": ("walks, Wi-Fi, 30 to 100 m, a fix in 10 s", wifi),
    "cells": ("drives, cells of 2 km, a fix in 30 s", cells),
}
# What docs/geofences.md does not promise; these come after the sum of all others.
LIMITS: dict[str, tuple[str, typing.Callable[[Random], Run]]] = {
    "turns": ("walks that turn every few seconds, 5 m", lambda random: turns(random, 5, 20)),
    "turns-12": ("the same, 12 m", lambda random: turns(random, 12, 20)),
    "turns-23": ("the same, 23 m", lambda random: turns(random, 23, 20)),
}
