"""What a controller answers to the commands that only ask, and which commands it has."""
import struct

import hci


def answers(controller):
    """Return parameters after the status, by opcode; a command that is missing here is unknown."""
    extended = controller.extended
    commands = bytearray(64)
    # Octets and bits of Supported Commands (Vol 4, Part E, §6.27)
    bits = {0: 0x20, 2: 0x80, 5: 0xC0, 14: 0xA8, 15: 0x02, 24: 0x60, 25: 0xF7, 26: 0xCF, 27: 0x80,
            28: 0x09}
    if extended:
        bits |= {36: 0xFE, 37: 0x63}
        if controller.coded:
            bits[35] = 0x20
    for octet, value in bits.items():
        commands[octet] = value
    features = 0
    if extended:
        features |= 1 << 12
        if controller.coded:
            features |= 1 << 11
    version = 9 if extended else 8  # Bluetooth 5.0, 4.2
    table = {
        0x1001: struct.pack("<BHBHH", version, 0, version, 1521, 0),
        0x1002: bytes(commands),
        0x1003: bytes([0, 0, 0, 0, 0x60, 0, 0, 0]),  # LE, and no BR/EDR
        0x1004: bytes(10),
        0x1005: struct.pack("<HBHH", 192, 1, 1, 1),
        0x1009: hci.address(controller.address),
        0x0C6C: bytes(2),
        0x2002: struct.pack("<HB", 27, 1),
        0x2003: struct.pack("<Q", features),
        0x2007: b"\0",
        0x200F: b"\x08",
        0x201C: b"\xff\xff\xff\xff\xff\x03\0\0",
        0x202A: b"\x08",
    }
    silent = [0x0C01, hci.RESET, 0x0C63, 0x0C6D, 0x2001, hci.SET_RANDOM_ADDRESS, 0x2006, 0x2008, 0x2009,
              0x200A, 0x200B, 0x200C, 0x2010, 0x2011, 0x2012, hci.RAND, 0x2029, 0x202D, 0x202E]
    if extended:
        table |= {hci.SET_EXT_ADV_PARAMETERS: b"\0", 0x203A: struct.pack("<H", 1650),
                  0x203B: bytes([controller.sets])}
        silent += [0x2031, 0x2035, 0x2037, 0x2038, 0x2039, 0x203C, 0x203D, 0x2041, 0x2042]
    return dict.fromkeys(silent, b"") | table
