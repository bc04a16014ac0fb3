"""The handle of a running `beaconscan serve`, for the checks of Tests/Checks/serve.py: the process, its event streams, and
recordings to replay. It needs only Python."""

import http.client
import json
import os
import random
import socket
import struct
import subprocess
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LONG = bool(os.environ.get("BEACONSCAN_LONG"))
UUID = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
REGION = f"kiosk={UUID}:1:100"
TOKEN = "0123456789abcdef0123456789abcdef"
PATIENCE = float(os.environ.get("BEACONSCAN_PATIENCE", 300))  # seconds; what has not come by then will not come


def eventually(what, condition):
    """Waits for a condition, however busy the machine is."""
    end = time.monotonic() + PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"never came: {what() if callable(what) else what}")
        time.sleep(0.02)


class Service:
    """A running service on a port of its own."""

    binary = None  # The command, by its absolute path.

    def __init__(self, *arguments, port=None, environment=None, stdin=subprocess.DEVNULL, shell=None,
                 wrapper=(), pass_fds=(), listen=True):
        self.log = tempfile.TemporaryFile(mode="w+")
        self.port = port
        command = [self.binary, "serve", *arguments]
        if listen:
            command += ["--listen", f"127.0.0.1:{port or 0}"]
        if shell:
            command = ["sh", "-c", f"{shell} exec \"$@\"", "sh", *command]
        self.process = subprocess.Popen(
            [*wrapper, *command], stderr=self.log, stdin=stdin, pass_fds=pass_fds,
            env={**os.environ, "BEACONSCAN_CONFIG": "/dev/null", **(environment or {})})
        if listen:
            eventually("the service listens: " + self.output(), self.find_port)

    def output(self):
        self.log.flush()
        return os.pread(self.log.fileno(), 1 << 20, 0).decode()

    def find_port(self):
        if self.process.poll() is not None:
            raise AssertionError("the service ended: " + self.output())
        for line in self.output().splitlines():
            if "serving on http://" in line:
                self.port = int(line.rsplit(":", 1)[1].strip("/"))
                return True
        return False

    def request(self, method, path, body=None, headers=None, host=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host=host is not None)
            if host is not None:
                connection.putheader("Host", host)
            body = body.encode() if isinstance(body, str) else body
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            return response.status, response.read(), dict(response.getheaders())
        finally:
            connection.close()

    def get(self, path):
        status, body, _ = self.request("GET", path)
        assert status == 200, (path, status, body)
        return json.loads(body)

    def put(self, name, body, token=TOKEN):
        return self.request("PUT", f"/api/v1/regions/{name}", json.dumps(body),
                            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})

    def raw(self, data):
        """Sends bytes, and returns the answer's status; 0 where the connection is closed without one."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            try:
                connection.sendall(data)
                answer = connection.recv(65536)
            except (BrokenPipeError, ConnectionResetError):
                return 0
        return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0

    def events(self, last=None, **options):
        return Stream(self, last, **options)

    def history(self):
        """All stored events, the oldest first, as (id, record)."""
        events, after = [], ""
        while True:
            page = self.get(f"/api/v1/history?limit=1000&since=1970-01-01T00:00:00Z{after}")
            events += [(one["id"], one["event"]) for one in page["events"]]
            if page["next"] is None:
                return events
            after = "&after=" + page["next"]

    def memory(self):
        """The resident memory in bytes, without a request."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def metric(self, name):
        text = self.request("GET", "/metrics")[1].decode()
        return [float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                if line.startswith(name + " ") or line.startswith(name + "{")]

    def stop(self):
        began = time.monotonic()
        self.process.terminate()
        status = self.process.wait(PATIENCE)
        assert status == 0, (status, self.output())
        return time.monotonic() - began

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()


class Stream:
    """An event stream: a thread reads it into a list of (id, name, data)."""

    def __init__(self, service, last=None, keep=None, pause=0, path="/api/v1/events"):
        """`keep` names the events that are kept, and `pause` is what a slow client waits after each line, in seconds."""
        self.items, self.ended, self.last, self.keep, self.pause = [], False, last, keep, pause
        self.socket = socket.socket()
        if pause:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", service.port))
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: localhost:{service.port}\r\n".encode()
            + (f"Last-Event-ID: {last}\r\n".encode() if last else b"") + b"\r\n")
        self.file = self.socket.makefile("rb", 512 if pause else -1)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        identifier, name = None, None
        try:
            for line in self.file:
                line = line.rstrip(b"\r\n")
                if line.startswith(b"id: "):
                    identifier = line[4:].decode()
                elif line.startswith(b"event: "):
                    name = line[7:].decode()
                elif line.startswith(b"data: ") and name:
                    if self.keep is None or name in self.keep:
                        self.items.append((identifier, name, json.loads(line[6:])))
                    self.last = identifier or self.last
                    identifier, name = None, None
                if self.pause:
                    time.sleep(self.pause)
        except (OSError, ValueError):
            pass
        self.ended = True

    def first(self, name, start=0):
        return eventually(f"'{name}' in the stream", lambda: next(
            (item for item in self.items[start:] if item[1] == name), None))

    def transitions(self):
        return transitions(self.items)

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()


class ReconnectingStream:
    """A client that closes its stream again and again, and continues where it was, as an EventSource does."""

    def __init__(self, service, seconds, seed, **options):
        self.service, self.options, self.items, self.connections = service, options, [], 0
        self.generator, self.seconds, self.end, self.stream = random.Random(seed), seconds, threading.Event(), None
        self.began = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        eventually("the first snapshot", self.began.is_set)

    def run(self):
        last = None
        while not self.end.is_set():
            self.stream = self.service.events(last=last, **self.options)
            self.stream.first("snapshot")
            self.began.set()
            self.connections += 1
            self.end.wait(self.generator.random() * self.seconds)
            self.stream.close()
            self.stream.thread.join()
            self.items += self.stream.items
            last = self.stream.last

    def finish(self):
        """Stays connected from now on until it has all events that are there, and closes."""
        self.end.set()
        self.thread.join()
        last = self.service.events(last=self.stream.last, **self.options)
        last.first("snapshot")
        last.close()
        last.thread.join()
        self.items += last.items

    def transitions(self):
        return transitions(self.items)


def transitions(items):
    """The entries and exits among the events of a stream, as (id, record)."""
    return [(identifier, record) for identifier, name, record in items if name in ("enter", "exit")]


def visitor(*more):
    return ["--replay", str(ROOT / "captures/visitor.btsnoop"), *more]


class Air:
    """A recording that never ends: a beacon that comes and goes, as btsnoop on a pipe."""

    header = b"btsnoop\0" + struct.pack(">II", 1, 1002)
    epoch = 0x00DCDDB30F2F8000  # 1970, in microseconds since the year 0

    def __init__(self):
        self.time = self.epoch + 1_768_000_000_000_000

    def packet(self, minor, rssi=-64):
        beacon = (bytes.fromhex("02011a1aff4c000215" + UUID.replace("-", ""))
                  + struct.pack(">HH", 1, minor) + b"\xc5")
        report = (b"\x02\x01\x03\x00" + struct.pack(">HI", 0x1122, minor) + bytes([len(beacon)]) + beacon
                  + struct.pack("b", rssi))
        data = b"\x04\x3e" + bytes([len(report)]) + report
        return struct.pack(">IIIIq", len(data), len(data), 3, 0, self.time) + data

    def visit(self):
        """Ten seconds with the beacon of the region, then a minute with another one alone."""
        for second in range(70):
            yield self.packet(100 if second < 10 else 7)
            self.time += 1_000_000
