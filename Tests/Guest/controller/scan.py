"""How a host asked a controller to scan."""
import struct

import hci


class Scan:
    def __init__(self):
        self.on = self.extended = self.active = self.filter = False
        self.policy = 0
        # Milliseconds by PHY
        self.interval, self.window = {hci.PHY_1M: 10.0}, {hci.PHY_1M: 10.0}
        self.seen = {}

    def set_parameters(self, p):
        """LE Set Scan Parameters (§7.8.10)."""
        kind, interval, window, _, policy = struct.unpack_from("<BHHBB", p)
        if kind > 1 or not 4 <= window <= interval <= 0x4000:
            return hci.INVALID
        self.active, self.policy = kind == 1, policy
        self.interval, self.window = {hci.PHY_1M: interval * 0.625}, {hci.PHY_1M: window * 0.625}
        return hci.OK

    def set_extended_parameters(self, p, coded):
        """LE Set Extended Scan Parameters (§7.8.64): a type, interval and window for each PHY."""
        _, policy, phys = struct.unpack_from("<BBB", p)
        known = [phy for phy, bit in hci.PHY_BIT.items() if phys & bit]
        if not known or phys & ~0x05 or (hci.PHY_CODED in known and not coded) or len(p) != 3 + 5 * len(known):
            return hci.INVALID
        interval, window, active = {}, {}, False
        for number, phy in enumerate(known):
            kind, every, length = struct.unpack_from("<BHH", p, 3 + 5 * number)
            if kind > 1 or not 4 <= length <= every:
                return hci.INVALID
            active |= kind == 1
            interval[phy], window[phy] = every * 0.625, length * 0.625
        self.active, self.policy, self.interval, self.window = active, policy, interval, window
        return hci.OK

    def enable(self, on, filtered, extended):
        self.on, self.filter, self.extended = on, filtered, extended
        self.seen.clear()

    def passes(self, key, room):
        """Whether the duplicate filter lets a report through."""
        if not self.filter:
            return True
        if key in self.seen:
            return False
        self.seen[key] = True
        if len(self.seen) > room:
            del self.seen[next(iter(self.seen))]
        return True

    def described(self):
        """The fields that the log has."""
        phys = sorted(self.interval)
        return dict(
            on=self.on, extended=self.extended, active=self.active, filter=self.filter, policy=self.policy,
            phys=[hci.PHY_NAME[phy] for phy in phys], interval=[self.interval[phy] for phy in phys],
            window=[self.window[phy] for phy in phys])
