#!/usr/bin/env python3
"""Draws docs/images/range.svg, the animation at the top of README.md: `beaconscan range` on a terminal.

    Tests/Checks/picture.py COMMAND            checks that the picture is up to date
    Tests/Checks/picture.py COMMAND --write    draws it

The command replays captures/visitor.btsnoop on a pseudo-terminal. The picture has the terminal's contents at every third
second of the recording, so the same command gives the same picture.
"""

import fcntl
import html
import os
import pathlib
import pty
import re
import struct
import sys
import termios

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PICTURE = ROOT / "docs/images/range.svg"
SHOWN = "beaconscan range --replay captures/visitor.btsnoop --speed 10x"
COLUMNS, ROWS = 80, 14
STEP, FRAMES, STILL = 3, 33, 15  # seconds of the recording; the frame that is seen where nothing moves
SECONDS = 0.6  # for which each frame is seen
WIDTH, HEIGHT = 8.4, 19  # of a cell
COLORS = {1: "b", 2: "d", 31: "r", 32: "g", 33: "y", 34: "u", 35: "m", 36: "c", 90: "d"}


class Terminal:
    """As much of a terminal as the command uses: cells with a style, and where the next character goes."""

    SEQUENCE = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|\x1b.|[^\x1b]")

    def __init__(self):
        self.cells = [[(" ", "")] * COLUMNS for _ in range(ROWS)]
        self.row = self.column = 0
        self.style = ""

    def frames(self, text):
        """What is on the screen each time that the command goes back to draw over it. The table at the end is left out."""
        for match in self.SEQUENCE.finditer(text):
            numbers, final = match.group(1), match.group(2)
            if final in ("A", "H"):
                yield self.cells
                number = int(numbers or 1) if final == "A" else ROWS
                self.row = max(0, self.row - number)
                self.column = 0 if final == "H" else self.column
            elif final == "K":
                self.cells[self.row][self.column:] = [(" ", "")] * (COLUMNS - self.column)
            elif final == "J":
                self.cells[self.row][self.column:] = [(" ", "")] * (COLUMNS - self.column)
                self.cells[self.row + 1:] = [[(" ", "")] * COLUMNS for _ in self.cells[self.row + 1:]]
            elif final == "m":
                for number in map(int, (numbers or "0").split(";")):
                    self.style = self.style + COLORS.get(number, "") if number else ""
            elif match.group() == "\r":
                self.column = 0
            elif match.group() == "\n":
                self.row = min(self.row + 1, ROWS - 1)
            elif not match.group().startswith("\x1b") and self.column < COLUMNS:
                self.cells[self.row][self.column] = (match.group(), self.style)
                self.column += 1


def shown(command, arguments):
    """Everything that a command writes to a terminal."""
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.chdir(ROOT)
        for name in ("NO_COLOR", "LC_ALL", "COLUMNS"):
            os.environ.pop(name, None)
        os.environ.update(TERM="xterm-256color", TZ="UTC", LANG="C.UTF-8")
        os.execv(command, arguments)
    text = b""
    while True:
        try:
            more = os.read(terminal, 65536)
        except OSError:  # The command has ended.
            break
        if not more:
            break
        text += more
    os.close(terminal)
    _, status = os.waitpid(process, 0)
    if status != 0:
        sys.exit(f"picture: '{SHOWN}' ends with status {status}: {text.decode()}")
    return text.decode()


def line(cells, row):
    """A line of the terminal, as SVG."""
    text = "".join(character for character, _ in cells).rstrip()
    if not text:
        return ""
    spans, start = [], 0
    for end in range(1, len(text) + 1):
        if end == len(text) or cells[end][1] != cells[start][1]:
            part = html.escape("".join(character for character, _ in cells[start:end]), quote=False)
            style = cells[start][1]
            spans.append(f'<tspan class="{" ".join(style)}">{part}</tspan>' if style else part)
            start = end
    return (f'<text y="{(row + 1) * HEIGHT}" textLength="{round(len(text) * WIDTH, 1)}">' + "".join(spans)
            + "</text>")


def draw(frames):
    rows = 2 + max(row for cells in frames for row, line_ in enumerate(cells) if any(c != " " for c, _ in line_))
    # The command stands in as many lines as it needs.
    words, command = SHOWN.split(" "), ["$"]
    for word in words:
        if len(command[-1]) + 1 + len(word) > COLUMNS - 2:
            command[-1] += " \\"
            command.append("   ")
        command[-1] += " " + word
    head = len(command)
    total = round(len(frames) * SECONDS, 1)
    width, height = round(COLUMNS * WIDTH + 24), round((rows + head) * HEIGHT + 20)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        "<title>A visitor walks up to a kiosk: beaconscan range on a terminal</title>",
        "<style>",
        "text{font:14px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#d8dee9;white-space:pre}",
        ".b{font-weight:bold}.d{fill:#8892a2}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#e3b341}.u{fill:#79c0ff}"
        ".m{fill:#d2a8ff}.c{fill:#76e3ea}",
        f".f{{visibility:hidden;animation:f {total}s step-end infinite}}.s{{visibility:visible}}",
        f"@keyframes f{{0%{{visibility:visible}}{round(100 / len(frames), 3)}%,to{{visibility:hidden}}}}",
        "@media(prefers-reduced-motion:reduce){.f{animation:none}}",
        "</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#161b22"/>',
        '<g transform="translate(12 6)" xml:space="preserve">',
        *(line([(character, "d") for character in text], row) for row, text in enumerate(command)),
        f'<g transform="translate(0 {head * HEIGHT})">',
    ]
    for number, cells in enumerate(frames):
        delay = round(number * SECONDS - total, 1)
        lines.append(f'<g class="f{" s" if number == STILL else ""}" style="animation-delay:{delay}s">')
        lines += filter(None, (line(row, index) for index, row in enumerate(cells)))
        lines.append("</g>")
    lines += ["</g>", "</g>", "</svg>", ""]
    return "\n".join(lines)


def main():
    command = str(pathlib.Path(sys.argv[1]).resolve())
    arguments = SHOWN.replace("10x", "20x").split(" ")
    found, wanted = {}, [STEP * number for number in range(1, FRAMES + 1)]
    # A machine that is too busy to draw each second leaves one out: then once more.
    for _ in range(5):
        for cells in Terminal().frames(shown(command, arguments)):
            # The table's own time stands at its top.
            text = "\n".join("".join(character for character, _ in row) for row in cells)
            time = re.search(r"\d\d:(\d\d):(\d\d)", text)
            if time:
                # The last one of a second, which is drawn in full.
                found[int(time.group(1)) * 60 + int(time.group(2))] = [list(row) for row in cells]
        if all(second in found for second in wanted):
            break
    else:
        sys.exit(f"picture: the command shows nothing at {[s for s in wanted if s not in found]} s of the recording")
    picture = draw([found[second] for second in wanted])
    if "--write" in sys.argv[2:]:
        PICTURE.write_text(picture)
        print(f"picture: drew {PICTURE.relative_to(ROOT)}, {len(picture) // 1024} KiB")
    elif not PICTURE.exists() or PICTURE.read_text() != picture:
        sys.exit("picture: docs/images/range.svg is not what the command shows; run Tests/Checks/outputs.sh --write")
    else:
        print("picture: docs/images/range.svg is what the command shows")


if __name__ == "__main__":
    main()
