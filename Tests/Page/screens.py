#!/usr/bin/env python3
"""Draws the pictures of the service's page in docs/images, and checks their contents.

    Tests/Page/screens.py COMMAND [FOLDER]

`beaconscan serve` replays the scenario of Tests/Page/scene.json, with the names and regions of Tests/Page/scene.toml, and
a browser opens its page at the end of the scenario, so that the pictures are always the same. pngquant, if installed,
reduces their size.
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request

from browser import Browser, Failure
from probes import CONTRASTS, LOADED, OVERLAPS, ROWS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIMIT = float(os.environ.get("BEACONSCAN_PATIENCE", 300))
# Width, height, color scheme and pixels for each of the page's; the height of a whole page is its own.
PICTURES = {"service": (1920, 1080, "light", 1), "service-dark": (1920, 1080, "dark", 1),
            "service-phone": (390, 844, "light", 2)}
# What is cut off or stands out, except where it is meant to: names end with an ellipsis, lists scroll.
CUT = """(() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.checkVisibility() || node.closest(".unseen, .skip, .tools, svg, dialog")) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const text = range.getBoundingClientRect(), card = node.closest("section, header").getBoundingClientRect();
    const box = node.closest("td, button, li > *, p, h3, dd") ?? node;
    if (box.scrollWidth > box.clientWidth + 1 && box.clientWidth && !node.closest(innerWidth < 600 ? ".name" : ".detail")
      || text.left < card.left - 1 || text.right > card.right + 1) found.push(walker.currentNode.data);
  }
  return found;
})()"""


def get(port, path):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}{path}", timeout=LIMIT) as answer:
        return json.load(answer)


def draw(page, address, name, folder):
    width, height, scheme, scale = PICTURES[name]
    page.size(width, height, scale)
    page.media(scheme, "reduce")
    page.open(address)
    page.wait("the page to be live", LOADED, LIMIT)
    page.wait("a row for each beacon", f"{ROWS} === 12", LIMIT)
    page.wait("the signal of five minutes",
              "(document.getElementById('chart-raw').getAttribute('d') ?? '').split('M').length > 250", LIMIT)
    page.wait("the fonts", "document.fonts.ready.then(() => true)", LIMIT)
    page.picture(folder / f"{name}.png")
    inside = page.run("[...document.querySelectorAll('#region-list li')].map((node) => node.dataset.state)")
    labels, overlaps = page.run(OVERLAPS)
    cut = page.run(CUT)
    pale = [text for ratio, least, text in page.run(CONTRASTS) if ratio < least]
    wide = page.run("document.documentElement.scrollWidth") - width
    for holds, problem in ((inside == ["inside", "inside"], f"the regions are {inside}"),
                           (overlaps == 0, f"{overlaps} of {labels} labels cover others"),
                           (labels >= 10 or width < 600, f"{labels} of 12 beacons have a label"),
                           (not cut, f"cut: {cut[:5]}"), (not pale, f"too little contrast: {pale[:5]}"),
                           (wide <= 0, f"the page is {wide} pixels too wide")):
        if not holds:
            raise Failure(f"{name}: {problem}")
    if shutil.which("pngquant"):
        subprocess.run(["pngquant", "--force", "--strip", "--speed=1", "--ext=.png", str(folder / f"{name}.png")],
                       check=True)
    print(f"screens: {name}.png, {(folder / f'{name}.png').stat().st_size // 1024} KiB, {labels} labels", flush=True)


def main():
    command = str(pathlib.Path(sys.argv[1]).resolve())
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "docs/images").resolve()
    os.environ.update(TZ="UTC", LANG="en_US.UTF-8")
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        recording = subprocess.run([command, "simulate", str(ROOT / "Tests/Page/scene.json"), "--output", "-"],
                                   stdout=subprocess.PIPE, check=True).stdout
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with open(work / "log", "wb") as log:
            service = subprocess.Popen(
                [command, "serve", "--config", str(ROOT / "Tests/Page/scene.toml"), "--history", str(work / "history"),
                 "--listen", str(port), "--replay", "-", "--speed", "100x"], stdin=subprocess.PIPE, stderr=log)
        browser = None
        try:
            browser = Browser(work / "profile")
            page = browser.page()
            page.call("Emulation.setLocaleOverride", locale="en-GB")
            page.wait("the service", lambda: "serving on" in (work / "log").read_text(), LIMIT)
            page.open(f"http://127.0.0.1:{port}/")
            page.wait("the page to be live", "document.getElementById('connection').dataset.state === 'live'", LIMIT)
            # The pipe stays open: the service waits for more at the end of the scenario.
            service.stdin.write(recording)
            service.stdin.flush()
            page.wait("the end of the scenario",
                      lambda: get(port, "/api/v1/beacons")["time"] >= "2026-01-15T09:59:58", LIMIT)
            for picture in PICTURES:
                draw(page, f"http://127.0.0.1:{port}/", picture, folder)
            if page.complaints:
                raise Failure(f"the browser complains: {page.complaints[:5]}")
        except (Failure, OSError) as problem:
            sys.exit(f"screens: {problem}\n{(work / 'log').read_text()}")
        finally:
            if browser:
                browser.close()
            service.kill()
            service.wait()


if __name__ == "__main__":
    main()
