#!/usr/bin/env python3
"""Prints pairs of places on WGS 84 with their distance by GeographicLib: the vectors of PositioningTests.

usage: Benchmarks/Studies/geodesics.py > Tests/PositioningTests/geodesics.csv    some hundred hard pairs
       Benchmarks/Studies/geodesics.py COUNT > FILE                              COUNT random pairs before them

BEACONSCAN_GEODESICS=FILE makes the tests read another file. Needs the package geographiclib (2.1 was used).
"""

import math
import random
import sys

from geographiclib.geodesic import Geodesic

wgs84 = Geodesic.WGS84
random.seed(2013)


def anywhere():
    """A place, evenly distributed over the sphere."""
    return math.degrees(math.asin(random.uniform(-1, 1))), random.uniform(-180, 180)


def small(low, high):
    """A number whose logarithm is evenly distributed, of either sign."""
    return random.choice((-1, 1)) * 10 ** random.uniform(low, high)


def moved(place, azimuth, meters):
    end = wgs84.Direct(*place, azimuth, meters)
    return end["lat2"], end["lon2"]


def hard():
    near = [lambda: anywhere(), lambda: (0.0, random.uniform(-180, 180)),
            lambda: (random.choice((-1, 1)) * (90 - 10 ** random.uniform(-9, 0)), random.uniform(-180, 180)),
            lambda: (random.uniform(-80, 80), random.choice((-1, 1)) * (180 - 10 ** random.uniform(-9, -3)))]
    for index in range(120):  # 1 mm to 10 km
        place = near[index % 4]()
        yield place, moved(place, random.uniform(0, 360), 10 ** random.uniform(-3, 4))
    for pole in (90.0, -90.0):
        for longitude in (0.0, 77.0, -180.0):
            yield (pole, longitude), anywhere()
            yield anywhere(), (pole, longitude)
            yield (pole, longitude), (-pole, 13.0)
            yield (pole, longitude), (pole, 13.0)
            yield (pole, longitude), (pole - math.copysign(10 ** random.uniform(-9, -1), pole), random.uniform(-180, 180))
    for _ in range(20):
        place = anywhere()
        yield place, place
        yield place, (random.uniform(-90, 90), place[1])  # one meridian
        yield place, (place[0], random.uniform(-180, 180))  # one parallel
        yield place, (-place[0], random.uniform(-180, 180))
        yield (0.0, place[1]), (0.0, random.uniform(-180, 180))
        yield place, (-place[0], place[1] + 180)  # antipodal
        yield (0.0, place[1]), (0.0, place[1] + 180)
    for _ in range(100):  # nearly antipodal
        place = anywhere()
        yield place, (max(-90, min(90, -place[0] + small(-13, 0))), place[1] + 180 + small(-13, 0))
        yield (0.0, place[1]), (small(-13, 0), place[1] + 180 + small(-13, 0))
    for edge in (179.393, 179.3964, 179.3965, 179.397, 179.4, 179.5, 179.9, 179.999999, 180):
        yield (0.0, 0.0), (0.0, edge)  # the equator, where it ceases to be the shortest way
    # Cases that were difficult for implementations of the method (from GeographicLib's comments).
    for latitude, longitude in ((88.202499451857, 179.981022032992859592), (89.262080389218, 179.992207982775375662),
                                (89.333123580033, 179.99295812360148422)):
        yield (latitude, 0.0), (-latitude, longitude)
    for tiny in (5e-324, 1e-300, 1e-20, 1e-15):
        yield (tiny, 0.0), (-tiny, tiny)
        yield (tiny, 0.0), (-tiny, 180 - 1e-13)


print("latitude1,longitude1,latitude2,longitude2,meters")
pairs = [(anywhere(), anywhere()) for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 0)]
for start, end in pairs + list(hard()):
    print(*map(repr, (*start, *end, wgs84.Inverse(*start, *end)["s12"])), sep=",")
