#!/usr/bin/env python3
"""Writes the seeds under Fuzz/corpus anew, from captures/ and from bytes made here.

    python3 Fuzz/make-corpus.py

Run it from the project's root. The same captures give the same seeds. A seed has at most 4,096
bytes.
"""

import gzip
import pathlib
import re
import shutil
import struct

CORPUS = pathlib.Path("Fuzz/corpus")
UUID = bytes.fromhex("E2C56DB5DFFB48D2B060D0F5A71096E0")
EPOCH = 0x00DCDDB30F2F8000
MOST = 4096


def seed(entry: str, name: str, data: bytes) -> None:
    folder = CORPUS / entry
    folder.mkdir(parents=True, exist_ok=True)
    assert len(data) <= MOST, (entry, name, len(data))
    (folder / name).write_bytes(data)


# Adverts


def structure(kind: int, data: bytes) -> bytes:
    return bytes([len(data) + 1, kind]) + data


def ibeacon(major: int = 1, minor: int = 2, power: int = -59) -> bytes:
    frame = bytes.fromhex("4C000215") + UUID + struct.pack(">HHb", major, minor, power)
    return structure(0xFF, frame)


FLAGS = bytes.fromhex("020106")
ADVERTS = {
    "ibeacon": FLAGS + ibeacon(),
    "ibeacon-trailing": FLAGS + structure(0xFF, ibeacon()[2:] + b"\x64"),
    "ibeacon-short": FLAGS + structure(0xFF, ibeacon()[2:-1]),
    "ibeacon-wrong-length": FLAGS + ibeacon().replace(b"\x02\x15", b"\x02\x16", 1),
    "ibeacon-cut": FLAGS + ibeacon()[:-3],
    "ibeacon-power": ibeacon(65535, 65535, 4) + ibeacon(0, 0, -127),
    "early-end": FLAGS + b"\x00" + ibeacon(),
    "altbeacon": FLAGS + structure(0xFF, bytes.fromhex("1801BEAC") + UUID + bytes(4) + b"\xc5\x01"),
    "altbeacon-short": structure(0xFF, bytes.fromhex("1801BEAC") + UUID + bytes(4) + b"\xc5"),
    "eddystone-uid": FLAGS + bytes.fromhex("0303AAFE") + structure(0x16, b"\xaa\xfe\x00\xe7" + bytes(range(18))),
    "eddystone-url": FLAGS + structure(0x16, b"\xaa\xfe\x10\xee\x03example\x00a\x07"),
    "eddystone-tlm": structure(0x16, b"\xaa\xfe\x20\x00\x0b\xb8\x19\x80" + bytes(8)),
    "eddystone-etlm": structure(0x16, b"\xaa\xfe\x20\x01" + bytes(12)),
    "eddystone-eid": structure(0x16, b"\xaa\xfe\x30\xe7" + bytes(range(8))),
    "name": FLAGS + structure(0x09, b"beacon") + structure(0x0A, b"\x04"),
    "empty": b"",
    "overrun": FLAGS + b"\xff\xff\x4c\x00",
}


# Events


def legacy(*adverts: bytes, kind: int = 3, rssi: int = -60) -> bytes:
    body = b"".join(
        bytes([kind, 1]) + bytes.fromhex("0100000000C0") + bytes([len(a)]) + a + struct.pack("b", rssi)
        for a in adverts
    )
    body = bytes([0x02, len(adverts)]) + body
    return bytes([0x3E, len(body)]) + body


def extended(data: bytes, kind: int = 0, status: int = 0, sid: int = 1, rssi: int = -60) -> bytes:
    body = struct.pack("<HB", kind | status << 5, 1) + bytes.fromhex("0200000000C0")
    body += struct.pack("<BBBbbHB", 1, 1, sid, 127, rssi, 0, 0) + bytes(6) + bytes([len(data)]) + data
    body = bytes([0x0D, 1]) + body
    return bytes([0x3E, len(body)]) + body


def told(*events: tuple[int, int, bytes]) -> bytes:
    return b"".join(bytes([gap, adapter, len(e)]) + e for gap, adapter, e in events)


def event_seeds() -> None:
    advert = FLAGS + ibeacon()
    filler = structure(0xFF, b"\xff\xff" + bytes(150))
    seed("hci-event", "legacy", told((0, 0, legacy(advert))))
    seed("hci-event", "legacy-two", told((1, 0, legacy(advert, FLAGS + ibeacon(3, 4)))))
    seed("hci-event", "legacy-scan-response", told((1, 0, legacy(advert, kind=4, rssi=127))))
    seed("hci-event", "legacy-cut", told((1, 0, legacy(advert, advert)[:-4])))
    seed("hci-event", "legacy-lie", told((1, 0, legacy(advert).replace(b"\x02\x01\x03", b"\x02\x02\x03", 1))))
    seed("hci-event", "extended", told((0, 0, extended(advert, kind=0x10)), (1, 1, extended(advert))))
    parts = [filler, filler[:80], filler[80:] + ibeacon(5, 6)]
    for name, gap in ("joined", 1), ("late", 60):
        events = [(gap, 0, extended(part, status=int(i < 2))) for i, part in enumerate(parts)]
        seed("hci-event", f"fragments-{name}", told(*events))
    mixed = [(1, 0, extended(structure(0xFF, b"\xff\xff" + bytes(50)), status=1, sid=i)) for i in range(18)]
    mixed += [(1, 0, extended(ibeacon(7, i), sid=i)) for i in range(18)]
    seed("hci-event", "fragments-of-18", told(*mixed))
    seed("hci-event", "fragments-truncated", told((0, 0, extended(filler, status=1)), (0, 0, extended(advert, status=2))))
    seed("hci-event", "other", told((0, 0, bytes.fromhex("0E0401052000")), (0, 0, legacy(advert))))


def command_seeds() -> None:
    commands = bytearray(64)
    commands[37] = 0x60
    for name, packet in {
        "complete": "0E0401052000", "status": "0F0400010520", "scan-on": "0C200201000000",
        "version": "0E0C01011000081F000800F1051F00", "features": "0E0C01032000FF59000000000000",
    }.items():
        seed("hci-command", name, bytes.fromhex(packet))
    seed("hci-command", "commands", bytes.fromhex("0E4401021000") + commands)


# Link layer


def crc24(data: bytes) -> bytes:
    register = 0xAAAAAA
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0xDA6000 if register & 1 else 0)
    return register.to_bytes(3, "little")


def pdu(kind: int, payload: bytes) -> bytes:
    body = bytes([kind, len(payload)]) + payload
    return body + crc24(body)


ACCESS = bytes.fromhex("D6BE898E")
ADDRESS = bytes.fromhex("0300000000C0")


def link_layer_seeds() -> dict[str, bytes]:
    advert = FLAGS + ibeacon()
    header = bytes([0x09]) + ADDRESS + b"\x0c\x10"
    packets = {
        "adv-ind": pdu(0x40, ADDRESS + advert),
        "adv-nonconn-ind": pdu(0x42, ADDRESS + advert),
        "scan-rsp": pdu(0x04, ADDRESS + advert),
        "scan-req": pdu(0x03, ADDRESS + ADDRESS),
        "aux-adv-ind": pdu(0x47, bytes([len(header)]) + header + advert),
        "aux-no-address": pdu(0x07, bytes([0x41, 0x00]) + advert),
        "adv-ext-ind": pdu(0x07, bytes([0x04, 0x18, 0x0C, 0x10, 0x20])),
    }
    for name, packet in packets.items():
        for choices in 0x08, 0x0C, 0x0E:
            seed("link-layer-pdu", f"{name}-{choices:x}", bytes([choices, 0xC4]) + packet)
    seed("link-layer-pdu", "coded", bytes([0x0F, 0xC4, 0]) + packets["adv-ind"])
    seed("link-layer-pdu", "wrong", bytes([0x0A, 0xC4]) + packets["adv-ind"])
    seed("link-layer-pdu", "data-channel", bytes([0x04, 0xC4]) + bytes(12))
    return packets


# Capture files

TIME = 1_767_225_600_000_000  # 2026-01-01, in microseconds


def btsnoop(packets: list[tuple[int, int, bytes]], datalink: int = 1002) -> bytes:
    file = b"btsnoop\0" + struct.pack(">II", 1, datalink)
    for time, flags, packet in packets:
        file += struct.pack(">IIIIq", len(packet), len(packet), flags, 0, time + EPOCH) + packet
    return file


def pcap(packets: list[bytes], link: int, order: str = "<", magic: int = 0xA1B2C3D4) -> bytes:
    file = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, link)
    for index, packet in enumerate(packets):
        file += struct.pack(order + "IIII", TIME // 1_000_000, index * 100, len(packet), len(packet)) + packet
    return file


def block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + size + body + size


def pcapng(packets: list[bytes], links: list[int], order: str = "<", resolution: int = 6) -> bytes:
    file = block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    for link in links:
        options = struct.pack(order + "HHBxxx", 9, 1, resolution)
        options += struct.pack(order + "HHq", 14, 8, 3600) + struct.pack(order + "HH", 0, 0)
        file += block(order, 1, struct.pack(order + "HHI", link, 0, 0) + options)
    file += block(order, 5, bytes(16))
    for index, packet in enumerate(packets):
        time = TIME + index * 100
        size = struct.pack(order + "II", len(packet), len(packet))
        stamp = struct.pack(order + "II", time >> 32, time & 0xFFFFFFFF)
        if index % 3 == 1:
            file += block(order, 2, struct.pack(order + "HH", index % len(links), 0) + stamp + size + packet)
        elif index % 3 == 2:
            file += block(order, 3, size[:4] + packet)
        else:
            file += block(order, 6, struct.pack(order + "I", index % len(links)) + stamp + size + packet)
    return file


def capture_seeds(pdus: dict[str, bytes]) -> None:
    h4 = [b"\x04" + legacy(a) for a in list(ADVERTS.values())[:5]]
    h4 += [b"\x04" + extended(a) for a in list(ADVERTS.values())[:3]]
    h4.append(bytes.fromhex("01 08 20 20 1E") + FLAGS + ibeacon() + b"\0")
    timed = [(TIME + i * 100_000, 3, p) for i, p in enumerate(h4)]
    seed("capture", "btsnoop-h4", btsnoop(timed))
    seed("capture", "btsnoop-h1", btsnoop([(t, f, p[1:]) for t, f, p in timed], 1001))
    seed("capture", "btsnoop-monitor", btsnoop([(t, 0x00010003, p[1:]) for t, _, p in timed], 2001))
    seed("capture", "btsnoop-steps", btsnoop([(t - 90_000_000 * (i % 2), f, p) for i, (t, f, p) in enumerate(timed)]))
    seed("capture", "btsnoop-cut", btsnoop(timed)[:-7])
    seed("capture", "btsnoop-gzip", gzip.compress(btsnoop(timed), mtime=0))
    seed("capture", "btsnoop-gzip-two", gzip.compress(btsnoop(timed[:3]), mtime=0) + gzip.compress(btsnoop(timed[3:])[16:], mtime=0))
    seed("capture", "btsnoop-gzip-cut", gzip.compress(btsnoop(timed), mtime=0)[:-30])
    for name, order, magic in [
        ("le", "<", 0xA1B2C3D4), ("be", ">", 0xA1B2C3D4), ("le-ns", "<", 0xA1B23C4D), ("be-ns", ">", 0xA1B23C4D),
    ]:
        seed("capture", f"pcap-{name}", pcap(h4, 187, order, magic))
    direction = [struct.pack(">I", 1) + p for p in h4]
    seed("capture", "pcap-direction", pcap(direction, 201))
    monitor = [struct.pack(">HH", i % 2, 3) + p[1:] for i, p in enumerate(h4)]
    seed("capture", "pcap-monitor", pcap(monitor, 254))
    air = [ACCESS + p for p in pdus.values()]
    seed("capture", "pcap-link-layer", pcap(air, 251))
    radio = [struct.pack("<BbbBIH", 37, -60, -90, 0, 0x8E89BED6, f) + p for p, f in zip(air, [0x13, 0xC13, 0x413, 0x8003, 0xC13, 0xC11, 0])]
    seed("capture", "pcap-radio", pcap(radio, 256))
    nordic = [
        struct.pack("<BHBHBBBBBHI", 0, len(p) + 10, v, 1, 2 if v == 3 else 6, 10, 1, 37, 60, 1, 5) + p
        for p, v in zip(air, [1, 2, 3, 3, 3, 2, 1])
    ]
    seed("capture", "pcap-nordic", pcap(nordic, 272))
    seed("capture", "pcap-ethernet", pcap([bytes(60)], 1))
    seed("capture", "pcapng-le", pcapng(h4, [187, 187]))
    seed("capture", "pcapng-be", pcapng(h4, [187], ">"))
    seed("capture", "pcapng-ns", pcapng(direction, [201], resolution=9))
    seed("capture", "pcapng-binary", pcapng(h4, [187], resolution=0x80 | 20))
    seed("capture", "pcapng-fine", pcapng(h4, [187], resolution=12))
    seed("capture", "pcapng-mixed", pcapng([x for pair in zip(h4, air) for x in pair], [187, 251]))
    seed("capture", "pcapng-ethernet", pcapng([bytes(60)], [1]))
    seed("capture", "pcapng-sections", pcapng(h4[:2], [187]) + pcapng(h4[2:5], [187], ">"))
    seed("capture", "pcapng-gzip", gzip.compress(pcapng(h4, [187]), mtime=0))
    for name in "btsnoop\0", "\xd4\xc3", "\n\r\r\n":
        seed("capture", f"header-{len(name)}", name.encode("latin-1"))


def recorded_seeds() -> None:
    """The first records of the recordings that ship, and the events in them."""
    for path in sorted(pathlib.Path("captures").rglob("*.btsnoop")):
        file = path.read_bytes()
        end, told_events = 16, b""
        while end + 24 <= len(file):
            size = struct.unpack(">I", file[end + 4 : end + 8])[0]
            if end + 24 + size > 2500:
                break
            packet = file[end + 24 : end + 24 + size]
            if packet[:1] == b"\x04" and len(packet) < 257:
                told_events += bytes([1, 0, len(packet) - 1]) + packet[1:]
            end += 24 + size
        seed("capture", f"recorded-{path.stem}", file[:end])
        if told_events:
            seed("hci-event", f"recorded-{path.stem}", told_events)
    for path in sorted(pathlib.Path("captures").rglob("*.pcap*")):
        # Cut short on purpose: most readers stop at the cut.
        seed("capture", f"recorded-{path.stem}-{path.suffix[1:]}", path.read_bytes()[:2000])


# Text, scenarios, sightings


def text_seeds() -> None:
    beacon = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    for index, text in enumerate([
        beacon, beacon.lower(), beacon.replace("-", ""), f"{beacon}:1", f"{beacon}:1:65535",
        f"{beacon}:65536", f"{beacon}:+1", f"{beacon}:-0", f"{beacon}::2", f"{beacon}:1:2:3",
        "AA:BB:CC:DD:EE:FF", "aa:bb:cc:dd:ee:0f", "AA:BB:CC:DD:EE", f"{beacon}:１", "",
    ]):
        seed("region-text", f"{index:02}", text.encode())
    for index, text in enumerate([
        "0201061aff4c000215", "02 01 06", "0x02, 0x01", "02:01:06", "02-01_06", "0", "0x0", "0x",
        "zz", "02 0", "１２", "1A\r\n2B", "10x41", "",
    ]):
        seed("hex-text", f"{index:02}", text.encode())


def toml_seeds() -> None:
    seed("toml", "example", pathlib.Path("Examples/beaconscan.toml").read_bytes())
    for index, text in enumerate([
        "a.b = 1\n[c.d]\ne = {f = 1, g.h = [1, 'x', \"\\u00e9\"]}\n[[i]]\n[i.j]\n[[i]]\nk = true\n",
        'a = """\n b \\\n c"" """\nd = \'\'\'\n e\'\'\'\n',
        "a = [1979-05-27T07:32:00Z, 1979-05-27 07:32:00.5, 1979-05-27, 07:32:00]\n",
        "a = [+1, -0, 1_0, 0xF, 0o7, 0b1, 1.5e-3, inf, -nan]\nb = [\n 1, # c\n]\n",
        "a = 1\na = 2\n[b\nc = \n", "\ufeffa = 1\r\n",
    ]):
        seed("toml", f"{index:02}", text.encode())


def scenario_seeds() -> None:
    short = """{"name": "s", "seed": 7, "start": "2026-01-01T00:00:00Z", "duration": 3,
 "format": {"reportsPerEvent": 3, "extended": %s},
 "environment": {"pathLossExponent": 2, "noise": 2, "noiseCorrelation": 1, "hearing": -95, "loss": 0.1},
 "beacons": [
  {"id": "a", "uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "major": 1, "minor": 2, "interval": 100,
   "track": [[0, 1], [2, 5.5]], "address": "C0:00:00:00:00:01"%s},
  {"id": "b", "uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "major": 2, "minor": 0, "interval": 300,
   "count": 3, "spread": [1, 9], "measuredPower": -65, "signal": false, "pdu": "ind"},
  {"id": "c", "uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "major": 3, "minor": 0, "interval": 250,
   "rssi": [[0.5, -60], [3, -90]], "loss": 0, "noise": 0}],
 "clutter": [%s]}"""
    kinds = [
        "appleNearby", "eddystoneUID", "altBeacon", "name", "hostCommands", "malformedAD", "shortIBeacon",
        "wrongLengthByte", "zeroLength", "empty", "wrongPower", "spoofed", "vendorEvents", "truncatedEvents",
    ]
    clutter = ", ".join(f'{{"kind": "{k}", "rate": 2, "count": 1, "rssi": [-80, -60]}}' for k in kinds)
    seed("scenario", "short", (short % ("false", "", clutter)).encode())
    seed("scenario", "long-adverts", (short % ("true", ', "pdu": "extended", "extraBytes": 600', clutter)).encode())
    least = '{"name":"m","start":"2026-01-01T00:00:00.5Z","duration":0.1,"beacons":[]}'
    seed("scenario", "least", least.encode())
    seed("scenario", "cut", least[:40].encode())
    seed("scenario", "comma", least.replace(":[]", ":[],").encode())
    seed("scenario", "deep", (b"[" * 300 + b"]" * 300))
    for path in sorted(pathlib.Path("captures").glob("*.json")):
        seed("scenario", f"shipped-{path.stem}", path.read_bytes()[:MOST])


def sighting_seeds() -> None:
    # A step: what time does, then a beacon, its power and its signal; 0x0F reports.
    still = b"".join(bytes([0x40, 1, 0xC5, 0xC0 + i % 5]) for i in range(40)) + b"\x0f"
    walk = b"".join(bytes([0x40, 2, 0xC5, 0xB0 + i]) + (b"\x0f" if i % 10 == 9 else b"") for i in range(60))
    many = b"".join(bytes([0x20, 7, i % 20, 0xC5, 0xC0]) for i in range(60)) + b"\x0f"
    absurd = b"".join(bytes([0x60, 3, power, rssi]) for power in (0, 4, 0x80, 0x7F) for rssi in (0, 0x7F, 0x80, 20))
    clock = b"".join(bytes([step, 5, 1, 0xC5, 0xC0]) for step in (0x20, 0xA0, 0xC0, 0x80, 0x20)) + b"\x1f\x0f"
    wild = b"\xe0" + b"\x7f" + b"\xff" * 7 + b"\x01\xc5\xc0" + b"\xe0" + b"\x80" + bytes(7) + b"\x01\xc5\xc0\x0f"
    steps = {"still": still, "walk": walk, "many": many, "absurd": absurd + b"\x0f", "clock": clock, "wild": wild}
    for name, body in steps.items():
        seed("range", name, b"\x00" + body)
    settings = {
        "curve-5": b"\x10", "curve-2013": b"\x18", "exponent": b"\x08\x04", "power": b"\x02\x80",
        "all": b"\xef\x80\x06\x08\x0a\x88" + bytes([1, 2, 4, 6]),
        "none": b"\x0e" + (b"\xff\x7f\xf8" + bytes(6)) * 3,
    }
    for name, head in settings.items():
        seed("range", f"setting-{name}", head + still + walk)
    seed("beacon-table", "few", bytes([8]) + bytes(x for i in range(60) for x in (i % 5, i % 12)))
    seed("beacon-table", "many", bytes([16]) + bytes(x for i in range(255) for x in (i % 3, i)))
    seed("beacon-table", "forget", bytes([40]) + bytes(x for i in range(200) for x in ((5, i) if i % 9 else (0xF8,))))


def bus_bytes(signature: str, values: list, order: str, start: int = 0) -> bytes:
    """D-Bus's marshaling of values, whose first byte lies at a place in the message."""
    out = bytearray()

    def align(size: int) -> None:
        out.extend(bytes(-(start + len(out)) % size))

    def end(types: str, at: int) -> int:
        if types[at] == "a":
            return end(types, at + 1)
        if types[at] not in "({":
            return at + 1
        at += 1
        while types[at] not in ")}":
            at = end(types, at)
        return at + 1

    def write(kind: str, value) -> None:
        first = kind[0]
        if first in "ynqiuxtdb":
            code = {"y": "B", "n": "h", "q": "H", "x": "q", "t": "Q", "b": "I", "u": "I"}.get(first, first)
            align(struct.calcsize(order + code))
            out.extend(struct.pack(order + code, value))
        elif first in "so":
            write("u", len(value))
            out.extend(value.encode() + b"\0")
        elif first == "g":
            out.extend(bytes([len(value)]) + value.encode() + b"\0")
        elif first == "v":
            write("g", value[0])
            write(*value)
        elif first in "({":
            align(8)
            sequence(kind[1:-1], value)
        else:
            write("u", 0)
            size = len(out)
            align(8 if kind[1] in "xtd({" else 4 if kind[1] in "iubsoa" else 2 if kind[1] in "nq" else 1)
            begin = len(out)
            for element in value:
                write(kind[1:], element)
            out[size - 4:size] = struct.pack(order + "I", len(out) - begin)

    def sequence(types: str, values) -> None:
        at = 0
        for value in values:
            write(types[at:end(types, at)], value)
            at = end(types, at)

    sequence(signature, values)
    return bytes(out)


def bus_message(kind: int, fields: dict, signature: str, values: list, order: str = "<") -> bytes:
    types = {1: "o", 2: "s", 3: "s", 4: "s", 5: "u", 6: "s", 7: "s", 8: "g"}
    fields = fields | ({8: signature} if signature else {})
    body = bus_bytes(signature, values, order)
    head = bytes([ord("l" if order == "<" else "B"), kind, 1, 1]) + struct.pack(order + "II", len(body), 7)
    head += bus_bytes("a(yv)", [[(code, (types[code], value)) for code, value in fields.items()]], order, len(head))
    return head + bytes(-len(head) % 8) + body


def bus_seeds() -> None:
    bus, manager = "org.freedesktop.DBus", "org.freedesktop.DBus.ObjectManager"
    device = [
        ("Address", ("s", "E2:C5:6D:B5:DF:FB")), ("RSSI", ("n", -70)), ("Paired", ("b", 0)), ("UUIDs", ("as", [])),
        ("ManufacturerData", ("a{qv}", [(76, ("ay", ibeacon()[4:]))])), ("Adapter", ("o", "/org/bluez/hci0")),
    ]
    path = "/org/bluez/hci0/dev_E2_C5_6D_B5_DF_FB"
    interfaces = [("org.bluez.Device1", device), ("org.freedesktop.DBus.Properties", [])]
    messages = {
        "call": (1, {1: "/", 2: manager, 3: "GetManagedObjects", 6: "org.bluez"}, "", []),
        "objects": (2, {5: 3, 7: ":1.1"}, "a{oa{sa{sv}}}", [[(path, interfaces)]]),
        "added": (4, {1: "/", 2: manager, 3: "InterfacesAdded", 7: ":1.1"}, "oa{sa{sv}}", [path, interfaces]),
        "removed": (4, {1: "/", 2: manager, 3: "InterfacesRemoved"}, "oas", [path, ["org.bluez.Device1"]]),
        "changed": (4, {1: path, 2: bus + ".Properties", 3: "PropertiesChanged"}, "sa{sv}as",
                    ["org.bluez.Device1", device[:2], ["RSSI"]]),
        "error": (3, {4: bus + ".Error.ServiceUnknown", 5: 2, 7: bus}, "s", ["The name is not activatable"]),
        "owner": (4, {1: "/org/freedesktop/DBus", 2: bus, 3: "NameOwnerChanged", 7: bus}, "sss", ["org.bluez", ":1.1", ""]),
        "numbers": (1, {1: "/", 3: "M"}, "ynqiuxtdb", [1, -2, 3, -4, 5, -6, 7, 0.5, 1]),
        "nested": (1, {1: "/", 3: "M"}, "(ya(nv))aayag", [(1, [(2, ("v", ("(y)", (3,))))]), [b"ab", b""], ["", "a{sv}"]]),
    }
    for name, parts in messages.items():
        seed("dbus-message", name, bus_message(*parts))
        seed("dbus-message", name + "-big", bus_message(*parts, order=">"))
        if parts[2]:
            body = bytes([len(parts[2])]) + parts[2].encode() + bus_bytes(parts[2], parts[3], "<")
            seed("dbus-message", name + "-body", body)
    seed("dbus-message", "cut", bus_message(*messages["objects"])[:-9])


# Tracks


def sentence(body: str) -> bytes:
    sum = 0
    for byte in body.encode():
        sum ^= byte
    return f"${body}*{sum:02X}\r\n".encode()


def track_seeds() -> None:
    logs = pathlib.Path("Tests/LocationSourcesTests/Logs")
    for log in sorted(logs.glob("*.log")):
        seed("nmea", log.stem, log.read_bytes()[-3000:])
    for log in sorted(logs.glob("*.chk")):
        seed("gpsd-json", log.name.split(".")[0], log.read_bytes()[-3000:])
    place = "4810.0000,N,01120.0000,E"
    seed("nmea", "all", b"".join(map(sentence, [
        f"GPGGA,235959.00,{place},2,08,1.0,500.0,M,47.0,M,,", f"GNGNS,235959.00,{place},AAN,09,1.2,-50.4,32.0,,,V",
        f"GPRMC,235959.00,A,{place},5.0,90.0,060419,3.6,E,A,V", "GPVTG,90.0,T,,M,5.0,N,9.3,K,A",
        f"GPGLL,{place},235959.00,A,A", "GPGSA,A,3,01,02,03,04,,,,,,,,,2.0,1.0,1.5",
        "GPGST,235959.00,5.0,4.0,3.0,45.0,3.0,4.0,6.0", "GPGBS,235959.00,3.0,4.0,6.0,,,,", "GPZDA,235959.00,06,04,2019,00,00",
        "HCHDG,101.1,1.1,W,7.1,E", "HEHDT,5.0,T", "HCHDM,238.0,M", "PUBX,00", f"GPGGA,000000.00,{place},0,,,,,,,,",
        f"GPRMC,000001.00,A,{place},0.1,,220899,,,A", f"GPRMC,000000.50,V,{place},0.1,,220899,,,N",
    ])))
    seed("nmea", "undated", b"".join(sentence(f"GPGGA,{t},{place},1,08,1.0,500.0,M,47.0,M,,") for t in (235958, 235959, "000000.5")))
    seed("nmea", "binary", b"\xb5\x62\x01\x07\x04\x00\x24\x47" + sentence(f"GPGLL,{place},120000,A") + b"\xd3\x00\x04LMNO$GP")
    reports = [
        '{"class":"VERSION","release":"3.22","proto_major":3,"proto_minor":14}',
        '{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/a","driver":"u-blox","activated":"2024-02-01T12:00:00.000Z"}]}',
        '{"class":"SKY","device":"/dev/a","hdop":1.2,"satellites":[{"PRN":1,"used":true}]}',
        '{"class":"TPV","device":"/dev/a","mode":3,"time":"2024-02-01T12:00:00.000Z","lat":48.5,"lon":11.25,"altMSL":5,"track":9,"magtrack":6}',
        '{"class":"ATT","device":"/dev/a","time":"2024-02-01T12:00:00.500Z","heading":100.0}',
        '{"class":"TPV","device":"/dev/b","mode":2,"time":"2024-02-01T12:00:11.000Z","lat":48.5,"lon":11.25,"epx":3,"epy":4}',
    ]
    seed("gpsd-json", "all", "\n".join(reports).encode())
    head = '<?xml version="1.0"?><gpx version="1.1"><wpt lat="1" lon="2"/><trk><name>a &amp; b</name><trkseg>'
    body = "".join(
        f"<trkpt lat='48.{i}' lon=\"11.25\"><ele>500</ele><time>2024-02-01T12:00:0{i}.5+01:00</time><hdop>1</hdop><fix>3d</fix>"
        "<extensions><a:speed><![CDATA[2.5]]></a:speed><!-- x --><course>&#52;5</course><accuracy>7</accuracy></extensions></trkpt>"
        for i in range(3))
    text = head + body + "</trkseg></trk></gpx>"
    seed("gpx", "all", text.encode())
    seed("gpx", "utf-16", text[:900].encode("utf-16"))
    seed("gpx", "type", b'<!DOCTYPE gpx [<!ENTITY a "b">]><gpx>&a;</gpx>')
    seed("gpx", "drive", pathlib.Path("Tests/TrackTests/Vectors/drive.gpx").read_bytes()[:3000])


# Messages between apps and their service


def script(choices: int, *steps: str) -> bytes:
    return bytes([choices]) + "\n".join(steps).encode()


def dictionary(messages: list[str], entry: str, commands: str) -> None:
    """Writes the texts in messages as words for the mutations of an entry."""
    words = sorted({word for message in messages for word in re.findall(r'"\w+"', message)})
    words += [f"\n@{command}" for command in commands] + ["#", "~", "null", "{}", "-1", "1e308", '"nan"', '"inf"']
    lines = ['"' + word.replace('"', '\\"').replace("\n", "\\x0a") + '"' for word in words]
    pathlib.Path(f"Fuzz/{entry}.dict").write_text("\n".join(lines) + "\n")


def message_seeds() -> None:
    """Fuzz/messages.txt has the messages as the library encodes them, each after the kind of its sender."""
    messages: dict[str, list[str]] = {"app": [], "manager": [], "daemon": []}
    for line in pathlib.Path("Fuzz/messages.txt").read_text().splitlines():
        sender, message = line.split(" ", 1)
        messages[sender].append(message)
    hellos, clients, calls = messages["app"][:4], messages["app"][4:11], messages["app"][11:]
    beacons = [call for call in calls if '"beacons":{"_0"' in call]
    places = [call for call in calls if '"location":{"_0"' in call]
    others = [call for call in calls if call not in beacons + places]
    dictionary(messages["app"] + messages["manager"], "app-messages", "1234xsfar")
    dictionary(messages["daemon"], "daemon-messages", "eohcdblgqswutr")
    register = next(call for call in beacons if '"register"' in call)
    large = next(call for call in beacons if '"requestState"' in call).replace("hall", "~" * 15)

    # The first byte: 4 for a database, 8 and 16 for pieces, 32 for a connection with a client, 2 for a person's consent.
    for name, choices in ("plain", 32), ("stored", 36), ("pieces", 48):
        seed("app-messages", f"beacons-{name}", script(choices, *beacons[:9], "@s30", "@a", "@f", *beacons[9:], "@s60"))
        seed("app-messages", f"places-{name}", script(choices, *places[:16], "@s30", "@f", "@s200"))
        seed("app-messages", f"answers-{name}", script(choices, places[13], places[9], "@s100", *places[16:], *others))
    for number, hello in enumerate(hellos):
        seed("app-messages", f"hello-{number}", script(4, hello, *clients, register, "@s50", "@x", hello, clients[0], register))
    many = clients[1].replace(":2}", ":1000#}")
    seed("app-messages", "clients", script(32, many, "@r1040"))
    seed("app-messages", "names", script(32, register.replace("door", "~"), clients[1].replace('"g"', '"~"'), "@s20"))
    seed("app-messages", "large", script(35, large, "@r30"))
    ask = next(call for call in others if "authorizedAlways" in call)
    agent, answer, session, launched, failed, apps, revoke = messages["manager"]
    seed("app-messages", "consent", script(34, ask, "@3", agent, apps, answer, apps, "@1", register, "@s30", "@3", revoke, apps))
    late = script(34, "@3", agent, "@1", ask, register, "@3", answer, answer.replace("always", "once"), "@1", register, "@s9")
    seed("app-messages", "consent-late", late)
    launch = script(36, register, "@s60", "@x", "@3", session, "@s90", apps, launched, failed, session, "@r20", apps, "@x", "@2", others[-1])
    seed("app-messages", "relaunch", launch)
    seed("app-messages", "wrong", script(0, "", "{}", "@2", apps, hellos[0], "@3", hellos[0], apps, "@4", "~" * 17))
    seed("app-messages", "cut", script(96, *others[:6], "@2", *others[4:]))

    said = messages["daemon"]
    greeting, welcome = said[0], said[1]
    events = [message for message in said if message.startswith('{"delivery"')]
    replies = [message.replace(":9,", ":#,", 1) for message in said if message.startswith('{"reply"')]
    stored = [event.replace('"_0":1,', f'"_0":{number},', 1)[:-2] + f',"entry":{number % 3}' + "}}"
              for number, event in enumerate(event for event in events if '"entry"' not in event)]
    lost = welcome.replace('journal":"', 'journal":"b')
    # The first byte: 0 to 3 for the use of events, 4 for an app that does not wait.
    for use in range(4):
        seed("daemon-messages", f"events-{use}", script(use, greeting, welcome, *events[:5], "@t", *events[5:7]))
        seed("daemon-messages", f"stored-{use}", script(use, greeting, welcome, *stored[:3], *stored[:2], "@t", stored[1], "@o", "@e", "@o",
             greeting, welcome, stored[0], stored[1], "@t", "@e", "@o", greeting, lost, stored[0], "@t"))
    for part in range(3):
        steps = [step for number, reply in enumerate(replies[part * 5:part * 5 + 5]) for step in (f"@b{4 * number}", reply, f"@l{4 * number}", reply)]
        seed("daemon-messages", f"replies-{part}", script(0, greeting, welcome, *steps, "@g", replies[-3], "@s", replies[-2], "@q", "@w"))
    seed("daemon-messages", "lost", script(1, greeting, welcome, stored[0], "@e", "@o", greeting, lost, stored[0], "@t"))
    seed("daemon-messages", "order", script(3, greeting, welcome, "@b0", replies[0].replace("#", "7"), replies[1].replace("#", "99"),
         events[0], replies[0], "@l12", "@c", "@d0", events[0].replace(":1}", ":2}"), events[1].replace(":1}", ":77}"), "@b8", "@e", "@b16", "@o"))
    seed("daemon-messages", "impatient", script(4, greeting, welcome, "@b0", "@h", "@o", greeting, "@h", "@o", "@h", events[0]))
    seed("daemon-messages", "refused", script(0, greeting, said[-1], "@o", said[-1], "@o", "no JSON", "@o", greeting, welcome, said[-1], "~" * 9))
    seed("daemon-messages", "early", script(0, welcome, greeting, events[0], "@e", "@o", "@e", "@b0", "@c"))


def report_seeds() -> None:
    head = '{"version":1,"site":"museum","receiver":"hall-2","boot":"00c0ffee00000001","number":7,"time":"2026-11-27T11:59:59.250Z",'
    beacon = '{"beacon":"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:%d:2","sightings":9,"rssi":-61.33,"variance":4.5,"maximum":-58,"power":-59}'
    silent = beacon.replace("-61.33", "null").replace("4.5", "null").replace("-58", "null")
    rest = '"seconds":1,"receptionLost":%s,"beacons":[%s]}'
    seed("fleet-report", "beacons", (head + rest % ("null", ",".join([beacon % 1, silent % 2]))).encode())
    seed("fleet-report", "empty", (head + rest % ("null", "")).encode())
    seed("fleet-report", "lost", (head + rest % (r'"hci0 is \"down\" \u00e9"', "")).encode())
    seed("fleet-report", "twice", (head + rest % ("null", ",".join([beacon % 1] * 2))).encode())


def main() -> None:
    shutil.rmtree(CORPUS, ignore_errors=True)
    for name, advert in ADVERTS.items():
        seed("advert", name, advert)
    event_seeds()
    command_seeds()
    capture_seeds(link_layer_seeds())
    recorded_seeds()
    text_seeds()
    toml_seeds()
    scenario_seeds()
    sighting_seeds()
    bus_seeds()
    track_seeds()
    report_seeds()
    message_seeds()
    for folder in sorted(CORPUS.iterdir()):
        sizes = [path.stat().st_size for path in folder.iterdir()]
        print(f"{folder.name}: {len(sizes)} seeds, {sum(sizes)} bytes")


if __name__ == "__main__":
    main()
