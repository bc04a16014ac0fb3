#!/usr/bin/env python3
"""Ranges recorded walks with known truth, and prints the table of docs/ranging.md.

usage: Benchmarks/Studies/walks.py [BEACONSCAN [HALL]]

The command is .build/debug/beaconscan unless named. The walks are captures/walks/*.csv, of which captures/INDEX.md has the
sources; HALL is a folder with recordings that do not ship, as docs/ranging.md names them.
"""

import csv
import dataclasses
import datetime
import json
import math
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FLAT = ROOT / "captures/walks/flat.csv"
# The height of the beacon that the robot carried, and the places of the receivers, in meters.
HEIGHT, RECEIVERS = 1.3, {2: (0.79, 6.75, 2.62), 3: (3.03, 0.14, 2.38), 4: (3.79, 7.06, 1.85)}
# Until then the robot stood still: the level at receiver 2 gives the measured power.
STAY_END = 170
HALL_RECEIVER = (7.00, 7.09, 1.22)
# Where the beacon of the hall once stood for minutes, before receiver 10.
HALL_STAY = (5.17, 6.57, 2.35)


@dataclasses.dataclass
class Walk:
    """Packets of one beacon: seconds, true distance in meters, signal strength in dBm; and what range makes of them."""
    name: str
    power: float
    packets: list[tuple[float, float, int]]
    # Seconds, distance, low and high; NaN where the distance is not known.
    estimates: list[tuple[float, float, float, float]] = dataclasses.field(default_factory=list)

    def truth(self, seconds: float) -> float:
        """The true distance at a moment, between those of the packets before and after."""
        after = next((index for index, packet in enumerate(self.packets) if packet[0] >= seconds), -1)
        (start, low, _), (end, high, _) = self.packets[max(after - 1, 0)], self.packets[after]
        share = min(max((seconds - start) / (end - start), 0), 1) if end > start else 0
        return low + share * (high - low)

    def range(self, command: object) -> None:
        """Ranges the packets as beaconscan does, with the measured power and the standard exponent."""
        with tempfile.NamedTemporaryFile(suffix=".btsnoop") as file:
            file.write(btsnoop([(seconds, rssi) for seconds, _, rssi in self.packets]))
            file.flush()
            output = subprocess.run(
                [command, "range", "--replay", file.name, "--measured-power", f"{self.power:.0f}", "--format", "json"],
                check=True, capture_output=True, text=True).stdout
        for line in map(json.loads, output.splitlines()):
            time = datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00")) if "time" in line else None
            for beacon in line["beacons"] if line["type"] == "range" else []:
                numbers = (beacon[key] or math.nan for key in ("distance", "distanceLow", "distanceHigh"))
                self.estimates.append((time.timestamp(), *numbers))

    def smoothed(self, seconds: float) -> float:
        """The distance by the mean signal of the 5 s around a moment, which no filter can know at that moment."""
        near = [rssi for time, _, rssi in self.packets if abs(time - seconds) <= 2.5]
        return 10 ** ((self.power - statistics.mean(near)) / 20) if near else math.nan

    @property
    def known(self) -> list[tuple[float, float, float, float]]:
        return [estimate for estimate in self.estimates if not math.isnan(estimate[1])]

    def lag(self, reference: typing.Callable[[float], float]) -> float:
        """The shift of a reference, up to 15 s, that agrees best with the estimates."""
        def agreement(shift: float) -> float:
            pairs = [(distance, reference(time - shift)) for time, distance, _, _ in self.known
                     if time >= self.packets[0][0] + 15]
            pairs = [(math.log(distance), math.log(other)) for distance, other in pairs if not math.isnan(other)]
            return statistics.correlation(*zip(*pairs))

        return max((shift / 5 for shift in range(76)), key=agreement)

    def row(self) -> str:
        """The row of the table: how far the estimates are from the truth, and how late."""
        known = self.known
        errors = [abs(math.log2(distance / self.truth(seconds))) for seconds, distance, _, _ in known]
        meters = [abs(distance - self.truth(seconds)) for seconds, distance, _, _ in known]
        held = sum(low <= self.truth(seconds) <= high for seconds, _, low, high in known)
        raw = [abs(math.log2(10 ** ((self.power - rssi) / 20) / distance)) for _, distance, rssi in self.packets]
        distances = [distance for _, distance, _ in self.packets]
        return (
            f"| {self.name} | {len(self.packets)} in {self.packets[-1][0] - self.packets[0][0]:.0f} s "
            f"| {min(distances):.1f}–{max(distances):.1f} m | {statistics.median(raw):.2f} "
            f"| {statistics.median(errors):.2f} | {statistics.median(meters):.2f} m | {self.lag(self.truth):.1f} s "
            f"| {self.lag(self.smoothed):.1f} s "
            f"| {100 * held / len(known):.0f} % |")


def btsnoop(packets: list[tuple[float, int]]) -> bytes:
    """A recording of a beacon: LE Advertising Reports of an iBeacon, as a host receives them."""
    beacon = bytes.fromhex("0201061aff4c000215" + "e2c56db5dffb48d2b060d0f5a71096e0" + "00010001") + b"\xc5"
    recording = b"btsnoop\0" + struct.pack(">II", 1, 1002)
    for seconds, rssi in packets:
        report = bytes([2, 1, 0, 1]) + bytes.fromhex("010000acbec0") + bytes([len(beacon)]) + beacon
        event = bytes([4, 0x3E, len(report) + 1]) + report + struct.pack("b", rssi)
        time = 0x00DCDDB30F2F8000 + round(seconds * 1e6)
        recording += struct.pack(">IIIIq", len(event), len(event), 1, 0, time) + event
    return recording


def flat() -> list[Walk]:
    """A robot's way through a flat, once for each receiver. The power is known from a stay before one of them."""
    rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(FLAT.open())]
    places = [(row["x"], row["y"], HEIGHT) for row in rows]
    stay = [(row["rssi2"], math.dist(place, RECEIVERS[2]))
            for row, place in zip(rows, places) if row["seconds"] < STAY_END]
    power = statistics.mean(rssi + 20 * math.log10(distance) for rssi, distance in stay)
    return [
        Walk(f"flat, receiver {number}", power, [
            (row["seconds"], math.dist(place, receiver), int(row[f"rssi{number}"]))
            for row, place in zip(rows, places) if row["seconds"] > STAY_END])
        for number, receiver in RECEIVERS.items()]


def hall(folder: pathlib.Path) -> Walk:
    """A beacon that moves straight through a hall, past a receiver."""
    name = "sensor10_" + "_".join(f"{number:.2f}" for number in HALL_STAY)
    stay = [int(line.split(",")[3]) for line in (folder / "fpt/set_1" / f"{name}.mbd").open()]
    power = statistics.mean(stay) + 20 * math.log10(math.dist(HALL_STAY, HALL_RECEIVER))
    packets = []
    for line in (folder / "trk/straight_01/sensor10_0.00_0.00_0.00.mbd").open():
        time, _, _, rssi, *place = line.split(",")[:7]
        packets.append((float(time), math.dist(map(float, place), HALL_RECEIVER), int(rssi)))
    return Walk("hall", power, [(time - packets[0][0], *rest) for time, *rest in packets])


def walks(command: object, folder: str | None = None) -> list[Walk]:
    """All walks, ranged."""
    found = flat() + ([hall(pathlib.Path(folder))] if folder else [])
    for walk in found:
        walk.range(command)
    return found


def main() -> None:
    command = sys.argv[1] if len(sys.argv) > 1 else ROOT / ".build/debug/beaconscan"
    print("| Walk | Packets | True distance | \\|log₂\\|, one packet | \\|log₂\\| | Error | Behind the truth | Behind the signal | 95 % interval holds |")
    print("| - | - | - | - | - | - | - | - | - |")
    for walk in walks(command, sys.argv[2] if len(sys.argv) > 2 else None):
        print(walk.row())


if __name__ == "__main__":
    main()
