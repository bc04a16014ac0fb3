#!/usr/bin/env python3
"""Checks that a real Home Assistant discovers the devices of `beaconscan serve --mqtt` and follows their states.

  Tests/Checks/home-assistant.py .build/release/beaconscan HASS [.build/release/beaconscan-fleet]

HASS is the program `hass` of an environment with homeassistant==2024.3.3 'josepy<2' paho-mqtt==1.6.1. With the fleet's
command, the rooms of a fleet's beacons are checked too. It needs mosquitto (Scripts/setup.sh --ci installs it), and takes some minutes: CI does not run it.
"""

import base64
import hashlib
import hmac
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from serve import UUID, eventually, on_air

KEY = "00112233445566778899aabbccddeeff" * 4


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def token():
    """An access token for the user that is in the configuration's storage (RFC 7519, HS256)."""
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")
    now = int(time.time())
    text = part({"alg": "HS256", "typ": "JWT"}) + b"." + part({"iss": "refresh", "iat": now - 60, "exp": now + 86400})
    return (text + b"." + base64.urlsafe_b64encode(hmac.new(KEY.encode(), text, hashlib.sha256).digest()).rstrip(b"=")).decode()


def configure(folder, port, broker):
    """Writes a Home Assistant with one user and the MQTT integration."""
    (folder / ".storage").mkdir(parents=True)
    (folder / "configuration.yaml").write_text(
        f"http:\n  server_port: {port}\n  server_host: 127.0.0.1\napi:\n"
        "person:\n  - id: someone\n    name: Someone\n    device_trackers:\n      - device_tracker.keys\n")

    def store(name, data, minor=1):
        (folder / ".storage" / name).write_text(json.dumps(
            {"version": 1, "minor_version": minor, "key": name, "data": data}))
    store("auth", {
        "users": [{"id": "user", "group_ids": ["system-admin"], "is_owner": True, "is_active": True, "name": "test",
                   "system_generated": False, "local_only": False}],
        "groups": [{"id": "system-admin", "name": "Administrators"}, {"id": "system-users", "name": "Users"},
                   {"id": "system-read-only", "name": "Read Only"}],
        "credentials": [],
        "refresh_tokens": [{"id": "refresh", "user_id": "user", "client_id": None, "client_name": "test",
                            "client_icon": None, "token_type": "long_lived_access_token",
                            "created_at": "2026-01-01T00:00:00+00:00", "access_token_expiration": 315360000.0,
                            "token": "ab" * 64, "jwt_key": KEY, "last_used_at": None, "last_used_ip": None,
                            "credential_id": None, "version": "2024.3.3"}]})
    store("onboarding", {"done": ["user", "core_config", "analytics", "integration"]})
    store("core.config_entries", {"entries": [{
        "entry_id": "broker", "version": 1, "minor_version": 1, "domain": "mqtt", "title": "broker",
        "data": {"broker": "127.0.0.1", "port": broker, "discovery": True}, "options": {},
        "pref_disable_new_entities": False, "pref_disable_polling": False, "source": "user", "unique_id": None,
        "disabled_by": None}]})


class Program:
    """A program that can be killed and started again."""

    def __init__(self, log, *command):
        self.log, self.command = open(log, "ab"), command
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL,
                                        env={**os.environ, "BEACONSCAN_CONFIG": ""})

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


SITE = """
name = "museum"
[[rooms]]
name = "hall"
[[rooms]]
name = "shop"
[[receivers]]
name = "hall-1"
room = "hall"
[[beacons]]
beacon = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:7:1"
name = "Trolley"
"""


def picture(room):
    """What a worker publishes of the site, with the trolley in a room or outside."""
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
    beacon = {"beacon": f"{UUID}:7:1", "isOutside": room is None, "since": now, "probability": 0.94, "bestProbability": 0.94,
              "runnerUpProbability": 0.03, "received": now} | ({"room": room, "best": room} if room else {})
    return json.dumps({
        "site": "museum", "time": now, "part": 0, "parts": 1, "strangers": [], "ignored": 0, "beacons": [beacon],
        "receivers": [{"name": "hall-1", "isMissing": room is None, "beacons": 1, "lastReport": now}]}) + "\n"


def check_fleet(command, folder, broker_port, states, wait):
    """Home Assistant has the rooms of pictures that come through a pipe."""
    (folder / "sites").mkdir()
    (folder / "sites" / "museum.toml").write_text(SITE)
    os.mkfifo(folder / "pictures")
    service = Program(
        folder / "fleet.log", command, "serve", "--sites", str(folder / "sites"), "--replay", str(folder / "pictures"),
        "--listen", str(free_port()), "--home-assistant", f"127.0.0.1:{broker_port}")
    try:
        with open(folder / "pictures", "w") as pictures:
            def show(room):
                pictures.write(picture(room))
                pictures.flush()
            value = lambda key: states().get(key, {}).get("state")
            show("hall")
            wait("the trolley's device tracker is in the hall", lambda: value("device_tracker.trolley") == "hall")
            wait("its sensor too", lambda: value("sensor.trolley_room") == "hall")
            assert states()["sensor.trolley_room"]["attributes"]["probability"] == 0.9
            assert value("binary_sensor.museum_hall_1_receiver") == "off"
            show("shop")
            wait("it goes to the shop", lambda: value("device_tracker.trolley") == "shop")
            show(None)
            wait("it is not home", lambda: value("device_tracker.trolley") == "not_home")
            wait("the receiver is a problem", lambda: value("binary_sensor.museum_hall_1_receiver") == "on")
            service.kill()
            wait("without the fleet it is unavailable", lambda: value("device_tracker.trolley") == "unavailable")
    finally:
        service.kill()


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    binary, hass = str(Path(sys.argv[1]).resolve()), sys.argv[2]
    access = token()
    programs = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "beaconscan.toml").write_text(
            f'[region.door]\nuuid = "{UUID}"\nmajor = 1\nminor = 300\nexit-after = "4s"\n'
            f'[beacon.Keys]\nuuid = "{UUID}"\nmajor = 1\nminor = 300\n')
        port, broker_port = free_port(), free_port()
        configure(folder / "config", port, broker_port)
        (folder / "mosquitto.conf").write_text(f"listener {broker_port} 127.0.0.1\nallow_anonymous true\n")

        def states():
            request = urllib.request.Request(f"http://127.0.0.1:{port}/api/states",
                                             headers={"Authorization": f"Bearer {access}"})
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return {one["entity_id"]: one for one in json.load(answer)}
            except urllib.error.HTTPError as error:
                raise AssertionError(f"Home Assistant answers {error.code}") from error
            except OSError:
                return {}

        def state(part):
            return next((one["state"] for key, one in states().items() if part in key), None)

        def wait(what, condition):
            began = time.monotonic()
            eventually(what, condition)
            print(f"  {what}, {time.monotonic() - began:.1f} s", flush=True)
        try:
            threading.Thread(target=on_air, args=(folder,), daemon=True).start()
            broker = Program(folder / "broker.log", "mosquitto", "-c", str(folder / "mosquitto.conf"))
            programs.append(broker)
            home = Program(folder / "home.log", hass, "-c", str(folder / "config"))
            programs.append(home)
            # It installs what its integrations need when it starts first.
            eventually("Home Assistant answers", states)
            os.mkfifo(folder / "air")
            service = Program(
                folder / "service.log", binary, "serve", "--config", str(folder / "beaconscan.toml"), "--replay",
                str(folder / "air"), "--speed", "1x", "--listen", str(free_port()), "--mqtt", f"127.0.0.1:{broker_port}",
                "--mqtt-node", "test", "--state-file", str(folder / "state"))
            programs.append(service)
            wait("the region's occupancy, the beacon's presence, distance and zone are discovered", lambda: all(
                state(part) not in (None, "unavailable") for part in ["door", "keys", "keys_distance", "keys_zone"]))
            print("  " + ", ".join(sorted(key for key in states() if "door" in key or "keys" in key or "test" in key)))
            assert state("binary_sensor") is not None
            door = next(key for key in states() if key.startswith("binary_sensor.") and "door" in key)
            distance = next(key for key in states() if key.startswith("sensor.") and "distance" in key)
            value = lambda key: states().get(key, {}).get("state")
            wait("the region is empty", lambda: value(door) == "off")
            (folder / "near").touch()
            wait("the region is occupied", lambda: value(door) == "on")
            wait("the person with the beacon is at home", lambda: value("person.someone") == "home")
            wait("the distance is a number", lambda: value(distance) not in (None, "unknown", "unavailable")
                 and float(value(distance)) < 2)
            (folder / "near").unlink()
            wait("the region is empty again", lambda: value(door) == "off")
            wait("the person is away", lambda: value("person.someone") == "not_home")
            captures = Path(__file__).resolve().parent.parent.parent / "captures"
            programs.append(Program(
                folder / "track.log", binary, "serve", "--replay", str(captures / "visitor.gpx"), "--speed", "100x",
                "--listen", str(free_port()), "--mqtt", f"127.0.0.1:{broker_port}", "--mqtt-node", "track",
                "--mqtt-room", "Hall"))
            location = lambda: states().get("device_tracker.beaconscan_track_location", {}).get("attributes", {})
            wait("the receiver with a track is where the track ends", lambda: location().get("latitude") == 52.519697
                 and location().get("gps_accuracy") == location().get("accuracy") and location().get("source_type") == "gps")
            if len(sys.argv) == 4:
                check_fleet(str(Path(sys.argv[3]).resolve()), folder, broker_port, states, wait)
            service.kill()
            wait("the killed service's entities are unavailable", lambda: value(door) == "unavailable")
            (folder / "air").unlink()
            os.mkfifo(folder / "air")
            service.start()
            wait("they are back", lambda: value(door) == "off")
            broker.kill()
            wait("without the broker they are unavailable", lambda: value(door) == "unavailable")
            broker.start()
            wait("with a new broker they are back", lambda: value(door) == "off")
            (folder / "near").touch()
            wait("and follow", lambda: value(door) == "on")
            home.kill()
            home.start()
            eventually("Home Assistant answers again", states)
            wait("after a restart of Home Assistant they are there", lambda: value(door) == "on")
            print("Home Assistant: all is well")
        except AssertionError:
            for log in ["service.log", "track.log", "fleet.log", "broker.log", "home.log"]:
                if (folder / log).exists():
                    print(f"--- {log}\n" + (folder / log).read_text()[-3000:], file=sys.stderr)
            raise
        finally:
            (folder / "end").touch()
            for program in programs:
                program.kill()


if __name__ == "__main__":
    main()
