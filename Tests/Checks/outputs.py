#!/usr/bin/env python3
"""Checks the outputs of beaconscan: JSON by docs/json.schema.json, and the examples in the documents.

Every subcommand runs over every recording in captures/. Tests/Outputs has the outputs of live runs, which tests compare.
Each line must be valid. Each type and key of the schema must occur, and be named in docs/json.md, whose examples must be
among the printed lines.

The commands in ```console blocks of the documents, the lines after "$ ", must print the lines that follow; --write
updates these.
"""

import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from jsonschema import Draft202012Validator

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ENDINGS = (".btsnoop", ".pcap", ".pcapng")

# Adverts for `decode`: what it must know is in them, what is wrong in them, and how it is to read them.
IBEACON = "0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5"
ADVERTS = [
    [IBEACON],
    [IBEACON, "--as", "ad"],
    ["0201061bff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c564"],  # a trailing byte
    ["4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5"],
    ["1e" + IBEACON + "00", "--as", "command"],
    ["043e2a02010001433ea2c96b6a1e02011a1aff4c000215"
     "e2c56db5dffb48d2b060d0f5a71096e000640000c5b3"],
    ["d6be898e0226" + "010203040506" + IBEACON + "000000", "--as", "ll"],
    ["1bff1801beac00112233445566778899aabbccddeeff00010002c500"],  # AltBeacon
    ["0303aafe1516aafe00e700112233445566778899aabbccddeeff"],  # Eddystone-UID, cut short
    ["0303aafe1716aafe00e700112233445566778899aabbccddeeff0000"],  # Eddystone-UID
    ["0303aafe0e16aafe10e7036578616d706c6507"],  # Eddystone-URL
    ["0303aafe1116aafe20000bb815000000000100000064"],  # Eddystone-TLM
    ["0303aafe1116aafe20000bb880000000000100000064"],  # the same without a temperature
    ["0303aafe1516aafe200100112233445566778899aabbccddeeff"],  # encrypted telemetry
    ["0303aafe0d16aafe30e70011223344556677"],  # Eddystone-EID
    ["1aff4c000215e2c56db5"],  # cut short
    ["0201060000ff"],  # bytes after the early end
]


class Checker:
    def __init__(self, schema):
        self.schema = schema
        self.validators = {}
        self.lines = 0
        self.runs = 0
        self.failures = []
        self.seen = set()
        self.printed = set()
        # Of each type of line, some beacons.
        self.identities = {}

    def validator(self, reference):
        if reference not in self.validators:
            wrapped = {"$schema": self.schema["$schema"], "$defs": self.schema["$defs"],
                       "$ref": reference}
            self.validators[reference] = Draft202012Validator(wrapped)
        return self.validators[reference]

    def reference(self, value, truth):
        """By its type: a message about one schema says more than one about all of them."""
        kind = value.get("type") if isinstance(value, dict) else None
        group = self.schema["$defs"]["truth"] if truth else self.schema
        names = [option["$ref"].rsplit("/", 1)[1] for option in group["oneOf"]]
        names = [name for name in names if kind in self.kinds(name)]
        if not names:
            return None
        # Events of beacons and of circles have the same types and other keys.
        name = min(names, key=lambda name: len(
            set(self.schema["$defs"][name]["required"]).difference(value)))
        self.record(name, value)
        return f"#/$defs/{name}"

    def kinds(self, name):
        rule = self.schema["$defs"][name]["properties"]["type"]
        return [rule["const"]] if "const" in rule else rule.get("enum", [])

    def record(self, name, value):
        of_type = self.identities.setdefault(name, set())
        if value.get("minor") is not None and len(of_type) < 20:
            of_type.add((value["uuid"], value["major"], value["minor"]))
        for key, inner in value.items():
            self.seen.add((name, key))
            rule = self.schema["$defs"][name]["properties"].get(key, {})
            if name == "range" and key == "beacons":
                for beacon in inner:
                    self.record("rangedBeacon", beacon)
            elif key in ("reason", "approach") and isinstance(inner, dict):
                self.record(rule["$ref"].rsplit("/", 1)[1], inner)
            elif (name, key) == ("beacon", "senders"):
                for sender in inner:
                    self.record("sender", sender)
            elif name in ("advert", "advertiser") and key == "beacons":
                for beacon in inner:
                    kind = beacon.get("type", "")
                    self.record(kind + ("-other" if "version" in beacon else ""), beacon)
            elif isinstance(inner, dict) and "properties" in rule:
                self.seen.update((f"{name}.{key}", deeper) for deeper in inner)
            elif isinstance(inner, list):
                self.seen.update((f"{name}.{key}", deeper) for item in inner if isinstance(item, dict)
                                 for deeper in item)

    def line(self, text, place, truth=False):
        self.lines += 1
        self.printed.add(text)
        try:
            value = json.loads(text, parse_constant=lambda word: float("nan") / 0)
        except (ValueError, ZeroDivisionError) as error:
            self.failures.append(f"{place}: not JSON ({error}): {text[:200]}")
            return
        reference = self.reference(value, truth)
        if reference is None:
            self.failures.append(f"{place}: no such type of line: {text[:200]}")
            return
        for error in self.validator(reference).iter_errors(value):
            where = "/".join(str(part) for part in error.absolute_path)
            self.failures.append(f"{place}: {where or 'line'}: {error.message[:200]}")

    def text(self, text, place, truth=False):
        for number, line in enumerate(text.splitlines(), 1):
            self.line(line, f"{place}: line {number}", truth)

    def run(self, command, *arguments, stdin=None, configuration="/dev/null"):
        self.runs += 1
        place = " ".join(arguments)
        environment = dict(os.environ, BEACONSCAN_CONFIG=str(configuration))
        result = subprocess.run([command, *arguments], input=stdin, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, cwd=ROOT, env=environment, check=False)
        if result.returncode != 0:
            self.failures.append(f"{place}: status {result.returncode}: {result.stderr.decode()}")
        self.text(result.stdout.decode(), place)
        return result.stdout

    def examples(self, command, document, writes):
        """Runs the blocks of a document; compares what they print, or writes it there."""
        text = document.read_text()
        environment = dict(os.environ, PATH=f"{pathlib.Path(command).parent}:{os.environ['PATH']}",
                           TZ="UTC", COLUMNS="100", LC_ALL="C.UTF-8",
                           BEACONSCAN_CONFIG="/dev/null")
        for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S):
            printed = ""
            for part in re.split(r"^(?=\$ )", block, flags=re.M):
                if not part:
                    continue
                line, _, expected = part[2:].partition("\n")
                while line.endswith("\\"):
                    more, _, expected = expected.partition("\n")
                    line += "\n" + more
                result = subprocess.run(["bash", "-c", line], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT,
                                        env=environment, check=False)
                self.runs += 1
                printed += f"$ {line}\n{result.stdout.decode()}"
                if result.stdout.decode() != expected and not writes:
                    self.failures.append(f"{document.name}: $ {line}\nprints:\n"
                                         + result.stdout.decode())
            text = text.replace(block, printed)
        if writes:
            document.write_text(text)

    def keys(self):
        """Every key of the schema with the line, object or list that it stands in."""
        for name, rule in self.schema["$defs"].items():
            for key, inner in rule.get("properties", {}).items():
                yield name, key
                inner = inner.get("items", inner)
                for deeper in inner.get("properties", {}):
                    yield f"{name}.{key}", deeper


def stay():
    """A track in NMEA 0183 with a compass, which stays at a place for ten minutes and leaves it."""
    lines = []
    for second in range(0, 1200, 5):
        north = max(0, second - 600) * 0.005
        clock = f"{10 + second // 3600:02}{second // 60 % 60:02}{second % 60:02}.00"
        for body in (f"GPRMC,{clock},A,52{30 + north:07.4f},N,01323.0000,E,0.0,0.0,150126,,",
                     f"HCHDG,{second % 360}.0,,,4.0,E"):
            checksum = 0
            for byte in body.encode():
                checksum ^= byte
            lines.append(f"${body}*{checksum:02X}\r\n")
    return "".join(lines).encode()


def main():
    command = str(pathlib.Path(sys.argv[1]).resolve())
    writes = "--write" in sys.argv[2:]
    file = ROOT / "docs/json.schema.json"
    text = subprocess.run([command, "schema"], stdout=subprocess.PIPE, check=True).stdout.decode()
    if writes:
        file.write_text(text)
    schema = json.loads(text)
    Draft202012Validator.check_schema(schema)
    checker = Checker(schema)
    if file.read_text() != text:
        checker.failures.append("docs/json.schema.json is not the command's; run Tests/Checks/outputs.sh --write")

    recordings = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "captures").rglob("*")
                        if path.name.endswith(ENDINGS))
    if not recordings:
        sys.exit("outputs: there are no recordings in captures/")
    json_format = ["--format", "json"]
    for recording in recordings:
        checker.run(command, "scan", "--replay", recording, *json_format)
        checker.run(command, "range", "--replay", recording, *json_format)
        checker.run(command, "range", "--raw", "--measured-power=-60", "--replay", recording,
                    "--uuid", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", *json_format)
        checker.run(command, "inspect", recording, *json_format)
        checker.run(command, "inspect", "--all", recording, *json_format)
    checker.run(command, "range", "--region", "kiosk=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:1:100",
                "--replay", "captures/visitor.btsnoop", *json_format)
    checker.run(command, "range", "--sides", "left=hci0,right=hci100", "--replay", "captures/visitor.btsnoop",
                "--replay", "./captures/visitor.btsnoop", *json_format)
    visitor = "kiosk=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:1:100"
    for recording in recordings:
        checker.run(command, "monitor", "--replay", recording, "--region", visitor,
                    "--region", "nobody=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:9",
                    "--uuid", "0EDCE000-1111-4222-8333-444455556666", *json_format)
    for rules in (["--enter-rssi=-60"], ["--enter-distance", "1", "--exit-distance", "3"],
                  ["--enter-count", "8/10"], ["--dwell", "10", "--exit-after", "5"],
                  ["--enter-distance", "0.2"], ["--explain", "--dwell", "60"]):
        checker.run(command, "monitor", *rules, "--region", visitor,
                    "--replay", "captures/visitor.btsnoop", *json_format)
    checker.run(command, "monitor", "--each", "--uuid", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0",
                "--replay", "captures/visitor.btsnoop", *json_format)
    for regions in ([], ["--region", visitor]):
        checker.run(command, "range", "--on-change", *regions, "--replay", "captures/visitor.btsnoop",
                    *json_format)
    checker.run(command, "scan", "--region", visitor, "--replay", "captures/visitor.btsnoop",
                *json_format)
    stays = ["0.3=captures/visitor.btsnoop@38-51", "2=captures/visitor.btsnoop@17-34",
             "2=captures/visitor.btsnoop@55-68"]
    checker.run(command, "calibrate", *(f"--at={stay}" for stay in stays), *json_format)
    checker.run(command, "calibrate", "--uuid", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0",
                "--major", "1", "--minor", "100", "--at=edge=captures/visitor.btsnoop@17-34",
                "--at=inside=captures/visitor.btsnoop@38-51",
                "--at=outside=captures/visitor.btsnoop@5-9", *json_format)
    # All at once, and from a pipe.
    checker.run(command, "inspect", *recordings, *json_format)
    packed = gzip.compress((ROOT / recordings[0]).read_bytes())
    checker.run(command, "scan", "--replay", "-", *json_format, stdin=packed)
    for advert in ADVERTS:
        checker.run(command, "decode", *advert, *json_format)
    track = "captures/visitor.gpx"
    museum = "museum=52.5163,13.3777,100"
    checker.run(command, "inspect", track, *json_format)
    checker.run(command, "locate", track, *json_format)
    checker.run(command, "monitor", "--region", museum, "--region", visitor, "--replay", track,
                "--replay", "captures/visitor.btsnoop", *json_format)
    checker.run(command, "locate", "-", "--heading", "--visits", *json_format, stdin=stay())

    # All again with names and calibrations for the beacons of a few lines of each type.
    with tempfile.TemporaryDirectory() as directory:
        configuration = pathlib.Path(directory) / "beaconscan.toml"
        configuration.write_text('format = "json"\n' + "".join(
            f'[beacon.b{number}]\nuuid = "{uuid}"\nmajor = {major}\nminor = {minor}\n'
            'power = -59\nexponent = 2\noffset = 0\n'
            for number, (uuid, major, minor) in enumerate(sorted(set().union(*checker.identities.values())))))
        for recording in recordings:
            for arguments in (["scan", "--replay", recording], ["range", "--replay", recording],
                              ["monitor", "--explain", "--dwell=80", "--region", visitor, "--replay", recording],
                              ["inspect", recording]):
                checker.run(command, *arguments, configuration=configuration)
        checker.run(command, "range", "--on-change", "--replay", "captures/visitor.btsnoop",
                    configuration=configuration)
        # The second run begins with the beacons that were inside at the end of the first.
        for _ in range(2):
            checker.run(command, "monitor", "--each", "--uuid", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0",
                        "--state-file", f"{directory}/state", "--replay", "captures/visitor.btsnoop",
                        configuration=configuration)
        checker.run(command, "calibrate", *(f"--at={stay}" for stay in stays),
                    configuration=configuration)
        for advert in ADVERTS:
            checker.run(command, "decode", *advert, configuration=configuration)
        checker.run(command, "beacons", configuration=configuration)
        checker.run(command, "config", "show", *json_format, configuration=configuration)
    checker.run(command, "beacons", *json_format, configuration="Examples/beaconscan.toml")

    scenarios = [path for path in sorted((ROOT / "captures").glob("*.json"))]
    with tempfile.TemporaryDirectory() as directory:
        for scenario in scenarios:
            truth = pathlib.Path(directory) / "truth.jsonl"
            output = str(pathlib.Path(directory) / "recording")
            checker.run(command, "simulate", "--force", str(scenario), "--output", output, "--truth",
                        str(truth))
            checker.text(truth.read_text(), f"truth of {scenario.name}", truth=True)

    for live in sorted((ROOT / "Tests/Outputs").glob("*.jsonl")):
        checker.text(live.read_text(), live.name)

    page = (ROOT / "docs/json.md").read_text()
    for example in re.findall(r"^```json\n(.*?)^```$", page, re.M | re.S):
        for line in example.splitlines():
            if line not in checker.printed:
                checker.failures.append(f"docs/json.md: no run prints this example: {line}")
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        checker.examples(command, document, writes)

    for owner, key in checker.keys():
        if (owner, key) not in checker.seen:
            checker.failures.append(f"outputs: {owner} has '{key}', which no line has")
        if not owner.startswith("truth") and f"`{key}`" not in page:
            checker.failures.append(f"docs/json.md does not name `{key}` of {owner}")

    for failure in checker.failures[:40]:
        print(f"outputs: {failure}", file=sys.stderr)
    if checker.failures:
        sys.exit(f"outputs: {len(checker.failures)} failures")
    print(f"outputs: {checker.lines} lines of {checker.runs} runs are as they should be")


if __name__ == "__main__":
    main()
