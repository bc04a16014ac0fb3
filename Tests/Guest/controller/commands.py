"""What a controller does with a host's commands."""
import struct

import hci
from advertiser import Advertiser
from answers import answers


class Commands:
    def __init__(self, controller):
        self.controller, self.air, self.log = controller, controller.air, controller.log
        self.answers = answers(controller)
        self.handlers = {
            hci.RESET: self.reset,
            hci.SET_RANDOM_ADDRESS: self.set_random_address,
            hci.SET_SCAN_PARAMETERS: lambda p: self.set_scan(False, p),
            hci.SET_EXT_SCAN_PARAMETERS: lambda p: self.set_scan(True, p),
            hci.SET_SCAN_ENABLE: lambda p: self.enable_scan(False, p),
            hci.SET_EXT_SCAN_ENABLE: lambda p: self.enable_scan(True, p),
            hci.SET_ADV_PARAMETERS: lambda p: self.set_advertising(0, lambda one: one.set_parameters(p)),
            hci.SET_ADV_DATA: lambda p: self.set_data("data", p),
            hci.SET_SCAN_RESPONSE: lambda p: self.set_data("response", p),
            hci.SET_ADV_ENABLE: lambda p: self.enable(0, p[0] == 1),
            hci.SET_SET_RANDOM_ADDRESS: self.set_set_random_address,
            hci.SET_EXT_ADV_PARAMETERS: lambda p: self.set_advertising(
                p[0], lambda one: one.set_extended_parameters(p)),
            hci.SET_EXT_ADV_DATA: lambda p: self.set_pieces("data", p),
            hci.SET_EXT_SCAN_RESPONSE: lambda p: self.set_pieces("response", p),
            hci.SET_EXT_ADV_ENABLE: self.enable_sets,
            hci.REMOVE_ADV_SET: self.remove_set,
            hci.CLEAR_ADV_SETS: self.clear_sets,
        }
        self.sets, self.random, self.used = {}, None, None

    def take(self, opcode, p):
        """Takes a command and answers it, unless muted."""
        if self.controller.muted:
            self.log.write("command", controller=self.controller.name, opcode="%04x" % opcode, status=None)
            return
        status = self.carry_out(opcode, p)
        self.log.write(
            "command", controller=self.controller.name, opcode="%04x" % opcode, parameters=p.hex(), status=status)
        answer = b""
        if status == hci.OK:
            answer = self.air.chance.randbytes(8) if opcode == hci.RAND else self.answers[opcode]
        self.controller.send(hci.command_complete(opcode, bytes([status]) + answer))

    def carry_out(self, opcode, p):
        if opcode not in self.answers:
            return hci.UNKNOWN_COMMAND
        kind = "legacy" if opcode in hci.LEGACY else "extended" if opcode in hci.EXTENDED else None
        if kind and self.controller.extended and not self.controller.lax:
            self.used = self.used or kind
            if kind != self.used:
                return hci.DISALLOWED
        handler = self.handlers.get(opcode)
        try:
            return handler(p) if handler else hci.OK
        except (IndexError, struct.error):
            return hci.INVALID

    def reset(self, _):
        self.stop_advertising()
        self.sets, self.random, self.used = {}, None, None
        if self.controller.scan.on:
            self.enable_scan(self.controller.scan.extended, b"\0\0")
        return hci.OK

    def set_random_address(self, p):
        if self.controller.scan.on or any(one.on and one.handle == 0 for one in self.sets.values()):
            return hci.DISALLOWED
        self.random = hci.address_text(p)
        if 0 in self.sets:
            self.sets[0].random = self.random
        return hci.OK

    # Scanning

    def set_scan(self, extended, p):
        scan = self.controller.scan
        if scan.on:
            return hci.DISALLOWED
        return scan.set_extended_parameters(p, self.controller.coded) if extended else scan.set_parameters(p)

    def enable_scan(self, extended, p):
        scan = self.controller.scan
        if p[0] > 1 or p[1] > 2:
            return hci.INVALID
        self.controller.flush()
        scan.enable(p[0] == 1, p[1] != 0, extended)
        self.log.write("scan", controller=self.controller.name, **scan.described())
        return hci.OK

    # Advertising

    def set(self, handle, make=False):
        if make and handle not in self.sets and len(self.sets) < self.controller.sets:
            self.sets[handle] = Advertiser(self.controller, handle)
            self.sets[handle].random = self.random
        return self.sets.get(handle)

    def set_advertising(self, handle, parameters):
        one = self.set(handle, make=True)
        if one is None:
            return 0x07  # Memory Capacity Exceeded
        return hci.DISALLOWED if one.on else parameters(one)

    def set_data(self, field, p):
        one = self.set(0, make=True)
        setattr(one, field, p[1:1 + p[0]])
        return self.changed(one)

    def set_pieces(self, field, p):
        one = self.set(p[0])
        if one is None:
            return hci.UNKNOWN_SET
        status = one.set_pieces(p, field)
        return status if status else self.changed(one)

    def set_set_random_address(self, p):
        one = self.set(p[0])
        if one is None:
            return hci.UNKNOWN_SET
        one.random = hci.address_text(p[1:7])
        return hci.OK

    def changed(self, one):
        one.changed()
        if one.on:
            self.tell(one)
        return hci.OK

    def enable_sets(self, p):
        on, count = p[0] == 1, p[1]
        if count == 0 and not on:
            self.stop_advertising()
            return hci.OK
        for number in range(count):
            at = 2 + 4 * number
            status = self.enable(p[at], on, int.from_bytes(p[at + 1:at + 3], "little") * 0.01)
            if status:
                return status
        return hci.OK

    def enable(self, handle, on, duration=0):
        one = self.set(handle)
        if one is None:
            return hci.UNKNOWN_SET if self.used == "extended" else hci.OK
        if on and one.is_random and one.random is None:
            return hci.INVALID
        one.changed()
        if on != one.on:
            one.on = on
            self.air.remove(one)
            if on:
                self.air.add(one)
            self.tell(one)
        if on and duration:
            self.air.later(duration, lambda: self.end(one))
        return hci.OK

    def end(self, one):
        """The duration of a set is over (§7.7.65.18)."""
        if one.on and self.sets.get(one.handle) is one and self.controller.file is not None:
            self.enable(one.handle, False)
            self.controller.send(hci.set_terminated(one.handle, hci.TIMED_OUT, 0))

    def remove_set(self, p):
        one = self.set(p[0])
        if one is None:
            return hci.UNKNOWN_SET
        if one.on:
            return hci.DISALLOWED
        del self.sets[p[0]]
        return hci.OK

    def clear_sets(self, _):
        if any(one.on for one in self.sets.values()):
            return hci.DISALLOWED
        self.sets = {}
        return hci.OK

    def stop_advertising(self):
        for handle in list(self.sets):
            self.enable(handle, False)

    def tell(self, one):
        advert = one.advert
        self.log.write(
            "advertise", controller=self.controller.name, set=one.handle, on=one.on, pdu=one.pdu,
            interval=round(one.interval * 1000, 3), addr=advert.address, random=advert.random, sid=advert.sid,
            phy=hci.PHY_NAME.get(advert.phy, advert.phy), data=advert.data.hex(),
            response=(advert.response or b"").hex())
