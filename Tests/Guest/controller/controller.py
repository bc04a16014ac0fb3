"""A virtual controller: an adapter that the kernel sees through /dev/vhci."""
import errno
import os
import struct

import hci
from commands import Commands
from scan import Scan

SETTINGS = dict(
    addr="00:AA:01:00:00:42", extended=False, coded=False, lax=False, sets=4, batch=1, hold=0.02, fragment=0,
    duty=False, filter=1 << 30)


class Controller:
    """The half that hears; what a host commands is in Commands."""

    def __init__(self, name, air, log):
        self.name, self.air, self.log = name, air, log
        self.settings = dict(SETTINGS)
        self.file = None

    def change(self, settings):
        """Takes the fields of the order `plug`."""
        for setting in settings:
            if setting not in SETTINGS:
                raise ValueError("a controller has no '%s'" % setting)
        self.settings |= settings
        self.address = self.settings["addr"]
        self.extended, self.coded = self.settings["extended"] or self.settings["coded"], self.settings["coded"]
        self.sets, self.lax, self.batch = self.settings["sets"], self.settings["lax"], self.settings["batch"]

    def plug(self):
        self.scan, self.muted, self.silent = Scan(), False, False
        self.queue, self.oldest = [], None
        self.commands = Commands(self)
        self.file = os.open("/dev/vhci", os.O_RDWR | os.O_NONBLOCK)
        try:
            self.send(b"\xff\x00")  # a primary controller
        except OSError as error:
            # After a second without that word the kernel has made one by itself.
            if error.errno != errno.EBADFD:
                raise

    def unplug(self):
        self.commands.stop_advertising()
        self.air.hush(self)
        os.close(self.file)
        self.file = None
        self.log.write("unplug", controller=self.name)

    # What the kernel sends

    def read(self):
        """Takes packets until there is none; true if the kernel named the adapter."""
        named = False
        while True:
            try:
                packet = os.read(self.file, 4096)
            except BlockingIOError:
                return named
            if packet[0] == hci.COMMAND:
                self.commands.take(struct.unpack_from("<H", packet, 1)[0], packet[4:])
            elif packet[0] == hci.VENDOR:
                self.index = struct.unpack_from("<H", packet, 2)[0]
                self.log.write(
                    "plug", controller=self.name, hci="hci%d" % self.index, addr=self.address,
                    extended=self.extended, coded=self.coded)
                named = True

    # What it sends to the kernel

    def send(self, packet):
        """Gives the kernel a packet; false if the interface is down, so that nobody has it."""
        if self.file is None:
            return False
        try:
            os.write(self.file, packet)
            return True
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return False

    # What it hears

    def hear(self, sender, now):
        """One advertising event on air."""
        scan, advert = self.scan, sender.advert
        if not scan.on or self.silent or advert.phy not in scan.interval:
            return
        if self.settings["duty"] and self.air.chance.random() * scan.interval[advert.phy] > scan.window[advert.phy]:
            return
        level = sender.level(self, now)
        if level is None:
            return
        self.report(sender, advert, level, False, now)
        if scan.active and advert.scannable:
            self.report(sender, advert, level, True, now)

    def report(self, sender, advert, level, response, now):
        if self.scan.extended:
            reports = advert.extended(level, response, self.settings["fragment"], sender.truncated)
        else:
            reports = advert.legacy(level, response)
        if not reports or not self.scan.passes((advert.address, response, advert.data), self.settings["filter"]):
            return
        entry = (advert.name, advert.address, level, response)
        for part in reports[:-1]:
            self.queue.append((part, None))
        self.queue.append((reports[-1], entry))
        if self.oldest is None:
            self.oldest = now
        if len(self.queue) >= self.batch:
            self.flush()

    def flush(self):
        """Sends what waits, some reports in each event. The log has what the kernel took."""
        told = []
        queue, at = self.queue, 0
        while at < len(queue):
            count, size = 0, 0
            for part, _ in queue[at:at + self.batch]:
                if size + len(part) > hci.EVENT_ROOM:
                    break
                count, size = count + 1, size + len(part)
            some = queue[at:at + count]
            if self.send(hci.reports_event(self.scan.extended, [part for part, _ in some])):
                told += [entry for _, entry in some if entry is not None]
            at += count
        if told:
            self.log.reports(self.name, told)
        self.queue, self.oldest = [], None

    def due(self):
        """When what waits must be sent."""
        return None if self.oldest is None else self.oldest + self.settings["hold"]
