#!/usr/bin/env python3
"""Draws wrong inputs for every option of every subcommand, and checks how the command refuses them.

    Tests/Checks/wrong-inputs.py [--number 400] [--seed 1] [--list] [COMMAND]

COMMAND is the built command (.build/release/beaconscan). Each input must end with the status that README.md states
for its kind and with one sentence that names the option, the variable, or the file with its line; it must not crash,
hang, or be accepted. --list prints every sentence, to be read: a program cannot judge whether it helps.
"""

import argparse
import collections
import http.client
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UUID = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
RECORDING = str(ROOT / "captures/visitor.btsnoop")
TRACK = str(ROOT / "captures/visitor.gpx")
SCENARIO = str(ROOT / "captures/visitor.json")
TOKEN = "0123456789abcdef0123456789abcdef"

# What is no number, time, word, name or address, whichever is wanted.
JUNK = ["x", "ten", "½", "١٢", "1,5,", "1 0", "0x1G", "NaN", "-inf", "1e999", "9" * 40, "null", "%s%n", "$(id)", "🦊",
        "a" * 300, "1..2", "--", "+-1", "1\u200b", "\x1b[31m", "two\nlines", "'", '"', "[1]", "{}"]


def choose(*words):
    return lambda draw: draw.choice(list(words) + draw.sample(JUNK, 3))


def only(*words):
    """Without what is wrong elsewhere."""
    return lambda draw: draw.choice(words)


TIME = choose("0", "-5", "5x", "10 parsecs", "1h30", "-0", "1e30", "s", "ms", "5S5", "1:30", "5 m s")
COUNT = choose("0", "-1", "1.5", "99999999999999999999", "1e3", "1k", "0x10")
NUMBER16 = choose("-1", "65536", "1.5", "1e3", "0x10", "-0.5", "100000")
STRENGTH = choose("1", "60", "-129", "-67dBm", "-6 7", "−67", "1e2", "-1000")
METERS = choose("0", "-1", "1001", "3ft", "1,5", "1e9", "3 m")
WORD = choose("TABLE", "all,", "0", "-1", "tabel")
IDENTITY = choose(UUID[:-1], UUID + "0", UUID.replace("E", "G", 1), "0", UUID + ":1", UUID[1:] + "g", "E2C5")
REGION = choose("lobby", "=" + UUID, "a=", f"a={UUID}:", f"a={UUID}:1:65536", f"a={UUID}:-1", f"a={UUID}:1:2:3",
                f"a={UUID}::1", "a=91,0,5", "a=0,181,5", "a=0,0,0", "a=0,0", "a=1,2,3,4", "a=1,2,x",
                f"a={UUID},dwell", f"a={UUID},dwell=x", f"a={UUID},nothing=1", f"a={UUID},enter-rssi=5",
                f"a={UUID},exit-after=0", f"a={UUID},each=maybe", f"a={UUID},dwell=1,dwell=2", f"{UUID}",
                f"a={UUID},,", "a=1e400,0,5", "a=0,0,-5")
OUTPUT = only("/nonexistent/folder/file", "/", "/dev/null/file", "/proc/file")
ABSENT = only("/nonexistent", "/nonexistent/file", "/etc/passwd/file", "/" + "a" * 300, "missing file")

# What is wrong for each option, by its name or by that of the subcommand and its name.
WRONG = {
    "speed": choose("10", "0x", "-1x", "x", "1e9x", "fast", "1 x", "max x", "nanx", "MAX"),
    "duration": TIME, "interval": TIME, "dwell": choose("-1", "8d", "5x", "1e30", "long"),
    "exit-after": choose("0", "-1", "8d", "never", "adaptive,", "5x", "Adaptive"),
    "adapter": choose("eth0", "hci", "hci-1", "hci65536", "AA:BB:CC:DD:EE", "AA:BB:CC:DD:EE:GG", "0", "hci0,hci1", "ALL"),
    "backend": WORD, "format": WORD, "color": WORD, "sort": WORD, "as": WORD, "source": WORD,
    "uuid": IDENTITY, "major": NUMBER16, "minor": NUMBER16, "region": REGION,
    "min-rssi": STRENGTH, "enter-rssi": STRENGTH, "exit-rssi": STRENGTH, "enter-distance": METERS,
    "exit-distance": METERS, "boundary": choose("0m", "-3m", "1001m", "3", "-129", "60", "3 m", "-67m", "3km", "m"),
    "enter-count": choose("0/1", "4/3", "1/65", "1", "1/", "/3", "-1/3", "1/3/5", "1.5/3", "2:3"),
    "since": choose("yesterday", "2026-13-01", "2026-02-30", "09:00", "2026-01-15 25:00", "1768467600x", "2026-1-5x"),
    "top": COUNT, "count": COUNT, "keep": COUNT, "last": COUNT,
    "model": choose("linear", "Log-Distance", "android", "log"),
    "environment": choose("0", "-1", "0.49", "8.01", "9", "2,2"),
    "measured-power": choose("0", "5", "-101", "-59dBm", "strong"),
    "advertise measured-power": choose("128", "-129", "1.5", "strong"),
    "typical-distance": choose("0", "-3", "101", "3,1", "3,101", "3,4,5", "3m", "3;4", "none,4"),
    "adapter-offset": choose("51", "-51", "hci=3", "hci1=", "=3", "hci1=99", "hci1:3", "3dB", "hci0=x", "eth0=3"),
    "calibrate": choose(UUID, f"{UUID}@", f"{UUID}@power", f"{UUID}@power=", f"{UUID}@power=5", f"{UUID}@pwr=-59",
                        f"{UUID}@exponent=9", f"{UUID}@offset=51", f"{UUID}:65536@power=-59", "@power=-59",
                        f"{UUID}@power=-59,power=-60", f"{UUID}@power=-59,", f"{UUID}:1:2:3@power=-59"),
    "pin": choose(UUID, f"{UUID}:1:2", f"{UUID}:1:2=", f"{UUID}:1:2=AA:BB", f"{UUID}=AA:BB:CC:DD:EE:FF",
                  f"{UUID}:1:2=hci0", f"{UUID}:1:2@AA:BB:CC:DD:EE:FF", f"{UUID}:1:65536=AA:BB:CC:DD:EE:FF"),
    "zones": choose("1,2,3", "4,3,2,1", "0,1,2,3", "0.5,0.7,4", "0.5,0.7,4,5,6", "-1,1,2,3", "0.5;0.7;4;5", "1,1,1,nan"),
    "sides": choose("left=hci0", "left=hci0,right=hci0", "left=hci0,right=", "hci0,hci1", "left=hci0,left=hci1",
                    "up=hci0,down=hci1", "left=eth0,right=hci1", "left:hci0,right:hci1"),
    "gpsd": only(":2947", "localhost:", "localhost:x", "localhost:65536", "localhost:-1", "localhost:0"),
    "position": choose("91,0", "0,181", "52.5", "52.5;13.4", "52.5,13.4,x", "52.5,13.4,1e9", "N52,E13", "1,2,3,4", "nan,0"),
    "accuracy": choose("0", "-1", "1000001", "3ft", "1e9"), "distance": choose("0", "-1", "1000001", "3ft", "1e9"),
    "listen": choose("65536", "-1", "localhost", "localhost:x", "localhost:65536", ":x", "[::1", "[::1]:x", "host:1:2x"),
    "host": only("", "http://a", "a/b", "a b", " "),
    "allow-origin": choose("", "localhost", "http://", "ftp://a", "http://a/path", "*", "http://a:x", "http://a b"),
    "mqtt": choose("", "broker:", "broker:x", "broker:65536", "broker:0", ":1883", "broker:-1"),
    "mqtt-node": only("", "a/b", "a b", "a+", "#"), "mqtt-prefix": only("a/#", "a/+", "", "a/+/b", "#"),
    "fleet": choose("", "broker:", "broker:x", "broker:65536", "broker:0", ":1883", "broker:-1"),
    "site": only("", "a/b", "a.b", "a b", "+", "é", "a" * 65), "receiver": only("", "a/b", "a.b", "#", "a" * 65),
    "fleet-uuid": IDENTITY, "fleet-outbox-size": choose("0", "-1", "100001", "64M", "1.5"), "fleet-outbox": only("", "-"),
    "mqtt-discovery": only("a/#", "+", "", "a/+/b"),
    "webhook": choose("", "localhost", "ftp://a", "http://", "file:///etc/passwd", "http://a b", "http://a:99999/",
                      "https://", "//a/b"),
    "webhook-events": choose("", "enter,", "Enter", "enter;exit", "arrive", "enter,enter,", ",enter"),
    "history-days": choose("0", "-1", "36501", "1.5", "90d"), "history-size": choose("0", "-1", "1000001", "64M"),
    "rotate-size": choose("0", "4095", "-1", "1.5M", "10T", "M", "10 M", "9" * 25),
    "rotate-every": choose("0", "-1", "1.5h", "5y", "h", "10ms", "9" * 25),
    "at": choose("far", "0", "0.05", "101", "-1", "1mm", "inside=", "1=file@5-2", "=file"),
    "user": choose("nobody at all", "-1", "4294967296", "1.5"),
    "seed": choose("-1", "1.5", "x", "18446744073709551616"), "exec": only("", " ", "no-such-command-here"),
}
WRONG["until"] = WRONG["since"]
# A value that is right, where one is needed.
RIGHT = {"uuid": UUID, "region": f"a={UUID}", "output": "/dev/null", "duration": "5s", "count": "1", "mqtt": "127.0.0.1",
         "format": "json", "adapter": "hci0"}
# Files: what is read, and what is created.
READ = ["replay", "config", "database", "token-file", "mqtt-password-file", "mqtt-ca", "mqtt-certificate", "mqtt-key",
        "webhook-secret-file", "fleet-password-file", "fleet-ca", "fleet-certificate", "fleet-key"]
CREATED = ["output", "truth", "state-file", "history"]
# Any text is right.
FREE = ["name", "mqtt-username", "fleet-username", "mqtt-room", "apps", "apps-state", "socket"]

# What each subcommand needs beside the wrong option, so that nothing else is missing.
NEEDED = {"scan": [RECORDING], "range": [RECORDING], "inspect": [RECORDING], "locate": [TRACK],
          "monitor": ["--uuid", UUID, RECORDING], "serve": ["--listen", "127.0.0.1:0", RECORDING], "history": [],
          "calibrate": ["--at", f"0.3={RECORDING}@38-51"], "decode": ["4c0002"], "record": ["--replay", RECORDING, "new"],
          "simulate": [SCENARIO, "--output", "new"], "advertise": ["--uuid", UUID], "adapters": [], "doctor": [],
          "beacons": [], "config check": [], "config show": [], "agent": [], "session": [], "apps": [], "apps revoke": ["a.service"]}
# What an option needs beside it.
COMPANIONS = {"major": ["--uuid", UUID], "minor": ["--uuid", UUID], "sort": ["--all"], "top": ["--all"],
              "keep": ["--rotate-every", "1h"], "name": ["--save"], "history-days": ["--history", "h"],
              "history-size": ["--history", "h"], "webhook-events": ["--webhook", "http://127.0.0.1:1/"],
              "webhook-secret-file": ["--webhook", "http://127.0.0.1:1/"], "mqtt-certificate": ["--mqtt-key", "text"],
              "mqtt-key": ["--mqtt-certificate", "text"]}
COMPANIONS |= {f"mqtt-{name}": ["--mqtt", "127.0.0.1:1"] for name in ("node", "prefix", "discovery", "ca", "password-file")}
FLEET = ["--fleet", "127.0.0.1:1", "--site", "a", "--receiver", "b"]
COMPANIONS |= {name: FLEET for name in ("fleet", "site", "receiver", "fleet-uuid", "fleet-outbox", "fleet-outbox-size",
                                        "fleet-password-file", "fleet-ca")}

# Options that exclude each other, need another, or stand in a wrong order; each with a word of the sentence.
CONTRARY = [
    ("{read} --quiet --verbose", "--quiet"), ("{read} --json --format csv", "--json"),
    ("{read} --replay {track} --adapter hci0", "--adapter"), ("{read} --backend hci", "--backend"),
    ("{read} --active", "--active"), ("{read} --coded", "--coded"), ("{read} {file}", "given twice"),
    ("{filter} --since 2026-01-15 --until 2025-01-15", "--since"), ("{filter} --all --uuid {uuid}", "--all"),
    ("scan {file} --sort name", "--all"), ("scan {file} --top 3", "--all"), 
    ("{read} --major 1", "--uuid"),
    ("monitor {file} --uuid {uuid} --boundary -60 --enter-rssi -70", "--boundary"),
    ("monitor {file} --uuid {uuid} --boundary 3m --exit-distance 4", "--boundary"),
    ("monitor {file} --uuid {uuid} --enter-rssi -70 --exit-rssi -60", "--exit-rssi"),
    ("monitor {file} --uuid {uuid} --enter-distance 3 --exit-distance 2", "--exit-distance"),
    ("monitor {file} --region a={uuid} --region a={uuid}", "'a'"),
    ("monitor {file} --region a=1,2,3", "track"), ("monitor {track} --uuid {uuid}", "capture"), ("monitor {file}", "--region"),
    ("range {file} --model android-2013 --environment 2", "--environment"), ("range {file} --raw", "--raw"),
    ("range {file} --adapter-offset 1 --adapter-offset 2", "--adapter-offset"), ("range --speed 2x", "--speed"),
    ("scan --follow", "--follow"), ("scan {file} --region a=1,2,3", "a"), ("locate {track} --position 1,2", "--position"),
    ("locate {track} --gpsd localhost", "--gpsd"), ("locate {file}", "track"), ("locate --source fixed", "--position"),
    ("history --dwell --presence", "--dwell"), ("history --dwell --last 3", "--last"), ("history --plot --json", "--plot"),
    ("history --presence --region a", "--presence"), ("calibrate --at 1={file} --at 2", "--at"),
    ("calibrate --at edge={file} --at inside={file}", "edge"), ("calibrate --at 1={file} --adapter hci0", "--adapter"),
    ("calibrate --at 1={file} --name a", "--save"), ("calibrate --at 1={file} --duration 5", "--duration"),
    ("record new --keep 3 --replay {file}", "--keep"),
    ("record - --rotate-size 1M --replay {file}", "--rotate-size"), ("record new --replay {file} --replay {track}", "--replay"),
    ("record new.gz --replay {file}", "new.gz"), ("record new --speed 1x --replay {file}", "--speed"),
    ("simulate {scenario} --output - --truth -", "standard output"), ("simulate {scenario}", "--output"),
    ("simulate {scenario} --output new.pcap", "new.pcap"), ("advertise --uuid {uuid} --legacy --extended", "--legacy"),
    ("advertise --uuid {uuid} --tx-power", "--tx-power"), ("advertise", "--uuid"),
    ("serve {file} --history-size 5", "--history-size"), ("serve {file} --history-days 5", "--history-days"),
    ("serve {file} --mqtt-room a", "--mqtt"), ("serve {file} --mqtt-username a", "--mqtt"),
    ("serve {file} --mqtt-key a --mqtt a", "--mqtt-certificate"), ("serve {file} --mqtt-certificate a --mqtt a", "--mqtt-key"),
    ("serve {file} --site a", "--fleet"), ("serve {file} --fleet a --site a", "--receiver"),
    ("serve {file} --fleet a --site a --receiver b --fleet-key c", "--fleet-certificate"), ("serve {file} --fleet-tls", "--fleet"),
    ("serve {file} --webhook-events enter", "--webhook"), ("serve {file} --duration 5", "--duration"),
    ("serve {file} --listen 0.0.0.0:0", "--token-file"), ("serve {file} --mqtt a --mqtt-room b --mqtt-discovery none", "--mqtt-room"),
    ("serve {file} --mqtt-tls", "--mqtt"), ("serve {file} --state-file h --history h --mqtt-all", "--mqtt"),
    ("--replay {file} scan", "--replay"), ("--json range {file}", "--json"), ("{read} --", ""), ("decode", "hex"), ("record", "file"),
    ("config check a b", "'b'"), ("adapters extra", "'extra'"), ("monitor {file} --uuid {uuid} --json --exec ''", "--exec"),
]

# A file of the configuration that is wrong.
CONFIGURATIONS = [
    "fromat = 'json'", "format = 'xml'", "format = 3", "format = ['json']", "format = true", "format = ''", "json = 'yes'",
    "json = 1", "adapter = 0", "adapter = [1, 2]", "adapter = ['hci0', 'eth0']", "adapter = {{ a = 1 }}", "duration = '5x'",
    "duration = -5", "duration = 0", "duration = 1979-05-27", "exec = 'echo'", "[range]\nexec = ''", "environment = 99",
    "environment = '2,2'", "count = 0", "count = 1.5", "count = nan", "[nothing]\na = 1", "[Monitor]\neach = true",
    "[monitor]\neach = 'yes'", "[monitor]\nlisten = 80", "[serve]\nlisten = 99999", "[serve]\nduration = 5", "[record]\nspeed = '1x'",
    "[region]\nuuid = 'x'", "region = 3", "[region.a]", "[region.a]\nuuid = 'E2C5'", "[region.a]\nuuid = '{uuid}'\nmajor = 70000",
    "[region.a]\nuuid = '{uuid}'\nradius = 3", "[region.a]\nlatitude = 52",
    "[region.a]\nlatitude = 91\nlongitude = 0\nradius = 5", "[region.a]\nlatitude = 0\nlongitude = 0\nradius = 0",
    "[region.a]\nuuid = '{uuid}'\nenter-rssi = 5", "[region.a]\nuuid = '{uuid}'\nenter-count = '4/3'",
    "[region.a]\nuuid = '{uuid}'\nuuid = '{uuid}'", "[region.a]\nuuid = '{uuid}'\n[region.a]\nuuid = '{uuid}'",
    "[region.a]\nuuid = '{uuid}'\nexec = 'x'", "[region.a]\nuuid = '{uuid}'\nmajor = '1'\nexit-after = 'never'",
    "[region.a]\nlatitude = 0\nlongitude = 0\nradius = 9\ndwell = 5", "[beacon.a]\nuuid = '{uuid}'\nmajor = 1",
    "[beacon.a]\nuuid = '{uuid}'\nmajor = 1\nminor = 2\npower = 5", "[beacon.a]\nuuid = '{uuid}'\nmajor = 1\nminor = 2\ncolor = 'red'",
    "[beacon.a]\nuuid = '{uuid}'\nmajor = 1\nminor = 2\naddress = 'AA:BB'", "[beacon.a]\nuuid = 5\nmajor = 1\nminor = 2",
    "[beacon.a]\nuuid = '{uuid}'\nmajor = 1\nminor = 2\n[beacon.b]\nuuid = '{uuid}'\nmajor = 1\nminor = 2", "beacon = 'a'",
    "a", "a =", "a = 1 2", "= 1", "[", "[a", "[[region]]\nname = 'a'", "a = '", "a = \"\\q\"", "a = 1\na = 2", "a.b = 1\na = 2",
    "a = [1, 2", "a = 09", "a = 1__0", "format = 'json' # \x01", "\ufefffromat = 1", "a = {{ b = 1,, }}", "quiet = true\nverbose = true",
    "enter-rssi = -70\nexit-rssi = -60", "boundary = -60\nenter-distance = 3", "model = 'linear'", "zones = '4,3,2,1'",
    "[range]\nzones = [1, 2, 3, 4]", "uuid = ['{uuid}', 'x']", "region = ['nowhere']", "position = '91,0'", "position = [52, 13]",
    "source = 'fixed'", "[serve]\nmqtt = ''", "[serve]\nwebhook = 'localhost'", "[scan]\ncount = 0", "[history]\nlast = -1",
    "[decode]\nas = 'hex'", "[calibrate]\nat = ['far']", "[advertise]\ninterval = '1ms'", "config = 'other'", "help = true",
]

# Requests to the service: method, path, headers and body, which must be refused with a sentence.
GOOD = '{{"uuid": "{uuid}"}}'
REQUESTS = [
    ("PUT", "/api/v1/regions/a", {}, body) for body in [
        "", "x", "[]", "null", "3", '"a"', "{{", '{{"uuid"}}', "{{}}", '{{"uuid": 5}}', '{{"uuid": null}}', '{{"uuid": "E2C5"}}', GOOD + "x",
        '{{"uuid": "{uuid}", "major": 65536}}', '{{"uuid": "{uuid}", "major": -1}}', '{{"uuid": "{uuid}", "major": 1.5}}',
        '{{"uuid": "{uuid}", "minor": 1}}', '{{"uuid": "{uuid}", "major": "one"}}', '{{"uuid": "{uuid}", "colour": 1}}',
        '{{"uuid": "{uuid}", "dwell": "long"}}', '{{"uuid": "{uuid}", "dwell": -1}}', '{{"uuid": "{uuid}", "each": "maybe"}}',
        '{{"uuid": "{uuid}", "each": 3}}', '{{"uuid": "{uuid}", "exit-after": 0}}', '{{"uuid": "{uuid}", "enter-rssi": 5}}',
        '{{"uuid": "{uuid}", "enter-rssi": -70, "exit-rssi": -60}}', '{{"uuid": "{uuid}", "boundary": -60, "enter-distance": 3}}',
        '{{"uuid": "{uuid}", "enter-count": "4/3"}}', '{{"uuid": "{uuid}", "enter-count": [1, 2]}}',
        '{{"latitude": 91, "longitude": 0, "radius": 5}}', '{{"latitude": 0, "longitude": 0}}', '{{"latitude": 0, "longitude": 0, "radius": 0}}',
        '{{"latitude": "x", "longitude": 0, "radius": 5}}', '{{"uuid": "{uuid}", "radius": 5}}', '{{"latitude": 1e400, "longitude": 0, "radius": 5}}',
        "[" * 2000, '{{"uuid": "{uuid}", "major": {{"a": 1}}}}', "\udcff\udcfe", '{{"uuid": "{uuid}", "x": "' + "a" * 20000 + '"}}',
    ]
] + [
    ("PUT", "/api/v1/regions/", {}, GOOD), ("PUT", "/api/v1/regions/%00", {}, GOOD),
    ("PUT", "/api/v1/regions/%ff", {}, GOOD), ("PUT", "/api/v1/regions/" + "a" * 300, {}, GOOD), ("PUT", "/api/v1/region/a", {}, GOOD),
    ("POST", "/api/v1/regions/a", {}, GOOD), ("PATCH", "/api/v1/regions/a", {}, GOOD), ("DELETE", "/api/v1/regions", {}, ""),
    ("DELETE", "/api/v1/regions/none", {}, ""), ("GET", "/api/v1/regions/none", {}, ""), ("GET", "/api/v2/regions", {}, ""),
    ("PUT", "/api/v1/regions/a", {"Authorization": "Bearer wrong"}, GOOD), ("PUT", "/api/v1/regions/a", {"Authorization": "Basic x"}, GOOD),
    ("PUT", "/api/v1/regions/a", {"Authorization": None}, GOOD), ("PUT", "/api/v1/regions/a", {"Host": "example.org"}, GOOD),
    ("PUT", "/api/v1/regions/a", {"Content-Type": "text/xml"}, "<a/>"), ("PUT", "/api/v1/regions/a", {"Origin": "http://example.org"}, GOOD),
    ("GET", "/api/v1/history?since=yesterday", {}, ""), ("GET", "/api/v1/history?last=0", {}, ""),
    ("GET", "/api/v1/history?last=x", {}, ""), ("GET", "/api/v1/history?limit=0", {}, ""),
    ("GET", "/api/v1/history?limit=x", {}, ""), ("GET", "/api/v1/history?after=x", {}, ""), ("GET", "/api/v1/history?region=", {}, ""),
    ("POST", "/metrics", {}, ""), ("GET", "/nothing", {}, ""), ("PUT", "/", {}, "x"),
]


class Case:
    """An input: words, what the sentence must contain, and the statuses that are right."""

    def __init__(self, kind, words, named, statuses, environment=None, config=None):
        self.kind, self.words, self.named, self.statuses = kind, words, named, statuses
        self.environment, self.config = environment or {}, config

    def __str__(self):
        variables = "".join(f"{name}={shlex.quote(value)} " for name, value in self.environment.items())
        line = variables + shlex.join(self.words)
        line = line.replace(str(ROOT) + "/", "").encode(errors="backslashreplace").decode()
        return re.sub(r"(.)\1{40,}", r"\1\1…", line) + (f"   # {self.config!r}" if self.config is not None else "")


class Generator:
    def __init__(self, command, seed):
        self.command, self.draw = command, random.Random(seed)
        dump = json.loads(subprocess.run([command, "--experimental-dump-help"], capture_output=True, check=True).stdout)
        self.options = {}  # By subcommand: names with whether they are flags, and whether they may be given twice.
        self.collect(dump["command"], [])
        self.check_tables()

    def collect(self, command, path):
        subcommands = [each for each in command.get("subcommands", []) if each["commandName"] not in ("help", "schema")]
        for each in subcommands:
            self.collect(each, path + [each["commandName"]])
        options = {
            name["name"]: each["kind"] == "flag"
            for each in command["arguments"] for name in each.get("names") or []
            if name["kind"] == "long" and name["name"] not in ("help", "version")}
        if path and (options or not subcommands):
            self.options[" ".join(path)] = options

    def check_tables(self):
        every = {name for options in self.options.values() for name, is_flag in options.items() if not is_flag}
        unknown = every - set(WRONG) - set(READ) - set(CREATED) - set(FREE)
        assert not unknown, f"a new option needs its wrong values here: {sorted(unknown)}"
        assert set(self.options) == set(NEEDED), set(self.options) ^ set(NEEDED)

    def option(self, wanted=lambda name, is_flag: True):
        while True:
            subcommand = self.draw.choice(sorted(self.options))
            names = [name for name, is_flag in sorted(self.options[subcommand].items()) if wanted(name, is_flag)]
            if names:
                return subcommand, self.draw.choice(names)

    def around(self, subcommand, name, words):
        """Returns a line with words, and with what the subcommand and the option need, but not the option twice."""
        rest = NEEDED[subcommand] + [word for word in COMPANIONS.get(name, []) if word not in NEEDED[subcommand]]
        if f"--{name}" in rest:
            place = rest.index(f"--{name}")
            rest = rest[:place] + rest[place + 2:]
        if name in ("since", "until", "format", "last") and subcommand == "history":
            rest = rest + ["--database", "none"]
        if self.draw.random() < 0.5 and words and words[-1] not in ("", f"--{name}"):
            return [*subcommand.split(), *words, *rest]
        return [*subcommand.split(), *rest, *words]

    def wrong(self, subcommand, name):
        return WRONG.get(f"{subcommand} {name}", WRONG.get(name))

    def misspelt(self, word):
        while True:
            place = self.draw.randrange(len(word))
            letter = self.draw.choice("abcdefghijklmnopqrstuvwxyz")
            new = self.draw.choice([word[:place] + word[place + 1:], word[:place] + letter + word[place:],
                                    word[:place] + letter + word[place + 1:]])
            if new != word and new and not any(new in options for options in self.options.values()):
                return new

    # Kinds of inputs

    def value(self):
        subcommand, name = self.option(
            lambda name, is_flag: not is_flag and name in WRONG)
        if subcommand == "history" and name == "region":
            return None
        text = self.wrong(subcommand, name)(self.draw)
        if subcommand in ("history",) and name in ("since", "until") and re.fullmatch(r"[0-9]+[smhd]?", text):
            return None
        words = [f"--{name}={text}"] if self.draw.random() < 0.5 else [f"--{name}", text]
        # A word that begins like an option, after one, means that its value is missing.
        # What is wrong with a rule of a region names the region and the rule.
        named = "region 'a'" if name == "region" and "," in text and UUID + "," in text else f"--{name}"
        return Case("value", self.around(subcommand, name, words), [named], {64})

    def missing(self):
        subcommand, name = self.option(lambda name, is_flag: not is_flag)
        words = self.draw.choice([[f"--{name}"], [f"--{name}="], [f"--{name}", ""]])
        return Case("missing value", self.around(subcommand, name, words), [f"--{name}"], {64})

    def flag(self):
        subcommand, name = self.option(lambda name, is_flag: is_flag)
        text = self.draw.choice(["", "yes", "no", "true", "0", "x"])
        return Case("value of a flag", self.around(subcommand, name, [f"--{name}={text}"]), [f"--{name}"], {64})

    def unknown(self):
        subcommand, name = self.option()
        if self.draw.random() < 0.6:
            name = self.misspelt(name)
        else:
            others = {each for options in self.options.values() for each in options} - set(self.options[subcommand])
            name = self.draw.choice(sorted(others))
        words = self.draw.choice([[f"--{name}"], [f"--{name}=x"], [f"--{name}", "1"]])
        return Case("unknown option", self.around(subcommand, "", words), [f"--{name}"], {64})

    def subcommand(self):
        name = self.misspelt(self.draw.choice(sorted(self.options)))
        words = self.draw.choice([name.split(), ["help", *name.split()], [*name.split(), RECORDING], [name.upper()]])
        return Case("unknown subcommand", words, ["subcommand"], {64})

    def twice(self):
        repeated = ("replay", "adapter", "uuid", "region", "adapter-offset", "calibrate", "pin", "at", "listen", "host",
                    "allow-origin", "webhook")
        subcommand, name = self.option(lambda name, is_flag: not is_flag and name in RIGHT and name not in repeated)
        words = [f"--{name}", RIGHT[name]] * 2
        return Case("given twice", self.around(subcommand, name, words), [f"--{name}"], {64})

    def contrary(self):
        line, named = self.draw.choice(CONTRARY)
        read = self.draw.choice(["scan", "range", "inspect", "monitor --uuid " + UUID]) + " " + RECORDING
        words = line.format(read=read, filter=self.draw.choice(["scan", "inspect"]) + " " + RECORDING, file=RECORDING,
                            track=TRACK, scenario=SCENARIO, uuid=UUID)
        if words.endswith(" --"):
            words += " --json"
        return Case("contradiction", shlex.split(words), [named], {64, 65, 66})

    def file(self):
        name = self.draw.choice(["folder", "empty", "text", "binary", "cut", "damaged", "database", "/nonexistent",
                                 "/dev/full", "/" + "a" * 300, "socket", "loop", "text/file", "cut.gz", "cut.pcapng", "cut.gpx"])
        subcommand, option = self.option(lambda name, is_flag: name in READ)
        if self.draw.random() < 0.5:
            subcommand, option = self.draw.choice(["scan", "range", "inspect", "monitor", "locate", "record"]), "replay"
        # The service plays what stands before the damage, and stays.
        if subcommand == "serve" and option == "replay" and name.startswith(("cut", "damaged")):
            return None
        # A certificate is read by the client for MQTT, which reports it.
        if option.endswith(("-certificate", "-key", "-ca")):
            return None
        if option == "config" and (name == "empty" or subcommand == "config check") or option == "database" and name == "database":
            return None
        words = self.around(subcommand, option, [f"--{option}", name])
        if option == "replay":
            words = [word for word in words if word not in (RECORDING, TRACK)]
        return Case("file", words, [name], {64, 65, 66, 69, 74, 77})

    def output(self):
        subcommand, option = self.draw.choice(
            [("record", ""), ("simulate", "output"), ("simulate", "truth"), ("monitor", "state-file")])
        name = self.draw.choice(["folder", "text", "/nonexistent/file", "/dev/null/file", "/proc/file", "text/file",
                                 "a" * 300])
        if option:
            words = self.around(subcommand, option, [f"--{option}", name])
        else:
            words = ["record", "--replay", RECORDING, name]
        return Case("output", words, [name[:40]], {64, 65, 66, 73, 74, 77})

    def configuration(self):
        text = self.draw.choice(CONFIGURATIONS).format(uuid=UUID)
        words = self.draw.choice([["config", "check", "site.toml"], ["config", "check", "--config", "site.toml"]])
        return Case("configuration", words, [r"site\.toml, line \d+, column \d+:"], {65}, config=text)

    def variable(self):
        subcommand, name = self.option(lambda name, is_flag: name in WRONG)
        # The command line names the beacons, and then the variables of others do not count.
        if subcommand in ("simulate", "config check", "config show", "apps revoke"):
            return None
        if name in ("uuid", "major", "minor", "region"):
            return None
        if self.options[subcommand][name]:
            text = self.draw.choice(["maybe", "2", "on", "ja"])
        else:
            text = self.wrong(subcommand, name)(self.draw)
        # The broker's topics are checked when the service starts, which names the option.
        if not text or name == "exec" or name.startswith("mqtt-"):
            return None
        key = "BEACONSCAN_" + f"{subcommand} {name}".upper().replace("-", "_").replace(" ", "_")
        words = self.around(subcommand, name, [])
        return Case("variable", words, [key], {64}, environment={key: text})

    def request(self):
        return self.draw.choice(REQUESTS)

    KINDS = {"value": 40, "missing": 6, "flag": 3, "unknown": 8, "subcommand": 3, "twice": 3, "contrary": 14, "file": 14,
             "output": 5, "configuration": 14, "variable": 8, "request": 12}

    def all(self, number):
        seen, cases = set(), []
        while len(cases) < number:
            kind = self.draw.choices(list(self.KINDS), self.KINDS.values())[0]
            case = getattr(self, kind)()
            key = str(case)
            if case is not None and key not in seen:
                seen.add(key)
                cases.append(case)
        return cases


def prepare(folder):
    """Makes the files that are wrong."""
    recording = Path(RECORDING).read_bytes()
    draw = random.Random(7)
    (folder / "folder").mkdir()
    (folder / "empty").write_bytes(b"")
    (folder / "text").write_text("This is text.\n")
    (folder / "binary").write_bytes(bytes(draw.randrange(256) for _ in range(5000)))
    (folder / "cut").write_bytes(recording[:len(recording) // 2 + 3])
    (folder / "damaged").write_bytes(recording[:1000] + bytes([255] * 64) + recording[1064:])
    (folder / "database").write_bytes(b"SQLite format 3\0" + bytes(200))
    (folder / "loop").symlink_to("loop")
    for path in folder.iterdir():
        if path.is_file():
            path.chmod(0o600)
    subprocess.run(["sh", "-c", f"gzip -c {shlex.quote(RECORDING)} | head -c 5000 > cut.gz"], cwd=folder, check=True)
    hostile = (ROOT / "captures/hostile.pcapng").read_bytes()
    (folder / "cut.pcapng").write_bytes(hostile[:len(hostile) // 2 + 1])
    track = Path(TRACK).read_bytes()
    (folder / "cut.gpx").write_bytes(track[:len(track) // 2])
    os.mkfifo(folder / "fifo")
    import socket
    with socket.socket(socket.AF_UNIX) as listening:
        place = os.getcwd()
        os.chdir(folder)
        listening.bind("socket")
        os.chdir(place)


def run(command, case, folder):
    """Returns the status, or a word in its place, with what was written."""
    if case.config is not None:
        (folder / "site.toml").write_bytes(case.config.encode(errors="surrogateescape"))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "LC_ALL": "C.UTF-8",
                   "SWIFT_BACKTRACE": "enable=no", **case.environment}
    before = {path: (path.lstat().st_mtime_ns, path.lstat().st_size) for path in folder.iterdir()}
    try:
        done = subprocess.run([command, *case.words], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=20)
        result = done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        result = "no end", "", (late.stderr or b"").decode(errors="replace")
    after = {path: (path.lstat().st_mtime_ns, path.lstat().st_size) for path in folder.iterdir()}
    for path in after:
        if path not in before:
            path.unlink()
    changed = [path.name for path in before if before[path] != after.get(path)]
    return *result, changed


def faults(case, status, output, error, changed):
    """Returns what is wrong with the refusal."""
    lines = error.splitlines()
    if status == "no end":
        return ["no end"]
    if status < 0 or status >= 128:
        return [f"crashed: {status}"]
    if status == 0:
        return ["accepted"]
    found = []
    if status not in case.statuses:
        found.append(f"status {status}")
    if case.kind == "file" and any(word.startswith(("cut", "damaged")) for word in case.words):
        lines = lines[-1:]
        output = ""
    if len(lines) != 1 and case.kind != "configuration" or not lines[0].startswith("beaconscan: "):
        found.append(f"{len(lines)} lines")
    if output:
        found.append("has a result")
    if changed:
        found.append(f"changed {changed}")
    if len(error) > 1500:
        found.append("long")
    for named in case.named:
        if case.kind == "configuration":
            if not all(re.match("beaconscan: " + named, line) for line in error.splitlines()):
                found.append("no place")
        elif named and named not in error:
            found.append(f"does not name {named}")
    return found


class Service:
    """The service to which requests are sent."""

    def __init__(self, command, folder):
        (folder / "token").write_text(TOKEN + "\n")
        (folder / "token").chmod(0o600)
        self.process = subprocess.Popen(
            [command, "serve", "--config", "/dev/null", "--listen", "127.0.0.1:0", "--token-file", "token", "--replay", RECORDING,
             "--region", f"visitor={UUID}"], cwd=folder, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            found = re.search(r"127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found[1])
                break

    def answer(self, request):
        method, path, headers, body = request
        body = body.format(uuid=UUID) if body else body
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        every = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **headers}
        try:
            connection.request(method, path, body.encode(errors="surrogateescape"),
                               {name: value for name, value in every.items() if value is not None})
            response = connection.getresponse()
            return response.status, response.read(3000).decode(errors="replace")
        except TimeoutError:
            return "no end", ""
        finally:
            connection.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command", nargs="?", default=str(ROOT / ".build/release/beaconscan"))
    parser.add_argument("--number", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    command = str(Path(options.command).resolve())
    cases = Generator(command, options.seed).all(options.number)
    began = time.monotonic()
    counts, bad = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        service = Service(command, folder)
        for case in cases:
            if isinstance(case, tuple):
                kind = "request"
                status, text = service.answer(case)
                found = [] if isinstance(status, int) and 400 <= status < 500 and text.strip() else ["accepted"]
                shown, said = " ".join(map(str, case)), f"{status} {text.strip()}"
                shown = re.sub(r"(.)\1{40,}", r"\1\1…", shown).encode(errors="backslashreplace").decode()
            else:
                kind = case.kind
                status, output, error, changed = run(command, case, folder)
                found = faults(case, status, output, error, changed)
                shown, said = str(case), f"{status} " + re.sub(r"(.)\1{40,}", r"\1\1…", error.strip().replace(name, "FOLDER"))
            counts[kind] += 1
            bad[kind] += bool(found)
            if found or options.list:
                print(f"{kind}: {shown}\n    {said}" + "".join(f"\n    !! {each}" for each in found))
        assert service.process.poll() is None, "the service ended"
        service.process.terminate()
        service.process.wait()
    print(f"seed {options.seed}: {sum(counts.values())} inputs in {time.monotonic() - began:.0f} s, {sum(bad.values())} faults")
    for kind, count in sorted(counts.items()):
        print(f"  {kind:<20}{count:>5}{bad[kind]:>5}")
    sys.exit(1 if sum(bad.values()) else 0)


if __name__ == "__main__":
    main()
