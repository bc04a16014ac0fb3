#!/usr/bin/env python3
"""Measures a fleet on this machine: a node of RabbitMQ, workers, and simulated sites.

    Benchmarks/fleet-scale.py COMMAND [--sites N] [--receivers N] [--beacons N] [--seconds N] [--workers N] [--speed X]
                              [--mqtt]

COMMAND is beaconscan-fleet, built with -c release. Each site has so many receivers and beacons. The reports of so many
seconds are made first, and then sent at --speed times their own, or as fast as the engine takes them (max), over one
connection of AMQP and in the same moment of each second. With --mqtt, each receiver has two connections of MQTT, for its
reports and its configuration, and a moment of its own, as beaconscan serve has them. Prints one line of JSON: the
reports and beacons in a second, the processor time of a second of the sites, the memory of the workers and of the node,
the time from the last report of a second to a change of room at the service (with a speed), and with --speed 1 the time
from the end of a second to its picture.
"""

import argparse
import asyncio
import datetime
import json
import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests/Checks"))
import rabbitmq  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")


def processor_time(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_memory(process):
    """The most memory in MB."""
    for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return round(int(line.split()[1]) / 1000, 1)
    return 0


class Engine:
    """A node of RabbitMQ, as `beaconscan-fleet up` starts it."""

    def __init__(self, folder):
        self.port = rabbitmq.free_ports(4)
        self.mqtt = self.port + 3
        variables = rabbitmq.prepare(folder, "scale", self.port, self.port + 2, self.port + 1,
                                     ["vm_memory_high_watermark.absolute = 1GB", "mqtt.exchange = amq.topic",
                                      f"mqtt.listeners.tcp.1 = 127.0.0.1:{self.mqtt}"])
        (folder / "plugins").write_text("[rabbitmq_mqtt].\n")
        self.names = subprocess.Popen(rabbitmq.names_command(self.port + 1))
        with open(folder / "output", "w") as log:
            self.process = subprocess.Popen([rabbitmq.SERVER], env=variables, stdout=log, stderr=log)
        while socket.socket().connect_ex(("127.0.0.1", self.port)) != 0:
            if self.process.poll() is not None:
                raise SystemExit((folder / "output").read_text())
            time.sleep(0.2)

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.names.terminate()
        self.names.wait()


def text(characters):
    """Returns a string of MQTT."""
    return len(characters).to_bytes(2, "big") + characters.encode()


def packet(kind, body):
    """Returns a packet of MQTT."""
    length, rest = b"", len(body)
    while True:
        length += bytes([rest % 128 | (128 if rest > 127 else 0)])
        rest //= 128
        if rest == 0:
            return bytes([kind]) + length + body


class Receivers:
    """Receivers that send the reports of files over connections of their own, as many times as fast as they say."""

    def __init__(self, port, files, speed):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.port, self.speed = port, speed
        self.reports = {}
        for file in files:
            with open(file) as lines:
                for line in lines:
                    report = json.loads(line)
                    self.reports.setdefault((report["site"], report["receiver"]), []).append(line.rstrip())
        self.connected = threading.Event()
        self.start = threading.Event()
        self.began = None
        self.acknowledged = 0
        self.thread = threading.Thread(target=asyncio.run, args=[self.run()], daemon=True)
        self.thread.start()

    def poll(self):
        """Returns 0 when all reports are sent and acknowledged, as a process does at its end."""
        return None if self.thread.is_alive() else 0

    def send(self):
        self.start.set()

    async def run(self):
        links = []
        for number, (key, lines) in enumerate(self.reports.items()):
            links.append(await self.connect(f"beaconscan-fleet/{key[0]}/{key[1]}"))
            reader, writer = await self.connect(f"beaconscan-configuration/{key[0]}/{key[1]}")
            writer.write(packet(0x82, b"\0\1" + text(self.topic(key, lines).replace("/seen", "/configuration")) + b"\1"))
            await reader.readexactly(5)
            links[-1] += (writer,)
        self.connected.set()
        await asyncio.to_thread(self.start.wait)
        self.began = time.time()
        await asyncio.gather(*(
            self.report(*link[:2], key, lines, number * 0.618034 % 1)
            for number, (link, (key, lines)) in enumerate(zip(links, self.reports.items()))))

    def topic(self, key, lines):
        shard = 0x811C9DC5
        for byte in key[0].encode():
            shard = (shard ^ byte) * 0x01000193 & 0xFFFFFFFF
        return f"fleet/{shard % 64:02}/{key[0]}/{key[1]}/seen"

    async def connect(self, client):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(packet(0x10, text("MQTT") + bytes([4, 0xC2, 0, 0]) + text(client) + text("guest") + text("guest")))
        if (await reader.readexactly(4))[3] != 0:
            raise SystemExit("the node refuses a connection of MQTT")
        return reader, writer

    async def report(self, reader, writer, key, lines, phase):
        topic = text(self.topic(key, lines))

        async def acknowledge():
            for _ in lines:
                await reader.readexactly(4)

        acknowledged = asyncio.create_task(acknowledge())
        for index, line in enumerate(lines):
            due = self.began + (index + phase) / self.speed
            await asyncio.sleep(max(0, due - time.time()))
            # The reports of a second are those of this second of the sites.
            moment = datetime.datetime.fromtimestamp(int(self.began) + index + phase, datetime.timezone.utc)
            body = re.sub('"time":"[^"]*"', f'"time":"{moment.strftime("%Y-%m-%dT%H:%M:%S.%f")[:23]}Z"', line, count=1)
            writer.write(packet(0x32, topic + (index % 65535 + 1).to_bytes(2, "big") + body.encode()))
        await acknowledged


class Changes:
    """The changes of room that the service sends, with the times of their arrival."""

    def __init__(self, page):
        self.arrivals = []
        self.events = urllib.request.urlopen(f"http://127.0.0.1:{page}/api/v1/events")
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.events:
            if line.startswith(b"id: ") and line.count(b"/") == 2:
                self.arrivals.append((int(line.rpartition(b"/")[2]), time.time()))

    def latencies(self, began, speed, spread):
        """The seconds from the last report of a second, of which the first was sent at `began`, to its changes."""
        # In the first seconds all beacons enter their rooms.
        return [now - began - (second - int(began) + spread) / speed
                for second, now in list(self.arrivals) if second - int(began) >= 10]


def percentiles(numbers):
    numbers = sorted(numbers)
    return {"count": len(numbers), "median": round(numbers[len(numbers) // 2], 3),
            "99 %": round(numbers[len(numbers) * 99 // 100], 3)}


def make(command, folder, options):
    """Makes the sites and their reports. All have the plan of the first one, and reports of its beacons."""
    made = folder / "first"
    subprocess.run([command, "simulate", str(made), "--rooms", str(options.receivers), "--beacons", str(options.beacons),
                    "--seconds", str(options.seconds)], check=True, stdout=subprocess.DEVNULL)
    (folder / "sites").mkdir()
    files = []
    for number in range(options.sites):
        name = f"site-{number}"
        (folder / "sites" / f"{name}.toml").write_text(
            (made / "site.toml").read_text().replace('"demo"', f'"{name}"', 1))
        file = folder / f"{name}.jsonl"
        with open(made / "reports.jsonl") as reports, open(file, "w") as copy:
            for line in reports:
                copy.write(line.replace('"site":"demo"', f'"site":"{name}"', 1))
        files.append(str(file))
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    for name, value in [("sites", 10), ("receivers", 10), ("beacons", 100), ("seconds", 60), ("workers", 2)]:
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--speed", default="1")
    parser.add_argument("--mqtt", action="store_true")
    options = parser.parse_args()
    command = shutil.which(options.command) or options.command
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fleet-scale-"))
    engine = None
    processes = []
    try:
        files = make(command, folder, options)
        engine = Engine(folder / "engine")
        address = f"127.0.0.1:{engine.port}"
        workers = []
        for number in range(options.workers):
            with open(folder / f"worker-{number}", "w") as log:
                workers.append(subprocess.Popen([command, "work", "--sites", str(folder / "sites"), "--engine", address],
                                                stderr=log))
            if number == 0:
                time.sleep(15)  # It declares the queues.
        processes += workers
        page = rabbitmq.free_ports(1)
        processes.append(subprocess.Popen([command, "serve", "--sites", str(folder / "sites"), "--engine", address,
                                           "--listen", str(page)], stderr=subprocess.DEVNULL))
        time.sleep(8)
        changes = Changes(page)
        receivers = Receivers(engine.mqtt, files, float(options.speed)) if options.mqtt else None
        if receivers:
            receivers.connected.wait()
            time.sleep(5)
        # The second of the first report is that of the publisher's start, which takes a moment.
        time.sleep(1.2 - time.time() % 1)
        before = {process.pid: processor_time(process.pid) for process in [*workers, engine.process]}
        began = time.time()
        if receivers:
            publisher = receivers
            receivers.send()
        else:
            publisher = subprocess.Popen([command, "publish", *files, "--speed", options.speed, "--engine", address],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            processes.append(publisher)
        latencies = []
        stored = None
        newest, passed = 0, 0.0
        while True:
            time.sleep(0.25)
            if stored is None and publisher.poll() is not None:
                stored = time.time() - began
            with urllib.request.urlopen(f"http://127.0.0.1:{page}/api/v1/sites", timeout=60) as answer:
                sites = json.load(answer)["sites"]
            now = time.time()
            times = [time.mktime(time.strptime(site["time"][:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
                     for site in sites if site.get("time")]
            if options.speed == "1" and stored is None:
                latencies += [now - moment for moment in times if moment > began + 10]
            if (progress := sum(times) + len(changes.arrivals)) > newest:
                newest, passed = progress, now - began
            # The last seconds wait for reports that do not come.
            if stored is not None and now - began - passed > 30:
                break
        if len(times) < options.sites:
            raise SystemExit("the workers have not published all sites")
        used = {pid: processor_time(pid) - start for pid, start in before.items()}
        reports = options.sites * options.receivers * options.seconds
        result = {
            "sites": options.sites, "receivers": options.sites * options.receivers,
            "beacons": options.sites * options.beacons, "workers": options.workers, "seconds": options.seconds,
            "passed": round(passed, 1), "reportsPerSecond": round(reports / passed),
            "beaconSecondsPerSecond": round(options.sites * options.beacons * options.seconds / passed),
            "workersProcessorSecondsPerSecond":
                round(sum(used[worker.pid] for worker in workers) / options.seconds, 3),
            "engineProcessorSecondsPerSecond": round(used[engine.process.pid] / options.seconds, 3),
            "workersMemory": [peak_memory(worker.pid) for worker in workers],
            "engineMemory": peak_memory(engine.process.pid),
        }
        if stored:
            result["stored"] = round(stored, 1)
        if latencies:
            # A picture stands for two seconds and more, so this is an upper bound.
            result["pictureAge"] = percentiles(latencies)
        if options.speed != "max":
            result["changeLatency"] = percentiles(
                changes.latencies(began, float(options.speed), 1 if options.mqtt else 0))
        print(json.dumps(result))
    finally:
        for process in processes:
            process.kill()
            process.wait()
        if engine:
            engine.end()
        shutil.rmtree(folder)


main()
