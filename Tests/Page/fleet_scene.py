"""A day of simulated sites for the fleet's page: site files, and what workers publish.

Everything follows from a seed. People with badges arrive in the morning, go from room to room and leave in the evening.
"""

import datetime
import json
import math
import random

UUID = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
NOON = datetime.datetime(2026, 1, 15, 12, tzinfo=datetime.timezone.utc)
ROOMS = [
    # Name, floor, outline.
    ("Entrance hall", 0, [[18, 0], [30, 0], [30, 9], [18, 9]]),
    ("Shop", 0, [[30, 0], [38, 0], [38, 9], [30, 9]]),
    ("Café", 0, [[38, 0], [50, 0], [50, 9], [38, 9]]),
    ("Cloakroom", 0, [[10, 0], [18, 0], [18, 9], [10, 9]]),
    ("Lecture hall", 0, [[0, 0], [10, 0], [10, 14], [0, 14]]),
    ("Gallery walk", 0, [[10, 9], [50, 9], [50, 14], [10, 14]]),
    ("Antiquity", 0, [[0, 14], [12, 14], [12, 26], [0, 26]]),
    ("Coins", 0, [[12, 20], [18, 20], [18, 26], [12, 26]]),
    ("Ceramics", 0, [[12, 14], [24, 14], [24, 26], [18, 26], [18, 20], [12, 20]]),
    ("Armory", 0, [[24, 14], [34, 14], [34, 26], [24, 26]]),
    ("Textiles", 0, [[34, 14], [42, 14], [42, 20], [34, 20]]),
    ("Prints", 0, [[34, 20], [42, 20], [42, 26], [34, 26]]),
    ("Workshop", 0, [[42, 14], [50, 14], [50, 20], [42, 20]]),
    ("Store", 0, [[42, 20], [50, 20], [50, 26], [42, 26]]),
    ("Ticket office", 0, [[24, 26], [34, 26], [34, 30], [24, 30]]),
    ("Loading bay", 0, [[34, 26], [50, 26], [50, 30], [34, 30]]),
    ("Security", 0, [[12, 26], [18, 26], [18, 30], [12, 30]]),
    ("Archive", 0, [[0, 26], [12, 26], [12, 30], [0, 30]]),
    ("Upper walk", 1, [[0, 11], [50, 11], [50, 15], [0, 15]]),
    ("Impressionists", 1, [[0, 15], [14, 15], [14, 28], [0, 28]]),
    ("Landscapes", 1, [[14, 15], [26, 15], [26, 28], [14, 28]]),
    ("Portraits", 1, [[26, 15], [38, 15], [38, 28], [26, 28]]),
    ("Modern", 1, [[38, 15], [50, 15], [50, 28], [38, 28]]),
    ("Sculpture", 1, [[0, 0], [16, 0], [16, 11], [0, 11]]),
    ("Photography", 1, [[16, 0], [26, 0], [26, 11], [16, 11]]),
    ("Reading room", 1, [[26, 0], [36, 0], [36, 11], [26, 11]]),
    ("Offices", 1, [[36, 0], [44, 0], [44, 11], [36, 11]]),
    ("Director", 1, [[44, 0], [50, 0], [50, 5], [44, 5]]),
    ("Meeting room", 1, [[44, 5], [50, 5], [50, 11], [44, 11]]),
    ("Server room", 1, [[44, 28], [50, 28], [50, 31], [44, 31]]),
]
ASSETS = [("Wheelchair 1", ["Entrance hall", "Gallery walk", "Cloakroom"]), ("Wheelchair 2", ["Entrance hall", "Gallery walk", "Cloakroom"]),
          ("Lift truck", ["Loading bay", "Store", "Workshop"]), ("Projector 1", ["Lecture hall"]), ("Projector 2", ["Meeting room", "Lecture hall"]),
          ("Loan crate 17", ["Store", "Archive"])]
PEOPLE = "Anna Ben Chloé David Elif Farid Greta Hugo Ines Jonas Kofi Lena Mateo Nadia Omar Paula Quinn Rosa Sven Tara".split()


def stamp(second):
    return datetime.datetime.fromtimestamp(second, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000000Z")


def inside(outline, x, y):
    found = False
    for (x1, y1), (x2, y2) in zip(outline, outline[1:] + outline[:1]):
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) / (y2 - y1) * (x2 - x1):
            found = not found
    return found


class Scene:
    """A site with so many beacons, at a second of its day."""

    def __init__(self, name="museum", beacons=1000, seed=1, is_well=False):
        self.name, self.random = name, random.Random(seed)
        self.is_well = is_well
        self.end = int((NOON + datetime.timedelta(hours=3, minutes=12)).timestamp())
        self.receivers = [(f"{room.lower().replace(' ', '-').replace('é', 'e')}", room, floor, self.wall(outline)) for room, floor, outline in ROOMS]
        self.identities = [f"{UUID}:{7 if number < len(ASSETS) else 1}:{number + 1}" for number in range(beacons)]
        self.names = {self.identities[number]: name for number, name in enumerate(
            [name for name, _ in ASSETS] + [f"Guide {name}" for name in PEOPLE] + [f"Badge {number:03}" for number in range(1, 301)])
            if number < beacons}
        self.changes, self.places = [], {}
        for number, identity in enumerate(self.identities):
            self.walk(number, identity)
        self.changes.sort(key=lambda change: (change["time"], change["beacon"]))
        self.fault = {} if is_well else {"store": "silent", "modern": "silent", "security": "lost", "director": "clock"}

    @staticmethod
    def wall(outline):
        """A place at the wall, in the middle of the first side."""
        (x1, y1), (x2, y2) = outline[0], outline[1]
        return [round((x1 + x2) / 2, 2), round((y1 + y2) / 2 + 0.5, 2)]

    def toml(self, plan=None):
        lines = [f'name = "{self.name}"']
        if plan:
            lines += ["", "[plan]", f'image = "{plan}"', "metersPerPixel = 0.05"]
        for name, floor, outline in ROOMS:
            lines += ["", "[[rooms]]", f'name = "{name}"', f"outline = {outline}", f"floor = {floor}"]
        for name, _, floor, place in self.receivers:
            lines += ["", "[[receivers]]", f'name = "{name}"', f"at = {place}", f"floor = {floor}"]
        for identity, name in self.names.items():
            lines += ["", "[[beacons]]", f'beacon = "{identity}"', f'name = "{name}"']
            rooms = dict(ASSETS).get(name)
            if rooms:
                lines += [f"rooms = {json.dumps(rooms)}"]
        return "\n".join(lines) + "\n"

    def walk(self, number, identity):
        """The changes of a beacon in the day before the end."""
        draw = self.random
        begin = self.end - 86000
        weights = [1 + 4 * (name in ("Entrance hall", "Café", "Gallery walk", "Antiquity", "Impressionists")) for name, _, _ in ROOMS]
        is_asset = number < len(ASSETS)
        home = ASSETS[number][1] if is_asset else [room for room, _, _ in ROOMS]
        noon = self.end - 3 * 3600 - 12 * 60
        arrival = begin + 60 if is_asset else noon + int(draw.gauss(-1.5, 1.6) * 3600)
        leaving = self.end + 9e9 if is_asset or number % 3 else noon + int(draw.gauss(2, 1.3) * 3600)
        second, former, place = max(arrival, begin), None, None
        while second < min(self.end, leaving):
            room = draw.choices(home, [weights[[name for name, _, _ in ROOMS].index(name)] for name in home])[0]
            if room != place:
                former, place = place, room
                self.change(identity, second, former, place)
            second += 20 + int(draw.expovariate(1 / (7200 if is_asset else 1500)))
        if place and leaving < self.end:
            self.change(identity, int(leaving), place, None)
        if number == len(ASSETS) - 1 and not self.is_well:
            self.change(identity, self.end - 754, place, "Ticket office")

    def change(self, identity, second, former, room):
        """Records a change; without a room it is to the outside."""
        probability = round(self.random.uniform(0.76, 0.999), 3)
        record = {"id": f"{self.name}/{identity}/{second}", "site": self.name, "time": stamp(second), "beacon": identity,
                  "formerIsOutside": former is None, "isOutside": room is None, "probability": probability,
                  "runnerUpProbability": round((1 - probability) * 0.7, 3), "missing": []}
        if former:
            record["former"] = former
        if room:
            record["room"] = room
        self.changes.append(record)
        self.places[identity] = (room, second)
        return record

    def place(self, room):
        name, _, outline = next(entry for entry in ROOMS if entry[0] == room)
        xs, ys = [x for x, _ in outline], [y for _, y in outline]
        while True:
            x, y = self.random.uniform(min(xs) + .6, max(xs) - .6), self.random.uniform(min(ys) + .6, max(ys) - .6)
            if inside(outline, x, y):
                return round(x, 2), round(y, 2)

    def move(self, second, count):
        """Lets some beacons change their rooms in a second, and returns the changes."""
        found = []
        visitors = self.identities[len(ASSETS):]
        for identity in self.random.sample(visitors, min(count, len(visitors))):
            room = self.random.choice(ROOMS)[0]
            former, since = self.places.get(identity, (None, 0))
            if room != former and since < second:
                found.append(self.change(identity, second, former, room))
        return found

    def picture(self, second, part_size=2000):
        """The messages of a picture."""
        receivers = []
        for name, room, _, _ in self.receivers:
            fault = self.fault.get(name)
            record = {"name": name, "isMissing": fault == "silent", "beacons": sum(place == room for place, _ in self.places.values()) * 2 + 3,
                      "lastReport": stamp(second - (1260 if fault == "silent" else 0))}
            if fault == "lost":
                record["receptionLost"] = "The adapter hci0 is powered off; power it on with: bluetoothctl power on"
            if fault == "clock":
                record["clockDifference"] = 4.3
            receivers.append(record)
        beacons = []
        for number, identity in enumerate(self.identities):
            room, since = self.places.get(identity, (None, self.end - 86400))
            generator = random.Random(f"{identity} {since}")
            probability = round(generator.uniform(0.76, 0.999), 3)
            other = generator.choice([name for name, _, _ in ROOMS if name != room])
            record = {"beacon": identity, "isOutside": room is None, "since": stamp(since), "probability": probability,
                      "bestProbability": probability, "runnerUp": other, "runnerUpProbability": round((1 - probability) * generator.uniform(.4, .9), 3),
                      "received": stamp(second - (0 if room else 4000))}
            if self.fault and number == 1:
                record["fading"] = 9.4
            if room:
                saved, self.random = self.random, generator
                x, y = self.place(room)
                self.random = saved
                angle = second / 40 + number
                record |= {"best": room, "x": round(x + .25 * math.cos(angle), 2), "y": round(y + .25 * math.sin(angle), 2)}
                if number % 23 == 22:
                    # Between two rooms: none is reported.
                    record |= {"probability": 0.0, "bestProbability": 0.55, "runnerUpProbability": 0.4}
                else:
                    record["room"] = room
            beacons.append(record)
        parts = [beacons[at:at + part_size] for at in range(0, len(beacons), part_size)] or [[]]
        return [{"site": self.name, "time": stamp(second), "part": number, "parts": len(parts), "receivers": receivers, "beacons": part,
                 "strangers": ["hall-9"] if self.fault else [], "ignored": 0} for number, part in enumerate(parts)]
