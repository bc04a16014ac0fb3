#!/usr/bin/env python3
"""Writes what the tests of tracks compare with, under Vectors/.

    python3 Tests/TrackTests/make-vectors.py FOLDER

FOLDER has the logs of gpsd's regression tests with their results, LOG.chk (test/daemon of gpsd). Of each epoch the last
report with a fix counts. drive.nmea is written by pynmea2 and drive.gpx by gpxpy (pip install pynmea2 gpxpy); their
.csv files hold what gpxpy reads back and what pynmea2 was given.
"""

import csv
import datetime
import json
import math
import pathlib
import sys

import gpxpy
import gpxpy.gpx
import pynmea2

OUT = pathlib.Path(__file__).parent / "Vectors"
COLUMNS = ["time", "lat", "lon", "altMSL", "altHAE", "speed", "track"]
LOGS = ["bt451", "haicom-305N", "nmea-fuzzy-cases", "quectel-eg25-g", "ublox-8"]


def write(name, rows):
    with open(OUT / f"{name}.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([["" if row.get(c) is None else row[c] for c in COLUMNS] for row in rows])


def from_gpsd(name, folder):
    reports = {}
    for line in open(folder / f"{name}.log.chk", encoding="ascii", errors="replace"):
        if line.startswith("{"):
            report = json.loads(line)
            if report["class"] == "TPV" and report.get("mode", 0) >= 2 and "time" in report:
                reports[report["time"]] = report
    write(name, reports.values())


START = datetime.datetime(2024, 2, 28, 23, 59, 30, tzinfo=datetime.timezone.utc)


def path(count, seconds):
    """A spiral over the antimeridian and the equator, with a midnight before a leap day."""
    for i in range(count):
        a = i / 10
        yield {
            "time": START + datetime.timedelta(seconds=seconds * i),
            "lat": 0.002 * math.sin(a), "lon": (360 + 179.999 + 0.0001 * i) % 360,
            "alt": 10 * math.cos(a), "speed": 5 + 4 * math.sin(a), "course": (37 * i / 3) % 360,
            "hdop": 0.7 + i % 5 / 10,
        }


def iso(time):
    return time.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def angle(value, digits):
    value = abs(value)
    whole = int(value)
    return f"{whole:0{digits}d}{(value - whole) * 60:09.6f}"


def nmea():
    lines, rows = [], []
    for p in path(120, 1):
        clock, date = p["time"].strftime("%H%M%S.00"), p["time"].strftime("%d%m%y")
        lon = p["lon"] - 360 if p["lon"] > 180 else p["lon"]
        place = (angle(p["lat"], 2), "N" if p["lat"] >= 0 else "S", angle(lon, 3), "E" if lon >= 0 else "W")
        knots = p["speed"] * 3600 / 1852
        lines += [
            pynmea2.GGA("GN", "GGA", (clock, *place, "1", "08", f"{p['hdop']:.1f}", f"{p['alt']:.2f}", "M", "-17.5", "M", "", "")),
            pynmea2.RMC("GN", "RMC", (clock, "A", *place, f"{knots:.3f}", f"{p['course']:.2f}", date, "", "", "A")),
        ]
        rows.append({
            "time": iso(p["time"]), "lat": p["lat"], "lon": lon, "altMSL": p["alt"], "altHAE": p["alt"] - 17.5,
            "speed": p["speed"], "track": p["course"],
        })
    (OUT / "drive.nmea").write_text("".join(f"{line}\r\n" for line in lines), newline="")
    write("drive-nmea", rows)


def gpx():
    file = gpxpy.gpx.GPX()
    file.creator = "make-vectors"
    file.name = "a <drive> \"and\" a walk"
    file.waypoints.append(gpxpy.gpx.GPXWaypoint(1, 2, name="\u00e9t\u00e9", time=START))
    route = gpxpy.gpx.GPXRoute()
    route.points.append(gpxpy.gpx.GPXRoutePoint(3, 4))
    file.routes.append(route)
    track = gpxpy.gpx.GPXTrack(name="one", description="<!-- not a comment -->")
    file.tracks.append(track)
    for i, p in enumerate(path(60, 5)):
        if i % 30 == 0:
            track.segments.append(gpxpy.gpx.GPXTrackSegment())
        lon = p["lon"] - 360 if p["lon"] > 180 else p["lon"]
        track.segments[-1].points.append(gpxpy.gpx.GPXTrackPoint(
            round(p["lat"], 9), round(lon, 9), elevation=round(p["alt"], 3), time=p["time"],
            speed=round(p["speed"], 3), horizontal_dilution=round(p["hdop"], 1)))
    text = file.to_xml(version="1.0")
    (OUT / "drive.gpx").write_text(text, encoding="utf-8")
    read = gpxpy.parse(text)
    write("drive-gpx", [
        {"time": iso(q.time), "lat": q.latitude, "lon": q.longitude, "altMSL": q.elevation, "speed": q.speed}
        for q in (p[0] for p in read.get_points_data())
    ])


OUT.mkdir(exist_ok=True)
for log in LOGS:
    from_gpsd(log, pathlib.Path(sys.argv[1]))
nmea()
gpx()
