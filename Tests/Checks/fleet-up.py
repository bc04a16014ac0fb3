#!/usr/bin/env python3
"""Checks `beaconscan-fleet up`: a simulated site, receivers with accounts, SIGKILL, and the end.

    Tests/Checks/fleet-up.py COMMAND

COMMAND is beaconscan-fleet, beside which beaconscan is. It needs rabbitmq-server, mosquitto, mosquitto-clients,
python3-pika and openssl.
"""

import datetime
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import rabbitmq

LIMIT = float(os.environ.get("BEACONSCAN_PATIENCE", 180))
SITE = """name = "museum"
[[rooms]]
name = "hall"
outline = [[0, 0], [6, 0], [6, 6], [0, 6]]
[[receivers]]
name = "hall-1"
at = [3, 3]
[[receivers]]
name = "hall-2"
at = [5, 5]
[[beacons]]
beacon = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:7:7"
name = "Crate"
"""
CONFIGURATION = "/configuration"
REGION = """[region.{}]
uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
enter-distance = {}
exit-distance = 3
"""


def topic(receiver):
    return f"fleet/21/museum/{receiver}/seen"


def configuration_topic(receiver):
    return f"fleet/21/museum/{receiver}/configuration"


def make_certificate(certificate, key):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
                   check=True, stderr=subprocess.DEVNULL)


class Fleet:
    def __init__(self, command, folder):
        self.command = command
        self.directory = str(folder / "fleet")
        self.engine = rabbitmq.free_ports(7)
        self.mqtt, self.page, self.tls = self.engine + 3, self.engine + 4, self.engine + 5
        self.receiver_page = self.engine + 6
        self.log = folder / "log"
        self.certificate = str(folder / "certificate.pem")
        key = str(folder / "key.pem")
        make_certificate(self.certificate, key)
        self.arguments = [command, "up", self.directory, "--simulate", "2", "--engine-port", str(self.engine),
                          "--mqtt-port", str(self.mqtt), "--mqtt-tls-port", str(self.tls),
                          "--mqtt-certificate", self.certificate, "--mqtt-key", key, "--listen", str(self.page)]
        self.passwords = {"guest": "guest"}
        self.numbers = iter(range(1, 1 << 30))
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.arguments, stdout=log, stderr=log)

    def read(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.page}/api/v1/{path}", timeout=10) as answer:
            return json.load(answer)

    def sites(self):
        try:
            return {site["site"]: site for site in self.read("sites")["sites"]}
        except (OSError, ValueError):
            return {}

    def receiver(self, name):
        return next(each for each in self.read("sites/museum")["receivers"] if each["receiver"] == name)

    def last_report(self, receiver):
        return self.receiver(receiver).get("lastReport")

    def alarm(self, kind):
        return next((alarm["sentence"] for alarm in self.read("alarms")["alarms"] if alarm["kind"] == kind), "")

    def wait(self, what, condition):
        end = time.monotonic() + LIMIT
        while not condition(self.sites()):
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"fleet-up: {what}, which did not happen:\n{self.log.read_text()}")
            time.sleep(0.5)
        print(f"fleet-up: {what}")

    def receivers(self, *arguments):
        return subprocess.run([self.command, "receivers", *arguments, "--directory", self.directory],
                              capture_output=True, text=True, timeout=LIMIT, check=False)

    def add(self, site, *receivers):
        added = self.receivers("add", site, *receivers)
        self.passwords.update(line.split() for line in added.stdout.splitlines())
        return added

    def password(self, user):
        """Returns the password of a user. That for the configurations has the same as the one of the reports."""
        return self.passwords[user.removesuffix(CONFIGURATION)]

    def start_client(self, program, user, *arguments):
        """Starts a client of MQTT with a user, whose output tells what it does."""
        return subprocess.Popen(
            ["stdbuf", "-oL", program, "-d", "-h", "127.0.0.1", "-p", str(self.mqtt), "-u", user, "-P",
             self.password(user), "-q", "1", *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def client(self, program, user, *arguments, password=None, tls=None, **options):
        """Runs a client of MQTT, and returns its exit status and its output."""
        where = ["-h", "localhost", "-p", str(self.tls), "--cafile", tls] if tls else \
            ["-h", "127.0.0.1", "-p", str(self.mqtt)]
        account = ["-u", user, "-P", password or self.password(user)]
        result = subprocess.run([program, *where, *account, *arguments], check=False, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, timeout=LIMIT, **options)
        return result.returncode, result.stdout

    def message(self, receiver):
        """Returns a report of a beacon beside a receiver of the museum, as beaconscan serve --fleet makes it."""
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:23] + "Z"
        beacon = {"beacon": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:7:7", "sightings": 8, "rssi": -62, "variance": 1,
                  "maximum": -60, "power": -59}
        report = {"version": 1, "site": "museum", "receiver": receiver, "boot": "00c0ffee00000001",
                  "number": next(self.numbers), "time": now, "seconds": 1, "receptionLost": None, "beacons": [beacon]}
        return json.dumps(report)

    def report(self, receiver, user, **options):
        """Publishes a report of a receiver, and returns whether the broker took it."""
        return self.client("mosquitto_pub", user, "-q", "1", "-t", topic(receiver), "-m", self.message(receiver),
                           **options)[0] == 0


def prints(process, text):
    """Returns whether a process prints a text before its end."""
    return any(text in line for line in process.stdout)


def require(condition, what):
    if not condition:
        raise SystemExit(f"fleet-up: {what}, which is not so")
    print(f"fleet-up: {what}")


def check_accounts(fleet, folder):
    """Checks that receivers can write their own topics, and nothing else, and that remove ends that."""
    file = folder / "password"
    added = fleet.receivers("add", "museum", "hall-1", "--password-file", str(file))
    require(added.stdout == "museum.hall-1\n" and file.stat().st_mode & 0o777 == 0o600,
            f"receivers add writes a password that only its owner can read {added.stderr}")
    fleet.passwords["museum.hall-1"] = file.read_text().strip()
    added = fleet.add("museum", "hall-2", "hall-3")
    require(fleet.passwords.keys() == {"guest", "museum.hall-1", "museum.hall-2", "museum.hall-3"},
            f"receivers add prints users and passwords {added.stderr}")
    listed = fleet.receivers("list").stdout
    require(listed == "museum hall-1\nmuseum hall-2\nmuseum hall-3\n", "receivers list names them")

    def reported(sites):
        return fleet.report("hall-1", "museum.hall-1") and sites.get("museum", {}).get("beaconsInRooms") == 1

    fleet.wait("the beacon of a receiver with an account is in the hall", reported)
    require(fleet.report("hall-1", "museum.hall-1", tls=fleet.certificate), "it reports with TLS")
    other = str(folder / "other.pem")
    make_certificate(other, os.devnull)
    require(not fleet.report("hall-1", "museum.hall-1", tls=other), "it refuses a node with a wrong certificate")
    require(not fleet.report("hall-1", "museum.hall-1", password="wrong"), "a wrong password is refused")
    require(not fleet.report("hall-2", "museum.hall-1"), "the topic of another receiver is refused")
    for forged in ["fleet/17/simulated/hall-1/seen", "fleet/21/museum/hall-1/seen/more", "fleet/21/museum",
                   configuration_topic("hall-1"), configuration_topic("hall-2")]:
        status, _ = fleet.client("mosquitto_pub", "museum.hall-1", "-q", "1", "-t", forged, "-m", "{}")
        require(status != 0, f"the topic {forged} is refused")
        status, _ = fleet.client("mosquitto_pub", "museum.hall-1" + CONFIGURATION, "-q", "1", "-t", forged, "-m", "{}")
        require(status != 0, "it is for the user of the configuration too")
    require(not fleet.report("hall-1", "museum.hall-1" + CONFIGURATION), "that user cannot report")
    will = ["--will-topic", topic("hall-2"), "--will-payload", fleet.message("hall-2"), "--will-qos", "1"]
    for user in ["museum.hall-1", "museum.hall-1" + CONFIGURATION]:
        for pattern in ["#", "fleet/#", topic("hall-1"), configuration_topic("hall-2"), "fleet/21/museum/+/configuration"]:
            # The refusal of the subscription ends the connection, and the broker then publishes the last will.
            status, output = fleet.client("mosquitto_sub", user, "-t", pattern, "-C", "1", "-W", "3", *will)
            require(status != 0 and not output, f"{user} cannot read {pattern}")
    status, output = fleet.client("mosquitto_sub", "guest", "-t", "fleet/#", "-C", "1", "-W", str(int(LIMIT)))
    require(status == 0 and output, "guest can read fleet/#")
    # Another address of the loopback interface reaches what listens on all interfaces.
    reachable = []
    for port in [*range(fleet.engine, fleet.engine + 3), fleet.mqtt, fleet.tls, fleet.page]:
        with socket.socket() as connection:
            if connection.connect_ex(("127.0.0.2", port)) == 0:
                reachable.append(port)
    require(reachable == [fleet.tls], "other machines reach the port of MQTT with TLS alone")


def check_thief(fleet):
    """Checks that a thief of a receiver's password can do no more over AMQP, where that is reachable."""
    queue = "mqtt-subscription-beaconscan-configuration/museum/hall-1qos1"
    thief = pathlib.Path(__file__).with_name("fleet-thief.py")
    own = "fleet.21.museum.hall-1.seen"
    exchange = [f"make the exchange {kind}" for kind in ["fanout", "direct", "topic", "headers"]]
    for user, most in [("museum.hall-1", {"publish for itself", "publish with copies"}),
                       ("museum.hall-1" + CONFIGURATION, {*exchange, "remove it", "make its queue"})]:
        tried = subprocess.run([thief, str(fleet.engine), queue, user, fleet.password(user)], check=True,
                               stdout=subprocess.PIPE, timeout=LIMIT)
        result = json.loads(tried.stdout)
        harmful = [name for name in result["permitted"] if name not in most and not name.endswith(" by it")]
        require(not harmful, f"over AMQP, {user} may do no harm: {harmful}")
        museum = [message for message in result["messages"] if message[0] != own and message[1] == "forged"]
        require(not museum, f"it cannot publish for others: {museum}")
        require(bool(set(result["permitted"]) & most), "the account works over AMQP")
    require(fleet.last_report("hall-2") is None, "no forged report of hall-2 has had an effect")


def check_site_broker(fleet, folder):
    """Checks that a site's own broker sends on the reports of its receivers and their configurations, and no others."""
    fleet.add("museum", "--site-broker")
    port = rabbitmq.free_ports(1)
    text = f"listener {port} 127.0.0.1\nallow_anonymous true\n"
    for name, user, client, rule in [
            ("fleet", "museum", "beaconscan-fleet/museum", "topic fleet/21/+/+/seen out 1"),
            ("configurations", "museum/configuration", "beaconscan-configuration/museum",
             "topic fleet/21/museum/+/configuration in 1")]:
        text += f"""connection {name}
address 127.0.0.1:{fleet.mqtt}
bridge_protocol_version mqttv311
remote_clientid {client}
remote_username {user}
remote_password {fleet.password(user)}
cleansession false
notifications false
try_private false
{rule}
"""
    file = folder / "mosquitto.conf"
    file.write_text(text)
    with subprocess.Popen(["/usr/sbin/mosquitto", "-c", file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as broker:
        try:
            site = ["-h", "127.0.0.1", "-p", str(port), "-q", "1"]

            reports = fleet.start_client("mosquitto_sub", "guest", "-t", topic("hall-3"), "-C", "1")
            require(prints(reports, "SUBACK"), "guest can read a receiver's reports")

            def sent_on(_):
                subprocess.run(["mosquitto_pub", *site, "-t", topic("hall-3"), "-m", "{}"], check=False, timeout=LIMIT,
                               stderr=subprocess.DEVNULL)
                return reports.poll() is not None

            fleet.wait("a site's broker sends on a report", sent_on)
            with subprocess.Popen(["mosquitto_sub", *site, "-t", configuration_topic("hall-3"), "-C", "1"],
                                  stdout=subprocess.PIPE) as reader:

                def received(_):
                    fleet.client("mosquitto_pub", "guest", "-q", "1", "-t", configuration_topic("hall-3"), "-m", "text")
                    return reader.poll() is not None

                fleet.wait("a site's broker receives a configuration", received)
                require(reader.stdout.read() == b"text\n", "it is that of the fleet")
        finally:
            broker.kill()
    require(not fleet.report("hall-1", "museum" + CONFIGURATION), "its user of configurations cannot report")
    for forged in ["fleet/17/simulated/hall-1/seen", configuration_topic("hall-1")]:
        status, _ = fleet.client("mosquitto_pub", "museum", "-q", "1", "-t", forged, "-m", "{}")
        require(status != 0, f"a site's broker cannot write {forged}")


def check_sessions(fleet):
    """Checks that a receiver cannot read what waits for another one, and has few connections."""
    other = "beaconscan-configuration/museum/hall-2"

    def session(receiver, client, *more):
        return fleet.client("mosquitto_sub", f"museum.{receiver}{CONFIGURATION}", "-i", client, "-c", "-q", "1", "-t",
                            configuration_topic(receiver), *more)

    session("hall-2", other, "-W", "1")
    fleet.client("mosquitto_pub", "guest", "-q", "1", "-t", configuration_topic("hall-2"), "-m", "secret")
    status, output = session("hall-1", other, "-C", "1", "-W", "3")
    require(status != 0 and not output, "a receiver cannot read what waits for another one, with that one's identifier")
    status, output = session("hall-2", other, "-C", "1", "-W", str(int(LIMIT)))
    require(status == 0 and output == b"secret\n", "the other one can")

    def connects():
        # It waits for lines to publish.
        clients.append(fleet.start_client("mosquitto_pub", "museum.hall-1", "-t", topic("hall-1"), "-l"))
        return prints(clients[-1], "CONNACK (0)")

    clients = []
    require(all(connects() for _ in range(4)), "a receiver has 4 connections")

    def refused(_):
        # The node counts connections a moment after it accepts them.
        is_refused = not connects()
        clients.pop().kill()
        return is_refused

    fleet.wait("a fifth one is refused", refused)
    for client in clients:
        client.kill()

    old = fleet.passwords["museum.hall-3"]
    fleet.add("museum", "hall-3")
    require(not fleet.report("hall-3", "museum.hall-3", password=old), "after receivers add, the former password is refused")
    require(fleet.report("hall-3", "museum.hall-3"), "and the new one is not")


def check_flood(fleet):
    """Checks that 2,000 hostile reports of a receiver are named, and change nothing else."""
    source = random.Random(7)
    lines = [source.randbytes(200).translate(None, b"\n\r\0") for _ in range(1800)]
    lines += [fleet.message("hall-2").encode() for _ in range(100)]
    lines += [fleet.message("hall-1")[:-2].encode() + b"," * 100_000 for _ in range(50)]
    lines += [b"[" * 100_000 for _ in range(49)] + [b"x" * 2_000_000]
    source.shuffle(lines)
    status, _ = fleet.client("mosquitto_pub", "museum.hall-1", "-q", "1", "-t", topic("hall-1"), "-l",
                             input=b"\n".join(lines) + b"\n")
    require(status == 0, "the broker takes 2,000 hostile reports")
    require(fleet.last_report("hall-2") is None, "no forged report of hall-2 has had an effect")

    def named(_):
        fleet.report("hall-2", "museum.hall-2")
        return any(alarm["id"] == "museum/reportRefused/hall-1" for alarm in fleet.read("alarms")["alarms"])

    before = fleet.sites()["simulated"]["time"]
    fleet.wait("the refusal of hall-1 is named", named)
    require(fleet.last_report("hall-2") is not None, "hall-2 reports during the flood")
    fleet.wait("the other site goes on", lambda sites: sites["simulated"]["time"] > before)


def check_removal(fleet):
    reader = fleet.start_client("mosquitto_sub", "museum.hall-1" + CONFIGURATION, "-i",
                                "beaconscan-configuration/museum/hall-1", "-t", configuration_topic("hall-1"))
    require(prints(reader, "SUBACK"), "a receiver can read its own configuration")
    require(fleet.receivers("remove", "museum", "hall-1").returncode == 0, "receivers remove removes an account")
    require(reader.wait(LIMIT) != 0, "receivers remove ends the connections of the account")
    require(not fleet.report("hall-1", "museum.hall-1"), "a removed account is refused")
    require(fleet.receivers("remove", "museum", "hall-1").returncode == 69, "a removed account cannot be removed again")


class Receiver:
    """`beaconscan serve` as the receiver hall-2, with an account."""

    def __init__(self, fleet, folder):
        password = folder / "hall-2.password"
        password.touch(0o600)
        password.write_text(fleet.passwords["museum.hall-2"])
        self.port = fleet.receiver_page
        self.log = folder / "receiver.log"
        self.arguments = [
            str(pathlib.Path(fleet.command).with_name("beaconscan")), "serve", "--config", "/dev/null", "--listen",
            str(self.port), "--fleet", f"127.0.0.1:{fleet.mqtt}", "--fleet-username", "museum.hall-2",
            "--fleet-password-file", str(password), "--site", "museum", "--receiver", "hall-2",
            "--fleet-outbox", str(folder / "outbox")]
        self.start()

    def start(self, *more):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*self.arguments, *more], stdout=log, stderr=log)

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        return self.process.wait(LIMIT)

    def regions(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/regions", timeout=10) as answer:
                return [region["name"] for region in json.load(answer)["regions"]]
        except OSError:
            return None


def check_configuration(fleet, folder):
    """Checks that a receiver takes a configuration, refuses a wrong one, and comes back from one that it dies of."""
    files = folder / "fleet" / "sites" / "receivers"
    files.mkdir()
    receiver = Receiver(fleet, folder)

    def configuration():
        return fleet.receiver("hall-2").get("configuration", {})

    def send(text):
        (files / "museum.hall-2.toml").write_text(text)

    try:
        send(REGION.format("lobby", 1.5))
        fleet.wait("a receiver tries the configuration of its site", lambda _: "trial" in configuration())
        fleet.wait("the region is there meanwhile", lambda _: receiver.regions() == ["lobby"])
        fleet.wait("after a minute it keeps it", lambda _: "version" in configuration() and
                   configuration()["version"] == fleet.receiver("hall-2")["wantedConfiguration"])
        kept = configuration()["version"]
        send(REGION.format("lobby", 1.5) + "[monitor]\nexec = 'reboot'\n")
        fleet.wait("a fleet cannot set a command to run", lambda _: "exec" in fleet.alarm("configurationRefused"))
        send(REGION.format("lobby", 5))
        fleet.wait("one that contradicts itself is refused with its place",
                   lambda _: "enter-distance" in fleet.alarm("configurationRefused"))
        require(receiver.regions() == ["lobby"] and configuration()["version"] == kept, "the one before is used")
        send(REGION.format("hall", 1))
        fleet.wait("another version is tried", lambda _: receiver.regions() == ["hall"])
        receiver.kill()
        receiver.start()
        fleet.wait("a receiver that is killed meanwhile comes back with the one before",
                   lambda _: receiver.regions() == ["lobby"])
        fleet.wait("it says why", lambda _: "ended while it was tried" in fleet.alarm("configurationRefused"))
        require(configuration()["version"] == kept, "it keeps the one before")
        send(REGION.format("lobby", 1.5))
        fleet.wait("it is to have that one again", lambda _: fleet.receiver("hall-2")["wantedConfiguration"] == kept)
        require(receiver.kill(signal.SIGTERM) == 0, "the receiver ends in order")
        sent = fleet.log.read_text().count("sends museum/hall-2")
        receiver.start("--region", "door=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")
        fleet.wait("one that cannot be used any more at a start is refused with the reason",
                   lambda _: "name its regions" in fleet.alarm("configurationRefused"))
        require(receiver.regions() == ["door"] and configuration().get("version") is None and
                configuration()["refused"] == kept, "the receiver runs with its own regions")
        require("the fleet's configuration " + kept + " is not used: the options" in receiver.log.read_text(), "it logs that")
        require(fleet.log.read_text().count("sends museum/hall-2") == sent, "it is not sent again")
        require(receiver.kill(signal.SIGTERM) == 0, "it ends in order")
        receiver.start()
        fleet.wait("the next start uses it again", lambda _: receiver.regions() == ["lobby"] and
                   configuration().get("version") == kept)
        require(receiver.kill(signal.SIGTERM) == 0, "the receiver ends in order")
    except SystemExit:
        print(receiver.log.read_text(), json.dumps(fleet.receiver("hall-2")), file=sys.stderr)
        raise
    finally:
        receiver.process.kill()


def check_status(fleet):
    """`status` shows a worker and the simulated site."""
    shown = subprocess.run([fleet.command, "status", "--engine", f"127.0.0.1:{fleet.engine}"], capture_output=True,
                           text=True, timeout=LIMIT)
    require(" 1 worker, waiting reports: " in shown.stdout and "\nsimulated " in shown.stdout and shown.returncode in (0, 69),
            f"status shows the worker and the site:\n{shown.stdout}{shown.stderr}")


def main():
    with tempfile.TemporaryDirectory(prefix="fleet-up-") as folder:
        folder = pathlib.Path(folder)
        sites = folder / "fleet" / "sites"
        sites.mkdir(parents=True)
        (sites / "museum.toml").write_text(SITE)
        fleet = Fleet(sys.argv[1], folder)
        try:
            fleet.wait("beacons of the simulated site are in rooms",
                       lambda sites: sites.get("simulated", {}).get("beaconsInRooms", 0) >= 3)
            check_status(fleet)
            check_accounts(fleet, folder)
            check_sessions(fleet)
            check_thief(fleet)
            check_flood(fleet)
            check_removal(fleet)
            check_site_broker(fleet, folder)
            check_configuration(fleet, folder)
            fleet.process.kill()
            fleet.process.wait()
            fleet.start()

            def reported(sites):
                return fleet.report("hall-2", "museum.hall-2") and sites.get("museum", {}).get("beaconsInRooms") == 1

            fleet.wait("after SIGKILL the fleet starts again, and the beacon is in the hall", reported)
        finally:
            fleet.process.send_signal(signal.SIGTERM)
            status = fleet.process.wait(LIMIT)
        if status != 0:
            raise SystemExit(f"fleet-up: the status after SIGTERM is {status}:\n{fleet.log.read_text()}")
        with socket.socket() as connection:
            if connection.connect_ex(("127.0.0.1", fleet.engine)) == 0:
                raise SystemExit("fleet-up: RabbitMQ goes on after the end")
        print("fleet-up: SIGTERM ends all")


main()
