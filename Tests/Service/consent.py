"""A check of Tests/Checks/serve.py: a page that asks which apps may use beacons and locations."""

import http.server
import json
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
    text = found[1].replace("8732", str(port)).replace("TOKEN", TOKEN)
    Path(folder, "consent.html").write_text(text)


def check_consent():
    """A page asks for apps: only with the token, each question once, and nothing is permitted without an answer."""
    with tempfile.TemporaryDirectory() as name:
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
