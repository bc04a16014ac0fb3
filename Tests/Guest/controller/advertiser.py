"""An advertising set of a host: what the host's commands put on air."""
import struct

import hci
from advert import Advert

# Advertising PDUs of LE Set Advertising Parameters, and of extended properties that ask for legacy PDUs
LEGACY_PDU = {0: "ind", 2: "scan", 3: "nonconn"}
PROPERTIES_PDU = {0x13: "ind", 0x12: "scan", 0x10: "nonconn"}


class Advertiser:
    loss, noise, truncated = 0, 0, False

    def __init__(self, controller, handle):
        self.owner, self.handle = controller, handle
        self.name = "%s/%d" % (controller.name, handle)
        self.on, self.legacy = False, True
        self.data, self.response = b"", b""
        self.pdu, self.phy, self.sid, self.power = "ind", hci.PHY_1M, 0, 127
        self.interval, self.is_random, self.random = 1.28, False, None
        self.pending = b""

    def set_parameters(self, p):
        """LE Set Advertising Parameters (§7.8.5)."""
        low, _, kind, own = struct.unpack_from("<HHBB", p)
        if kind not in LEGACY_PDU or not 0x20 <= low <= 0x4000:
            return hci.INVALID
        self.interval, self.pdu, self.is_random = low * 0.000625, LEGACY_PDU[kind], own & 1 == 1
        return hci.OK

    def set_extended_parameters(self, p):
        """LE Set Extended Advertising Parameters (§7.8.53)."""
        properties, = struct.unpack_from("<H", p, 1)
        legacy = properties & 0x10
        if legacy and properties & 0x1F not in PROPERTIES_PDU:
            return hci.INVALID
        if legacy and p[20] != hci.PHY_1M:
            return hci.INVALID
        self.pdu = PROPERTIES_PDU[properties & 0x1F] if legacy else "ext"
        self.legacy = bool(legacy)
        self.interval = int.from_bytes(p[3:6], "little") * 0.000625
        self.is_random, self.phy, self.sid = p[10] & 1 == 1, p[20], p[23]
        self.power = struct.unpack_from("b", p, 19)[0]
        return hci.OK

    def set_pieces(self, p, field):
        """LE Set Extended Advertising Data or Scan Response Data (§7.8.54): by pieces, too."""
        operation, data = p[1], p[4:4 + p[3]]
        if operation == 4:
            return hci.OK
        if operation in (1, 3):
            self.pending = b""
        self.pending += data
        if self.legacy and len(self.pending) > 31:
            return hci.INVALID
        if operation in (2, 3):
            setattr(self, field, self.pending)
            self.changed()
        return hci.OK

    def changed(self):
        """Makes the advert anew."""
        address = self.random if self.is_random and self.random else self.owner.address
        self.advert = Advert(
            self.name, address, self.is_random, self.pdu, self.data, self.response or None, self.phy, self.sid,
            self.power)

    def step(self):
        return self.interval + self.owner.air.chance.random() * 0.01

    def level(self, controller, now):
        """dBm at another controller: what the order `path` says of the two."""
        return self.owner.air.path(self.owner.name, controller.name)
