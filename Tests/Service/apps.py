"""Checks of Tests/Checks/serve.py for apps: a page that asks what they may use, and programs of others."""

import http.server
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from service import PATIENCE, ROOT, TOKEN, Service, Stream, eventually, visitor

sys.path.insert(0, str(ROOT / "Tests/Page"))
import browser as chromium  # noqa: E402  pylint: disable=wrong-import-position

PATH = "/api/v1/consent"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


class App:
    """An app of the service, which requests an authorization."""

    def __init__(self, path, wanted):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        eventually("the socket of apps", lambda: self.socket.connect_ex(str(path)) == 0)
        self.lines = self.socket.makefile("r")
        assert "greeting" in self.read(), "no greeting"
        self.send(hello={"_0": {"version": 1}})
        assert "welcome" in self.read(), "no welcome"
        client = {"_0": {"rawValue": 1}, "group": {"name": ""}, "isReceiving": True, "pacesRecordings": True}
        self.send(addClient=client)
        self.request(wanted)

    def request(self, wanted):
        self.send(call={"_0": 1, "_1": {"requestAuthorization": {"_0": wanted}}})

    def send(self, **message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def read(self):
        return json.loads(self.lines.readline())

    def close(self):
        self.lines.close()
        self.socket.close()


def status_of(apps):
    """The statuses of the apps that the service knows."""
    result = subprocess.run([Service.binary, "apps", "--socket", apps, "--format", "json"],
                            capture_output=True, text=True, check=True)
    return [json.loads(line)["status"] for line in result.stdout.splitlines()]


def page(folder, port):
    """The page of docs/daemon.md for a service at a port."""
    text = (ROOT / "docs/daemon.md").read_text()
    found = re.search(r"^```html\n<!-- consent.html -->\n(.*?)^```$", text, re.M | re.S)
    assert found, "docs/daemon.md has no consent.html"
    text = found[1].replace("8732", str(port))
    Path(folder, "consent.html").write_text(text)


def check_consent():
    """A page asks for apps: only with the token, each question once, and nothing is permitted without an answer."""
    # Processes of the browser may still write.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        token, apps = Path(name, "token"), Path(name, "apps.sock")
        token.write_text(TOKEN)
        token.chmod(0o600)
        files = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Files", (
            http.server.SimpleHTTPRequestHandler,), {
                "__init__": lambda self, *more: http.server.SimpleHTTPRequestHandler.__init__(
                    self, *more, directory=name),
                "log_message": lambda *_: None}))
        threading.Thread(target=files.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{files.server_port}"
        arguments = [*visitor("--speed", "1x"), "--token-file", str(token), "--allow-origin", origin,
                     "--apps", str(apps), "--apps-state", f"{name}/apps"]

        def answer(service, question, text, status):
            got, body, _ = service.request("PUT", f"{PATH}/{question}", json.dumps({"answer": text}), BEARER)
            assert got == status, (got, body)

        def asked(stream, count):
            return eventually(f"{count} questions", lambda: stream.items and (
                len(stream.items[-1][2]["questions"]) == count) and [stream.items[-1][2]["questions"]])[0]

        with Service(*visitor(), "--token-file", str(token)) as service:
            assert service.request("GET", PATH, headers=BEARER)[0] == 404
        with Service(*visitor()) as service:
            assert service.request("GET", PATH)[0] == 403
        with Service(*arguments) as service:
            for headers in [{}, {"Authorization": "Bearer wrong"}]:
                assert service.request("GET", PATH, headers=headers)[0] == 401
            assert service.request("GET", PATH, headers={**BEARER, "Origin": "http://evil.example"})[0] == 403
            app = App(apps, "authorizedWhenInUse")
            eventually("the app", lambda: status_of(apps) == ["notDetermined"])
            stream = Stream(service, path=f"{PATH}?access_token={TOKEN}")
            question, = asked(stream, 1)
            assert question["answers"] == ["once", "whileInUse", "no"], question
            assert "wants to use beacons" in question["sentence"], question
            identifier = question["id"]
            path = f"{PATH}/{identifier}"
            assert service.request("PUT", path, '{"answer":"once"}')[0] == 401
            assert service.request("PUT", f"{path}?access_token={TOKEN}", '{"answer":"once"}')[0] == 401
            assert service.request("GET", path, headers=BEARER)[0] == 405
            for body in ["", "{", "[]", "{}", '{"answer":"always"}', '{"answer":1}', '{"answer":"no","x":"y"}']:
                assert service.request("PUT", path, body, BEARER)[0] == 422, body
            answer(service, "0-1", "whileInUse", 404)
            answer(service, identifier + "0", "whileInUse", 404)
            assert status_of(apps) == ["notDetermined"]
            # Another page sees the same question, and both see its end.
            other = Stream(service, path=f"{PATH}?access_token={TOKEN}")
            assert asked(other, 1) == [question]
            answer(service, identifier, "whileInUse", 204)
            asked(stream, 0)
            asked(other, 0)
            answer(service, identifier, "whileInUse", 404)
            eventually("the permission", lambda: status_of(apps) == ["authorizedWhenInUse"])
            # While no page is open, nobody is asked; the question waits for the next page.
            for one in (stream, other):
                one.close()
            eventually("the end of the streams", lambda: service.metric("beaconscan_event_streams") == [0])
            app.request("authorizedAlways")
            stream = Stream(service, path=f"{PATH}?access_token={TOKEN}")
            question, = asked(stream, 1)
            assert question["answers"] == ["once", "whileInUse", "always", "no"], question
            service.kill()
            app.close()
            eventually("the end of the stream", lambda: stream.ended)
        with Service(*arguments, port=service.port) as service:
            app = App(apps, "authorizedAlways")
            stream = Stream(service, path=f"{PATH}?access_token={TOKEN}")
            again, = asked(stream, 1)
            assert again["id"] != question["id"], again
            answer(service, question["id"], "always", 404)
            assert status_of(apps) == ["authorizedWhenInUse"]
            stream.close()
            if chromium.program():
                page(name, service.port)
                browser = chromium.Browser(f"{name}/profile")
                try:
                    tab = browser.page()
                    tab.call("Page.addScriptToEvaluateOnNewDocument", source=f"localStorage.token = '{TOKEN}'")
                    tab.open(f"{origin}/consent.html")
                    tab.wait("the question", "document.querySelectorAll('button').length === 4", PATIENCE)
                    tab.run("[...document.querySelectorAll('button')].find((node) => node.textContent === 'Always').click()")
                    tab.wait("its end", "document.querySelectorAll('button').length === 0", PATIENCE)
                finally:
                    browser.close()
            else:
                print("  the page of docs/daemon.md is not tested: there is no Chromium")
                stream = Stream(service, path=f"{PATH}?access_token={TOKEN}")
                again, = asked(stream, 1)
                answer(service, again["id"], "always", 204)
            eventually("the permission", lambda: status_of(apps) == ["authorizedAlways"])
            app.close()
            service.stop()
        files.shutdown()


# What the programs of Tests/Strangers/Program print, as CoreLocationTests have it without a service.
PROGRAMS = {
    "run": ["enabled true", "circles true", "beacons false", "compass false", "significant true", "run 1001 501 8.3",
            "main true"],
    "hub": ["location true"], "automatic": ["start,filter 10,stop"], "live": ["live 1001 501", "waiting,moving"],
    "watch": ["in fair,out fair"],
}


def track(path):
    """Writes a walk of 2,400 m to the north, of two meters in a second."""
    points = "".join(
        f'<trkpt lat="{52.5 + 2.002 * second / 111_276.8:.9f}" lon="13.4"><time>2026-01-01T00:{second // 60:02}:'
        f'{second % 60:02}Z</time><hdop>1</hdop></trkpt>' for second in range(1200))
    path.write_text(f'<gpx version="1.1" creator="test"><trk><trkseg>{points}</trkseg></trk></gpx>')


def check_programs():
    """Programs that others wrote for Core Location run unchanged as apps of the service."""
    program = os.environ.get("BEACONSCAN_STRANGERS")
    if not program:
        print("  skipped: BEACONSCAN_STRANGERS names no StrangersProgram")
        return
    printed = {}

    def run(name, folder):
        token, apps = folder / "token", folder / "apps.sock"
        token.write_text(TOKEN)
        token.chmod(0o600)
        # Each has a service of its own, because a recording begins for the first that needs it.
        with Service("--replay", str(folder.parent / "walk.gpx"), "--speed", "100x", "--token-file", str(token),
                     "--apps", str(apps), "--apps-state", str(folder / "apps")) as service:
            stream = Stream(service, path=f"{PATH}?access_token={TOKEN}")
            stream.first("questions")
            eventually("the socket of apps", apps.exists)
            environment = {**os.environ, "BEACONSCAN_SOCKET": str(apps), "XDG_STATE_HOME": str(folder)}
            with subprocess.Popen([program, name], stdout=subprocess.PIPE, text=True, env=environment) as process:
                try:
                    question = eventually("a question", lambda: next(
                        (one for item in stream.items for one in item[2]["questions"]), None))
                    answer = json.dumps({"answer": question["answers"][-2]})
                    assert service.request("PUT", f"{PATH}/{question['id']}", answer, BEARER)[0] == 204
                    output, _ = process.communicate(timeout=PATIENCE)
                finally:
                    process.kill()
            lines = output.splitlines()
            printed[name] = [line for line in lines if not line.startswith("status")]
            assert process.returncode == 0, (name, process.returncode, output)

    with tempfile.TemporaryDirectory() as name:
        track(Path(name, "walk.gpx"))
        threads = []
        for one in PROGRAMS:
            Path(name, one).mkdir()
            threads.append(threading.Thread(target=run, args=(one, Path(name, one)), daemon=True))
            threads[-1].start()
        for thread in threads:
            thread.join()
    assert printed == PROGRAMS, printed
