"""Checks of Tests/Checks/serve.py that take long in their long form (BEACONSCAN_LONG=1): SIGKILL, many streams, a simulated
week, faults of the machine. They compare counts, contents and memory, never speed."""

import errno
import fcntl
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from service import LONG, REGION, ROOT, UUID, Air, ReconnectingStream, Service, eventually, visitor

MEGABYTE = 1_000_000
# A short run on a busy machine has had a passing peak of 109 MB where 28 are usual; over a long one it would be a fault.
MOST_MEMORY = (96 if LONG else 192) * MEGABYTE


def grows(memory):
    """Returns whether memory grew in every part of the time, as it does where something is kept for ever. One step
    shows nothing: a new arena of the C library, or pages that the kernel joins, are as large as that."""
    return all(after > before + 2 * MEGABYTE for before, after in zip(memory, memory[1:]))


def check_kill():
    """SIGKILL at random: what a client was told is in the history once, and entries and exits alternate."""
    rounds = 200 if LONG else 12
    generator = random.Random(7)
    air = Air()
    received = {}
    with tempfile.TemporaryDirectory() as folder:
        history = folder + "/history.sqlite"
        for number in range(rounds):
            with Service("--replay", "-", "--speed", "2000x", "--region", REGION, "--history", history,
                         "--state-file", folder + "/state", "--exit-after", "20", stdin=subprocess.PIPE) as service:
                pipe = service.process.stdin
                stream = service.events()
                stream.first("snapshot")
                try:
                    pipe.write(Air.header)
                    for _ in range(generator.randrange(1, 8)):
                        for packet in air.visit():
                            pipe.write(packet)
                        pipe.flush()
                        time.sleep(generator.random() * 0.1)
                except BrokenPipeError:
                    pass
                service.kill()
                stream.close()
                stream.thread.join()
                for identifier, name, item in stream.items:
                    if name in ("enter", "exit"):
                        assert received.setdefault(identifier, item) == item, identifier
                pipe.close()
        with Service(*visitor(), "--region", REGION, "--history", history,
                     "--state-file", folder + "/state") as service:
            events = service.history()
            service.stop()
        stored = dict(events)
        assert len(stored) == len(events)
        lost = [identifier for identifier in received if stored.get(identifier) != received[identifier]]
        assert not lost, f"{len(lost)} of {len(received)} events that were delivered are not stored: {lost[:3]}"
        kinds = [event["type"] for event in stored.values() if event["type"] in ("enter", "exit")]
        wrong = [place for place, (a, b) in enumerate(zip(kinds, kinds[1:])) if a == b]
        assert kinds and not wrong, f"{len(wrong)} of {len(kinds)} events repeat the one before"
        print(f"  {rounds} kills: {len(kinds)} transitions, {len(received)} of them received by a client; "
              "none lost, none doubled")


def feed(service, air, is_over):
    """Writes visits to a service's standard input until they are over, in a thread; the service sets the pace."""
    def run():
        try:
            with service.process.stdin as pipe:
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)  # Little is on its way.
                pipe.write(Air.header)
                while not is_over.is_set():
                    for packet in air.visit():
                        pipe.write(packet)
                    pipe.flush()
        except BrokenPipeError:
            pass
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def check_streams():
    """Many streams, dead, slow, reconnecting and others: those that read receive everything, and memory stays."""
    count, seconds, speed = (200, 600, "20x") if LONG else (60, 3, "100x")
    kept = ("enter", "exit", "snapshot", "missed")
    with Service("--replay", "-", "--speed", speed, "--region", REGION, "--exit-after", "20",
                 stdin=subprocess.PIPE) as service:
        dead = []
        for _ in range(count // 4):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", service.port))
            connection.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            dead.append(connection)
        slow = [service.events(keep=kept, pause=0.2) for _ in range(count // 4)]
        steady = [service.events(keep=kept) for _ in range(count // 4)]
        for stream in slow + steady:
            stream.first("snapshot")
        returning = [ReconnectingStream(service, 10 if LONG else 1, seed, keep=kept) for seed in range(count // 4)]
        is_over = threading.Event()
        feeder = feed(service, Air(), is_over)
        memory = []
        while len(memory) < 30:
            time.sleep(seconds / 30)
            memory.append(service.memory())
        is_over.set()
        feeder.join()
        open_streams = int(service.metric("beaconscan_event_streams")[0])
        eventually("the recording ends", lambda: not service.get("/api/v1/health")["receiving"])
        truth = [(identifier, record) for identifier, record in service.history() if record["type"] in ("enter", "exit")]
        assert len(truth) > 2 and len(truth) < 4096, len(truth)
        for stream in slow:
            stream.pause = 0
            stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        # The service closes a stream whose client takes too little for it to write anything for 30 seconds.
        closed = 0
        for stream in slow:
            eventually("a slow stream has all events, or was closed",
                       lambda: len(stream.transitions()) >= len(truth) or stream.ended)
            if stream.ended:
                closed += 1
                rest = service.events(last=stream.last, keep=kept)
                rest.first("snapshot")
                rest.close()
                rest.thread.join()
                stream.items += rest.items
        for stream in returning:
            stream.finish()
        for kind, streams in (("steady", steady), ("slow", slow), ("reconnecting", returning)):
            for stream in streams:
                eventually(f"a {kind} stream has all {len(truth)} events",
                           lambda: len(stream.transitions()) >= len(truth) or kind != "steady")
                assert stream.transitions() == truth, (kind, len(stream.transitions()), len(truth))
                assert not [1 for _, name, _ in stream.items if name == "missed"], kind
        assert not any(stream.ended for stream in steady)
        thirds = [max(memory[part * 10:part * 10 + 10]) for part in range(3)]
        print(f"  {count} streams, a quarter each dead, slow ({closed} closed, which continue), reconnecting ({sum(one.connections for one in returning)} "
              f"times) and steady, {seconds} s: {len(truth)} transitions in each that reads; at the end {open_streams} "
              f"open; memory {memory[0] / MEGABYTE:.1f} MB, at most "
              f"{', '.join(f'{one / MEGABYTE:.1f}' for one in thirds)} MB in the thirds of the time")
        assert thirds[2] < MOST_MEMORY and not grows(thirds), memory
        for connection in dead:
            connection.close()
        for stream in slow + steady:
            stream.close()
        eventually("closed streams are forgotten", lambda: service.metric("beaconscan_event_streams") == [0])


class Visits:
    """Visits on the standard input of a service, which a stream has to report."""

    def __init__(self, service):
        self.service, self.air = service, Air()
        self.stream = service.events(keep=("enter", "exit", "snapshot", "missed"))
        self.stream.first("snapshot")
        service.process.stdin.write(Air.header)

    def rest(self, seconds):
        """Has another beacon alone for so long."""
        for _ in range(seconds):
            self.service.process.stdin.write(self.air.packet(7))
            self.air.time += 1_000_000
        self.service.process.stdin.flush()

    def make(self, count):
        """Has a visitor come and go so often, and waits until all of it was reported."""
        expected = len(self.stream.transitions()) + 2 * count
        for _ in range(count):
            self.service.process.stdin.write(b"".join(self.air.visit()))
        self.service.process.stdin.flush()
        eventually(f"{expected} entries and exits", lambda: len(self.stream.transitions()) >= expected)

    def check(self):
        """Entries and exits alternate, their numbers rise, and the history has what it has as the stream had it."""
        events = self.stream.transitions()
        assert [record["type"] for _, record in events] == ["enter", "exit"] * (len(events) // 2), events
        numbers = [int(identifier.split("-")[1]) for identifier, _ in events]
        assert numbers == sorted(set(numbers)), numbers
        assert not self.stream.ended and len(self.stream.items) == len(events) + 1, "a second snapshot, or missed"
        stored = [(identifier, record) for identifier, record in self.service.history()
                  if record["type"] in ("enter", "exit")]
        sent = dict(events)
        wrong = [one for one in stored if sent.get(one[0]) != one[1]]
        assert not wrong, f"{len(wrong)} of {len(stored)} stored events are others in the stream: {wrong[0]}"
        return [one for one in events if one not in stored]


class WebhookReceiver(ThreadingHTTPServer):
    """A receiver of webhooks that accepts events, or refuses to take any for now."""

    def __init__(self):
        self.accepts, self.received, self.attempts = True, [], 0
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                record = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                receiver.attempts += 1
                if receiver.accepts:
                    receiver.received.append((self.headers["webhook-id"], record))
                self.send_response(204 if receiver.accepts else 503)
                self.end_headers()

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def check_webhooks():
    """A receiver that is away, SIGTERM and SIGKILL: with a history, webhooks deliver every entry and exit, in order."""
    generator = random.Random(11)
    air = Air()
    with WebhookReceiver() as receiver, tempfile.TemporaryDirectory() as folder:
        def service():
            return Service("--replay", "-", "--speed", "10000x", "--region", REGION, "--exit-after", "20",
                           "--history", folder + "/history.sqlite", "--state-file", folder + "/state",
                           "--webhook", f"http://127.0.0.1:{receiver.server_port}/secret", stdin=subprocess.PIPE)

        def visit(running, count):
            running.process.stdin.write(Air.header + b"".join(packet for _ in range(count) for packet in air.visit()))
            running.process.stdin.flush()

        def stored(running):
            return [one for one in running.history() if one[1]["type"] in ("enter", "exit")]

        with service() as running:
            visit(running, 2)
            eventually("four events", lambda: len(receiver.received) == 4)
            receiver.accepts = False
            before = receiver.attempts
            # The header of a recording comes once.
            running.process.stdin.write(b"".join(packet for _ in range(3) for packet in air.visit()))
            running.process.stdin.flush()
            eventually("six more events", lambda: len(stored(running)) == 10 and receiver.attempts > before)
            running.stop()
            assert "not delivered" in running.output(), running.output()
        receiver.accepts = True
        with service() as running:
            eventually("what waited", lambda: len(receiver.received) == 10)
            assert receiver.received == stored(running), (receiver.received, stored(running))
            running.stop()
            assert "not delivered" not in running.output(), running.output()
        with service() as running:
            visit(running, 1)
            eventually("two new events alone", lambda: len(receiver.received) == 12)
            assert receiver.received == stored(running)
            running.stop()
        rounds = 50 if LONG else 6
        for number in range(rounds):
            receiver.accepts = number % 2 == 0
            with service() as running:
                count = len(stored(running))
                visit(running, 3)
                eventually("events", lambda: len(stored(running)) > count)
                time.sleep(generator.random() * 0.1)
                running.kill()
        receiver.accepts = True
        with service() as running:
            events = stored(running)
            eventually("every event", lambda: {one[0] for one in events} <= {one[0] for one in receiver.received})
            running.stop()
        first = list(dict(receiver.received))
        assert first == [identifier for identifier, _ in events], "the order of deliveries"
        assert all(dict(events)[identifier] == record for identifier, record in receiver.received)
        print(f"  {rounds} kills: {len(events)} events, each delivered, {len(receiver.received) - len(events)} of them "
              "twice under one identifier")


def check_faults():
    """A full disk, a clock that is set, and a suspended process: events go on, and the history continues."""
    options = ["--replay", "-", "--speed", "10000x", "--region", REGION, "--exit-after", "20"]
    wrapper = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    with tempfile.TemporaryDirectory() as folder:
        options += ["--history", folder + "/history.sqlite", "--state-file", folder + "/state"]
        mount = f"mount -t tmpfs -o size=4m tmpfs {folder} &&"
        if subprocess.run([*wrapper, "sh", "-c", mount + " true"], stderr=subprocess.DEVNULL).returncode:
            print("  skipped: a full disk, because no file system may be mounted here")
        else:
            with Service(*options, stdin=subprocess.PIPE, wrapper=wrapper, shell=mount) as service:
                disk = Path(f"/proc/{service.process.pid}/root{folder}")
                visits = Visits(service)
                visits.make(3)
                for count in (5, 600):
                    fill(disk / "filler")
                    visits.make(count)
                    faults = service.get("/api/v1/health")["faults"]
                    assert any("free some space" in fault for fault in faults), faults
                    (disk / "filler").unlink()
                    # Nothing has to happen for what waits to be stored.
                    visits.rest(150)
                    eventually("no fault", lambda: not service.get("/api/v1/health")["faults"])
                    missing = visits.check()
                    # 16,384 events wait for the disk at most.
                    assert not missing, len(missing)
                    visits.make(1)
                    assert visits.check() == missing
                service.stop()
                print(f"  a full disk, twice: {len(visits.stream.transitions())} transitions, each stored later")

            full = f"{mount} head -c 8M /dev/zero 2> /dev/null > {folder}/filler;"
            with Service(*options, stdin=subprocess.PIPE, wrapper=wrapper, shell=full) as service:
                visits = Visits(service)
                visits.make(3)
                faults = service.get("/api/v1/health")["faults"]
                assert len(faults) == 1 and all("free some space" in fault for fault in faults), faults
                waiting = service.history()
                assert len(waiting) == 6, waiting
                Path(f"/proc/{service.process.pid}/root{folder}/filler").unlink()
                visits.rest(150)
                eventually("no fault", lambda: not service.get("/api/v1/health")["faults"])
                assert service.history() == waiting, "the identifiers of what waited have changed"
                visits.make(3)
                assert not visits.check()
                service.stop()
                print(f"  a disk that is full at the start: {len(visits.stream.transitions())} transitions, each stored later")

    with tempfile.TemporaryDirectory() as folder:
        with Service(*options[:-4], "--history", folder + "/history.sqlite", stdin=subprocess.PIPE) as service:
            visits = Visits(service)
            visits.make(3)
            for hours in (1, -30, 2, -24 * 366):
                visits.air.time += hours * 3_600_000_000
                visits.make(3)
            assert not visits.check()
            service.process.send_signal(signal.SIGSTOP)
            time.sleep(40 if LONG else 1)
            service.process.send_signal(signal.SIGCONT)
            visits.make(3)
            assert not visits.check()
            print(f"  a clock that is set four times, and SIGSTOP: {len(visits.stream.transitions())} transitions, each stored")
            service.stop()


def check_disk():
    """A disk whose syncs do not end: the service listens, and no event, report or sign of life waits for it."""
    if not shutil.which("cc"):
        print("  skipped: there is no C compiler, for Tests/TestSupport/Syncs.c")
        return
    count = 200
    with tempfile.TemporaryDirectory() as folder:
        library = folder + "/syncs.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, ROOT / "Tests/TestSupport/Syncs.c"], check=True)
        held, syncing = Path(folder) / "slow", Path(folder) / "syncing"
        held.touch()
        began = time.monotonic()
        with Service("--replay", "-", "--speed", "1x", "--region", f"all={UUID},each", "--exit-after", "60",
                     "--history", folder + "/history.sqlite", stdin=subprocess.PIPE, shell=f"cd {folder};",
                     environment={"LD_PRELOAD": library, "SYNCS": "held"}) as service:
            listening = time.monotonic() - began
            stream = service.events()
            stream.first("snapshot")
            arrivals = []

            def watch():
                while len(arrivals) < count:
                    new = stream.transitions()[len(arrivals):]
                    arrivals.extend((time.monotonic(), record["time"]) for _, record in new)
                    time.sleep(0.002)
            watcher = threading.Thread(target=watch, daemon=True)
            watcher.start()
            air = Air()
            service.process.stdin.write(Air.header)
            for step in range(count + 40):
                # One after the other within 5 s, and each again.
                for minor in {step, step // 2} if step < count else {step % count}:
                    service.process.stdin.write(air.packet(min(minor, count - 1)))
                air.time += 25_000
            service.process.stdin.flush()
            eventually(lambda: f"every beacon entered, but {len(arrivals)}", lambda: len(arrivals) >= count)
            eventually("reports", lambda: sum(name == "range" for _, name, _ in stream.items) >= 4)
            assert service.get("/api/v1/health")["receiving"]
            assert syncing.exists(), "nothing was being synced"
            ids = [identifier for identifier, _ in stream.transitions()]
            assert len(set(ids)) == count
            late = [arrival - datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() for arrival, text in arrivals]
            late = sorted(one - min(late) for one in late)
            memory = service.memory()
            held.unlink()
            eventually("all are stored", lambda: not syncing.exists() and len(service.history()) >= count)
            assert [identifier for identifier, record in service.history() if record["type"] == "enter"] == ids
            service.process.stdin.close()
            print(f"  listening after {listening * 1000:.0f} ms; {count} events, the median {late[count // 2] * 1000:.0f} ms and "
                  f"the latest {late[-1] * 1000:.0f} ms later than the first; {memory / 1e6:.1f} MB")


class Moments:
    """A service that is killed, loses its power, or has a disk that refuses, again and again: what a client and a
    webhook were given is compared with what the next process has."""

    def __init__(self, fault, folder, library):
        self.fault, self.folder, self.library = fault, Path(folder), library
        self.disk, self.copy = self.folder / "disk", self.folder / "copy"
        self.generator, self.air = random.Random(fault), Air()
        # What was given, by identifier; what a client had at the end, and what it goes on after.
        self.given, self.had, self.last, self.gone, self.told, self.refused = {}, [], None, 0, 0, 0

    def start(self, receiver):
        self.disk.mkdir(exist_ok=True)
        shutil.rmtree(self.copy, ignore_errors=True)
        self.copy.mkdir()
        self.before = {path.name: (path.stat().st_ino, path.read_bytes()) for path in self.disk.iterdir()}
        return Service("--replay", "-", "--speed", "10000x", "--region", REGION, "--exit-after", "20",
                       "--history", str(self.disk / "history.sqlite"), "--state-file", str(self.disk / "state"),
                       "--webhook", f"http://127.0.0.1:{receiver.server_port}/secret", stdin=subprocess.PIPE,
                       shell=f"cd {self.folder};",
                       environment={"LD_PRELOAD": str(self.library), "SYNCS_COPY": str(self.copy),
                                    "SYNCS": "copy" if self.fault == "power" else "faults"})

    def come_back(self, service):
        """Has the client go on, and checks that it is told where something is gone that it was given."""
        stream = service.events(last=self.last, keep=("enter", "exit", "missed", "snapshot"))
        stream.first("snapshot")
        stored = dict(service.history())
        lost = [one for one in self.had if one not in stored]
        told = any(name == "missed" for _, name, _ in stream.items)
        assert self.fault != "kill" or not lost and not told, (self.fault, lost, told)
        assert told or not lost, f"{self.fault}: {lost} are gone, and the client was not told"
        self.gone, self.told = self.gone + len(lost), self.told + told
        return stream

    def visit(self, service, count):
        service.process.stdin.write(b"".join(packet for _ in range(count) for packet in self.air.visit()))
        service.process.stdin.flush()

    def end(self, service, stream, number):
        """Has the disk refuse, where it is its turn, and ends the process."""
        refuses = {"full": "full", "readonly": "read-only"}.get(self.fault)
        if refuses:
            count = len(stream.transitions())
            (self.folder / refuses).touch()
            self.visit(service, self.generator.randrange(1, 4))
            # A full disk still takes what makes no file longer. In any case, readers go on.
            eventually("an event in spite of the disk", lambda: len(stream.transitions()) > count)
            self.refused += bool(service.get("/api/v1/health")["faults"])
            time.sleep(self.generator.random() * 0.05)
            if number % 4 == 0:
                (self.folder / refuses).unlink()
                eventually("no fault", lambda: not service.get("/api/v1/health")["faults"])
                given = stream.transitions()
                stored = dict(service.history())
                missing = [one for one, _ in given if one not in stored]
                assert not missing, f"{missing} were never stored"
        service.kill()
        if refuses:
            (self.folder / refuses).unlink(missing_ok=True)

    def cut_power(self):
        """Leaves what was there before the process, and what its syncs made durable."""
        inodes = {name: inode for name, (inode, _) in self.before.items()}
        if (self.copy / "names").exists():
            inodes = {name: int(inode) for inode, name in
                      (line.split(" ") for line in (self.copy / "names").read_text().splitlines())}
        known = dict(self.before.values())
        files = {}
        for name, inode in inodes.items():
            copy = self.copy / str(inode)
            files[name] = copy.read_bytes() if copy.exists() else known.get(inode, b"")
        shutil.rmtree(self.disk)
        self.disk.mkdir()
        for name, content in files.items():
            (self.disk / name).write_bytes(content)

    def run(self, rounds, receiver):
        for number in range(1, rounds + 1):
            with self.start(receiver) as service:
                stream = self.come_back(service)
                service.process.stdin.write(Air.header)
                count = len(stream.transitions())
                self.visit(service, self.generator.randrange(1, 6))
                eventually("an event", lambda: len(stream.transitions()) > count)
                time.sleep(self.generator.random() * 0.1)
                self.end(service, stream, number)
                stream.close()
                stream.thread.join()
            if self.fault == "power":
                self.cut_power()
            for identifier, record in stream.transitions():
                assert self.given.setdefault(identifier, record) == record, f"{identifier} was given to two events"
            self.had, self.last = [identifier for identifier, _ in stream.transitions()], stream.last
        with self.start(receiver) as service:
            self.come_back(service).close()
            stored = [one for one in service.history() if one[1]["type"] in ("enter", "exit")]
            for identifier, record in stored:
                assert self.given.setdefault(identifier, record) == record, f"{identifier} was given to two events"
            eventually("every event at the webhook",
                       lambda: {one[0] for one in stored} <= {one[0] for one in receiver.received})
            service.stop()
        for identifier, record in receiver.received:
            assert self.given.setdefault(identifier, record) == record, f"{identifier} was given to two events"
        # The first of each come in order; of another generation, they begin again.
        order = [one.split("-") for one in dict(receiver.received)]
        for (generation, number), (next_generation, next_number) in zip(order, order[1:]):
            assert generation != next_generation or int(number) < int(next_number), (number, next_number)
        doubles = len(receiver.received) - len(order)
        print(f"  {self.fault}: {rounds} moments, {len(self.given)} events, {self.gone} gone that a client had been given; it was "
              f"told {self.told} times; the webhook was sent {doubles} again"
              + (f"; the disk was seen to refuse {self.refused} times" if self.refused else ""))


def check_moments():
    """SIGKILL, power cuts, full and read-only disks at random moments: nothing is gone unsaid, no identifier comes twice."""
    if not shutil.which("cc"):
        print("  skipped: there is no C compiler, for Tests/TestSupport/Syncs.c")
        return
    for fault in ("kill", "power", "full", "readonly"):
        with tempfile.TemporaryDirectory() as folder, WebhookReceiver() as receiver:
            library = Path(folder) / "syncs.so"
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, ROOT / "Tests/TestSupport/Syncs.c"], check=True)
            Moments(fault, folder, library).run(500 if LONG else 8, receiver)


def fill(path):
    """Takes all the room of a file system."""
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 16, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                assert error.errno == errno.ENOSPC, error


def scenario(seconds):
    """Five beacons of regions that come every ten minutes for two, each at another time, and eight that stay."""
    beacons = []
    for minor in range(1, 6):
        points = []
        for start in range(minor * 100, int(seconds) - 600, 600):
            points += [[start, -60], [start + 120, -60], [start + 120.5, -127], [start + 599, -127]]
        beacons.append({"id": f"visitor {minor}", "uuid": UUID, "major": 2, "minor": minor, "interval": 4000, "rssi": points})
    beacons.append({"id": "others", "uuid": UUID, "major": 3, "minor": 1, "interval": 10240, "spread": [1, 9], "count": 8})
    return json.dumps({"name": "soak", "start": "2026-01-05T00:00:00Z", "duration": seconds, "beacons": beacons})


def check_soak():
    """Days at speed, with the history on: memory and database stay in their bounds, and every transition is stored."""
    days = 7 if LONG else 0.25
    text = scenario(days * 86400).encode()
    regions = [part for minor in range(1, 6) for part in ("--region", f"door{minor}={UUID}:2:{minor}")]
    simulate = [Service.binary, "simulate", "-", "--output", "-"]

    def recording(output):
        process = subprocess.Popen(simulate, stdin=subprocess.PIPE, stdout=output)
        with process.stdin as pipe:
            pipe.write(text)
        return process

    read, write = os.pipe()
    monitor = subprocess.Popen([Service.binary, "monitor", "--replay", "-", *regions, "--format", "json", "--quiet"],
                               stdin=read, stdout=subprocess.PIPE, env={**os.environ, "BEACONSCAN_CONFIG": "/dev/null"})
    source = recording(write)
    os.close(read)
    os.close(write)
    expected = [record for record in map(json.loads, monitor.communicate()[0].splitlines())
                if record["type"] in ("enter", "exit")]
    assert monitor.wait() == 0 and source.wait() == 0
    assert len(expected) > 100 * days, len(expected)

    with tempfile.TemporaryDirectory() as folder:
        history = folder + "/history.sqlite"
        read, write = os.pipe()
        with Service("--replay", "-", "--speed", "10000x", *regions, "--history", history, "--history-size", "1",
                     "--state-file", folder + "/state", stdin=read) as service:
            os.close(read)
            kept = ("enter", "exit", "missed", "snapshot")
            steady = service.events(keep=kept)
            steady.first("snapshot")
            returning = [ReconnectingStream(service, 1, seed, keep=kept) for seed in range(3)]
            source = recording(write)
            os.close(write)
            points, sizes = [], []

            def is_over():
                points.append((len(steady.transitions()) / len(expected), service.memory()))
                sizes.append([os.path.getsize(path) if os.path.exists(path) else 0 for path in (history, history + "-wal")])
                return not service.get("/api/v1/health")["receiving"]
            eventually("the recording ends", is_over)
            eventually("the last event", lambda: len(steady.transitions()) >= len(expected))
            for stream in returning:
                stream.finish()
            for stream in [steady, *returning]:
                found = [record for _, record in stream.transitions()]
                assert found == expected, (len(found), len(expected))
                assert not [1 for _, name, _ in stream.items if name == "missed"]
            stored = [(one, record) for one, record in service.history() if record["type"] in ("enter", "exit")]
            # The oldest are removed.
            assert len(stored) > 50 and stored == steady.transitions()[-len(stored):], len(stored)
            memory = [max([value for place, value in points if quarter / 4 <= place <= (quarter + 1) / 4] or [0])
                      for quarter in range(4)]
            database, log = (max(size[part] for size in sizes) for part in range(2))
            print(f"  {days} days: {len(expected)} transitions as in monitor, in each of 4 streams; the last {len(stored)} "
                  f"stored; memory at most {', '.join(f'{value / MEGABYTE:.1f}' for value in memory)} MB in the quarters; "
                  f"database {database / MEGABYTE:.2f} MB and its log {log / MEGABYTE:.2f} MB at most; "
                  f"{sum(one.connections for one in returning)} reconnections")
            # The feed keeps 4 MiB of events at most.
            assert max(memory) < MOST_MEMORY and not grows(memory), memory
            assert database < 1.2 * MEGABYTE and log < 2 * MEGABYTE, (database, log)
            service.stop()
            assert source.wait() == 0


def check_idle():
    """With nothing registered the receiver rests."""
    with Service(*visitor()) as service:
        assert service.get("/api/v1/health")["needed"] is False
        first = service.metric("process_context_switches_total")[0]
        time.sleep(60 if LONG else 3)
        last = service.metric("process_context_switches_total")[0]
        memory = service.metric("process_resident_memory_bytes")[0]
        print(f"  idle: {(last - first) * (1 if LONG else 20):.0f} wake-ups a minute, {memory / 1e6:.1f} MB")
