"""The page in a browser, as its checks use it."""

import http.server
import json
import subprocess
import threading
import urllib.request

from browser import Failure
from probes import LOADED, ROWS


class Elsewhere:
    """Another server, which delivers one page."""

    def __init__(self, port):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # pylint: disable=invalid-name
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(outer.page.encode())

            def log_message(self, *_):
                pass

        self.page = ""
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.address = f"http://localhost:{port}/kiosk.html"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Checking:
    """The page in a browser, the server, and the actions: the parts that all checks share."""

    def __init__(self, options, browser):
        self.options, self.browser = options, browser
        self.base = options.url.rstrip("/")
        self.actions = dict(item.split("=", 1) for item in options.do or [])
        self.page = None
        self.elsewhere = options.elsewhere and Elsewhere(options.elsewhere)
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def get(self, path):
        with self.opener.open(self.base + path, timeout=10) as answer:
            return json.load(answer)

    def can(self, *names):
        return all(name in self.actions for name in names)

    def do(self, name):
        """Runs the command of an action; without one, the server is expected to do it by itself."""
        if name in self.actions:
            subprocess.run(self.actions[name], shell=True, check=True, timeout=60, stdin=subprocess.DEVNULL)

    def wait(self, what, condition, page=None):
        return (page or self.page).wait(what, condition, self.options.limit)

    def expect(self, holds, problem):
        if not holds:
            raise Failure(problem)

    def open(self, width=1920, height=1080, scheme="light", motion="no-preference", scale=1):
        self.page.size(width, height, scale)
        self.page.media(scheme, motion)
        self.page.open(self.base + "/")
        self.wait("the page to be live", LOADED)
        self.wait("a row for each beacon", lambda: self.page.run(ROWS) == len(self.get("/api/v1/beacons")["beacons"][:400]))

    def region(self):
        """The state of the region, as the page shows it."""
        name = json.dumps(self.options.region)
        return self.page.run(f"[...document.querySelectorAll('#region-list li')]"
                             f".find((node) => node.dataset.region === {name})?.dataset.state")

    def open_kiosk(self, kiosk, text):
        """Opens a page with a program: one of another server, or one that stands for a page of the service."""
        if self.elsewhere:
            self.elsewhere.page = text
            kiosk.open(self.elsewhere.address)
        else:
            kiosk.open(self.base + "/kiosk-of-the-test.html", text)

    def keep(self, keeps):
        """Has the rows of the table keep their places, or not."""
        self.page.run(f"document.getElementById('keep').checked === {json.dumps(keeps)} || document.getElementById('keep').click()")
