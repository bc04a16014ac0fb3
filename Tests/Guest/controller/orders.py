"""Orders: JSON objects, one a line, that say what is on air and what goes wrong."""
import itertools
import json
import time

import hci
from beacon import Beacon
from controller import Controller


class End(Exception):
    pass


class Orders:
    def __init__(self, air, log):
        self.air, self.log = air, log
        self.beacons, self.number = {}, itertools.count(1)

    def take(self, line):
        """Takes a line; with "at", what it says is done that many seconds from now."""
        line = line.strip()
        if not line or line.startswith("#"):
            return
        order = json.loads(line)
        delay = order.pop("at", 0)
        if delay > 0:
            self.air.later(delay, lambda: self.do(order))
        else:
            self.do(order)

    def do(self, order):
        self.log.write("order", order=order)
        for word in ("plug", "unplug", "path", "raw", "hw_error", "mute", "burst", "quit", "note"):
            if word in order:
                getattr(self, word)(dict(order), order[word])
                return
        self.beacon(dict(order))

    # Beacons

    def beacon(self, order):
        if "count" in order:
            for i in range(order.pop("count")):
                each = dict(order, id=order.get("id", "") + str(i), minor=order.get("minor", 0) + i)
                if "addr" in order:
                    each["addr"] = self.address(int(order["addr"].replace(":", ""), 16) + i)
                self.beacon(each)
            return
        name = order.pop("id")
        known = self.beacons.get(name)
        if order.pop("off", False):
            if known:
                self.air.remove(known)
                del self.beacons[name]
            return
        beacon = known or Beacon(name, self.address(0xC00000000000 + next(self.number)), self.air.chance)
        beacon.change(order, time.monotonic())
        if not known:
            self.beacons[name] = beacon
            self.air.add(beacon)

    @staticmethod
    def address(number):
        return hci.address_text(number.to_bytes(6, "little"))

    def burst(self, order, count):
        """Many adverts of a beacon at once."""
        now = time.monotonic()
        for _ in range(count):
            self.air.send(self.beacons[order["id"]], now)

    # Controllers

    def plug(self, order, name):
        del order["plug"]
        known = self.air.controllers.get(name)
        if known is None:
            known = self.air.controllers[name] = Controller(name, self.air, self.log)
        known.change(order)
        if known.file is None:
            known.plug()

    def unplug(self, _, name):
        self.air.controllers[name].unplug()

    def path(self, order, pair):
        """How loud a controller is at another: {"path": ["a", "b"], "rssi": -70}."""
        self.air.paths[tuple(pair)] = order["rssi"]

    def one(self, order):
        """The controller that an order names, or the first."""
        return self.air.controllers[order.get("controller") or next(iter(self.air.controllers))]

    def raw(self, order, packet):
        self.one(order).send(bytes.fromhex(packet))

    def hw_error(self, order, code):
        self.one(order).send(hci.hardware_error(code))

    def mute(self, order, how):
        """true: no command is answered; "all": and nothing is reported; false: as ever."""
        controller = self.one(order)
        controller.muted, controller.silent = bool(how), how == "all"

    def note(self, _, text):
        """Nothing: the log then shows how far the orders have got."""

    def quit(self, *_):
        raise End
