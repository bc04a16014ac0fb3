#!/usr/bin/env python3
"""Runs the programs of docs/integrations.md, in Python, Node, a browser and a shell.

    Tests/Checks/integrations.py COMMAND

Each must show the greeting when the visitor of captures/visitor.btsnoop comes, and the slides when they leave, and has at
most the number of lines in LINES. For those that start the command, a wrapper `beaconscan` adds the recording at forty
times its speed to their arguments. The clients of the service run at the same time; the service is killed and restarted
while the visitor is present. The browser is headless Chromium; without it, the pages are not tested.
"""

import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests/Page"))
import browser as chromium  # noqa: E402  pylint: disable=wrong-import-position

LIMIT = 120  # s; a program that shows nothing takes as long, others some seconds
LINES = {"kiosk.sh": 14, "webhook.sh": 14, "kiosk.py": 14, "kiosk.mjs": 14, "kiosk.html": 14, "bridge.mjs": 14,
         "welcome.html": 14, "welcome.mjs": 20, "welcome.py": 20, "welcome.sh": 14}
SHOWN = ["greeting", "slides"]
RECORDING = ROOT / "captures/visitor.btsnoop"
# Keeps every text that the page shows.
WATCH = """
  window.texts = [];
  new MutationObserver(() => {
    const text = document.getElementById("shown")?.textContent;
    if (text && text !== texts.at(-1)) texts.push(text);
  }).observe(document, { subtree: true, childList: true, characterData: true })"""


def programs(folder):
    """Writes the programs of the page into a folder."""
    page = (ROOT / "docs/integrations.md").read_text()
    found = {}
    for name, text in re.findall(r"^```\w+\n(?:#|//|<!--) ([\w.]+)(?: -->)?\n(.*?)^```$", page, re.M | re.S):
        found[name] = text
    if sorted(found) != sorted(LINES):
        sys.exit(f"integrations: docs/integrations.md has {sorted(found)}; the tests know {sorted(LINES)}")
    for name, text in found.items():
        lines = len([line for line in text.splitlines() if line.strip()])
        if lines > LINES[name]:
            sys.exit(f"integrations: {name} has {lines} lines; it may have {LINES[name]}")
        (folder / name).write_text(text)


def compare(name, shown, expected=None):
    if shown != (expected or SHOWN):
        sys.exit(f"integrations: {name} shows {shown}; it must show {expected or SHOWN}")
    print(f"integrations: {name} shows {', '.join(shown)}", flush=True)


def lines(folder, *command):
    result = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            timeout=LIMIT, check=True, text=True)
    return result.stdout.split()


def shell(folder):
    # What the command wrote is overwritten by the next event: a pipe keeps all of it.
    os.mkfifo(folder / "screen")
    keep = os.open(folder / "screen", os.O_RDWR | os.O_NONBLOCK)
    subprocess.run(["sh", "kiosk.sh"], cwd=folder, stdout=subprocess.DEVNULL, timeout=LIMIT, check=True)
    compare("kiosk.sh", os.read(keep, 4096).decode().split(), ["slides", "slides", *SHOWN])
    os.close(keep)


def webhook(folder):
    received = []

    class Hook(http.server.BaseHTTPRequestHandler):
        def do_POST(self):  # pylint: disable=invalid-name
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((self.path, self.headers["Content-Type"], json.loads(body)["type"]))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    text = (folder / "webhook.sh").read_text().replace("8123", str(server.server_port))
    subprocess.run(["sh", "-c", text], cwd=folder, stdout=subprocess.DEVNULL, timeout=LIMIT, check=True)
    server.shutdown()
    compare("webhook.sh", [" ".join(line) for line in received],
            [f"/api/webhook/visitor application/json {kind}" for kind in ("state", "enter", "exit")])


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def opened(browser, address):
    """A tab that keeps what its page shows."""
    tab = browser.page()
    tab.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
    tab.open(address)
    return tab


def page(folder, browser):
    port = free_port()
    bridge = (folder / "bridge.mjs").read_text().replace("8080", str(port))
    # The page can be opened when the bridge listens.
    ready = bridge.replace('"127.0.0.1")', '"127.0.0.1", () => console.log("ready"))')
    (folder / "bridge.mjs").write_text(ready)
    server = subprocess.Popen(["node", "bridge.mjs"], cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        server.stdout.readline()
        tab = opened(browser, f"http://127.0.0.1:{port}/")
        tab.wait("three texts of kiosk.html", "texts.length >= 3", LIMIT)
        compare("kiosk.html with bridge.mjs", tab.run("texts"), ["slides", *SHOWN])
        tab.close()
    finally:
        server.kill()
        server.wait()


class Air:
    """The recording in two parts, the second of which begins while the visitor is there."""

    def __init__(self):
        data = RECORDING.read_bytes()
        self.parts, place, first = [data[:16], data[:16]], 16, None
        while place < len(data):
            length, = struct.unpack_from(">I", data, place + 4)
            moment, = struct.unpack_from(">q", data, place + 16)
            first = moment if first is None else first
            self.parts[moment - first > 40_000_000] += data[place:place + 24 + length]
            place += 24 + length


def service(folder, command, browser):
    """The programs that ask the service, all at once, which is killed while the visitor is there and started again."""
    port, air, programs_, tab = free_port(), Air(), {}, None
    files = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Files", (http.server.SimpleHTTPRequestHandler,), {
        "__init__": lambda self, *more: http.server.SimpleHTTPRequestHandler.__init__(self, *more, directory=folder),
        "log_message": lambda *_: None}))
    threading.Thread(target=files.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{files.server_port}"
    arguments = [command, "serve", "--region", "visitor=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:1:100",
                 "--enter-distance", "1", "--exit-distance", "3", "--state-file", "regions", "--history", "history",
                 "--listen", str(port), "--allow-origin", origin, "--replay", "-", "--speed", "1000x"]
    log = open(folder / "log", "wb")
    start = lambda: subprocess.Popen(arguments, cwd=folder, stdin=subprocess.PIPE, stderr=log)
    for name in LINES:
        if name.startswith("welcome."):
            path = folder / name
            path.write_text(path.read_text().replace("8732", str(port)))

    def shown():
        """What each has shown; what is shown again changes nothing."""
        texts = {name: (folder / f"{name}.shown").read_text().split() for name in programs_}
        if tab:
            texts["welcome.html"] = tab.run("window.texts")
        return {name: [text for text, before in zip(found, [None, *found]) if text != before]
                for name, found in texts.items()}

    def wait(expected):
        end = time.monotonic() + LIMIT
        while any(found != expected for found in shown().values()):
            if time.monotonic() > end:
                sys.exit(f"integrations: the programs show {shown()}; each must show {expected}; the service's messages: "
                         + (folder / "log").read_text())
            time.sleep(0.05)

    server = None
    try:
        # The programs are there before the service is.
        for name, program in {"welcome.sh": ["sh"], "welcome.py": [sys.executable], "welcome.mjs": ["node"]}.items():
            with open(folder / f"{name}.shown", "wb") as output:
                programs_[name] = subprocess.Popen([*program, name], cwd=folder, stdin=subprocess.DEVNULL,
                                                   stdout=output, start_new_session=True)
        if browser:
            tab = opened(browser, f"{origin}/welcome.html")
        server = start()
        wait(["slides"])
        server.stdin.write(air.parts[0])
        server.stdin.flush()
        wait(["slides", "greeting"])
        server.kill()
        server.wait()
        server = start()
        server.stdin.write(air.parts[1])
        server.stdin.close()
        wait(["slides", *SHOWN])
        for name, program in programs_.items():
            if program.poll() is not None:
                sys.exit(f"integrations: {name} has ended, with status {program.returncode}")
        for name, texts in shown().items():
            compare(f"{name}, over a restart of the service,", texts, ["slides", *SHOWN])
    finally:
        for program in programs_.values():
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()
        if server:
            server.kill()
            server.wait()
        files.shutdown()
        log.close()


def main():
    command = pathlib.Path(sys.argv[1]).resolve()
    for name in ("curl", "jq", "node"):
        if not shutil.which(name):
            sys.exit(f"integrations: there is no {name}; run Scripts/setup.sh --ci")
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        programs(folder)
        wrapper = folder / "bin" / "beaconscan"
        wrapper.parent.mkdir()
        wrapper.write_text(f'#!/bin/sh\nexec {command} "$@" --replay {ROOT}/captures/visitor.btsnoop --speed 40x\n')
        wrapper.chmod(0o755)
        os.environ.update(no_proxy="127.0.0.1", BEACONSCAN_CONFIG="/dev/null")
        os.environ["PATH"] = f"{wrapper.parent}:{os.environ['PATH']}"
        shell(folder)
        webhook(folder)
        compare("kiosk.py", lines(folder, sys.executable, "kiosk.py"))
        compare("kiosk.mjs", lines(folder, "node", "kiosk.mjs"))
        browser = chromium.Browser(folder / "profile") if chromium.program() else None
        try:
            if browser:
                page(folder, browser)
            service(folder, command, browser)
        finally:
            if browser:
                browser.close()
        if not browser:
            print("integrations: kiosk.html and welcome.html were not tested: there is no Chromium here; on Debian "
                  "Scripts/setup.sh --ci installs it")


if __name__ == "__main__":
    main()
