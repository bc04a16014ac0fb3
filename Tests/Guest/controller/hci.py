"""Packets between host and controller (Core Specification, Vol 4, Part E): what both sides' numbers mean."""
import struct

COMMAND, EVENT, VENDOR = 0x01, 0x04, 0xFF

# Opcodes
RESET = 0x0C03
SET_RANDOM_ADDRESS = 0x2005
SET_ADV_PARAMETERS = 0x2006
SET_ADV_DATA = 0x2008
SET_SCAN_RESPONSE = 0x2009
SET_ADV_ENABLE = 0x200A
SET_SCAN_PARAMETERS = 0x200B
SET_SCAN_ENABLE = 0x200C
RAND = 0x2018
SET_SET_RANDOM_ADDRESS = 0x2035
SET_EXT_ADV_PARAMETERS = 0x2036
SET_EXT_ADV_DATA = 0x2037
SET_EXT_SCAN_RESPONSE = 0x2038
SET_EXT_ADV_ENABLE = 0x2039
REMOVE_ADV_SET = 0x203C
CLEAR_ADV_SETS = 0x203D
SET_EXT_SCAN_PARAMETERS = 0x2041
SET_EXT_SCAN_ENABLE = 0x2042

# Once a host used commands of one kind, the other kind is disallowed until a reset (§3.1.1).
LEGACY = {*range(0x2006, 0x200E)}
EXTENDED = {*range(0x2036, 0x2044)}

# Error codes (Vol 1, Part F)
OK, UNKNOWN_COMMAND, DISALLOWED, INVALID = 0x00, 0x01, 0x0C, 0x12
UNKNOWN_SET, TIMED_OUT = 0x42, 0x3C

# PHYs as reports number them, and as scan parameters have them as bits
PHY_1M, PHY_CODED = 1, 3
PHY_BIT = {PHY_1M: 0x01, PHY_CODED: 0x04}
PHY_NAME = {PHY_1M: "1M", PHY_CODED: "coded"}

# Advertising PDUs by name: a legacy report's event type, an extended report's, and those of a scan response
LEGACY_TYPE = {"nonconn": 3, "ind": 0, "scan": 2}
EXTENDED_TYPE = {"nonconn": 0x10, "ind": 0x13, "scan": 0x12, "ext": 0x00}
LEGACY_RESPONSE = 4
EXTENDED_RESPONSE = {"ind": 0x1B, "scan": 0x1A}


def address(text):
    """An address as packets carry it: the least significant octet first."""
    return bytes.fromhex(text.replace(":", ""))[::-1]


def address_text(octets):
    return ":".join("%02X" % octet for octet in reversed(octets))


def command_complete(opcode, parameters):
    return struct.pack("<BBBBH", EVENT, 0x0E, 3 + len(parameters), 1, opcode) + parameters


def hardware_error(code):
    return bytes([EVENT, 0x10, 1, code])


def set_terminated(handle, status, events):
    return bytes([EVENT, 0x3E, 6, 0x12, status, handle, 0, 0, events & 0xFF])


def reports_event(extended, reports):
    """Several advertising reports in one LE Meta event."""
    body = b"".join(reports)
    return bytes([EVENT, 0x3E, 2 + len(body), 0x0D if extended else 0x02, len(reports)]) + body


# What a report event holds at most
EVENT_ROOM = 253
# The data that an extended report holds at most
REPORT_DATA = 229
