"""A scripted sender: its advert, and how loud it is at each controller as time goes."""
import uuid

import hci
from advert import Advert

FIELDS = dict(
    uuid="00000000-0000-0000-0000-000000000000", major=0, minor=0, power=-59, data=None, rssi=-60, noise=0,
    loss=0, interval=100, jitter=10, addr=None, random=True, pdu="nonconn", phy="1M", sid=0, scan_rsp=None,
    truncated=False)


class Beacon:
    def __init__(self, name, address, chance):
        self.name, self.chance = name, chance
        self.settings = dict(FIELDS, addr=address)
        self.owner = None

    def change(self, fields, now):
        """Takes the fields of an order; those that are left out keep their value."""
        for field in fields:
            if field not in FIELDS:
                raise ValueError("a beacon has no '%s'" % field)
        self.settings |= fields
        get = self.settings
        if "rssi" in fields or not hasattr(self, "began"):
            self.began = now
        data = bytes.fromhex(get["data"]) if get["data"] is not None else self.frame()
        self.advert = Advert(
            self.name, get["addr"], get["random"], get["pdu"], data,
            None if get["scan_rsp"] is None else bytes.fromhex(get["scan_rsp"]),
            hci.PHY_CODED if get["phy"] == "coded" else hci.PHY_1M, get["sid"])
        self.loss, self.noise, self.truncated = get["loss"], get["noise"], get["truncated"]

    def frame(self):
        get = self.settings
        return bytes.fromhex("0201061aff4c000215") + uuid.UUID(get["uuid"]).bytes \
            + get["major"].to_bytes(2, "big") + get["minor"].to_bytes(2, "big") \
            + get["power"].to_bytes(1, "big", signed=True)

    def step(self):
        """Seconds until the next advertising event: the interval and advDelay (Vol 6, Part B, §4.4.2.2)."""
        return (self.settings["interval"] + self.chance.random() * self.settings["jitter"]) / 1000

    def level(self, controller, now):
        """dBm at a controller; nothing if that one does not hear it now."""
        if self.loss and self.chance.random() < self.loss:
            return None
        level = self.settings["rssi"]
        if isinstance(level, dict):
            level = level.get(controller.name)
        if isinstance(level, list):
            level = along(level, now - self.began)
        if level is None or level == 127:
            return level
        if self.noise:
            level = self.chance.gauss(level, self.noise)
        return max(-127, min(20, round(level)))


def along(track, t):
    """The value at a time of a track of [seconds, dBm]: straight lines between, nothing where dBm is null."""
    before = track[0]
    for point in track:
        if t < point[0]:
            if before[1] is None or point[1] is None or point[0] == before[0]:
                return before[1]
            return before[1] + (point[1] - before[1]) * (t - before[0]) / (point[0] - before[0])
        before = point
    return before[1]
