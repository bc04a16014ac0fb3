"""The truth: what happened, one JSON object a line, with the time on CLOCK_MONOTONIC and the wall's."""
import json
import time


class Log:
    def __init__(self, path):
        self.file = open(path, "a") if path else None

    def write(self, kind, **fields):
        if self.file:
            now = {"type": kind, "t": round(time.monotonic(), 6), "wall": round(time.time(), 6)}
            self.file.write(json.dumps(now | fields) + "\n")

    def reports(self, controller, entries):
        """Reports that the kernel took. By hand: there are thousands a second."""
        if self.file:
            now, wall = time.monotonic(), time.time()
            self.file.write("".join([
                '{"type":"report","t":%.6f,"wall":%.6f,"controller":"%s","id":"%s","addr":"%s","rssi":%d,"rsp":%s}\n'
                % (now, wall, controller, name, address, rssi, "true" if response else "false")
                for name, address, rssi, response in entries]))

    def flush(self):
        if self.file:
            self.file.flush()
