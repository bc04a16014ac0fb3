#!/usr/bin/python3
"""Runs iio-sensor-proxy in a testbed of umockdev that has a light sensor and a compass.

    umockdev-wrapper compass.py BUS-ADDRESS

The compass is what the kernel's driver of the compasses in HID sensor hubs shows: an IIO device "magn_3d" with a buffer,
a trigger and the channel in_rot_from_north_magnetic_tilt_comp, here in eighths of a degree. The file in place of the
device node holds the latest scan. Each line of standard input is a command, which a line of output answers.
"""

import ctypes
import os
import signal
import struct
import subprocess
import sys

library = ctypes.CDLL("libumockdev.so.0")
text, pointer = ctypes.c_char_p, ctypes.c_void_p
library.umockdev_testbed_new.restype = pointer
library.umockdev_testbed_get_root_dir.restype = text
library.umockdev_testbed_get_root_dir.argtypes = [pointer]
library.umockdev_testbed_add_devicev.restype = text
library.umockdev_testbed_add_devicev.argtypes = [pointer, text, text, text] + 2 * [ctypes.POINTER(text)]
library.umockdev_testbed_uevent.argtypes = [pointer, text, text]
library.umockdev_testbed_remove_device.argtypes = [pointer, text]
bed = library.umockdev_testbed_new()
root = library.umockdev_testbed_get_root_dir(bed).decode()


def array(values):
    flat = [item.encode() for pair in values.items() for item in pair] + [None]
    return (text * len(flat))(*flat)


def add(name, attributes, **properties):
    return library.umockdev_testbed_add_devicev(
        bed, b"iio", name.encode(), None, array(attributes), array(properties))


def add_compass():
    channel = "scan_elements/in_rot_from_north_magnetic_tilt_comp"
    attributes = {
        "name": "magn_3d", "dev": "249:0", "in_rot_scale": "0.125", "in_rot_offset": "0",
        "buffer/enable": "0", "buffer/length": "2", "trigger/current_trigger": "",
        f"{channel}_en": "0", f"{channel}_index": "0", f"{channel}_type": "le:s32/32>>0"}
    return add(
        "iio:device0", attributes, DEVNAME="/dev/iio:device0", DEVTYPE="iio_device",
        IIO_SENSOR_PROXY_TYPE="iio-buffer-compass")


def set_heading(degrees):
    with open(f"{root}/dev/iio:device0.new", "wb") as file:
        file.write(b"" if degrees is None else struct.pack("<i", round(8 * degrees)))
    os.rename(file.name, f"{root}/dev/iio:device0")


def start():
    programs = ["/usr/sbin/iio-sensor-proxy", "/usr/libexec/iio-sensor-proxy"]
    environment = dict(os.environ, UMOCKDEV_DIR=root, DBUS_SYSTEM_BUS_ADDRESS=sys.argv[1])
    # Our own output ends with this process, whatever becomes of the daemon.
    return subprocess.Popen([next(filter(os.path.exists, programs))], env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL)


def stop():
    """Stops the daemon, and waits until it has stopped."""
    daemon.send_signal(signal.SIGSTOP)
    os.waitpid(daemon.pid, os.WUNTRACED)


add("iio:device1", {"name": "als", "in_illuminance_input": "10"}, DEVNAME="/dev/iio:device1",
    DEVTYPE="iio_device", IIO_SENSOR_PROXY_TYPE="iio-poll-als")
add("trigger0", {"name": "magn_3d-dev0"}, DEVTYPE="iio_trigger")
compass = add_compass()
set_heading(None)
daemon = None
try:
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "heading":
            set_heading(float(arguments[0]))
        elif command == "remove":
            # A daemon that writes into the device's folder meanwhile would keep it from being removed.
            stop()
            library.umockdev_testbed_uevent(bed, compass, b"remove")
            library.umockdev_testbed_remove_device(bed, compass)
            daemon.send_signal(signal.SIGCONT)
        elif command == "add":
            compass = add_compass()
            set_heading(None)
            library.umockdev_testbed_uevent(bed, compass, b"add")
        elif command == "start":
            daemon = start()
        elif command == "pause":
            stop()
        elif command == "resume":
            daemon.send_signal(signal.SIGCONT)
        elif command == "kill":
            daemon.kill()
            daemon.wait()
        print("done", flush=True)
finally:
    if daemon:
        daemon.kill()
