#!/usr/bin/env python3
"""Checks `beaconscan-fleet up`: a simulated site, a receiver by MQTT, SIGKILL, and the end.

    Tests/Checks/fleet-up.py COMMAND

COMMAND is beaconscan-fleet. It needs rabbitmq-server and mosquitto_pub.
"""

import datetime
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

LIMIT = float(os.environ.get("BEACONSCAN_PATIENCE", 180))
SITE = """name = "museum"
[[rooms]]
name = "hall"
outline = [[0, 0], [6, 0], [6, 6], [0, 6]]
[[receivers]]
name = "hall-1"
at = [3, 3]
"""


def free_ports(count):
    """Returns the first of some ports in a row that nobody uses."""
    for first in range(21000, 31000, 10):
        try:
            for port in range(first, first + count):
                socket.create_server(("127.0.0.1", port)).close()
            return first
        except OSError:
            continue
    raise SystemExit("fleet-up: there are no free ports")


class Fleet:
    def __init__(self, command, folder):
        self.engine = free_ports(5)
        self.mqtt, self.page = self.engine + 3, self.engine + 4
        self.log = folder / "log"
        self.arguments = [command, "up", str(folder / "fleet"), "--simulate", "2", "--engine-port", str(self.engine),
                          "--mqtt-port", str(self.mqtt), "--listen", str(self.page)]
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.arguments, stdout=log, stderr=log)

    def sites(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.page}/api/v1/sites", timeout=10) as answer:
                return {site["site"]: site for site in json.load(answer)["sites"]}
        except (OSError, ValueError):
            return {}

    def wait(self, what, condition):
        end = time.monotonic() + LIMIT
        while not condition(self.sites()):
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"fleet-up: {what}, which did not happen:\n{self.log.read_text()}")
            time.sleep(0.5)
        print(f"fleet-up: {what}")

    def report(self, number):
        """Reports a beacon beside the receiver of the museum, as beaconscan serve --fleet does, if the broker is there."""
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:23] + "Z"
        beacon = {"beacon": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:7:7", "sightings": 8, "rssi": -62, "variance": 1,
                  "maximum": -60, "power": -59}
        report = {"version": 1, "site": "museum", "receiver": "hall-1", "boot": "00c0ffee00000001", "number": number,
                  "time": now, "seconds": 1, "receptionLost": None, "beacons": [beacon]}
        subprocess.run(["mosquitto_pub", "-h", "127.0.0.1", "-p", str(self.mqtt), "-u", "guest", "-P", "guest", "-q", "1",
                        "-t", "fleet/21/museum/hall-1/seen", "-m", json.dumps(report)],
                       check=False, stderr=subprocess.DEVNULL)


def main():
    with tempfile.TemporaryDirectory(prefix="fleet-up-") as folder:
        folder = pathlib.Path(folder)
        sites = folder / "fleet" / "sites"
        sites.mkdir(parents=True)
        (sites / "museum.toml").write_text(SITE)
        fleet = Fleet(sys.argv[1], folder)
        try:
            fleet.wait("beacons of the simulated site are in rooms",
                       lambda sites: sites.get("simulated", {}).get("beaconsInRooms", 0) >= 3)
            numbers = iter(range(1, 1 << 30))

            def reported(sites):
                fleet.report(next(numbers))
                return sites.get("museum", {}).get("beaconsInRooms") == 1

            fleet.wait("a receiver reports by MQTT, and its beacon is in the hall", reported)
            fleet.process.kill()
            fleet.process.wait()
            fleet.start()
            fleet.wait("after SIGKILL the fleet starts again, and the beacon is in the hall", reported)
        finally:
            fleet.process.send_signal(signal.SIGTERM)
            status = fleet.process.wait(LIMIT)
        if status != 0:
            raise SystemExit(f"fleet-up: the status after SIGTERM is {status}:\n{fleet.log.read_text()}")
        with socket.socket() as connection:
            if connection.connect_ex(("127.0.0.1", fleet.engine)) == 0:
                raise SystemExit("fleet-up: RabbitMQ goes on after the end")
        print("fleet-up: SIGTERM ends all")


main()
