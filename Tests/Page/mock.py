#!/usr/bin/env python3
"""A mock of `beaconscan serve`: serves the page and its HTTP interface with simulated beacons.

    mock.py [--port 8732] [--beacons 12] [--hostile] [--state FILE] [--visits SECONDS]
    mock.py --port 8732 --ask visitor=near

With `--state` the history survives, as in the service. With `--visits` the visitor comes and leaves periodically.
`--ask` changes a running mock: visitor=near|away, beacons=NUMBER, hostile=yes|no, reception=lost|well, regions=none|some,
only=yes|no (no beacon but the visitor), location=yes|no (a walk among circles), walk=yes|no, circle=enter|exit,
visit=begins|ends, source=fault|well.
Only this file and with_mock.py use `--ask`, which the real service does not have.
"""

import argparse
import datetime
import http.server
import json
import math
import os
import pathlib
import queue
import random
import threading
import time
import urllib.parse
import urllib.request

PAGE = pathlib.Path(os.environ.get("PAGE") or pathlib.Path(__file__).resolve().parents[2] / "Sources/KioskService/Page")
UUID = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
OTHER = "B9407F30-F5F8-466E-AFF9-25556B57FE6D"
NAMES = ["Entrance", "Coat check", "Ada’s badge", "Model railway", "Café", "Lift 2", None, "Cloakroom key", None,
         "Trolley 14", "Guide tablet", None]
HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "x" * 200,
           "שלום עולם (عربي) 123", "👩‍👩‍👧‍👦 family 🏳️‍🌈 badge 🧑🏽‍🚀", "\u202egnp.exe\u202c", "a\u0301" * 60, "\"'`;--${1}\\",
           "line\nbreak\ttab", "&lt;b&gt;not bold&lt;/b&gt;"]
HISTORY = 500
# Circles: name, meters to the east and to the north of HOME, radius, state.
HOME = (52.5163, 13.3777)
CIRCLES = [("Square", 0, 0, 200, "inside"), ("Station", 420, 60, 80, "outside"), ("Museum", -330, -160, 60, "unknown"),
           ("Airport", 9000, -21000, 1500, "outside")]


def stamp(seconds):
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def place(east, north):
    """Latitude and longitude so many meters from HOME, on a sphere."""
    degree = math.radians(1) * 6371008.8
    return HOME[0] + north / degree, HOME[1] + east / degree / math.cos(math.radians(HOME[0]))


class Beacon:
    """A beacon that wanders around a distance."""

    def __init__(self, uuid, major, minor, name, base, swing, seed):
        self.identity = {"uuid": uuid, "major": major, "minor": minor}
        self.name, self.base, self.swing = name, base, swing
        self.random = random.Random(seed)
        self.speed, self.phase = self.random.uniform(0.05, 0.2), self.random.uniform(0, 6.3)
        self.smoothed = None
        self.samples = []

    def sample(self, now):
        truth = self.base * math.exp(self.swing * math.sin(now * self.speed + self.phase))
        is_received = self.random.random() > 0.08
        raw = round(max(-105, -59 - 20 * math.log10(truth) + self.random.gauss(0, 3))) if is_received else None
        if raw is not None:
            self.smoothed = raw if self.smoothed is None else self.smoothed + 0.25 * (raw - self.smoothed)
        distance = None if self.smoothed is None else round(10 ** ((-59 - self.smoothed) / 20), 3)
        smoothed = None if self.smoothed is None else round(self.smoothed, 2)
        self.samples = self.samples[-299:] + [[now, raw, smoothed, distance]]

    def record(self):
        _, raw, smoothed, distance = self.samples[-1]
        known = distance is not None
        if known:
            zone = "immediate" if distance < 0.5 else "near" if distance < 4 else "far"
        else:
            zone = "unknown"
        result = dict(self.identity)
        if self.name:
            result["name"] = self.name
        result.update(
            proximity=zone, accuracy=round(distance * 0.42, 3) if known else None, distance=distance,
            distanceLow=round(distance / 2.1, 3) if known else None,
            distanceHigh=round(distance * 2.1, 3) if known else None, rssi=raw, measuredPower=-59,
            powerSource="advertised" if known else None, sightings=0 if raw is None else self.random.randint(1, 10),
            smoothedRSSI=smoothed, smoothedError=1.2 if known else None,
            rawDistance=None if raw is None else round(10 ** ((-59 - raw) / 20), 3))
        return result


class World:
    """The beacons, the regions and the streams, all of them under one lock."""

    def __init__(self, options):
        self.lock = threading.RLock()
        self.options, self.started = options, time.time()
        self.streams = []
        self.history, self.next = [], 1
        self.visitor = Beacon(UUID, 1, 100, "visitor", 0.6, 0.5, 100)
        self.is_near, self.is_lost, self.has_regions, self.is_alone = False, False, True, False
        self.lost_since = self.started
        self.has_location, self.walks, self.walked, self.visit_record = False, True, 0, None
        self.source = ("receiving", "gpsd receives")
        self.pool = []
        for index in range(1000):
            name = NAMES[index] if index < len(NAMES) else None if index % 3 else f"Tag {index}"
            base = math.exp(random.Random(index * 7 + 3).uniform(math.log(0.3), math.log(30)))
            self.pool.append(Beacon(UUID if index % 4 else OTHER, index % 5 + 1, index + 1, name, base, 0.35, index))
        for index, name in enumerate(HOSTILE):
            self.pool.insert(index, Beacon(OTHER, 9, index, name, 0.4 * 1.5 ** index, 0.3, index))
        self.skip = len(HOSTILE)
        if options.state and os.path.exists(options.state):
            saved = json.loads(pathlib.Path(options.state).read_text())
            self.history, self.next, self.is_near = saved["history"], saved["next"], saved["near"]
        now = time.time()
        for beacon in [self.visitor, *self.pool[:250]]:
            for second in range(300):
                beacon.sample(now - 300 + second)
        if not self.history:
            self.remember()
        self.regions = {}
        self.add_region("visitor", UUID, 1, 100, "inside" if self.is_near else "outside", 1 if self.is_near else 0)
        self.add_region("Badges of the staff", UUID, 1, None, "inside", 3, each=True)
        self.add_region("Loan tablets", OTHER, None, None, "outside", 0)
        self.add_region("Garage", "5AFFFFFF-0000-4000-8000-00000000BEEF", 7, None, "unknown", None)
        if self.is_near != options.near and (options.near or options.state):
            self.visit(options.near)  # What happened while the service did not run.

    def add_region(self, name, uuid, major, minor, state, beacons, each=False):
        last = self.change("state", name, state, beacons, "request")
        self.regions[name] = {
            "name": name, "uuid": uuid, "major": major, "minor": minor, "each": each, "state": state,
            "since": None if state == "unknown" else stamp(self.started - 754), "beacons": beacons, "isRemovable": False,
            "last": None if state == "unknown" else last}

    def locate(self, is_on):
        """Begins or ends to have locations, as another configuration of the service would."""
        self.has_location = is_on
        for name, east, north, radius, state in CIRCLES:
            if not is_on:
                self.regions.pop(name, None)
                continue
            latitude, longitude = place(east, north)
            self.regions[name] = {
                "name": name, "uuid": None, "major": None, "minor": None, "latitude": latitude, "longitude": longitude,
                "radius": radius, "each": False, "state": state, "beacons": None, "isRemovable": False,
                "since": None if state == "unknown" else stamp(self.started - 754), "last": None}
        self.send("snapshot", self.snapshot(), str(self.next - 1))

    def cross(self, kind):
        """Crosses the boundary of the first circle."""
        region = self.regions[CIRCLES[0][0]]
        state = "inside" if kind == "enter" else "outside"
        record = {"type": kind, "time": stamp(time.time()), "region": region["name"], "state": state,
                  **({"dwell": 754.2} if kind == "exit" else {}),
                  **{key: region[key] for key in ("latitude", "longitude", "radius")},
                  "distance": 24.5 if kind == "exit" else -24.5,
                  "reason": {"rule": "clear", "accuracy": 9.25, "duration": 12, "fixes": 7}}
        region.update(state=state, since=record["time"], last=record)
        self.add(kind, record)

    def dwell(self, is_over):
        """Begins or ends a visit."""
        now = time.time()
        latitude, longitude = HOME
        self.visit_record = {"type": "visit", "time": stamp(now), "latitude": latitude, "longitude": longitude, "accuracy": 20,
                             "arrival": stamp(now - 1560), "departure": stamp(now) if is_over else None}
        self.add("visit", self.visit_record)

    def fix(self):
        """A walk around HOME, 120 meters from it, counterclockwise from the east."""
        angle = self.walked / 85
        latitude, longitude = place(120 * math.cos(angle), 120 * math.sin(angle))
        return {"type": "fix", "time": stamp(time.time()), "latitude": round(latitude, 7), "longitude": round(longitude, 7),
                "accuracy": 9.25, "altitude": 34.2, "ellipsoidalAltitude": None, "verticalAccuracy": 4.1, "speed": 1.41,
                "speedAccuracy": 0.2, "course": -math.degrees(angle) % 360, "courseAccuracy": 5}

    def heading(self):
        angle = (30 - math.degrees(self.walked / 85)) % 360
        return {"type": "heading", "time": stamp(time.time()), "magneticHeading": (angle - 4.5) % 360, "trueHeading": angle,
                "headingAccuracy": 15, "microteslas": {"x": 10, "y": 20, "z": -40}}

    def location(self):
        return {"fix": self.fix(), "heading": self.heading(), "visit": self.visit_record} if self.has_location else None

    def sources(self):
        state, message = self.source
        return [{"type": "health", "time": stamp(self.started), "service": "location", "state": state, "message": message}]

    def change(self, kind, region, state, beacons, rule, beacon=None, dwell=None):
        now = stamp(time.time())
        record = {"type": kind, "time": now, "region": region, "state": state}
        if kind == "exit":
            record["dwell"] = dwell
        identity = dict(beacon.identity) if beacon else {"uuid": None, "major": None, "minor": None}
        named = {"name": beacon.name} if beacon else {}
        rssi = beacon.samples[-1][1] if beacon and beacon.samples else None
        last = {"time": now, **identity, **named, "rssi": rssi} if beacon else None
        record.update(**identity, **named, distance=None if rssi is None else round(10 ** ((-59 - rssi) / 20), 3),
                      rssi=rssi, beacons=beacons)
        record["reason"] = {
            "rule": rule, "lastSighting": last, "samples": 120 if beacon else 0,
            "exitTimeout": 2 if rule == "exitTimeout" else None, "interval": 0.1 if rule == "exitTimeout" else None,
            "loss": 0.043 if rule == "exitTimeout" else None}
        return record

    def remember(self):
        """Adds what happened before the start."""
        for index, (age, kind) in enumerate([(9000, "enter"), (8922, "exit"), (5400, "enter"), (5280, "exit"), (1500, "enter"),
                                             (1390, "exit")]):
            record = self.change(kind, "visitor", "inside" if kind == "enter" else "outside", int(kind == "enter"),
                                 "sighting" if kind == "enter" else "exitTimeout", self.visitor, 78.272 + 8 * index)
            record["time"] = stamp(self.started - age)
            self.history.append({"id": str(self.next), "event": record})
            self.next += 1

    def save(self):
        if self.options.state:
            text = json.dumps({"history": self.history, "next": self.next, "near": self.is_near})
            pathlib.Path(self.options.state).write_text(text)

    def add(self, name, record):
        """Adds an event to the history and to each stream."""
        number, self.next = str(self.next), self.next + 1
        self.history = self.history[-HISTORY + 1:] + [{"id": number, "event": record}]
        self.save()
        self.send(name, record, number)

    def send(self, name, record, number=None):
        for stream in self.streams:
            stream.put((name, record, number))

    def visit(self, is_near):
        with self.lock:
            if is_near == self.is_near:
                return
            self.is_near = is_near
            region = self.regions["visitor"]
            record = (self.change("enter", "visitor", "inside", 1, "sighting", self.visitor) if is_near else
                      self.change("exit", "visitor", "outside", 0, "exitTimeout", self.visitor, 78.272))
            region.update(state=record["state"], since=record["time"], beacons=record["beacons"], last=record)
            self.add(record["type"], record)

    def lose(self, is_lost):
        with self.lock:
            if is_lost != self.is_lost:
                self.is_lost, self.lost_since = is_lost, time.time()
                self.add("health", self.receivers()[0])

    def receivers(self):
        state, message = ("removed", "hci0 is gone; plug it in") if self.is_lost else ("scanning", "hci0 receives")
        return [{"type": "health", "time": stamp(self.lost_since), "state": state, "adapter": "hci0",
                 "address": "00:AA:01:00:00:01", "receptionLost": self.is_lost, "message": message}]

    def near(self):
        beacons = [self.visitor] if self.is_near else []
        if not self.is_alone:
            start = 0 if self.options.hostile else self.skip
            beacons += self.pool[start:start + self.options.beacons]
        return beacons

    def range(self):
        records = [beacon.record() for beacon in self.near()]
        records.sort(key=lambda record: math.inf if record["distance"] is None else record["distance"])
        return {"type": "range", "time": stamp(time.time()), "region": None, "beacons": records}

    def shown_regions(self):
        # The hostile one first, because the page's help names the first.
        found = sorted(self.regions.values(), key=lambda region: region["name"] not in HOSTILE)
        return found if self.has_regions else []

    def region(self, name):
        """One region, and why it was not entered."""
        region = self.regions[name]
        if region["state"] == "inside" or region.get("radius"):
            return region
        beacon = self.visitor if name == "visitor" else None
        identity = dict(beacon.identity, name=beacon.name) if beacon else {"uuid": None, "major": None, "minor": None}
        distance = beacon.samples[-1][3] if beacon else None
        message = f"nearest {distance:.2f} m; within 0.2 m is needed" if beacon else "none of its beacons was received"
        needed = {"rssi": None, "distance": 0.2, "count": 1, "of": 1, "dwell": 0}
        return {**region, "approach": {
            "rule": "distance" if beacon else "sighting", **identity, "sightings": 729 if beacon else 0,
            "rssi": beacon.samples[-1][1] if beacon else None, "distance": distance, "evidence": 0 if beacon else None,
            "count": 0 if beacon else None, "dwell": 0 if beacon else None, "needed": needed, "message": message}}

    def health(self):
        return {"receiving": not self.is_lost, "receivers": self.receivers(), "faults": [],
                "locationSources": self.sources() if self.has_location else [], "uptime": round(time.time() - self.started, 3),
                "version": "mock"}

    def snapshot(self):
        ranged = self.range()
        return {"time": ranged["time"], "regions": self.shown_regions(), "beacons": ranged["beacons"],
                "health": self.health(), "location": self.location()}

    def signal(self):
        return {"beacons": [{**beacon.identity, **({"name": beacon.name} if beacon.name else {}),
                             "samples": beacon.samples} for beacon in self.near()[:64]]}

    def run(self):
        began = time.time()
        while True:
            time.sleep(1 - time.time() % 1)
            if self.options.visits:
                self.visit(int((time.time() - began) / self.options.visits) % 2 == 0)
            with self.lock:
                if self.has_location and self.walks:
                    self.walked += 1
                    self.send("fix", self.fix())
                    self.send("heading", self.heading())
                if self.is_lost:
                    continue
                for beacon in self.near():
                    beacon.sample(round(time.time(), 3))
                self.send("range", self.range())

    def ask(self, query):
        with self.lock:
            for key, value in query:
                if key == "visitor":
                    self.visit(value == "near")
                elif key == "reception":
                    self.lose(value == "lost")
                elif key == "beacons":
                    self.options.beacons = int(value)
                    for beacon in self.near():
                        if not beacon.samples:
                            beacon.sample(round(time.time(), 3))
                elif key == "hostile":
                    self.options.hostile = value == "yes"
                    name = HOSTILE[1]
                    if self.options.hostile and name not in self.regions:
                        self.add_region(name, OTHER, 9, None, "inside", 3)
                    elif not self.options.hostile:
                        self.regions.pop(name, None)
                    self.send("regions", {"regions": self.shown_regions()})
                elif key == "regions":
                    self.has_regions = value == "some"
                    self.send("regions", {"regions": self.shown_regions()})
                elif key == "location":
                    self.locate(value == "yes")
                elif key == "walk":
                    self.walks = value == "yes"
                elif key == "circle":
                    self.cross(value)
                elif key == "visit":
                    self.dwell(value == "ends")
                elif key == "source":
                    self.source = ("notRunning", "gpsd does not run; start it") if value == "fault" else ("receiving", "gpsd receives")
                    self.add("health", self.sources()[0])
                elif key == "only":
                    self.is_alone = value == "yes"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    world = None
    FILES = {"/": ("page.html", "text/html"), "/page.css": ("page.css", "text/css"), "/icon.svg": ("icon.svg", "image/svg+xml"),
             **{f"/{name}.js": (f"{name}.js", "text/javascript") for name in ("page", "location", "elements")}}

    def answer(self, body, kind="application/json", status=200):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Security-Policy", "default-src 'self'")
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):  # pylint: disable=invalid-name
        address = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(address.query))
        world, path = self.world, address.path
        if path in self.FILES:
            name, kind = self.FILES[path]
            self.answer((PAGE / name).read_bytes(), kind)
        elif path == "/api/v1/events":
            self.stream()
        else:
            with world.lock:
                answers = {"/api/v1/beacons": world.range, "/api/v1/health": world.health, "/api/v1/signal": world.signal,
                           **({"/api/v1/location": world.location} if world.has_location else {}),
                           "/api/v1/regions": lambda: {"regions": world.shown_regions()},
                           "/api/v1/history": lambda: {"events": world.history[-int(query.get("limit", 100)):],
                                                       "next": None}}
                name = urllib.parse.unquote(path.removeprefix("/api/v1/regions/"))
                if path.startswith("/api/v1/regions/") and name in world.regions:
                    answers[path] = lambda: world.region(name)
                found = answers.get(path)
                body = found() if found else {"error": f"There is no {path}."}
            self.answer(body, status=200 if found else 404)

    def do_POST(self):  # pylint: disable=invalid-name
        address = urllib.parse.urlsplit(self.path)
        if address.path == "/test":
            self.world.ask(urllib.parse.parse_qsl(address.query))
        self.answer({}, status=200 if address.path == "/test" else 404)

    def stream(self):
        world, events = self.world, queue.Queue(1000)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        self.close_connection = True
        self.wfile.write(b"retry: 1000\n\n")
        with world.lock:
            last = self.headers.get("Last-Event-ID")
            if last and last.isdigit():
                if world.history and int(world.history[0]["id"]) > int(last) + 1:
                    events.put(("missed", {"since": last}, None))
                for entry in world.history:
                    if int(entry["id"]) > int(last):
                        events.put((entry["event"]["type"], entry["event"], entry["id"]))
            events.put(("snapshot", world.snapshot(), str(world.next - 1)))
            world.streams.append(events)
        try:
            while True:
                try:
                    name, record, number = events.get(timeout=15)
                except queue.Empty:
                    self.wfile.write(b": keep-alive\n\n")
                    continue
                head = f"id: {number}\n" if number else ""
                self.wfile.write(f"{head}event: {name}\ndata: {json.dumps(record)}\n\n".encode())
        except OSError:
            pass
        finally:
            with world.lock:
                world.streams.remove(events)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request, client_address):
        pass  # A browser that closes a connection is no error.


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8732)
    parser.add_argument("--beacons", type=int, default=12)
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--near", action="store_true", help="the visitor is there at the start")
    parser.add_argument("--state")
    parser.add_argument("--visits", type=float)
    parser.add_argument("--ask", action="append")
    options = parser.parse_args()
    if options.ask:
        query = urllib.parse.urlencode([tuple(item.split("=", 1)) for item in options.ask])
        request = urllib.request.Request(f"http://127.0.0.1:{options.port}/test?{query}", method="POST")
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10).close()
        return
    Handler.world = World(options)
    server = Server(("127.0.0.1", options.port), Handler)
    threading.Thread(target=Handler.world.run, daemon=True).start()
    print("ready", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
