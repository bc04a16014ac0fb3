#!/usr/bin/env python3
"""Measures what `beaconscan serve` costs: idle, and with 1,000 reports a second in real time.

    Benchmarks/service-cost.py .build/release/beaconscan [--seconds 60] [--python VENV/bin/python]

The recording is made by `beaconscan simulate`: 100 beacons, each every 100 ms and up to 10 ms more. It is replayed in
its own time, with one region of all of them, with the history, and with one event stream whose client reads.

--python names a Python with the packages bluetooth-data-tools and habluetooth. Its parser
(`parse_advertisement_data_bytes`, compiled) is given the advertising data of the same reports, in their order: processor
time for each, as it is, with its cache of 256 payloads, and without. This is parsing alone; the service's figure is all
that it does, from reading the recording to the history and the stream.
"""

import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests/Service"))

from service import UUID, Service, eventually

TICK = os.sysconf("SC_CLK_TCK")

PARSER = """
import importlib.metadata, sys, time
from bluetooth_data_tools import gap
payloads = [bytes.fromhex(line.strip()) for line in sys.stdin]
def measure(parse):
    times = []
    for _ in range(9):
        began = time.process_time()
        for one in payloads:
            parse(one)
        times.append((time.process_time() - began) / len(payloads) * 1e9)
    return sorted(times)[4]
cached = gap.parse_advertisement_data_bytes
plain = getattr(cached, "__wrapped__", None) or gap._uncached_parse_advertisement_bytes
print(f"bluetooth-data-tools {importlib.metadata.version('bluetooth-data-tools')}, as habluetooth "
      f"{importlib.metadata.version('habluetooth')} uses it, {gap.__file__.rsplit('.', 1)[1]}: "
      f"{measure(cached):.0f} ns a report with its cache, {measure(plain):.0f} ns without, medians of 9 runs over "
      f"{len(payloads)} reports with {len(set(payloads))} payloads")
"""


def payloads(path):
    """The advertising data of the reports of a btsnoop recording."""
    data = path.read_bytes()
    place = 16
    while place < len(data):
        length = struct.unpack_from(">I", data, place + 4)[0]
        packet = data[place + 24:place + 24 + length]
        place += 24 + length
        if packet[:2] == b"\x04\x3e" and packet[3] == 2 and packet[4] == 1:
            yield packet[14:14 + packet[13]]


def processor_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--python")
    options = parser.parse_args()
    Service.binary = str(pathlib.Path(options.command).resolve())
    print(f"load average at the start: {os.getloadavg()[0]:.2f}, {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        scenario = {"name": "load", "start": "2026-01-15T09:00:00Z", "duration": options.seconds + 15, "beacons": [
            {"id": "all", "uuid": UUID, "major": 1, "minor": 1, "interval": 95, "spread": [1, 9], "count": 100}]}
        recording = folder / "load.btsnoop"
        subprocess.run([Service.binary, "simulate", "-", "--output", str(recording), "--truth", "/dev/null"],
                       input=json.dumps(scenario).encode(), check=True)
        reports = list(payloads(recording))

        with Service("--replay", str(recording)) as service:
            time.sleep(2)
            switches = service.metric("process_context_switches_total")[0]
            used = processor_seconds(service.process)
            time.sleep(options.seconds)
            used = processor_seconds(service.process) - used
            switches = service.metric("process_context_switches_total")[0] - switches
            print(f"idle: {switches * 60 / options.seconds:.0f} wake-ups a minute, {used / options.seconds:.2%} of a "
                  f"processor, {service.memory() / 1e6:.1f} MB resident")

        with Service("--replay", str(recording), "--speed", "1x", "--region", f"all={UUID}",
                     "--history", str(folder / "history.sqlite")) as service:
            stream = service.events()
            eventually("a report", lambda: any(kind == "range" for _, kind, _ in stream.items))
            time.sleep(5)
            seen = service.metric("beaconscan_sightings_total")
            began, used = time.monotonic(), processor_seconds(service.process)
            time.sleep(options.seconds)
            elapsed, used = time.monotonic() - began, processor_seconds(service.process) - used
            count = sum(service.metric("beaconscan_sightings_total")) - sum(seen)
            rate = count / elapsed or len(reports) / (options.seconds + 15)
            print(f"{rate:.0f} reports a second: {used / elapsed:.2%} of a processor, "
                  f"{used / elapsed / rate * 1e9:.0f} ns a report, {service.memory() / 1e6:.1f} MB resident")
        if options.python:
            subprocess.run([options.python, "-c", PARSER], input="\n".join(one.hex() for one in reports), text=True,
                           check=True)
    print(f"load average at the end: {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
