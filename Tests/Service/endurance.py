"""Checks of Tests/Checks/serve.py that take long in their long form (BEACONSCAN_LONG=1): SIGKILL, many streams, webhooks,
a simulated week. They compare counts, contents and memory, never speed."""

import fcntl
import json
import os
import random
import socket
import subprocess
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from service import LONG, REGION, UUID, Air, ReconnectingStream, Service, eventually, visitor

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
