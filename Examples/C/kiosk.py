"""The same in Python, by ctypes: prints each event. Arguments are OPTION=VALUE, as in kiosk.c."""

import ctypes
import json
import select
import sys

library = ctypes.CDLL("libbeaconscan.so.0")
for name, result, arguments in [
    ("bs_options_new", ctypes.c_void_p, []),
    ("bs_options_set", ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]),
    ("bs_options_free", None, [ctypes.c_void_p]),
    ("bs_error", ctypes.c_char_p, [ctypes.c_void_p]),
    ("bs_start", ctypes.c_void_p, [ctypes.c_void_p]),
    ("bs_fd", ctypes.c_int, [ctypes.c_void_p]),
    ("bs_next", ctypes.c_char_p, [ctypes.c_void_p]),
    ("bs_stop", None, [ctypes.c_void_p]),
]:
    function = getattr(library, name)
    function.restype, function.argtypes = result, arguments


def scan(options):
    """Yields the events of a scanner as dictionaries, until it ends."""
    settings = library.bs_options_new()
    try:
        for name, _, value in (option.partition("=") for option in options):
            if library.bs_options_set(settings, name.encode(), value.encode() or None) != 0:
                raise ValueError(library.bs_error(settings).decode())
        scanner = library.bs_start(settings)
        if not scanner:
            raise OSError(library.bs_error(settings).decode())
    finally:
        library.bs_options_free(settings)
    try:
        while True:
            select.select([library.bs_fd(scanner)], [], [])
            while line := library.bs_next(scanner):
                event = json.loads(line)
                yield event
                if event["type"] == "end":
                    return
    finally:
        library.bs_stop(scanner)


try:
    for event in scan(sys.argv[1:]):
        print(json.dumps(event, separators=(",", ":"), ensure_ascii=False), flush=True)
except (OSError, ValueError) as error:
    sys.exit(f"kiosk.py: {error}")
