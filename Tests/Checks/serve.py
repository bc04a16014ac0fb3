#!/usr/bin/env python3
"""Checks `beaconscan serve` from outside, as programs, pages and attackers meet it.

  Tests/Checks/serve.py .build/release/beaconscan            every check, in its short form
  Tests/Checks/serve.py .build/release/beaconscan NAME …     some of them
  BEACONSCAN_LONG=1 Tests/Checks/serve.py …                  SIGKILL 200 times, 500 moments of each fault, 200 streams for ten minutes, a simulated week

It needs only Python. The check `description` also needs the package schemathesis, whose program BEACONSCAN_SCHEMATHESIS
names; .ci/run installs it. The check `programs` needs a program of the tests, .build/debug/StrangersProgram, which
BEACONSCAN_STRANGERS names.

The checks of the interface are here; long ones are in Tests/Service/endurance.py, faults of the machine in
Tests/Service/faults.py, and the handle of the service in Tests/Service/service.py.
"""

import json
import os
import random
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Service"))

import apps
import endurance
import faults
from service import LONG, PATIENCE, REGION, ROOT, TOKEN, UUID, Air, Service, eventually, visitor


def check_events():
    """A stream begins with the state, goes on with changes, and ends with the service."""
    with Service(*visitor("--speed", "20x"), "--region", REGION) as service:
        stream = service.events()
        first = stream.first("snapshot")
        assert stream.items[0] is first and first[0], stream.items[0]
        assert first[2]["regions"][0]["name"] == "kiosk", first
        enter, leave = stream.first("enter"), stream.first("exit")
        assert enter[2]["time"] == "2026-01-15T09:00:05.043068Z", enter
        assert leave[2]["dwell"] == 78.272, leave
        report = stream.first("range")[2]
        assert report["beacons"] and report["region"] is None, report
        # A client that had the entry is sent the exit, and then the state.
        again = service.events(last=enter[0])
        again.first("snapshot")
        names = [name for _, name, _ in again.items]
        assert names[0] == "exit" and names[1] == "snapshot", names
        # One that never had an event of this history is told so.
        lost = service.events(last="00000000-1")
        lost.first("snapshot")
        assert [name for _, name, _ in lost.items][0] == "missed", lost.items
        seconds = service.stop()
        eventually("the stream ends", lambda: stream.ended)
        print(f"  ended {seconds * 1000:.0f} ms after SIGTERM with three streams open")


def check_access():
    """Who may not use the service is refused with the right status, and nothing happens to it."""
    with tempfile.TemporaryDirectory() as folder:
        token = Path(folder, "token")
        token.write_text(TOKEN + "\n")
        with Service(*visitor(), "--token-file", str(token), "--region", REGION) as service:
            def status(expected, *arguments, **options):
                got, body, _ = service.request(*arguments, **options)
                assert got == expected, (arguments, options, expected, got, body)
                if expected >= 400:
                    problem = json.loads(body)
                    assert problem["status"] == expected and problem["detail"], problem
            bearer = {"Authorization": f"Bearer {TOKEN}"}
            region = json.dumps({"uuid": UUID})
            status(421, "GET", "/", host="evil.example")
            status(421, "GET", "/api/v1/beacons", host="localhost.evil.example:80")
            status(421, "GET", "/api/v1/beacons", host="2130706433")
            status(200, "GET", "/api/v1/health", host="LOCALHOST:1")
            status(200, "GET", "/api/v1/health", host="[::1]:1")
            status(400, "GET", "/", host="")
            status(400, "GET", "/", host="localhost:8732:1")
            status(403, "GET", "/api/v1/beacons", headers={"Origin": "http://evil.example"})
            status(403, "GET", "/api/v1/beacons", headers={"Origin": "null"})
            status(403, "GET", "/api/v1/events", headers={"Sec-Fetch-Site": "cross-site",
                                                          "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"})
            status(200, "GET", "/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
                                             "Sec-Fetch-Dest": "document"})
            status(403, "GET", "/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
                                             "Sec-Fetch-Dest": "iframe"})
            status(200, "GET", "/api/v1/health", headers={"Origin": f"http://127.0.0.1:{service.port}"})
            status(401, "PUT", "/api/v1/regions/a", body=region)
            status(401, "PUT", "/api/v1/regions/a", body=region, headers={"Authorization": "Bearer wrong"})
            status(401, "PUT", "/api/v1/regions/a", body=region, headers={"Authorization": f"Bearer {TOKEN}x"})
            status(401, "PUT", f"/api/v1/regions/a?access_token={TOKEN}", body=region)
            status(401, "DELETE", "/api/v1/regions/a")
            status(403, "PUT", "/api/v1/regions/a", body=region,
                   headers={**bearer, "Origin": "http://evil.example"})
            status(201, "PUT", "/api/v1/regions/a", body=region, headers=bearer)
            status(200, "PUT", "/api/v1/regions/a", body=region, headers=bearer)
            status(409, "PUT", "/api/v1/regions/kiosk", body=region, headers=bearer)
            status(409, "DELETE", "/api/v1/regions/kiosk", headers=bearer)
            status(404, "DELETE", "/api/v1/regions/b", headers=bearer)
            status(204, "DELETE", "/api/v1/regions/a", headers=bearer)
            for body in ["", "{", "[]", "null", '"text"', '{"uuid":1}', '{"uuid":"x"}', "{" * 5000,
                         json.dumps({"uuid": UUID, "major": 65536}), json.dumps({"uuid": UUID, "minor": 1}),
                         json.dumps({"uuid": UUID, "major": 1.5}), json.dumps({"uuid": UUID, "exec": "id"}),
                         json.dumps({"uuid": UUID, "state-file": "/tmp/x"}),
                         json.dumps({"uuid": UUID, "exit-after": "never\n--exec=id"}),
                         json.dumps({"uuid": UUID, "enter-distance": [1]}), "\x00\xff"]:
                status(422, "PUT", "/api/v1/regions/a", body=body, headers=bearer)
            status(413, "PUT", "/api/v1/regions/a", body="x" * 20000, headers=bearer)
            status(400, "PUT", "/api/v1/regions/%ff", body=region, headers=bearer)
            status(400, "PUT", "/api/v1/regions/%zz", body=region, headers=bearer)
            status(400, "PUT", "/api/v1/regions/a%0Ab", body=region, headers=bearer)
            status(400, "PUT", "/api/v1/regions/" + "a" * 65, body=region, headers=bearer)
            status(201, "PUT", "/api/v1/regions/..%2F..%2Fetc%2Fpasswd", body=region, headers=bearer)
            status(201, "PUT", "/api/v1/regions/%3Cscript%3E%F0%9F%9A%AA", body=region, headers=bearer)
            names = [one["name"] for one in service.get("/api/v1/regions")["regions"]]
            assert "../../etc/passwd" in names and "<script>\U0001F6AA" in names, names
            for path in ["/..", "/../etc/passwd", "//etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/page.html",
                         "/api/v1/../../etc/passwd", "/api/v1", "/api", "/favicon.ico", "/api/v1/regions/a/b"]:
                status(404, "GET", path)
            for method, path in [("POST", "/"), ("POST", "/api/v1/beacons"), ("DELETE", "/metrics"),
                                 ("PUT", "/api/v1/events"), ("PATCH", "/api/v1/regions/a")]:
                got = service.request(method, path, headers=bearer)
                assert got[0] == 405 and got[2]["Allow"], (method, path, got)
            for query in ["limit=0", "limit=1001", "limit=x", "since=yesterday", "until=2026-13-01T00:00:00Z",
                          "after=1", "after=zzzzzzzz-1", "region=", "last=5"]:
                status(400, "GET", f"/api/v1/history?{query}")
            head = service.request("GET", "/")[2]
            assert head["Content-Security-Policy"].startswith("default-src 'self'"), head
            assert head["X-Content-Type-Options"] == "nosniff", head


def check_hostile():
    """Bytes that are no HTTP, or too much of it."""
    with Service(*visitor()) as service:
        host = b"Host: localhost\r\n"
        get = b"GET /api/v1/health HTTP/1.1\r\n"
        assert service.raw(get + host + b"\r\n") == 200
        assert service.raw(get + b"\r\n") == 400, "no Host"
        assert service.raw(get + host + b"X: " + b"a" * 20000 + b"\r\n\r\n") in (400, 431, 0)
        assert service.raw(get + host + b"".join(b"X%d: a\r\n" % i for i in range(500)) + b"\r\n") in (400, 431, 0)
        assert service.raw(get + host + b"X: a\r\n" * 1_000_000 + b"\r\n") in (400, 431, 0)
        assert service.raw(b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n" + host + b"\r\n") in (400, 404, 414, 431, 0)
        assert service.raw(get + host + b"Host: evil.example\r\n\r\n") == 400, "two Hosts"
        assert service.raw(b"GET http://evil.example/ HTTP/1.1\r\n" + host + b"\r\n") == 421, "a foreign authority"
        assert service.raw(get + host + b"Transfer-Encoding: xchunked\r\n\r\n") == 400, "an unknown coding"
        for garbage in [b"\0" * 100, b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                        get + host + b"Content-Length: -1\r\n\r\n",
                        get + host + b"Content-Length: 99999999999999999999\r\n\r\n",
                        get + host + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc",
                        get + host + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"]:
            assert service.raw(garbage) in (0, 200, 400, 501, 505), garbage
        generator = random.Random(4)
        for _ in range(200):
            service.raw(bytes(generator.randrange(256) for _ in range(generator.randrange(1, 300))) + b"\r\n\r\n")
        # Connections that say nothing, or a little, do not keep others out.
        silent = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(100)]
        for connection in silent[::2]:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        assert service.get("/api/v1/health")["version"]
        for connection in silent:
            connection.close()
        assert service.process.poll() is None


def check_slow():
    """A thousand clients that are slow in every way keep nobody out, and end."""
    head = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"
    kinds = [  # What begins, and what follows again and again.
        (b"", b""), (head, b"X: a\r\n"), (head + b"Content-Length: 16000\r\n\r\n", b"a"),
        (head + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
        (b"GET /page.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100, b"")]
    clients, slowest, ended = [], 0, 0
    with Service(*visitor()) as service:
        def probe():
            began = time.monotonic()
            assert service.get("/api/v1/health")["version"]
            return time.monotonic() - began

        def drop(client, more):
            """Returns whether the service has closed a connection."""
            try:
                client.sendall(more)
                client.setblocking(False)
                return client.recv(1, socket.MSG_PEEK) == b"" if more else False
            except BlockingIOError:
                return False
            except OSError:
                return True
            finally:
                client.setblocking(True)
        for index in range(1000):
            begin, more = kinds[index % len(kinds)]
            client = socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE)
            client.sendall(begin)
            clients.append((client, more))
            # What is not read any more has made room.
            if len(clients) > 600:
                clients.pop(0)[0].close()
            if index % 20 == 0:
                slowest = max(slowest, probe())
        if LONG:
            end = time.monotonic() + 35
            while time.monotonic() < end:
                ended = sum(drop(*client) for client in clients if client[1])
                slowest = max(slowest, probe())
                time.sleep(1)
            assert ended == sum(1 for _, more in clients if more), (ended, len(clients))
        for _ in range(20):
            slowest = max(slowest, probe())
        assert service.request("PUT", "/api/v1/regions/a", body="x" * 20000)[0] == 413
        assert service.raw(head + b"Transfer-Encoding: chunked\r\n\r\n" + (b"8000\r\n" + b"a" * 0x8000 + b"\r\n") * 2) == 413
        print(f"  1000 slow clients; others waited {slowest * 1000:.0f} ms at most")
        for client, _ in clients:
            client.close()
        service.stop()


def check_regions():
    """Regions that are added over HTTP outlive the service; those of the configuration come first."""
    with tempfile.TemporaryDirectory() as folder:
        token, state = Path(folder, "token"), Path(folder, "state")
        token.write_text(TOKEN)
        options = ["--token-file", str(token), "--state-file", str(state), *visitor("--speed", "20x")]
        with Service(*options, "--region", REGION) as service:
            status, body, _ = service.put("door", {"uuid": UUID, "major": 1, "minor": 100, "exit-after": "5s",
                                                   "enter-distance": 30, "each": True})
            assert status == 201 and json.loads(body)["each"] is True, (status, body)
            stream = service.events()
            names = lambda: {(name, item["region"]) for _, name, item in stream.items if "region" in item}
            eventually("both regions are entered and left", lambda: {
                (name, region) for name in ["enter", "exit"] for region in ["kiosk", "door"]} <= names())
            assert service.metric("beaconscan_transitions_total"), "no metric"
            service.stop()
        with Service(*options, "--region", REGION) as service:
            regions = {one["name"]: one for one in service.get("/api/v1/regions")["regions"]}
            assert regions["door"]["isRemovable"] and not regions["kiosk"]["isRemovable"], regions
            assert regions["door"]["each"] and regions["door"]["minor"] == 100, regions
            assert service.request("DELETE", "/api/v1/regions/door",
                                   headers={"Authorization": f"Bearer {TOKEN}"})[0] == 204
            service.kill()
        with Service(*options, "--region", f"door={UUID}") as service:
            regions = {one["name"]: one for one in service.get("/api/v1/regions")["regions"]}
            assert list(regions) == ["door"] and not regions["door"]["isRemovable"], regions


def check_reload():
    """SIGHUP reads the configuration again; a wrong one changes nothing, and state stays."""
    with tempfile.TemporaryDirectory() as folder:
        configuration = Path(folder, "beaconscan.toml")
        text = f'[region.kiosk]\nuuid = "{UUID}"\nmajor = 1\nminor = 100\n'
        configuration.write_text(text)
        with Service(*visitor("--speed", "2x"), "--config", str(configuration)) as service:
            stream = service.events()
            stream.first("enter")
            names = lambda: [(one["name"], one["state"]) for one in service.get("/api/v1/regions")["regions"]]
            eventually("the entry counts", lambda: names() == [("kiosk", "inside")])
            configuration.write_text(text + f'[region.all]\nuuid = "{UUID}"\n')
            service.process.send_signal(signal.SIGHUP)
            eventually("the new region is there", lambda: [name for name, _ in names()] == ["all", "kiosk"])
            assert dict(names())["kiosk"] == "inside", names()
            configuration.write_text(text + "[region.all\n")
            service.process.send_signal(signal.SIGHUP)
            eventually("the fault is reported", lambda: "stays as it was" in service.output())
            assert "beaconscan.toml, line 5" in service.output(), service.output()
            assert [name for name, _ in names()] == ["all", "kiosk"]
            configuration.write_text(text)
            service.process.send_signal(signal.SIGHUP)
            eventually("the region is removed", lambda: [name for name, _ in names()] == ["kiosk"])
            service.stop()
        air = Air()
        with Service("--replay", "-", "--speed", "2000x", "--config", str(configuration),
                     stdin=subprocess.PIPE) as service:
            pipe = service.process.stdin
            pipe.write(Air.header)

            def shown():
                for _ in range(5):
                    pipe.write(air.packet(100))
                    air.time += 1_000_000
                pipe.flush()
                return [one.get("name") for one in service.get("/api/v1/beacons")["beacons"]]
            eventually("the beacon is received", lambda: shown() == [None])
            configuration.write_text(text + f'[beacon.Visitor]\nuuid = "{UUID}"\nmajor = 1\nminor = 100\n')
            service.process.send_signal(signal.SIGHUP)
            eventually("the beacon has its name", lambda: shown() == ["Visitor"])
            pipe.close()
            service.stop()


def check_manager():
    """What systemd expects: readiness, signs of life, an inherited socket, an end."""
    with tempfile.TemporaryDirectory() as folder:
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(folder + "/notify")
        notify.settimeout(PATIENCE)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(folder + "/http")
        listener.listen()
        with Service(*visitor(), listen=False, pass_fds=(listener.fileno(),),
                     shell=f"exec 3<&{listener.fileno()}; LISTEN_FDS=1 LISTEN_PID=$$",
                     environment={"NOTIFY_SOCKET": folder + "/notify", "WATCHDOG_USEC": "300000"}) as service:
            def message():
                return notify.recv(4096).decode()
            assert message().startswith("READY=1"), "not ready first"
            for _ in range(5):
                assert message() == "WATCHDOG=1"
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(folder + "/http")
                client.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert client.recv(100).startswith(b"HTTP/1.1 200 OK")
            service.process.send_signal(signal.SIGHUP)
            while not message().startswith("RELOADING=1\nMONOTONIC_USEC="):
                pass
            service.stop()
            rest = []
            notify.setblocking(False)
            try:
                while True:
                    rest.append(message())
            except BlockingIOError:
                pass
            assert rest[-1] == "STOPPING=1", rest
    # A socket that other machines can reach needs a token as one of --listen does, also for reading.
    with tempfile.TemporaryDirectory() as folder:
        token = Path(folder, "token")
        token.write_text(TOKEN)
        for family, address, is_open in [(socket.AF_INET, "0.0.0.0", True), (socket.AF_INET, "127.0.0.1", False),
                                         (socket.AF_INET6, "::", True), (socket.AF_INET6, "::1", False)]:
            try:
                listener = socket.create_server((address, 0), family=family)
            except OSError:
                print(f"  {address} is not available here")
                continue
            inherited = {"pass_fds": (listener.fileno(),), "listen": False,
                         "shell": f"exec 3<&{listener.fileno()}; LISTEN_FDS=1 LISTEN_PID=$$"}
            if is_open:
                with Service(*visitor(), **inherited) as service:
                    assert service.process.wait(PATIENCE) == 64, service.output()
                    assert "--token-file" in service.output(), service.output()
            more = ["--token-file", str(token)] if is_open else []
            with Service(*visitor(), *more, **inherited) as service:
                service.port = listener.getsockname()[1]
                def status(headers):
                    with socket.create_connection((address, service.port), timeout=PATIENCE) as client:
                        client.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n")
                        return int(client.recv(100).split(b" ")[1])
                assert status(b"") == (401 if is_open else 200), address
                assert status(f"Authorization: Bearer {TOKEN}\r\n".encode()) == 200, address
                service.stop()
            listener.close()
    # Streams end with the service: they are not cut.
    for _ in range(5):
        with Service(*visitor(), "--region", REGION) as service:
            clients = [socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE) for _ in range(20)]
            for client in clients:
                client.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert client.recv(100).startswith(b"HTTP/1.1 200 OK")
            service.stop()
            for client in clients:
                with client, client.makefile("rb") as file:
                    assert file.read().endswith(b"\r\n0\r\n\r\n"), "a stream was cut"
    # A path is a Unix socket, and an old one is replaced.
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/http"
        for _ in range(2):
            with Service(*visitor(), "--listen", path, listen=False) as service:
                def answers():
                    try:
                        with socket.socket(socket.AF_UNIX) as client:
                            client.connect(path)
                            client.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                            return client.recv(100).startswith(b"HTTP/1.1 200 OK")
                    except OSError:
                        return False
                eventually("the socket answers", answers)
                service.kill()


def on_air(folder):
    """Writes what is on air into a pipe, in real time, for each service that reads it: twelve beacons, 220 where there is
    a file `crowd`, and the visitor's where there is a file `near`; with a file `silent`, only adverts of others."""
    air = Air()
    generator = random.Random(3)
    while not (folder / "end").exists():
        try:
            # Without a reader this is an error: to wait for one would be to wait for ever where the pipe is replaced.
            with os.fdopen(os.open(folder / "air", os.O_WRONLY | os.O_NONBLOCK), "wb", buffering=0) as pipe:
                os.set_blocking(pipe.fileno(), True)
                pipe.write(Air.header)
                # Each service has a pipe of its own: a new reader needs the header.
                while os.stat(folder / "air").st_ino == os.fstat(pipe.fileno()).st_ino:
                    if (folder / "end").exists():
                        return
                    air.time = Air.epoch + time.time_ns() // 1000
                    minors = list(range(1, 221 if (folder / "crowd").exists() else 13))
                    if (folder / "near").exists():
                        minors.append(300)
                    generator.shuffle(minors)
                    packets = b"".join(
                        air.packet(minor, -45 if minor == 300 else -60 - minor % 30 + generator.randrange(3))
                        for minor in minors)
                    if (folder / "silent").exists():
                        packets = packets.replace(b"\x4c\x00\x02\x15", b"\x4c\x00\x10\x15")
                    # A write to a pipe is whole or waits.
                    pipe.write(packets)
                    time.sleep(0.2)
        except OSError:
            # The pipe is not there yet, or its reader is gone.
            time.sleep(0.05)


# What an attacker may call a beacon or a region.
HOSTILE_NAMES = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "x" * 200,
                 "שלום עולם (عربي) 123", "👩‍👩‍👧‍👦 family 🏳️‍🌈 badge", "\u202egnp.exe\u202c", "\"'`;--${1}\\"]


def check_page():
    """The page, in a real browser, on a service that is killed and started again."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with socket.create_server(("127.0.0.1", 0)) as free:
            elsewhere = free.getsockname()[1]
        (folder / "names.toml").write_text("".join(
            f'[beacon.{json.dumps(text, ensure_ascii=False)}]\nuuid = "{UUID}"\nmajor = 1\nminor = {minor}\n'
            for minor, text in enumerate(HOSTILE_NAMES, 1)))
        (folder / "token").write_text(TOKEN)
        (folder / "token").chmod(0o600)
        (folder / "ask.py").write_text(f"""import sys, urllib.parse, urllib.request
url = "http://127.0.0.1:{port}/api/v1/regions/" + urllib.parse.quote(sys.argv[2], safe="")
request = urllib.request.Request(url, method=sys.argv[1], headers={{"Authorization": "Bearer {TOKEN}"}},
                                 data=sys.argv[3].encode() if sys.argv[3:] else None)
urllib.request.build_opener(urllib.request.ProxyHandler({{}})).open(request, timeout={PATIENCE}).close()
""")

        def ask(*arguments):
            return shlex.join([sys.executable, f"{name}/ask.py", *arguments])
        put = ask("PUT", "visitor", json.dumps({"uuid": UUID, "major": 1, "minor": 300, "exit-after": "4s"}))
        start = (f"rm -f {name}/air; mkfifo {name}/air; {Service.binary} serve --replay {name}/air --speed 1x "
                 f"--config {name}/names.toml --token-file {name}/token "
                 f"--history {name}/history --state-file {name}/state --listen {port} --allow-origin http://localhost:{elsewhere} >/dev/null 2>>{name}/log & "
                 f"echo $! > {name}/pid; until (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>>/dev/null; do sleep 0.05; done")
        actions = {
            "start": f"bash -c '{start}'", "stop": f"rm -f {name}/near; kill -9 $(cat {name}/pid)",
            "enter": f"touch {name}/near", "leave": f"rm -f {name}/near",
            "crowd": f"touch {name}/crowd", "calm": f"rm -f {name}/crowd",
            "empty": f"touch {name}/silent; " + ask("DELETE", "visitor"), "full": f"rm {name}/silent; {put}",
            "hostile": ask("PUT", HOSTILE_NAMES[1], json.dumps({"uuid": UUID})),
            "tame": ask("DELETE", HOSTILE_NAMES[1]),
        }
        environment = {**os.environ, "BEACONSCAN_CONFIG": "/dev/null"}
        thread = threading.Thread(target=on_air, args=(folder,), daemon=True)
        thread.start()
        try:
            subprocess.run(f'{actions["start"]} && {put}', shell=True, check=True, env=environment)
            screens = os.environ.get("BEACONSCAN_SCREENS")
            result = subprocess.run(
                [sys.executable, str(ROOT / "Tests/Page/page.py"), f"http://127.0.0.1:{port}", "--region", "visitor",
                 "--elsewhere", str(elsewhere), "--limit", str(PATIENCE), "--lag", "200"] + [part for key, command in actions.items()
                                              for part in ("--do", f"{key}={command}")]
                + (["--screens", screens] if screens else []), env=environment, capture_output=True, text=True)
            print("  " + result.stdout.strip().replace("\n", "\n  "))
            assert result.returncode == 0, result.stdout + result.stderr + (folder / "log").read_text()
            # A recording has no reception to lose and no compass: an imitation of the service has.
            result = subprocess.run([sys.executable, str(ROOT / "Tests/Page/with_mock.py"), "--only", "reception",
                                     "--only", "location"], capture_output=True, text=True)
            print("  on the imitation: " + "\n  on the imitation: ".join(result.stdout.splitlines()[:2]))
            assert result.returncode == 0, result.stdout + result.stderr
        finally:
            (folder / "end").touch()
            subprocess.run(actions["stop"], shell=True, stderr=subprocess.DEVNULL)


def check_location():
    """The page with locations: a track, two circles and the beacons of the same time, in a real browser."""
    with Service(*visitor("--replay", str(ROOT / "captures/visitor.gpx"), "--speed", "2x"), "--region", REGION,
                 "--region", "stop=52.5163,13.3777,200", "--region", "bridge=52.5185,13.3790,60") as service:
        result = subprocess.run(
            [sys.executable, str(ROOT / "Tests/Page/page.py"), f"http://127.0.0.1:{service.port}", "--limit", str(PATIENCE),
             "--only", "location", "--only", "wall"], capture_output=True, text=True)
        print("  " + result.stdout.strip().replace("\n", "\n  "))
        assert result.returncode == 0 and "ok      location" in result.stdout, result.stdout + result.stderr


def check_screens():
    """The pictures of the documents: the page on a scene, light, dark and on a phone."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(ROOT / "Tests/Page/screens.py"), Service.binary,
                        os.environ.get("BEACONSCAN_SCREENS", folder)], check=True)


def check_description():
    """The OpenAPI description is true: schemathesis finds no contradiction."""
    program = os.environ.get("BEACONSCAN_SCHEMATHESIS")
    if not program:
        print("  skipped: BEACONSCAN_SCHEMATHESIS names no schemathesis")
        return
    with tempfile.TemporaryDirectory() as folder:
        token = Path(folder, "token")
        token.write_text(TOKEN)
        # A rule can be wrong in ways that a schema cannot say: 422 has the sentence.
        Path(folder, "schemathesis.toml").write_text(
            '[checks.positive_data_acceptance]\nexpected-statuses = ["2xx", "404", "409", "422"]\n')
        with Service(*visitor(), "--token-file", str(token), "--region", REGION,
                     "--apps", f"{folder}/apps.sock", "--apps-state", f"{folder}/apps") as service:
            result = subprocess.run(
                [program, "--config-file", "schemathesis.toml", "run", "--no-color",
                 f"http://127.0.0.1:{service.port}/api/v1/openapi.json", "-H", f"Authorization: Bearer {TOKEN}",
                 "--exclude-path", "/api/v1/events", "--exclude-path", "/api/v1/consent", "-n", "200" if LONG else "30", "--seed", "1"],
                cwd=folder, capture_output=True, text=True)
            assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]
            print("  " + next(line.strip() for line in result.stdout.splitlines() if "generated" in line))


CHECKS = {
    name[6:]: value for module in (globals(), vars(apps), vars(endurance), vars(faults)) for name, value in list(module.items())
    if name.startswith("check_")}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    Service.binary = str(Path(sys.argv[1]).resolve())
    names = sys.argv[2:] or list(CHECKS)
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        sys.exit(f"there is no check '{unknown[0]}'; there are {', '.join(CHECKS)}")
    for name in names:
        began = time.monotonic()
        print(f"{name}: {CHECKS[name].__doc__}", flush=True)
        CHECKS[name]()
        print(f"  ok, {time.monotonic() - began:.1f} s", flush=True)
    print(f"{len(names)} checks passed")


if __name__ == "__main__":
    main()
