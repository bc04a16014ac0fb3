#!/usr/bin/env python3
"""Runs page.py's checks with the mock server instead of the service.

    with_mock.py [options of page.py]
    with_mock.py --mutations [CHECK]...      breaks the page in several ways, and expects the check for each to fail
"""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TEST = pathlib.Path(__file__).resolve().parent
PAGE = TEST.parents[1] / "Sources/KioskService/Page"


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


def run(folder, page, arguments, **more):
    """Starts a mock that serves the page of a folder, and runs the checks; returns their process."""
    port = free_port()
    mock = f"{sys.executable} {TEST}/mock.py --port {port}"
    start = (f"PAGE={page} {mock} --state {folder}/state > {folder}/log 2>&1 & echo $! > {folder}/pid; "
             f"until grep -q ready {folder}/log; do sleep 0.05; done")
    actions = {"start": start, "stop": f"kill -9 $(cat {folder}/pid); rm {folder}/log"}
    for name, change in {"enter": "visitor=near", "leave": "visitor=away", "lose": "reception=lost", "resume": "reception=well",
                         "crowd": "beacons=200", "calm": "beacons=12", "hostile": "hostile=yes", "tame": "hostile=no",
                         "locate": "location=yes", "forget": "location=no", "walk": "walk=yes", "stay": "walk=no",
                         "arrive": "visit=begins", "depart": "visit=ends", "cross": "circle=exit", "return": "circle=enter",
                         "blind": "source=fault", "sight": "source=well",
                         "empty": "beacons=0 --ask regions=none", "full": "beacons=12 --ask regions=some"}.items():
        actions[name] = f"{mock} --ask {change}"
    subprocess.run(start, shell=True, check=True, timeout=30)
    try:
        return subprocess.run(
            [sys.executable, str(TEST / "page.py"), f"http://127.0.0.1:{port}", "--elsewhere", str(free_port())]
            + [part for name, command in actions.items() for part in ("--do", f"{name}={command}")] + arguments, **more)
    finally:
        try:
            os.kill(int((folder / "pid").read_text()), signal.SIGKILL)
        except (OSError, ValueError):
            pass


# A check, a file of the page, what stands there, and what is put in its place to break it.
MUTATIONS = [
    ("size", "page.css", "/* Base */", "/*" + "x" * 20000 + "*/"),
    ("size", "page.html", 'rel="icon" href="/icon.svg"', 'rel="icon" href="/none.svg"'),
    ("appear", "page.js", "records.slice(0, LIMIT)", "records.slice(0, 5)"),
    ("places", "page.js", "this.x(high ?? distance) : x]", "x : x]"),
    ("places", "page.js", "Math.log10(distance / 0.1)", "Math.log10(distance / 0.09)"),
    ("move", "page.js", "this.move(calm.matches || performance.now() < this.isSlowUntil)", "this.move(true)"),
    ("move", "page.js", "this.move(calm.matches || performance.now() < this.isSlowUntil)", "this.move(false)"),
    ("labels", "page.js", "(bottom - this.top) * 0.55", "(bottom - this.top) * 0.2"),
    ("labels", "page.js", "distance < distances.get(order[to - 1])", "distance > distances.get(order[to - 1])"),
    ("regions", "page.js", 'mark(node, "data-state", region.state);', 'mark(node, "data-state", "inside");'),
    ("regions", "page.js", 'case "request": return', 'case "no": return'),
    ("signal", "page.js", 'load("/api/v1/signal", takeSignals);', ""),
    ("signal", "page.js", "samples.push(sample);", "if (!samples.length) samples.push(sample);"),
    ("visits", "page.js", "takeChange(data);", ""),
    ("visits", "page.js", 'if (type !== "state") announce', "if (false) announce"),
    ("snippet", "page.html", '"enter", "exit", "state"', '"enter", "state"'),
    ("snippet", "page.html", 'on("snapshot"', 'on("snap"'),
    ("snippet", "page.html", 'EventSource("<span class="origin"></span>', 'EventSource("'),
    ("restart", "page.js", "if (model.connection === state) return;", 'if (model.connection === state || state === "lost") return;'),
    ("restart", "page.js", "    loadHistory();\n    load(\"/api/v1/signal\"", "    load(\"/api/v1/signal\""),
    ("restart", "page.js", 'announce("The service answers again.")', "location.reload()"),
    ("restart", "page.js", 'document.body.classList.toggle("stale"', 'document.body.classList.toggle("other"'),
    ("reception", "page.js", "[...new Set(faults), asOf]", "[asOf]"),
    ("empty", "page.js", "else if (!beacons.length) {", "else if (false) {"),
    ("hostile", "page.js", "write(row.name, title(beacon));", "row.name.innerHTML = title(beacon);"),
    ("hostile", "page.js", '.replace(/</g, "\\\\u003c")', ""),
    ("crowd", "page.js", "$(\"keep\").checked || isUsed ? this.kept(beacons)", "0 ? this.kept(beacons)"),
    ("crowd", "page.js", "const value = orders[this.column];", "const value = orders.last;"),
    ("keyboard", "page.js", 'rove($("region-list"));', ""),
    ("keyboard", "page.css", ":focus-visible { outline: 3px solid var(--accent);", ":focus-visible { outline: none;"),
    ("keyboard", "page.js", 'table.body.addEventListener("keydown"', 'table.body.addEventListener("keyup-no"'),
    ("keyboard", "page.js", "table.sortBy(header.dataset.sort)", "table.show([])"),
    ("keyboard", "page.js", 'memory?.setItem("theme", theme);', ""),
    ("tree", "page.html", '<h2 id="regions-title">Regions</h2>', '<h2 id="regions-title"></h2>'),
    ("tree", "page.html", "Keep rows in place", ""),
    ("contrast", "page.css", "light-dark(#5a606b,", "light-dark(#9aa0ab,"),
    ("contrast", "page.css", "#a0a7b4)", "#606774)"),
    ("narrow", "page.css", "  [data-sort=name] { width: 37% }", "  [data-sort=name] { width: 99% }"),
    ("wall", "page.css", ".wall .nearest .distance { font-size: min(11.5vw, 26vh) }", ""),
    ("wall", "page.css", ".wall :is(.beacons, ", ".wall :is("),
    ("wall", "page.css", ".wall:not(.with-location) .near { grid-row: span 2 }", ""),
    ("slow", "page.js", "this.place(0, this.seen);", "this.place(0, Infinity);"),
    ("regions", "page.js", "write(why, approach ?", "write(why, false ?"),
    ("location", "location.js", "(east - x) * scale", "(x - east) * scale"),
    ("location", "location.js", "111412.84 * Math.cos(angle)", "111412.84"),
    ("location", "location.js", "(east - x) * scale", "(east - offset(origin, place.fix)[0]) * scale"),
    ("location", "location.js", "`rotate(${angle.toFixed(1)})`", '"rotate(0)"'),
    ("location", "location.js", "strip.hidden = !words[0];", "strip.hidden = true;"),
    ("location", "page.js", "takeVisit(data);", ""),
    ("location", "page.js", "if (record.radius != null) return circleSentence(record);", ""),
    ("quiet", "page.js", "\nconnect();", '\nconnect();\nnew Image().src = "https://example.com/x.png";'),
    ("quiet", "page.html", '<p class="quiet legend" id="near-legend">', '<p class="quiet legend" id="near-legend" style="color: red">'),
    ("quiet", "page.js", "\nconnect();", '\nconnect();\nconsole.error("x");'),
]


def mutate(checks):
    missed, chosen = 0, [mutation for mutation in MUTATIONS if not checks or mutation[0] in checks]
    for _, name, old, _ in chosen:
        if old not in (PAGE / name).read_text():
            sys.exit(f"with_mock: {name} does not have {old!r}; correct the list of mutations")
    for check, name, old, new in chosen:
        with tempfile.TemporaryDirectory() as directory:
            folder = pathlib.Path(directory)
            for file in PAGE.iterdir():
                shutil.copy(file, folder)
            text = (folder / name).read_text()
            (folder / name).write_text(text.replace(old, new, 1))
            began = time.monotonic()
            result = run(folder, folder, ["--only", check, "--limit", "8"], stdout=subprocess.PIPE, text=True)
            line = next((line for line in result.stdout.splitlines() if check in line), result.stdout.strip())
            is_found = result.returncode == 1 and "FAILED" in result.stdout
            missed += not is_found
            print(f"{'found ' if is_found else 'MISSED'} {name}: {new.strip()[:60]!r}\n         {line[:170]} [{time.monotonic() - began:.0f} s]", flush=True)
    print(f"with_mock: {missed} of {len(chosen)} mutations were missed")
    return 1 if missed else 0


def main():
    if sys.argv[1:2] == ["--mutations"]:
        return mutate(sys.argv[2:])
    with tempfile.TemporaryDirectory() as directory:
        return run(pathlib.Path(directory), PAGE, sys.argv[1:]).returncode


if __name__ == "__main__":
    sys.exit(main())
