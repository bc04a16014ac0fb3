"""Forces races of process ids: a program connects and ends, and another program gets its number.

    unshare -pf --mount-proc python3 Tests/AppDaemonTests/races.py .build/debug/app-daemon-run 10000 [SEED]

It needs root. The connection must never be taken for one of the other program, and a program that stays must always be
identified. Each try is one of:

  ends    the program has ended, and its number is the other program's, when the connection is accepted
  heir    the same, but a child of the program holds the connection and answers
  races   the program ends, and the other one starts, while the connection is accepted
  stays   the program stays
"""
import collections
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time


def main():
    helper, count = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    draw = random.Random(seed)
    print(f"races: seed {seed}")
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        other = f"{folder}/other"
        shutil.copy("/bin/sleep", other)
        programs = {}
        for kind in ("exact", "number"):
            programs[kind] = subprocess.Popen(
                [helper, "identify", f"{folder}/{kind}", kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            programs[kind].stdout.readline()
        own = os.readlink("/proc/self/exe")
        for number in range(count):
            kind = draw.choice(("exact", "number"))
            manner = draw.choice(("ends", "heir", "races", "stays"))
            said, took_over = attempt(draw, manner, f"{folder}/{kind}", programs[kind], other)
            identified = said == f"app {own}"
            if not identified and not said.startswith("error "):
                sys.exit(f"races: seed {seed}, try {number}, {kind}, {manner}: {said}")
            if manner == "stays" and not identified:
                sys.exit(f"races: seed {seed}, try {number}, {kind}: a program that stays: {said}")
            if took_over and manner in ("ends", "heir") and identified:
                sys.exit(f"races: seed {seed}, try {number}, {kind}, {manner}: an ended program: {said}")
            counts[kind, manner, "number taken over" if took_over else "number not taken over", said.split(" ")[0]] += 1
        for program in programs.values():
            program.stdin.close()
            program.wait()
    for key, value in sorted(counts.items()):
        print(f"races: {value:6} {', '.join(key)}")
    if not any(key[1] == "heir" and key[2] == "number taken over" for key in counts):
        sys.exit("races: no number was taken over")


def attempt(draw, manner, path, program, other):
    """Returns the program's line, and whether another program got the number."""
    is_connected, connected = os.pipe()
    may_end, end = os.pipe()
    peer = os.fork()
    if peer == 0:
        # The program, and in the manner "heir" its child, which hold the connection and answer.
        os.close(end)
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        if manner == "heir" and os.fork() != 0:
            os.write(connected, b"x")
            os._exit(0)
        if manner != "heir":
            os.write(connected, b"x")
        if manner == "ends":
            os._exit(0)
        if manner == "races":
            os.read(may_end, 1)
            os._exit(0)
        if connection.recv(1):
            connection.send(b"y")
        os.read(may_end, 1)
        os._exit(0)
    os.read(is_connected, 1)

    def accept():
        program.stdin.write("accept\n")
        program.stdin.flush()

    def take_over():
        os.waitpid(peer, 0)
        with open("/proc/sys/kernel/ns_last_pid", "w") as file:
            file.write(str(peer - 1))
        started, starting = os.pipe()
        child = os.fork()
        if child == 0:
            os.set_inheritable(starting, False)
            os.execv(other, ["other", "60"])
        os.close(starting)
        # The end of the pipe: it runs.
        os.read(started, 1)
        os.close(started)
        return child

    child = None
    if manner in ("ends", "heir"):
        child = take_over()
        accept()
    elif manner == "races":
        os.write(end, b"x")
        if draw.random() < 0.5:
            accept()
            time.sleep(draw.random() * 0.001)
            child = take_over()
        else:
            child = take_over()
            accept()
    else:
        accept()
    said = program.stdout.readline().strip()
    if child is not None:
        os.kill(child, 9)
        os.waitpid(child, 0)
    for descriptor in (is_connected, connected, may_end, end):
        os.close(descriptor)
    if manner == "stays":
        os.waitpid(peer, 0)
    return said, child == peer


main()
