#!/usr/bin/env python3
"""Runs the programs of docs/integrations.md as they stand there: in Python, Node, a browser and a shell.

    Scripts/integrations.py COMMAND

Each must show the greeting when the visitor of captures/visitor.btsnoop comes, and the slides when they leave, and each
has fewer than 15 lines. The recording is replayed at forty times its speed, by a `beaconscan` that adds it to the arguments of
the programs' own. The browser is Chromium without a window; where there is none, it is not tested.
"""

import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 120  # s; a program that shows nothing takes as long, others some seconds
PROGRAMS = ["kiosk.sh", "webhook.sh", "kiosk.py", "kiosk.mjs", "kiosk.html", "bridge.mjs"]
SHOWN = ["greeting", "slides"]
BROWSERS = ["chromium-headless-shell", "chromium", "google-chrome", "chrome"]


def programs(folder):
    """Writes the programs of the page into a folder."""
    page = (ROOT / "docs/integrations.md").read_text()
    found = {}
    for block in re.findall(r"^```\w+\n(.*?)^```$", page, re.M | re.S):
        first, text = block.split("\n", 1)
        found[first.strip("#/<!-> ")] = text
    if sorted(found) != sorted(PROGRAMS):
        sys.exit(f"integrations: docs/integrations.md has {sorted(found)}; the tests know {sorted(PROGRAMS)}")
    for name, text in found.items():
        lines = len([line for line in text.splitlines() if line.strip()])
        if lines >= 15:
            sys.exit(f"integrations: {name} has {lines} lines; a program of a user's must have fewer than 15")
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


class Browser:
    """Chromium without a window, by its protocol over two pipes."""

    def __init__(self, program, profile):
        command, self.output = os.pipe()
        self.input, answers = os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{command} 4>&{answers}', "browser", program, "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server", "--remote-debugging-pipe",
             f"--user-data-dir={profile}", "about:blank"],
            pass_fds=[command, answers], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(command)
        os.close(answers)
        self.number = 0
        self.buffer = b""
        self.events = []
        self.session = None

    def message(self):
        while b"\0" not in self.buffer:
            more = os.read(self.input, 65536)
            if not more:
                sys.exit("integrations: the browser has ended")
            self.buffer += more
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        call = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            call["sessionId"] = self.session
        os.write(self.output, json.dumps(call).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    sys.exit(f"integrations: the browser refuses {method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def shown(self, address, number):
        """The first texts that a page shows."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Runtime.enable")
        self.call("Page.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source="""
            new MutationObserver(() => {
              const text = document.getElementById("shown")?.textContent;
              if (text && text !== window.last) console.log(window.last = text);
            }).observe(document, { subtree: true, childList: true, characterData: true })""")
        self.call("Page.navigate", url=address)
        texts = []
        while len(texts) < number:
            message = self.events.pop(0) if self.events else self.message()
            if message.get("method") == "Runtime.consoleAPICalled":
                texts.append(message["params"]["args"][0].get("value"))
        return texts


def page(folder, program):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    bridge = (folder / "bridge.mjs").read_text().replace("8080", str(port))
    # The page can be opened when the bridge listens.
    ready = bridge.replace('"127.0.0.1")', '"127.0.0.1", () => console.log("ready"))')
    (folder / "bridge.mjs").write_text(ready)
    server = subprocess.Popen(["node", "bridge.mjs"], cwd=folder, stdout=subprocess.PIPE, text=True)
    browser = None
    try:
        server.stdout.readline()
        browser = Browser(program, folder / "profile")
        signal.alarm(LIMIT)
        compare("kiosk.html with bridge.mjs", browser.shown(f"http://127.0.0.1:{port}/", 3), ["slides", *SHOWN])
        signal.alarm(0)
    finally:
        for process in filter(None, [browser and browser.process, server]):
            process.kill()
            process.wait()


def main():
    command = pathlib.Path(sys.argv[1]).resolve()
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    for name in ("curl", "node"):
        if not shutil.which(name):
            sys.exit(f"integrations: there is no {name}; run Scripts/setup.sh --ci")
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        programs(folder)
        wrapper = folder / "bin" / "beaconscan"
        wrapper.parent.mkdir()
        wrapper.write_text(f'#!/bin/sh\nexec {command} "$@" --replay {ROOT}/captures/visitor.btsnoop --speed 40x\n')
        wrapper.chmod(0o755)
        os.environ["PATH"] = f"{wrapper.parent}:{os.environ['PATH']}"
        shell(folder)
        webhook(folder)
        compare("kiosk.py", lines(folder, sys.executable, "kiosk.py"))
        compare("kiosk.mjs", lines(folder, "node", "kiosk.mjs"))
        if program:
            page(folder, program)
        else:
            print("integrations: kiosk.html was not tested: there is no Chromium here; on Debian Scripts/setup.sh --ci "
                  "installs it")


if __name__ == "__main__":
    main()
