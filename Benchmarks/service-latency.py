#!/usr/bin/env python3
"""Measures the time from a packet to the client of an event stream.

    Benchmarks/service-latency.py .build/release/beaconscan [--events 200] [--rate 10 1000]

Packets are written to the service's standard input as they would come from a radio, so many a second, of 100 beacons.
Now and then one has a beacon that was not received before: it enters its region, and the time is that from writing the
packet to receiving the event. This process writes and reads, so its own delays are part of the figures.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests/Service"))

from service import UUID, Air, Service, Stream, eventually


class TimedStream(Stream):
    """An event stream that has when each beacon's entry came."""

    def __init__(self, service):
        self.entries = {}
        super().__init__(service)

    def read(self):
        name = None
        try:
            for line in self.file:
                now = time.monotonic()
                if line.startswith(b"event: "):
                    name = line[7:].strip()
                    if name == b"snapshot":
                        self.items.append((None, "snapshot", None))
                elif line.startswith(b"data: ") and name == b"enter":
                    minor = int(line.split(b'"minor":', 1)[1].split(b",", 1)[0])
                    self.entries.setdefault(minor, now)
        except (OSError, ValueError):
            pass


def measure(rate, count, history):
    """The latencies in milliseconds, sorted."""
    # At this speed no packet waits for its time.
    arguments = ["--replay", "-", "--speed", "1000x", "--region", f"new={UUID},each"]
    if history:
        arguments += ["--history", history]
    with Service(*arguments, stdin=subprocess.PIPE) as service:
        stream = TimedStream(service)
        stream.first("snapshot")
        air, pipe, written, sent = Air(), service.process.stdin, {}, 0
        pipe.write(Air.header)
        start, began = air.time, time.monotonic()
        every = max(1, rate // 10)
        while len(written) < count:
            time.sleep(max(0, began + sent / rate - time.monotonic()))
            air.time = start + sent * 1_000_000 // rate
            is_new = sent % every == 0
            minor = 100 + len(written) if is_new else sent % 100
            if is_new:
                written[minor] = time.monotonic()
            pipe.write(air.packet(minor))
            pipe.flush()
            sent += 1
        eventually(f"{count} entries", lambda: written.keys() <= stream.entries.keys())
        pipe.close()
        # The first packet begins the recording's time.
        return sorted((stream.entries[minor] - written[minor]) * 1000 for minor in list(written)[10:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--events", type=int, default=200)
    parser.add_argument("--rate", type=int, nargs="+", default=[10, 1000])
    options = parser.parse_args()
    Service.binary = str(pathlib.Path(options.command).resolve())
    for rate in options.rate:
        for stored in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                times = measure(rate, options.events, f"{folder}/history.sqlite" if stored else None)
            middle, late = times[len(times) // 2], times[len(times) * 99 // 100]
            print(f"{rate} reports a second, {'with' if stored else 'without'} a database: p50 {middle:.2f} ms, "
                  f"p99 {late:.2f} ms, {len(times)} events; load average {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
