"""Checks of Tests/Checks/serve.py with faults of the machine: SIGKILL, power cuts, clocks that are set, and disks that are
full, read-only or slow. They compare counts and contents, never speed."""

import errno
import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from datetime import datetime
from pathlib import Path

from endurance import WebhookReceiver
from service import LONG, REGION, ROOT, UUID, Air, Service, eventually


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


def fill(path):
    """Takes all the room of a file system."""
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 16, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                assert error.errno == errno.ENOSPC, error


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
