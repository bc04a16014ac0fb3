"""Runs in the guest of Scripts/systemd-test.sh, as root, again after each reboot: the tests of the installed packages.

Each test is a function with the decorator `test`; its documentation is the line that is printed. Tests run in the
order of this file. One that is decorated with `test(reboots=True)` runs after a reboot of the guest. The files that a
test makes stay, so that a later one can continue.
"""
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
import traceback
from pathlib import Path

HOST = Path("/host")
OUT = Path("/out")
# Which tests have ended, and how; it outlives a reboot.
STATE = Path("/var/lib/guest-state.json")
# A guest on a busy machine is slow; only what never comes may fail a test.
PATIENCE = 120
UUID = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
SOCKET = "/run/beaconscan/apps.sock"
PYTHON = os.path.realpath("/usr/bin/python3")
# The service's user may not read the paths of other users' programs, and takes their names.
PROGRAM = "name:" + os.path.basename(PYTHON)
TESTS = []


def test(function=None, *, reboots=False):
    """Adds a test."""
    def add(function):
        TESTS.append((function, reboots))
        return function
    return add(function) if function else add


# What tests use

def run(*words, check=True, **more):
    """Runs a program to its end; a single word is a line of shell. Returns what it wrote, with its errors."""
    command = ["/bin/sh", "-c", words[0]] if len(words) == 1 else [str(word) for word in words]
    done = subprocess.run(command, stdin=more.pop("stdin", subprocess.DEVNULL), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, **more)
    if check:
        assert done.returncode == 0, f"{' '.join(command)}: status {done.returncode}: {done.stdout}"
    run.status = done.returncode
    return done.stdout


def eventually(what, condition, patience=PATIENCE):
    """Waits until a condition holds, and returns its value."""
    end = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.1)


def number(user):
    return int(run("id", "-u", user))


def as_user(user, *words):
    """The words of a command that run a program as a user whose manager runs, outside of any unit of it."""
    runtime = f"/run/user/{number(user)}"
    return ["/usr/sbin/runuser", "-u", user, "--", "env", "-C", "/", f"XDG_RUNTIME_DIR={runtime}",
            f"DBUS_SESSION_BUS_ADDRESS=unix:path={runtime}/bus", *(str(word) for word in words)]


def in_scope(user, *words, unit=None):
    """The words of a command that run a program in a scope of a user's manager, as desktops start programs."""
    unit = unit or f"app-test-{time.monotonic_ns()}.scope"
    return as_user(user, "systemd-run", "--user", "--scope", "--quiet", f"--unit={unit}", *words)


def block(document, language, having):
    """The text of the first block of a document in a language that has a text."""
    text = (HOST / "docs" / document).read_text()
    for found in re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S):
        if having in found:
            return found
    raise AssertionError(f"docs/{document} has no block of {language} with {having}")


def write_unit(name, text):
    """Makes a unit of the system and has systemd read it."""
    Path("/etc/systemd/system", name).write_text(text)
    run("systemctl", "daemon-reload")


def orders(*values):
    """Gives orders to the virtual controller (Tests/Guest/README.md)."""
    with open("/run/controller", "w") as fifo:
        for value in values:
            fifo.write(json.dumps(value) + "\n")


def apps(user=None):
    """The apps of the service, by their identifier and user, as the command shows them to a user or to root."""
    words = ["beaconscan", "apps", "--format", "json"]
    lines = run(*(in_scope(user, *words) if user else words)).splitlines()
    found = [json.loads(line) for line in lines if line.startswith("{")]
    return {(each["app"], each["user"]): each for each in found if each.get("type") == "app"}


class App:
    """Tests/Systemd/app.py, and its log."""

    count = 0

    def __init__(self, *options, log=None):
        App.count += 1
        self.log = Path(log or f"/tmp/app-{os.getpid()}-{App.count}.log")
        self.log.touch()
        self.log.chmod(0o666)
        self.words = [PYTHON, "/host/Tests/Systemd/app.py", self.log, *options]

    def start(self, user, unit=None, around=()):
        """Starts it in a scope of a user's manager; `around` is a program that starts it, with its options."""
        self.user, self.unit = user, unit or f"app-test-{time.monotonic_ns()}.scope"
        self.process = subprocess.Popen(in_scope(user, *around, *self.words, unit=self.unit), stdin=subprocess.DEVNULL,
                                        stderr=Path(f"{self.log}.errors").open("w"))
        return self

    def lines(self):
        # The last line may be incomplete.
        return [json.loads(line) for line in self.log.read_text().split("\n")[:-1]]

    def statuses(self):
        """The statuses of which it was told."""
        found = [line["event"]["authorization"]["_0"]["status"] for line in self.lines()
                 if "authorization" in line.get("event", {})]
        return found

    def wait_status(self, status):
        eventually(f"{self.log} ends with {status}", lambda: self.statuses()[-1:] == [status])

    def wait(self, what, condition):
        """Waits for a line of its log for which a condition holds, and returns it."""
        return eventually(what, lambda: next((line for line in self.lines() if condition(line)), None))

    def wait_beacons(self, after=0):
        return self.wait("the app gets beacons", lambda line: "beacons" in line and line["t"] > after)

    def stop(self):
        run(*as_user(self.user, "systemctl", "--user", "kill", "--signal=KILL", self.unit), check=False)
        self.process.wait(PATIENCE)


class Agent:
    """`beaconscan agent` in a scope of a user's manager, with answers that are given later."""

    def __init__(self, user, *options):
        self.file = Path(f"/tmp/agent-{time.monotonic_ns()}")
        self.process = subprocess.Popen(in_scope(user, "beaconscan", "agent", *options), stdin=subprocess.PIPE,
                                        stdout=self.file.open("w"), stderr=subprocess.STDOUT, text=True)
        eventually("the agent waits", lambda: "waiting for questions" in self.text)

    @property
    def text(self):
        return self.file.read_text()

    def wait_question(self, having):
        eventually(f"the agent asks for {having}", lambda: "wants to use" in self.text and having in self.text)

    def answer(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)


def kiosk(app):
    """A unit of the system, kiosk.service, that runs an app as the user kiosk."""
    write_unit("kiosk.service", f"[Service]\nUser=kiosk\nExecStart={shlex.join(map(str, app.words))}\n")
    run("systemctl", "restart", "kiosk")


# The tests

@test
def packages():
    """the package installs, and the service runs with the configuration and the drop-in of docs/daemon.md"""
    for user in ["anna", "ben"]:
        run("useradd", "--create-home", "--shell", "/bin/bash", user)
        run("loginctl", "enable-linger", user)
    run("useradd", "--system", "kiosk")
    packages = [str(path) for path in (HOST / ".build/packages").glob("beaconscan_*.deb")]
    run("apt-get", "install", "-y", "--no-install-recommends", *packages,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    write_unit("controller.service", f"""[Unit]
Before=bluetooth.service beaconscan-serve.service
[Service]
ExecStartPre=/sbin/modprobe -a bluetooth hci_vhci
ExecStart=/usr/bin/python3 /host/Tests/Guest/controller --fifo /run/controller --log /var/log/controller \
  '{{"plug":"a"}}' '{{"id":"x","uuid":"{UUID}","major":1,"minor":100,"rssi":-60}}'
[Install]
WantedBy=multi-user.target
""")
    run("systemctl", "enable", "--now", "controller")
    eventually("there is an adapter", lambda: Path("/sys/class/bluetooth/hci0").exists())
    eventually("bluetoothd runs", lambda: run("systemctl is-active bluetooth", check=False).strip() == "active")
    Path("/etc/beaconscan.toml").write_text(block("daemon.md", "toml", "apps-state"))
    drop_in = Path("/etc/systemd/system/beaconscan-serve.service.d")
    drop_in.mkdir()
    (drop_in / "override.conf").write_text(block("daemon.md", "ini", "ProtectProc"))
    run("systemctl", "daemon-reload")
    run("systemctl", "enable", "--now", "beaconscan-serve")
    assert os.stat(SOCKET).st_mode & 0o777 == 0o666
    for user in ["anna", "ben"]:
        eventually("the user's manager runs", lambda: Path(f"/run/user/{number(user)}/bus").exists())


@test
def restarts():
    """the socket is there after a start, a restart and a kill, and doctor passes each time"""
    def answers():
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(PATIENCE)
            link.connect(SOCKET)
            assert json.loads(link.makefile().readline())["greeting"]["version"] == 1
    answers()
    run("beaconscan", "doctor")
    run("systemctl", "restart", "beaconscan-serve")
    answers()
    run("beaconscan", "doctor")
    process = run("systemctl show -P MainPID beaconscan-serve")
    run("systemctl kill -s KILL beaconscan-serve")
    eventually("the service runs again", lambda: run("systemctl is-active beaconscan-serve", check=False) == "active\n"
               and run("systemctl show -P MainPID beaconscan-serve") != process)
    answers()
    run("beaconscan", "doctor")
    def refusals():
        return run("journalctl --no-pager -u beaconscan-serve | grep -c 'is refused'", check=False)
    # A connection that ends before it was confirmed, such as that of answers().
    time.sleep(1)
    before = refusals()
    run("beaconscan", "apps")
    time.sleep(1)
    assert refusals() == before, "the command's connections are refused"


@test
def undecided():
    """without an agent an app stays undecided and gets nothing; another user's agent is not asked"""
    others = Agent("ben")
    app = App().start("anna")
    app.wait("the app asks", lambda line: "authorization" in str(line.get("message")))
    eventually("the service knows the app", lambda: (PROGRAM, "anna") in apps())
    time.sleep(3)
    record = apps()[PROGRAM, "anna"]
    assert (record["status"], record["decidedBy"]) == ("notDetermined", "nobody"), record
    assert app.statuses() in [[], ["notDetermined"]], app.statuses()
    assert not any("beacons" in line for line in app.lines())
    assert "wants to use" not in others.text, others.text
    assert not apps("ben"), apps("ben")
    agent = Agent("anna")
    agent.wait_question("The program python3")
    agent.answer("u")
    app.wait_status("authorizedWhenInUse")
    app.wait_beacons()
    assert "wants to use" not in others.text, others.text
    record = apps()[PROGRAM, "anna"]
    assert (record["decidedBy"], record["decidingUser"]) == ("person", "anna"), record
    others.stop()
    agent.stop()
    app.stop()


@test
def asked_once():
    """a person is asked once: the answer holds for the next process and after a restart of the service"""
    agent = Agent("anna")
    for _ in range(2):
        app = App().start("anna")
        app.wait_status("authorizedWhenInUse")
        app.wait_beacons()
        run("systemctl", "restart", "beaconscan-serve")
        app.wait("the app notices the end", lambda line: "end" in line)
        app.stop()
        eventually("the agent connects again", lambda: agent.text.count("waiting for questions") > 1)
    assert "wants to use" not in agent.text, agent.text
    agent.stop()


@test
def revoked():
    """a revocation reaches an app while it runs, which gets nothing more within a second"""
    app = App().start("anna")
    app.wait_status("authorizedWhenInUse")
    app.wait_beacons()
    began = time.monotonic()
    run(*in_scope("anna", "beaconscan", "apps", "revoke", PROGRAM))
    ended = time.monotonic()
    app.wait_status("notDetermined")
    told = next(line["t"] for line in reversed(app.lines()) if "authorization" in line.get("event", {}))
    time.sleep(5)
    late = [line["t"] - ended for line in app.lines() if "beacons" in line and line["t"] > ended + 1]
    assert not late, f"beacons {late} s after the revocation"
    assert told < ended + 1, f"told after {told - ended:.1f} s"
    assert apps()[PROGRAM, "anna"]["status"] == "notDetermined"
    # The next request is asked again.
    agent = Agent("anna", "--once")
    again = App().start("anna")
    agent.wait_question("The program python3")
    agent.answer("u")
    app.wait_status("authorizedWhenInUse")
    again.wait_beacons()
    again.stop()
    app.stop()
    return f"revoked in {ended - began:.1f} s, told {told - ended:+.2f} s after the command's end"


@test
def sandbox():
    """a sandbox of bubblewrap in a Flatpak's scope is flatpak:com.example.App, is asked for, and cannot be an agent"""
    scope = "app-flatpak-com.example.App-123.scope"
    bwrap = ["bwrap", "--ro-bind", "/", "/", "--bind", "/tmp", "/tmp", "--dev", "/dev", "--proc", "/proc",
             "--unshare-pid", "--unshare-ipc", "--die-with-parent"]
    app = App().start("anna", unit=scope, around=bwrap)
    eventually("the service knows the sandbox", lambda: ("flatpak:com.example.App", "anna") in apps())
    agent = Agent("anna", "--once")
    agent.wait_question("The Flatpak com.example.App")
    agent.answer("o")
    app.wait_status("authorizedWhenInUse")
    app.wait_beacons()
    assert agent.process.wait(PATIENCE) == 0
    app.stop()
    # Once is until the end of the app's last process.
    said = run(*in_scope("anna", *bwrap, "beaconscan", "agent", unit="app-flatpak-com.example.App-124.scope"),
               check=False)
    assert run.status != 0 and "sandbox" in said, said
    app = App().start("anna", unit="app-flatpak-com.example.App-125.scope", around=bwrap)
    app.wait("the app asks", lambda line: "authorization" in str(line.get("message")))
    assert "authorizedWhenInUse" not in app.statuses(), app.statuses()
    app.stop()


@test
def forged():
    """a unit of a user's manager with the name kiosk.service is user:kiosk.service"""
    app = App()
    run(*as_user("anna", "systemd-run", "--user", "--quiet", "--unit=kiosk.service", *app.words))
    eventually("the service knows the unit", lambda: ("user:kiosk.service", "anna") in apps())
    assert not [each for each, _ in apps() if each == "kiosk.service"], apps()
    run(*as_user("anna", "systemctl", "--user", "stop", "kiosk.service"))


@test
def unit_of_the_system():
    """kiosk.service is a unit of the system also where the kernel does not have SO_PEERPIDFD"""
    release = os.uname().release
    assert release.startswith("6.1."), release
    ends = socket.socketpair()
    try:
        ends[0].getsockopt(socket.SOL_SOCKET, 77, 4)
        raise AssertionError("the kernel has SO_PEERPIDFD")
    except OSError:
        pass
    app = App()
    kiosk(app)
    app.wait("the app is served", lambda line: "welcome" in line)
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(SOCKET)
        lines = link.makefile("rw")
        lines.readline()
        lines.write('{"apps":{}}\n')
        lines.flush()
        records = [each["decision"] for each in json.loads(lines.readline())["apps"]["_0"]]
    strengths = {each["app"]: each["strength"] for each in records}
    assert strengths["kiosk.service"] == 3, strengths
    # What speaks before the greeting cannot be confirmed.
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(PATIENCE)
        run("systemctl kill -s STOP beaconscan-serve")
        link.connect(SOCKET)
        link.sendall(b'{"apps":{}}\n')
        run("systemctl kill -s CONT beaconscan-serve")
        try:
            said = link.makefile().read()
        except ConnectionResetError:
            said = ""
        assert "apps" not in said, said
    run("systemctl", "stop", "kiosk")
    return f"Linux {release}"


@test
def polkit():
    """the packaged rule of polkit gives kiosk.service always without a question, and restricts other apps"""
    rule = Path("/etc/polkit-1/rules.d/50-beaconscan-kiosk.rules")
    line = next(line for line in block("authorization.md", "sh", "beaconscan-kiosk.rules").splitlines())
    other = App().start("anna")
    other.wait("the app is served", lambda line: "welcome" in line)
    before = apps()[PROGRAM, "anna"]["status"]
    run(line.removeprefix("sudo "))
    other.wait_status("restricted")
    app = App("--request", "none")
    kiosk(app)
    app.wait_status("authorizedAlways")
    app.wait_beacons()
    records = apps()
    assert records["kiosk.service", "kiosk"]["decidedBy"] == "polkit", records
    assert records[PROGRAM, "anna"]["decidedBy"] == "polkit", records
    # A copy of the name does not help.
    forged = App()
    run(*as_user("anna", "systemd-run", "--user", "--quiet", "--unit=kiosk.service", *forged.words))
    forged.wait_status("restricted")
    run(*as_user("anna", "systemctl", "--user", "stop", "kiosk.service"))
    rule.unlink()
    # The answers of persons, or their lack, count again.
    other.wait_status(before)
    other.stop()
    run("systemctl", "stop", "kiosk")


@test
def sockets():
    """with beaconscan-apps.socket a connection starts the service, and a restart refuses none"""
    run("systemctl stop beaconscan-serve")
    run("systemctl enable --now beaconscan-apps.socket")
    assert os.stat(SOCKET).st_mode & 0o777 == 0o666
    assert run("systemctl is-active beaconscan-serve", check=False) == "inactive\n"
    run("beaconscan", "apps")
    assert run("systemctl is-active beaconscan-serve") == "active\n"
    restart = subprocess.Popen(["systemctl", "restart", "beaconscan-serve"])
    connections, version = 0, None
    while restart.poll() is None or connections < 20:
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(PATIENCE)
            link.connect(SOCKET)
            # A connection that the ending service has accepted ends with it.
            version = link.makefile().readline()
        connections += 1
    assert restart.returncode == 0 and json.loads(version)["greeting"]["version"] == 1
    run("beaconscan", "apps")
    return f"{connections} connections"


@test
def session():
    """the units of a user's session serve the user's apps at a socket of the user"""
    run("usermod", "-a", "-G", "bluetooth", "anna")
    run("systemctl", "restart", f"user@{number('anna')}.service")
    place = Path(f"/run/user/{number('anna')}/beaconscan/apps.sock")
    run(*as_user("anna", "systemctl", "--user", "enable", "--now", "beaconscan-apps.socket"))
    assert place.is_socket()
    app = App().start("anna")
    app.wait("the app is served", lambda line: "welcome" in line)
    assert run(*as_user("anna", "systemctl", "--user", "is-active", "beaconscan-apps.service")) == "active\n"
    agent = Agent("anna", "--once")
    assert str(place) in agent.text, agent.text
    # The user's own service may read the program's path.
    agent.wait_question(PYTHON)
    agent.answer("u")
    app.wait_beacons()
    assert (PYTHON, "anna") in apps("anna") and (PYTHON, "anna") not in apps()
    assert Path("/home/anna/.local/state/beaconscan/apps/decisions.json").exists()
    app.stop()
    units = ["beaconscan-apps.socket", "beaconscan-apps.service"]
    run(*as_user("anna", "systemctl", "--user", "disable", "--now", *units))


@test(reboots=True)
def reboot():
    """after a reboot the service runs, and the answers of persons hold"""
    eventually("the service runs", lambda: run("systemctl is-active beaconscan-serve", check=False).strip() == "active")
    assert os.stat(SOCKET).st_mode & 0o777 == 0o666
    # udev starts bluetoothd, which switches the adapter on.
    eventually("doctor passes", lambda: run("beaconscan", "doctor", check=False) and run.status == 0)
    app = App().start("anna")
    app.wait_status("authorizedWhenInUse")
    app.wait_beacons()
    app.stop()


# Apps that do not run

def crossings(app):
    """What the app was told of its region: each change with the number of its entry."""
    return [line["crossing"] for line in app.lines() if "crossing" in line]


def starts(app):
    return [line for line in app.lines() if "start" in line]


def door(minor, **more):
    """Orders to the beacon of a door, which is at hand, or not with `off`."""
    orders({"id": f"door{minor}", "uuid": UUID, "major": 9, "minor": minor, "rssi": -50, **more})


def monitored(minor):
    return ["--silent", "--monitor", f"{UUID}:9:{minor}"]


def is_started(app, minor, identity, stop):
    """Stops an app whose region is known, has a visitor come, and says when the process started and when it ran."""
    app.wait("the region is known", lambda line: "crossing" in line)
    stop()
    eventually("the service knows of the end", lambda: not apps()[identity]["processes"])
    before = len(starts(app))
    began = time.monotonic()
    door(minor)
    eventually("the app is started", lambda: len(starts(app)) > before)
    started = starts(app)[-1]
    eventually("the app gets the event", lambda: {"enter": {}} in [change for change, _ in crossings(app)])
    # It gets the event before anything of the time after its start.
    later = app.lines()[app.lines().index(starts(app)[-1]):]
    kinds = [kind for line in later for kind in line if kind in ("crossing", "beacons")]
    assert kinds[0] == "crossing", kinds
    # The visitor leaves, so that a later one is a crossing.
    door(minor, off=True)
    eventually("the app gets the exit", lambda: crossings(app)[-1][0] == {"exit": {}})
    return f"after {started['start']['process'] - began:.2f} s, and runs after {started['t'] - began:.2f} s"


RELAUNCHED = """{"kiosk.service": "always", "marked.service": "always", "*": "onRequest"}"""


@test
def relaunch_unit():
    """a unit of the system that does not run is started by a crossing, with the packaged rule of polkit"""
    line = block("authorization.md", "sh", "beaconscan-kiosk.rules").splitlines()[0]
    run(line.removeprefix("sudo "))
    app = App("--request", "none", *monitored(1), log="/var/tmp/kiosk.log")
    kiosk(app)
    app.wait_status("authorizedAlways")
    told = is_started(app, 1, ("kiosk.service", "kiosk"), lambda: run("systemctl", "stop", "kiosk"))
    assert run("systemctl is-active kiosk") == "active\n"
    eventually("nothing waits", lambda: apps()["kiosk.service", "kiosk"]["starts"] is None)
    run("systemctl", "stop", "kiosk")
    return told


@test
def relaunch_marker():
    """an app with a marker is started by a unit of the type path, as docs/daemon.md has one"""
    Path("/etc/corelocation").mkdir(exist_ok=True)
    Path("/etc/corelocation/authorization.json").write_text(RELAUNCHED)
    app = App("--request", "none", "--launch", '{"marker":{}}', *monitored(2), log="/var/tmp/marked.log")
    write_unit("marked.service", f"[Service]\nUser=kiosk\nExecStart={shlex.join(map(str, app.words))}\n")
    text = block("daemon.md", "ini", "PathChanged").replace("998-kiosk", f"{number('kiosk')}-marked")
    write_unit("marked.path", text)
    run("systemctl", "enable", "--now", "marked.path")
    run("systemctl", "start", "marked")
    app.wait_status("authorizedAlways")
    told = is_started(app, 2, ("marked.service", "kiosk"), lambda: run("systemctl", "stop", "marked"))
    marker = Path(f"/run/beaconscan/launch/{number('kiosk')}-marked.service")
    eventually("the marker is removed", lambda: not marker.exists())
    run("systemctl", "stop", "marked")
    return told


@test
def relaunch_session():
    """a program of a user is started in the user's session, with its arguments"""
    # The first of the packaged rules permits no other app; the second has the service start the kiosk.
    rules = Path("/etc/polkit-1/rules.d/50-beaconscan-kiosk.rules")
    if rules.exists():
        text = rules.read_text()
        rules.write_text(text[text.index("// The service for apps may start"):])
    run(*as_user("anna", "systemctl", "--user", "enable", "--now", "beaconscan-session"))
    agent = Agent("anna", "--once")
    # systemd would expand the variable.
    app = App("--request", "authorizedAlways", *monitored(3), log="/var/tmp/session-$USER.log").start("anna")
    agent.wait_question("also while it does not run")
    agent.answer("a")
    app.wait_status("authorizedAlways")
    told = is_started(app, 3, (PROGRAM, "anna"), app.stop)
    assert starts(app)[-1]["start"]["launch"] == "region", starts(app)
    units = run(*as_user("anna", "systemctl", "--user", "list-units", "--no-legend", "app-beaconscan-*"))
    assert "running" in units, units
    run(*as_user("anna", "systemctl", "--user", "stop", "app-beaconscan-*"))
    return told


@test(reboots=True)
def relaunch_after_reboot():
    """after a reboot a crossing starts the app of each of the three tests before"""
    eventually("the service runs", lambda: run("systemctl is-active beaconscan-serve", check=False).strip() == "active")
    eventually("doctor passes", lambda: run("beaconscan", "doctor", check=False) and run.status == 0)
    run("systemctl is-system-running --wait", check=False)
    told = []
    for log, minor in [("session-$USER", 3), ("marked", 2), ("kiosk", 1)]:
        app = App(log=f"/var/tmp/{log}.log")
        before = len(starts(app))
        door(minor)
        began = time.monotonic()
        eventually(f"the app of {log} is started", lambda: len(starts(app)) > before)
        process = starts(app)[-1]["start"]["process"]
        told.append(f"{log} after {process - began:.2f} s, and runs after {starts(app)[-1]['t'] - began:.2f} s")
        eventually("the app gets the event", lambda: any("crossing" in line for line in
                                                         app.lines()[app.lines().index(starts(app)[-1]):]))
    run("systemctl", "stop", "kiosk", "marked")
    return ", ".join(told)


@test
def relaunch_crash():
    """an app that ends at its event is started again after 10 s and after a minute"""
    def started():
        # The program itself may begin much later on a busy machine.
        lines = run("journalctl --no-pager -b -o short-monotonic -u kiosk.service", check=False).splitlines()
        return [float(line[1:].split("]")[0]) for line in lines if "Started kiosk.service" in line]
    app = App("--request", "none", "--crash", *monitored(4), log="/var/tmp/crash.log")
    before = len(started())
    kiosk(app)
    # It ends at the state of its region, its first event.
    eventually("three attempts", lambda: len(started()) >= before + 4, patience=600)
    times = started()[before:before + 4]
    pauses = [later - earlier for earlier, later in zip(times, times[1:])]
    # systemd starts a unit a little late.
    assert pauses[1] > 8 and pauses[2] > 55, pauses
    record = apps()["kiosk.service", "kiosk"]
    assert record["starts"] >= 3, record
    return f"after {', '.join(f'{pause:.1f}' for pause in pauses)} s"


def main():
    wanted = (OUT / "wanted").read_text().split()
    state = json.loads(STATE.read_text()) if STATE.exists() else {"results": {}, "rebooted": []}
    first = TESTS[0][0].__name__
    for function, reboots in TESTS:
        name = function.__name__
        # All tests need the first.
        if name in state["results"] or (wanted and name not in wanted and name != first):
            continue
        if wanted == ["nothing"]:
            break
        if reboots and name not in state["rebooted"]:
            state["rebooted"].append(name)
            STATE.write_text(json.dumps(state))
            subprocess.run(["sync"])
            subprocess.run(["systemctl", "reboot"])
            time.sleep(600)
        began = time.monotonic()
        try:
            more = function()
            result = "passed"
        except Exception:
            traceback.print_exc(file=sys.stdout)
            # libdispatch may not set the priority of its threads in the unit.
            print(run("journalctl --no-pager -b | grep -vE 'thread priority|guest kernel:' | tail -n 40", check=False))
            more, result = None, "failed"
        state["results"][name] = result
        STATE.write_text(json.dumps(state))
        print(f"{result}: {name}: {function.__doc__} ({time.monotonic() - began:.0f} s{', ' + more if more else ''})")
        if result == "failed" and name == first:
            break
    results = list(state["results"].values())
    run(f"journalctl --no-pager -b >{OUT}/journal", check=False)
    (OUT / "status").write_text(f"{results.count('passed')} passed, {results.count('failed')} failed\n")
    subprocess.run(["systemctl", "poweroff"])


main()
