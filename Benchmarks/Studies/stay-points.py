#!/usr/bin/env python3
"""Compares the visits of simulated days with stay points that are computed independently.

The days are written by the tests:

    STAY_DAYS=60 STAY_DAYS_FILE=/tmp/days.csv swift test --filter VisitDayTests
    Benchmarks/Studies/stay-points.py /tmp/days.csv.10

Stay points are those of Li et al., "Mining user similarity based on location history" (ACM GIS 2008), offline, with
200 m and five minutes, of all fixes and of those with an accuracy of 200 m at most. It prints a table in Markdown.
"""

import math
import sys
from collections import defaultdict

RADIUS = 6371008.8


def distance(a, b):
    """Meters between (latitude, longitude) pairs, by the haversine formula."""
    (p, x), (q, y) = ((math.radians(v) for v in place) for place in (a, b))
    h = math.sin((q - p) / 2) ** 2 + math.cos(p) * math.cos(q) * math.sin((y - x) / 2) ** 2
    return 2 * RADIUS * math.asin(min(1, math.sqrt(h)))


def mean(places):
    """The mean place: the longitudes relative to the first, for the antimeridian."""
    base = places[0][1]
    east = sum((x - base + 180) % 360 - 180 for _, x in places) / len(places)
    return sum(p for p, _ in places) / len(places), base + east


def stay_points(fixes, meters=200, seconds=300):
    """(arrival, departure, place) of each stay point, by the algorithm of the paper (figure 3)."""
    found, i = [], 0
    while i < len(fixes):
        j = i + 1
        while j < len(fixes) and distance(fixes[i][1], fixes[j][1]) <= meters:
            j += 1
        if fixes[j - 1][0] - fixes[i][0] >= seconds:
            found.append((fixes[i][0], fixes[j - 1][0], mean([f[1] for f in fixes[i:j]])))
            i = j
        else:
            i += 1
    return found


def quantile(values, share):
    values = sorted(values)
    return values[min(int(share * len(values)), len(values) - 1)] if values else math.nan


def row(name, days, key):
    labels = found = count = 0
    arrivals, departures, distances = [], [], []
    for day in days.values():
        left = list(day[key])
        count += len(left)
        for start, end, place in day["label"]:
            labels += 1
            for visit in left:
                common = min(end, visit[1]) - max(start, visit[0])
                if common > 0.5 * (visit[1] - visit[0]) and common > 0.5 * (end - start):
                    left.remove(visit)
                    found += 1
                    # The first stay began before the start.
                    if start > 0:
                        arrivals.append(abs(visit[0] - start))
                    departures.append(abs(visit[1] - end))
                    distances.append(distance(visit[2], place))
                    break
    figures = [f"{found / max(count, 1):.3f}", f"{found / max(labels, 1):.3f}"]
    for values in (arrivals, departures, distances):
        figures.append(f"{quantile(values, 0.5):.0f} / {quantile(values, 0.95):.0f}")
    print(f"| {name} | {labels} | {count} | " + " | ".join(figures) + " |")


def main(path):
    days = defaultdict(lambda: defaultdict(list))
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            day, kind, time, latitude, longitude, rest, *_ = line.strip().split(",")
            place = (float(latitude), float(longitude))
            if kind == "fix":
                days[day]["fix"].append((float(time), place, float(rest)))
            else:
                days[day][kind].append((float(time), float(rest), place))
    for day in days.values():
        fixes = day["fix"]
        day["all"] = stay_points(fixes)
        day["good"] = stay_points([f for f in fixes if f[2] <= 200])
    print("| | labels | visits | precision | recall | arrival s (50 / 95 %) | departure s | center m |")
    print("| - | - | - | - | - | - | - | - |")
    row("detector", days, "visit")
    row("Li et al., accuracy up to 200 m", days, "good")
    row("Li et al., all fixes", days, "all")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: stay-points.py DAYS.csv")
    main(sys.argv[1])
