"""An advert on air, whoever sends it, and the reports of it."""
import struct

import hci


class Advert:
    """What one advertising event carries. Never changed: a sender that changes makes a new one."""

    def __init__(self, name, address, random, pdu, data, response=None, phy=hci.PHY_1M, sid=0, power=127):
        self.name, self.address, self.pdu, self.phy = name, address, pdu, phy
        self.data, self.response = data, response
        self.random, self.sid, self.power = random, sid, power
        self.made = {}

    @property
    def scannable(self):
        return self.response is not None and self.pdu in ("ind", "scan")

    def legacy(self, rssi, response):
        """The report to a legacy scan, in a list; nothing where that scan cannot hear the PDU."""
        key = ("legacy", response)
        if key not in self.made:
            data = self.response if response else self.data
            if self.pdu == "ext" or self.phy != hci.PHY_1M or len(data) > 31:
                self.made[key] = None
            else:
                kind = hci.LEGACY_RESPONSE if response else hci.LEGACY_TYPE[self.pdu]
                self.made[key] = struct.pack(
                    "<BB6sB", kind, self.random, hci.address(self.address), len(data)) + data
        head = self.made[key]
        return [] if head is None else [head + struct.pack("b", rssi)]

    def extended(self, rssi, response, piece, truncated):
        """The reports to an extended scan: the data in pieces (§7.7.65.13, Data_Status)."""
        key = ("extended", response, piece, truncated)
        if key not in self.made:
            self.made[key] = self.pieces(response, piece, truncated)
        level = struct.pack("b", rssi)
        return [head + level + tail for head, tail in self.made[key]]

    def pieces(self, response, piece, truncated):
        data = self.response if response else self.data
        kind = hci.EXTENDED_RESPONSE[self.pdu] if response else hci.EXTENDED_TYPE[self.pdu]
        is_extended = self.pdu == "ext"
        # Legacy PDUs are never in pieces: they fit.
        size = min(piece or hci.REPORT_DATA, hci.REPORT_DATA) if is_extended else hci.REPORT_DATA
        parts = [data[at:at + size] for at in range(0, len(data), size)] or [b""]
        made = []
        for number, part in enumerate(parts):
            status = 0x20 if number + 1 < len(parts) else 0x40 if truncated and is_extended else 0
            head = struct.pack(
                "<HB6sBBBb", kind | status, self.random, hci.address(self.address), self.phy,
                self.phy if is_extended else 0, self.sid if is_extended else 0xFF, self.power)
            made.append((head, struct.pack("<HB6sB", 0, 0, bytes(6), len(part)) + part))
        return made
