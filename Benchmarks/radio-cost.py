#!/usr/bin/python3
"""Measures what reception costs, through raw HCI, through bluetoothd, and with bleak, in the guest.

    /usr/bin/python3 -m venv /tmp/bleak && /tmp/bleak/bin/pip install bleak
    Scripts/guest-test.sh --run 'Benchmarks/radio-cost.py --bleak /tmp/bleak/bin/python'

Without --bleak only the command is measured. It is .build/release/beaconscan, as guest-test.sh builds it.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = ROOT / ".build/guest/built/beaconscan"
REGION = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
PERSON = ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "--inh-caps=-all"]

# What bleak is given to do: a line of JSON for each iBeacon, as `beaconscan scan --format json` writes it.
BLEAK = """
import asyncio, json, sys, time
from bleak import BleakScanner
from bleak.args.bluez import BlueZScannerArgs, OrPattern
from bleak.assigned_numbers import AdvertisementDataType

def found(device, advert):
    data = advert.manufacturer_data.get(0x4C)
    if data is None or data[:2] != b"\\x02\\x15" or len(data) != 23:
        return
    print(json.dumps({
        "type": "sighting", "time": time.time(), "uuid": data[2:18].hex(),
        "major": int.from_bytes(data[18:20]), "minor": int.from_bytes(data[20:22]),
        "measuredPower": data[22] - 256, "rssi": advert.rssi, "address": device.address}))

async def main():
    mode = sys.argv[1]
    if mode == "active":
        bluez = BlueZScannerArgs(filters={"Transport": "le", "DuplicateData": True})
    else:
        pattern = OrPattern(
            0, AdvertisementDataType.MANUFACTURER_SPECIFIC_DATA, b"\\x4c\\x00\\x02\\x15")
        bluez = BlueZScannerArgs(or_patterns=[pattern])
    async with BleakScanner(found, scanning_mode=mode, bluez=bluez):
        await asyncio.Event().wait()

asyncio.run(main())
"""


def use(process: int) -> tuple[float, int]:
    """Seconds of processor time, and how often its threads waited."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    waits = 0
    for thread in pathlib.Path(f"/proc/{process}/task").iterdir():
        try:
            status = (thread / "status").read_text()
        except FileNotFoundError:
            continue  # it has ended
        waits += int(status.rpartition("\nvoluntary_ctxt_switches:")[2].split()[0])
    return seconds, waits


def until(condition) -> None:
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("radio-cost: what is waited for does not come")
        time.sleep(0.1)


def lines(path: pathlib.Path, part: bytes) -> int:
    return path.read_bytes().count(part)


class Place:
    """A virtual controller, the bus and bluetoothd."""

    def __init__(self, folder: pathlib.Path):
        self.log = folder / "controller"
        self.air = subprocess.Popen(
            ["/usr/bin/python3", "-B", ROOT / "Tests/Guest/controller", "--log", self.log, "-"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self.order(plug="a", addr="00:AA:01:00:00:42")
        pathlib.Path("/run/dbus").mkdir(exist_ok=True)
        self.bus = subprocess.Popen(["dbus-daemon", "--system", "--nofork", "--nopidfile"])
        until(pathlib.Path("/run/dbus/system_bus_socket").exists)
        self.daemon = subprocess.Popen(
            ["/usr/libexec/bluetooth/bluetoothd", "-n", "-E"], stderr=subprocess.DEVNULL)
        until(self.is_on)

    @staticmethod
    def is_on() -> bool:
        words = "busctl set-property org.bluez /org/bluez/hci0 org.bluez.Adapter1 Powered b true"
        return subprocess.run(words.split(), stderr=subprocess.DEVNULL).returncode == 0

    def order(self, **order) -> None:
        print(json.dumps(order), file=self.air.stdin, flush=True)

    def stop(self) -> None:
        for process in (self.daemon, self.bus):
            process.terminate()
            process.wait()
        self.order(quit=True)
        self.air.wait()


def measure(
        place: Place, name: str, words: list, output: pathlib.Path, seconds: float, crowd: int) -> None:
    """Prints what a program costs in a quiet room, and with a crowd of beacons ten times a second."""
    with output.open("wb") as file:
        client = subprocess.Popen([str(word) for word in words], stdout=file)
    time.sleep(5)
    for beacons in (0, crowd):
        if beacons:
            place.order(id="x", uuid=REGION, count=beacons, interval=100, jitter=0, noise=3, rssi=-60)
            time.sleep(3)
        watched = [client.pid, place.daemon.pid, place.bus.pid]
        before = [use(process) for process in watched]
        sent = lines(place.log, b'{"type":"report"')
        received = lines(output, b'"sighting"')
        began = time.monotonic()
        time.sleep(seconds)
        after = [use(process) for process in watched]
        span = time.monotonic() - began
        sent = lines(place.log, b'{"type":"report"') - sent
        received = lines(output, b'"sighting"') - received
        cells = [f"{sent / span:.0f}", f"{received / span:.0f}"]
        for (cpu, waits), (earlier, fewer) in zip(after, before):
            cells.append(f"{(cpu - earlier) / span * 100:.1f} % {(waits - fewer) / span:.1f}")
        print(f"{name:<24}" + "".join(f"{cell:>17}" for cell in cells), flush=True)
    place.order(id="x", count=crowd, off=True)
    client.terminate()
    client.wait()
    time.sleep(3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bleak", help="an interpreter that has bleak")
    parser.add_argument("--beacons", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=20)
    arguments = parser.parse_args()
    if "BEACONSCAN_GUEST" not in os.environ:
        sys.exit("radio-cost: it needs the guest: Scripts/guest-test.sh --run Benchmarks/radio-cost.py")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["XDG_STATE_HOME"] = name
        print("Processor time, and voluntary context switches in a second; adverts and sightings in a second")
        titles = ["adverts", "sightings", "client", "bluetoothd", "dbus-daemon"]
        print(" " * 24 + "".join(f"{title:>17}" for title in titles))
        scan = [COMMAND, "scan", "--format", "json", "--adapter", "hci0", "--backend"]
        monitor = [
            COMMAND, "monitor", "--format", "json", "--adapter", "hci0", "--region", f"x={REGION}",
            "--backend"]
        programs = [
            ("scan, hci", scan + ["hci"]), ("scan, bluez", PERSON + scan + ["bluez"]),
            ("monitor, hci", monitor + ["hci"]), ("monitor, bluez", PERSON + monitor + ["bluez"])]
        if arguments.bleak:
            for mode in ("active", "passive"):
                programs.append((f"bleak, {mode}", PERSON + [arguments.bleak, "-c", BLEAK, mode]))
        place = Place(folder)
        for number, (title, words) in enumerate(programs):
            measure(place, title, words, folder / f"output-{number}", arguments.seconds, arguments.beacons)
        place.stop()


main()
