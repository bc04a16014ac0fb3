"""Nodes of RabbitMQ on this machine, beside the system's."""

import os
import socket

SERVER = "/usr/lib/rabbitmq/bin/rabbitmq-server"


def free_ports(count):
    """Returns the first of some ports in a row that nobody uses."""
    for first in range(21000, 31000, 10):
        try:
            for port in range(first, first + count):
                socket.create_server(("127.0.0.1", port)).close()
            return first
        except OSError:
            continue
    raise SystemExit("there are no free ports")


def names_command(port):
    """Returns the command of the server of the nodes' names, on a port."""
    return ["/usr/bin/epmd", "-address", "127.0.0.1", "-port", str(port), "-relaxed_command_check"]


def prepare(folder, name, port, distribution_port, names_port, settings=(), flags="", home=None):
    """Writes the files of a node into a folder, and returns the variables to start SERVER with.

    The nodes of a cluster have the same home, where their secret is.
    """
    folder.mkdir(exist_ok=True)
    lines = [f"listeners.tcp.1 = 127.0.0.1:{port}", "raft.wal_max_size_bytes = 64000000", *settings]
    (folder / "rabbitmq.conf").write_text("".join(f"{line}\n" for line in lines))
    (folder / "plugins").write_text("[].\n")
    files = {"ERL_CRASH_DUMP": "crash", "RABBITMQ_CONFIG_FILE": "rabbitmq.conf", "RABBITMQ_MNESIA_BASE": "data",
             "RABBITMQ_LOG_BASE": "log", "RABBITMQ_PID_FILE": "pid", "RABBITMQ_ENABLED_PLUGINS_FILE": "plugins"}
    return {variable: str(folder / file) for variable, file in files.items()} | {
        "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(home or folder), "ERL_EPMD_PORT": str(names_port),
        "RABBITMQ_NODENAME": f"{name}@localhost", "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(distribution_port),
        # The script becomes the node, in place of its parent.
        "RUNNING_UNDER_SYSTEMD": "true",
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": f"{flags} +sbwt none +sbwtdcpu none +sbwtdio none "
                                               "-kernel inet_dist_use_interface {127,0,0,1}"}
