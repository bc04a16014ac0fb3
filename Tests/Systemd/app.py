"""An app that speaks the protocol of docs/daemon.md, for the tests under systemd.

usage: app.py LOG [--request STATUS] [--silent] [--monitor UUID] [--launch JSON] [--crash]

It asks for STATUS (authorizedWhenInUse by default, or none), ranges all beacons, and writes one JSON object per line:
its start, the service's messages, and each report of ranging that has beacons. It ends with the connection. With
--monitor it registers the region `door`. With --crash it ends at the first crossing, which it has not processed.
"""
import argparse
import json
import os
import socket
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("log")
parser.add_argument("--request", default="authorizedWhenInUse")
parser.add_argument("--silent", action="store_true", help="does not range")
parser.add_argument("--monitor")
parser.add_argument("--launch", type=json.loads)
parser.add_argument("--crash", action="store_true")
options = parser.parse_args()


def write(kind, value):
    with open(options.log, "a") as log:
        log.write(json.dumps({"t": time.monotonic(), "process": os.getpid(), kind: value}) + "\n")


def places():
    if "BEACONSCAN_SOCKET" in os.environ:
        return [os.environ["BEACONSCAN_SOCKET"]]
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return [f"{runtime}/beaconscan/apps.sock"] * bool(runtime) + ["/run/beaconscan/apps.sock"]


def connect():
    for place in places():
        try:
            link = socket.socket(socket.AF_UNIX)
            link.connect(place)
            return link
        except OSError as error:
            failure = error
    write("failed", str(failure))
    raise SystemExit(1)


def send(**message):
    out.write(json.dumps(message) + "\n")
    out.flush()


def process_start():
    """The time at which the system started this process, by the clock of time.monotonic()."""
    with open("/proc/self/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")


write("start", {"launch": os.environ.get("BEACONSCAN_LAUNCH"), "process": process_start()})
link = connect()
lines, out = link.makefile("r"), link.makefile("w")
me = {"rawValue": 1}
for line in lines:
    message = json.loads(line)
    if "greeting" in message:
        launch = options.launch or {"program": {"path": os.path.realpath("/proc/self/exe"), "arguments": sys.argv,
                                                "folder": os.getcwd()}}
        send(hello={"_0": {"version": 1, "launch": launch}})
    elif "welcome" in message:
        write("welcome", None)
        send(addClient={"_0": me, "group": {"name": ""}, "isReceiving": True, "pacesRecordings": True})
        if options.request != "none":
            send(call={"_0": 1, "_1": {"requestAuthorization": {"_0": options.request}}})
        send(call={"_0": 2, "_1": {"authorization": {}}})
        if options.monitor:
            region = {"identifier": "door", "constraint": options.monitor, "notifiesOnEntry": True,
                      "notifiesOnExit": True, "notifiesEntryStateOnDisplay": False}
            send(call={"_0": 3, "_1": {"beacons": {"_0": {"register": {"_0": region}}, "_1": me}}})
        if not options.silent:
            send(call={"_0": 4, "_1": {"beacons": {"_0": {"startRanging": {"_0": [{}]}}, "_1": me}}})
    elif "delivery" in message:
        number, event = message["delivery"]["_0"], message["delivery"]["_2"]
        ranging = event.get("beacons", {}).get("_0", {}).get("ranging")
        crossing = event.get("beacons", {}).get("_0", {}).get("region")
        if crossing is not None:
            write("crossing", [crossing["_0"]["transition"]["change"], message["delivery"].get("entry")])
            if options.crash:
                os._exit(1)
        elif ranging is None:
            write("event", event)
        elif ranging["_0"].get("beacons"):
            write("beacons", len(ranging["_0"]["beacons"]))
        send(acknowledge={"_0": number})
        send(finish={"_0": number})
    else:
        write("message", message)
write("end", None)
