"""Virtual Bluetooth controllers on /dev/vhci, and beacons that they hear.

usage: controller [--log FILE] [--fifo PATH] [--seed N] [--seconds S] [ORDER | FILE | -]…

ORDER is a JSON object, FILE has one a line, - is standard input. Tests/Guest/README.md says what they can be.
The log has the truth, one JSON object a line. It ends at the order {"quit": true}, after --seconds, or when
standard input, if it was named, ends.
"""
import argparse
import os
import select
import sys
import time

from air import Air
from log import Log
from orders import End, Orders

parser = argparse.ArgumentParser(prog="controller", description=__doc__.split("\n")[0])
parser.add_argument("orders", nargs="*", help="an order, a file of orders, or - for standard input")
parser.add_argument("--log", help="file to which the truth is appended")
parser.add_argument("--fifo", help="named pipe, made if it is missing, from which orders are taken")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--seconds", type=float, help="end after so long")
options = parser.parse_args()

log = Log(options.log)
air = Air(options.seed)
orders = Orders(air, log)
inputs = {}


def take_input(file):
    """Takes whole lines; false at the end."""
    got = os.read(file, 65536)
    *lines, inputs[file] = (inputs[file] + got).split(b"\n")
    for line in lines:
        orders.take(line.decode())
    return bool(got)


def run():
    for given in options.orders:
        if given == "-":
            inputs[0] = b""
        elif given.lstrip().startswith("{"):
            orders.take(given)
        else:
            with open(given) as file:
                for line in file:
                    orders.take(line)
    if options.fifo:
        if not os.path.exists(options.fifo):
            os.mkfifo(options.fifo)
        inputs[os.open(options.fifo, os.O_RDWR | os.O_NONBLOCK)] = b""
    end = time.monotonic() + options.seconds if options.seconds else None
    while True:
        now = time.monotonic()
        if end is not None and now >= end:
            return
        times = [when for when in (air.advance(now), end) if when is not None]
        log.flush()
        files = {each.file: each for each in air.controllers.values() if each.file is not None}
        wait = max(0, min(times) - time.monotonic()) if times else None
        for file in select.select([*files, *inputs], [], [], wait)[0]:
            if file in files:
                # An order that came in the same turn may have unplugged it.
                if files[file].file == file and files[file].read():
                    print("%s hci%d" % (files[file].name, files[file].index), flush=True)
            elif not take_input(file):
                if file == 0:
                    return
                del inputs[file]


try:
    run()
except (End, KeyboardInterrupt):
    pass
except (OSError, ValueError, KeyError) as error:
    log.write("error", message=repr(error))
    log.flush()
    sys.exit("controller: %r" % error)
finally:
    log.flush()
