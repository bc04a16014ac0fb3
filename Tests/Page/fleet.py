#!/usr/bin/env python3
"""Checks the fleet's page in a browser, with a simulated day of 30 rooms and 1,000 beacons, and draws it.

    Tests/Page/fleet.py COMMAND [--pictures FOLDER]

COMMAND is beaconscan-fleet. It serves what fleet_scene.py makes. With --pictures, it draws the page for docs/images.
"""

import argparse
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import fleet_scene
from browser import Browser, Failure
from probes import CONTRASTS, LIVE

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = float(os.environ.get("BEACONSCAN_PATIENCE", 120))
# The share of the known task's time that a task of the page may take.
KNOWN_SHARE = 0.8
TOKEN = "0123456789abcdef0123456789abcdef"
DOTS = "document.querySelectorAll('#plan [data-beacon]').length"
# The names that assistive technology has for what can be operated.
UNNAMED = """(() => [...document.querySelectorAll("button, a[href], input")].filter((node) => node.checkVisibility()
  && !(node.textContent.trim() || node.getAttribute("aria-label") || node.labels?.[0]?.textContent.trim()))
  .map((node) => node.outerHTML.slice(0, 120)))()"""


class Service:
    """beaconscan-fleet serve on simulated sites."""

    def __init__(self, command, folder, scenes, *options):
        self.scenes = scenes
        sites = folder / "sites"
        sites.mkdir()
        for scene in scenes:
            (sites / f"{scene.name}.toml").write_text(scene.toml("ground.svg" if scene.name == "archive" else None))
        (sites / "ground.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="1000" height="600">'
                                          '<rect width="1000" height="600" fill="#d9c9a0"/></svg>')
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.log = open(folder / "log", "wb")  # pylint: disable=consider-using-with
        self.start = [command, "serve", "--sites", str(sites), "--listen", str(self.port), "--replay", "-", *options]
        self.run()

    def run(self):
        self.process = subprocess.Popen(self.start, stdin=subprocess.PIPE, stderr=self.log)  # pylint: disable=consider-using-with
        self.second = max(scene.end for scene in self.scenes)
        for scene in self.scenes:
            self.send(scene.changes)
        self.step(0)

    def send(self, messages):
        self.process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        self.process.stdin.flush()

    def step(self, seconds=2, moves=0):
        """The next picture of each site."""
        self.second += seconds
        for scene in self.scenes:
            self.send(scene.move(self.second, moves))
            self.send(scene.picture(self.second))

    def get(self, path, token=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers={"Authorization": f"Bearer {token}"} if token else {})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            return json.load(answer)

    def end(self):
        self.process.kill()
        self.process.wait()


class Checks:
    def __init__(self, service, page):
        self.service, self.page = service, page
        self.base = f"http://127.0.0.1:{service.port}/"

    def expect(self, holds, problem):
        if not holds:
            raise Failure(problem)

    def wait(self, what, condition):
        return self.page.wait(what, condition, LIMIT)

    def open(self, parts="", width=1920, height=1080, scheme="light"):
        self.page.size(width, height)
        self.page.media(scheme, "reduce")
        self.page.open(f"{self.base}?{time.monotonic()}#{parts}")
        self.wait("the page to be live", LIVE)
        if "site=" in parts:
            self.wait("the beacons", f"{DOTS} > 0")
            self.wait("the occupancy", "document.querySelectorAll('#bars .hour').length > 20")
        else:
            self.wait("the sites", "document.querySelectorAll('#site-rows tr').length > 1")

    def identity(self, name):
        scene = self.service.scenes[0]
        return next(identity for identity, known in scene.names.items() if known == name)

    def overview(self):
        self.open()
        rows = self.page.run("[...document.querySelectorAll('#site-rows tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
        alarms = self.service.get("/api/v1/alarms")["alarms"]
        kinds = {alarm["kind"] for alarm in alarms if alarm["site"] == "museum"}
        self.expect(kinds == {"receiverSilent", "receptionLost", "clockDifference", "stranger", "beaconOutsideRooms", "signalFading"}, f"alarms: {kinds}")
        museum = next(row for row in rows if row[0] == "museum")
        self.expect(museum[1] == str(sum(alarm["site"] == "museum" for alarm in alarms)), f"the list shows {museum}")
        self.expect(museum[2] == "28 of 30", f"the list shows {museum}")
        self.wait("the alarms", f"document.querySelectorAll('#all-alarms li').length === {len(alarms)}")
        self.page.run("document.getElementById('site-filter').focus()")
        self.page.call("Input.insertText", text="arch")
        self.wait("the filter", "document.querySelectorAll('#site-rows tr').length === 1")
        self.page.click("#site-rows a")
        self.wait("the site", "document.getElementById('site-name').textContent === 'archive'")
        # It has a picture of its floor plan.
        self.wait("the picture", "document.getElementById('plan-image').getAttribute('width') > 100")
        image, rooms = self.page.run("['plan-image', 'plan-rooms'].map((id) => { const box = document.getElementById(id).getBoundingClientRect();"
                                     " return [box.left, box.bottom, box.width, box.height]; })")
        # The picture has 50 m by 30 m, as the outlines have.
        self.expect(all(abs(one - other) < 3 for one, other in zip(image, rooms)), f"the picture is at {image}, the rooms at {rooms}")

    def site(self):
        self.open("site=museum")
        site = self.service.get("/api/v1/sites/museum")
        ground = {room["room"]: room["beacons"] for room in site["rooms"] if room["floor"] == 0}
        shown = self.page.run("[...document.querySelectorAll('#plan-rooms .room')].map((room) => room.dataset.tip)")
        found = {tip.split(":")[0].strip("\u2068\u2069"): int(tip.split(": ")[1].split()[0]) for tip in shown}
        self.expect(found == ground, f"the plan has {found}, the service {ground}")
        on_ground = sum(beacon.get("x") is not None and beacon.get("best") in ground for beacon in site["beacons"])
        self.expect(self.page.run(DOTS) == on_ground, f"{self.page.run(DOTS)} dots of {on_ground} beacons")
        # Dots are inside the outlines of their rooms, but for those at a wall.
        outside = self.page.run("""(() => {
          const areas = [...document.querySelectorAll('#plan-rooms .room')].map((room) => room.getBoundingClientRect());
          return [...document.querySelectorAll('#plan [data-beacon]')].filter((dot) => { const box = dot.getBoundingClientRect();
            const x = box.x + box.width / 2, y = box.y + box.height / 2;
            return !areas.some((area) => x > area.left - 6 && x < area.right + 6 && y > area.top - 6 && y < area.bottom + 6); }).length;
        })()""")
        self.expect(outside == 0, f"{outside} dots are outside of all rooms")
        states = self.page.run("[...document.querySelectorAll('#plan-receivers .receiver')].map((node) => node.dataset.state)")
        self.expect(states.count("fault") == 2 and states.count("well") == 16, f"receivers: {states}")
        self.page.click("#floors button:last-child")
        self.wait("the other floor", f"document.querySelectorAll('#plan-rooms .room').length === {len(site['rooms']) - len(ground)}")

    def table(self):
        self.open("site=museum")
        self.wait("rows", "document.querySelectorAll('#rows tr').length === 250")
        self.page.click("#beacons-more button")
        self.wait("all rows", "document.querySelectorAll('#rows tr').length === 1000")
        self.page.run("document.getElementById('beacon-filter').focus()")
        self.page.call("Input.insertText", text="loan crate")
        self.wait("the filter", "document.querySelectorAll('#rows tr').length === 1")
        state = self.page.run("document.querySelector('#rows tr').dataset.state")
        self.expect(state == "alarm", f"the crate outside its rooms is {state}")
        self.page.run("document.getElementById('beacon-filter').value = ''; document.getElementById('beacon-filter').dispatchEvent(new Event('input'))")
        self.page.click("#beacons [data-sort=probability] button")
        cells = "[...document.querySelectorAll('#rows tr')].map((row) => parseInt(row.cells[2].textContent))"
        first = self.page.run("parseInt(document.querySelector('#rows tr').cells[2].textContent)")
        self.page.click("#beacons [data-sort=probability] button")
        last = self.page.run("parseInt(document.querySelector('#rows tr').cells[2].textContent)")
        self.expect(first < last, f"the first row has {first} %, and {last} % in the other order: {self.page.run(cells)[:5]}")

    def beacon(self):
        identity = self.identity("Guide Farid")
        self.open("site=museum&beacon=" + urllib.parse.quote(identity))
        self.wait("the way", "document.querySelectorAll('#way .stay').length > 0")
        shown = self.page.run("document.getElementById('beacon-room').textContent")
        known = next(beacon for beacon in self.service.get("/api/v1/sites/museum")["beacons"] if beacon["beacon"] == identity)
        self.expect(shown == known.get("room", "Outside"), f"it is in {shown}, not in {known.get('room')}")
        self.page.click("#spans [data-hours='24']")
        self.wait("the day", "document.getElementById('way-summary').textContent.includes('24 hours')")
        way = self.service.get(f"/api/v1/sites/museum/beacons/{urllib.parse.quote(identity)}")
        self.wait("each stay", f"document.querySelectorAll('#way .stay').length === {len(way['stays'])}")
        # A beacon of the other floor has the plan show it.
        upstairs = {room["room"] for room in self.service.get("/api/v1/sites/museum")["rooms"] if room["floor"] == 1}
        other = next(beacon for beacon in self.service.get("/api/v1/sites/museum")["beacons"]
                     if beacon.get("room") in upstairs and beacon.get("name"))
        self.page.run("document.getElementById('beacon-filter').focus()")
        self.page.call("Input.insertText", text=other["name"])
        self.page.click("#rows button")
        self.wait("the other floor", "document.querySelector('#floors [aria-pressed=true]').textContent === 'Floor 1'"
                                     " && document.querySelector('#plan-mark .ring') !== null")
        self.page.key("Escape")
        self.wait("the panel to close", "document.getElementById('details').hidden")

    def changes(self):
        self.open("site=museum")
        before = self.page.run("document.querySelector('#changes li')?.textContent ?? ''")
        self.service.step(moves=5)
        self.wait("a change", f"(document.querySelector('#changes li')?.textContent ?? '') !== {json.dumps(before)}")
        counts = {room["room"]: room["beacons"] for room in self.service.get("/api/v1/sites/museum")["rooms"]}
        self.wait("the counts to follow", f"""(() => {{ const counts = {json.dumps(counts)};
            return [...document.querySelectorAll('#plan-rooms .room')].every((room) => {{ const [name, words] = room.dataset.tip.split(': ');
              return counts[name.replace(/[\\u2068\\u2069]/g, '')] === parseInt(words); }}); }})()""")

    def keyboard(self):
        self.open("site=museum")
        self.page.run("document.querySelector('#plan [data-beacon][tabindex=\"0\"]').focus()")
        first = self.page.run("document.activeElement.dataset.beacon")
        tip = self.page.run("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")
        self.expect("%" in tip, f"a focused dot shows '{tip}'")
        label = self.page.run("document.activeElement.getAttribute('aria-label')")
        self.expect(label and "%" in label, f"a focused dot is called '{label}'")
        self.page.key("ArrowDown")
        second = self.page.run("document.activeElement.dataset.beacon")
        self.page.key("ArrowUp")
        self.page.key("ArrowDown")
        self.expect(first != second and second, "the arrow keys do not move between dots")
        self.page.key("Enter")
        self.wait("the chosen beacon", "!document.getElementById('details').hidden")
        ring = self.page.run("getComputedStyle(document.querySelector('#plan :focus')).outlineStyle")
        self.expect(ring != "none", "a focused dot has no outline")
        stops = self.page.run("document.querySelectorAll('#plan [tabindex=\"0\"]').length")
        self.expect(stops == 1, f"the plan has {stops} stops of the tabulator")
        unnamed = self.page.run(UNNAMED)
        self.expect(not unnamed, f"without a name: {unnamed[:3]}")

    def looks(self):
        for scheme in ("light", "dark"):
            for width, height in ((1920, 1080), (1280, 800), (390, 844)):
                for parts in ("", "site=museum", "site=museum&beacon=" + urllib.parse.quote(self.identity("Guide Farid"))):
                    self.open(parts, width, height, scheme)
                    wide = self.page.run("document.documentElement.scrollWidth") - width
                    self.expect(wide <= 0, f"{parts or 'the list'} at {width}: {wide} pixels too wide")
                    pale = [text for ratio, least, text in self.page.run(CONTRASTS) if ratio < least]
                    self.expect(not pale, f"{parts or 'the list'}, {scheme}: too little contrast: {pale[:5]}")

    def speed(self):
        """No task of the page takes long, neither at its start nor while all beacons move."""
        self.open()
        limit = self.page.known_task() * KNOWN_SHARE
        self.page.run("setTimeout(() => { location.hash = 'site=museum'; }, 100); 0")
        longest = self.page.tasks(3)[:1]
        self.wait("the beacons", f"{DOTS} > 0")
        for _ in range(3):
            self.service.step(moves=20)
            longest += self.page.tasks(2)[:1]
        # Everything in the table, and a beacon with its way.
        self.page.run("document.querySelector('#beacons-more button').click()")
        self.page.run("setTimeout(() => document.querySelector('#rows button').click(), 100); 0")
        self.service.step(moves=20)
        longest += self.page.tasks(3)[:1]
        print(f"fleet: the longest tasks take {', '.join(f'{task:.0f}' for task in longest)} ms; the limit is {limit:.0f} ms")
        self.expect(max(longest) < limit, f"a task took {max(longest):.0f} ms, and the limit is {limit:.0f} ms")

    def restart(self):
        self.open("site=museum")
        self.service.end()
        self.wait("the loss", "document.getElementById('connection').dataset.state === 'lost'")
        self.page.complaints.clear()
        self.service.run()
        self.wait("the page to be live again", LIVE)
        self.page.complaints.clear()

    def run(self, names):
        for name in names:
            began = time.monotonic()
            getattr(self, name)()
            if self.page.complaints:
                raise Failure(f"{name}: the browser complains: {self.page.complaints[:3]}")
            print(f"fleet: {name}, {time.monotonic() - began:.1f} s", flush=True)


def check_token(command, folder, browser):
    """A reader without the token gets nothing but the form for it."""
    (folder / "token").write_text(TOKEN + "\n")
    service = Service(command, folder, [fleet_scene.Scene(beacons=20)], "--token-file", str(folder / "token"))
    try:
        page = browser.page()
        page.size(1280, 800)
        page.wait("the service", lambda: "serving on" in (folder / "log").read_text(), LIMIT)
        try:
            service.get("/api/v1/sites")
            raise Failure("the service answers without the token")
        except urllib.error.HTTPError as error:
            if error.code != 401:
                raise Failure(f"without the token the status is {error.code}") from error
        page.open(f"http://127.0.0.1:{service.port}/#site=museum")
        page.wait("the form", "!document.getElementById('start').hidden", LIMIT)
        page.run("document.getElementById('token').focus()")
        page.call("Input.insertText", text=TOKEN)
        page.key("Enter")
        page.wait("the site", f"{LIVE} && {DOTS} > 0", LIMIT)
        page.close()
    finally:
        service.end()
    print("fleet: token", flush=True)


def draw(checks, folder):
    """Draws the pictures of the documents."""
    farid = "site=museum&beacon=" + urllib.parse.quote(checks.identity("Guide Farid"))
    for name, parts, width, height, scheme, scale in (
            ("fleet", "site=museum", 1920, 1080, "light", 1), ("fleet-dark", farid, 1920, 1080, "dark", 1),
            ("fleet-sites", "", 1280, 720, "light", 1), ("fleet-phone", farid, 390, 844, "light", 2)):
        checks.open(parts, width, height, scheme)
        checks.page.size(width, height, scale)
        if "beacon" in parts:
            checks.page.run("document.querySelector('#spans [data-hours=\"8\"]').click()")
            checks.wait("the way", "document.querySelectorAll('#way .stay').length > 0")
        checks.page.run("document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 300))))")
        checks.page.picture(folder / f"{name}.png")
        if shutil.which("pngquant"):
            subprocess.run(["pngquant", "--force", "--strip", "--speed=1", "--ext=.png", str(folder / f"{name}.png")], check=True)
        print(f"fleet: {name}.png, {(folder / f'{name}.png').stat().st_size // 1024} KiB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    os.environ.update(TZ="UTC", LANG="en_US.UTF-8")
    command = str(pathlib.Path(options.command).resolve())
    names = options.only or (["overview"] if options.pictures else [
        "overview", "site", "table", "beacon", "changes", "keyboard", "looks", "speed", "restart"])
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        (work / "fleet").mkdir()
        (work / "token").mkdir()
        scenes = [fleet_scene.Scene(), fleet_scene.Scene("archive", 60, 2)]
        scenes += [fleet_scene.Scene(f"station-{number:02}", 8 + 3 * number, 2 + number, is_well=True) for number in range(1, 9)]
        service = Service(command, work / "fleet", scenes)
        browser = Browser(work / "profile")
        try:
            page = browser.page()
            page.call("Emulation.setLocaleOverride", locale="en-GB")
            page.wait("the service", lambda: "serving on" in (work / "fleet/log").read_text(), LIMIT)
            page.wait("the picture", lambda: len(service.get("/api/v1/sites/museum")["beacons"]) == 1000, LIMIT)
            checks = Checks(service, page)
            if options.pictures:
                draw(checks, options.pictures)
            checks.run(names)
            if not options.only and not options.pictures:
                check_token(command, work / "token", browser)
        except (Failure, OSError) as problem:
            sys.exit(f"fleet: {problem}\n{(work / 'fleet/log').read_text()}")
        finally:
            browser.close()
            service.end()


if __name__ == "__main__":
    main()
