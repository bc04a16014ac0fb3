"""Drives headless Chromium by its DevTools protocol over two pipes, with Python's standard library alone."""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import time

BROWSERS = ["chromium-headless-shell", "chromium", "google-chrome", "chrome"]
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowUp": 38, "ArrowDown": 40}


class Failure(Exception):
    """What a check found wrong."""


def program():
    """The browser of this machine, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


class Browser:
    def __init__(self, profile):
        if not program():
            raise SystemExit("browser: there is no Chromium here; on Debian the package is chromium-headless-shell")
        command, self.output = os.pipe()
        self.input, answers = os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{command} 4>&{answers}', "browser", program(), "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server", "--remote-debugging-pipe",
             f"--user-data-dir={profile}", "about:blank"],
            pass_fds=[command, answers], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(command)
        os.close(answers)
        self.number, self.buffer, self.pages = 0, b"", {}

    def close(self):
        self.process.kill()
        self.process.wait()

    def receive(self, limit):
        """The next message, or None after a time."""
        deadline = time.monotonic() + limit
        while b"\0" not in self.buffer:
            if not select.select([self.input], [], [], max(0, deadline - time.monotonic()))[0]:
                return None
            more = os.read(self.input, 1 << 20)
            if not more:
                raise SystemExit("browser: it has ended")
            self.buffer += more
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, session=None, **parameters):
        self.number += 1
        number = self.number
        call = {"id": number, "method": method, "params": parameters}
        if session:
            call["sessionId"] = session
        os.write(self.output, json.dumps(call).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            message = self.receive(max(0, deadline - time.monotonic()))
            if message is None:
                raise Failure(f"the browser does not answer {method}")
            if message.get("id") == number:
                if "error" in message:
                    raise Failure(f"the browser refuses {method}: {message['error']}")
                return message["result"]
            self.take(message)

    def take(self, message):
        page = self.pages.get(message.get("sessionId"))
        if page and "method" in message:  # Else it is the answer to a call that did not wait.
            page.take(message["method"], message["params"])

    def page(self):
        return Page(self)


class Page:
    """A tab, and everything that it requested and complained about."""

    def __init__(self, browser):
        self.browser = browser
        self.requests, self.complaints, self.loads, self.answers = [], [], 0, {}
        self.trace, self.is_traced = [], False
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Runtime", "Page", "Network", "Log", "DOM", "Performance"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def take(self, method, event):
        if method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loads += 1
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(("exception", json.dumps(event["exceptionDetails"])[:600], ""))
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            self.complaints.append((event["type"], json.dumps(event["args"])[:600], ""))
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            entry = event["entry"]
            self.complaints.append((entry["source"], entry["text"], entry.get("url", "")))
        elif method == "Tracing.dataCollected":
            self.trace.extend(event["value"])
        elif method == "Tracing.tracingComplete":
            self.is_traced = True
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(("dialog", event["message"], ""))
        elif method == "Fetch.requestPaused":
            body = self.answers.get(event["request"]["url"])
            self.browser.number += 1
            call = {"id": self.browser.number, "sessionId": self.session, "method": "Fetch.fulfillRequest", "params": {
                "requestId": event["requestId"], "responseCode": 200,
                "responseHeaders": [{"name": "Content-Type", "value": "text/html; charset=utf-8"}],
                "body": base64.b64encode(body.encode()).decode()}}
            os.write(self.browser.output, json.dumps(call).encode() + b"\0")

    def tasks(self, seconds):
        """The processor time of each task of the page in so many seconds, in ms, the longest first."""
        self.trace, self.is_traced = [], False
        self.call("Tracing.start", traceConfig={"includedCategories": ["toplevel"]})
        self.run(f"new Promise((done) => setTimeout(done, {1000 * seconds}))")
        self.call("Tracing.end")
        self.wait("the trace", lambda: self.is_traced)
        mains = {(event["pid"], event["tid"]) for event in self.trace
                 if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"}
        return sorted((event.get("tdur", 0) / 1000 for event in self.trace if event["name"].endswith("RunTask")
                       and (event["pid"], event["tid"]) in mains), reverse=True)

    def known_task(self):
        """The processor time in ms of a task that fills and lays out a table with 2,000 rows, the least of three tries. It
        shows how fast the machine is."""
        def take():
            self.run("""setTimeout(() => {
                const table = document.body.appendChild(document.createElement('table'));
                for (let row = 0; row < 2000; row++) {
                    const line = table.insertRow();
                    for (let cell = 0; cell < 5; cell++) line.insertCell().textContent = `${Math.sqrt(row * cell)}`;
                }
                table.getBoundingClientRect();
                table.remove();
            }, 300); 0""")
            return self.tasks(1)[0]
        return min(take() for _ in range(3))

    def open(self, address, body=None):
        """Opens an address; with a body, the browser is given this in place of the server's answer."""
        if body is not None:
            self.answers[address] = body
            self.call("Fetch.enable", patterns=[{"urlPattern": address}])
        before = self.loads
        self.call("Page.navigate", url=address)
        self.wait(f"{address} to load", lambda: self.loads > before)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
        del self.browser.pages[self.session]

    def run(self, script):
        """The value of an expression, which may be a promise."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise Failure(f"{script[:200]}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def wait(self, what, condition, limit=30):
        """Waits until a condition holds, a function or an expression of JavaScript, and returns its value."""
        deadline = time.monotonic() + limit
        while True:
            value = condition() if callable(condition) else self.run(condition)
            if value:
                return value
            if time.monotonic() > deadline:
                raise Failure(f"waited {limit} s in vain for {what}")
            message = self.browser.receive(0.05)
            if message:
                self.browser.take(message)

    def size(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=width < 600)

    def media(self, scheme="light", motion="no-preference"):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": motion}])

    def key(self, name, shift=False):
        code = {" ": "Space"}.get(name, name)
        common = {"key": name, "code": code, "windowsVirtualKeyCode": KEYS[name], "modifiers": 8 if shift else 0}
        text = {"Enter": "\r", " ": " "}.get(name)
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def click(self, selector):
        x, y = self.run(f"""(() => {{ const node = document.querySelector({json.dumps(selector)});
            node.scrollIntoView({{ block: "center" }}); const box = node.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
