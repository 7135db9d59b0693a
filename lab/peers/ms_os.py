#!/usr/bin/env python3
"""Asks a USB device for Microsoft OS descriptors as Windows does, through usbfs, and reads them with no code of ours.

    ms_os.py VID PID            prints what Windows would bind to each interface, as a line of JSON

Version 2.0, where the BOS offers it (Microsoft OS 2.0 Descriptors Specification), else 1.0 (Extended Compat ID and Extended
Properties OS Feature Descriptor Specifications). Also asks for parts, and for what is not there.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import struct
import sys
from pathlib import Path

DEVICES = Path("/sys/bus/usb/devices")
# linux/usbdevice_fs.h: USBDEVFS_CONTROL is _IOWR('U', 0, struct usbdevfs_ctrltransfer).
CONTROL = 0xC0185500
IN, VENDOR, INTERFACE = 0x80, 0x40, 0x01
GET_DESCRIPTOR, DEVICE, CONFIGURATION, STRING, BOS = 6, 1, 2, 3, 15
MS_OS_20 = bytes.fromhex("df60ddd88945c74c9cd2659d9e648a9f")
SET, SUBSET_CONFIGURATION, SUBSET_FUNCTION, COMPATIBLE_ID, REGISTRY = range(5)
REG_SZ, REG_MULTI_SZ = 1, 7
# The longest control transfer of usbfs.
MOST = 4096


class Device:
    """Endpoint 0."""

    def __init__(self, vendor: str, product: str) -> None:
        def word(folder: Path, name: str) -> str:
            path = folder / name
            return path.read_text().strip() if path.exists() else ""

        (found,) = (one for one in DEVICES.iterdir() if (word(one, "idVendor"), word(one, "idProduct")) == (vendor, product))
        bus, number = int(word(found, "busnum")), int(word(found, "devnum"))
        self.file = os.open(f"/dev/bus/usb/{bus:03}/{number:03}", os.O_RDWR)

    def ask(self, kind: int, request: int, value: int, index: int, length: int) -> bytes | None:
        """A request IN; None if it is stalled."""
        # More than is asked for, so that more than that would be seen.
        buffer = ctypes.create_string_buffer(length + 64)
        transfer = bytearray(struct.pack("@BBHHHIP", kind, request, value, index, length, 5000, ctypes.addressof(buffer)))
        try:
            got = fcntl.ioctl(self.file, CONTROL, transfer)
        except OSError as failure:
            if failure.errno == errno.EPIPE:
                return None
            raise
        assert got <= length, (got, length)
        return buffer.raw[:got]

    def descriptor(self, kind: int, index: int, length: int) -> bytes | None:
        """A standard descriptor."""
        return self.ask(IN, GET_DESCRIPTOR, kind << 8 | index, 0, length)


def text(data: bytes) -> str:
    """UTF-16 that ends with a NUL."""
    units = data.decode("utf-16-le")
    assert units.endswith("\0"), units
    return units[:-1]


def property_of(kind: int, name: bytes, value: bytes) -> dict[str, object]:
    """A value of the registry: a string, or a list of strings that an empty one ends."""
    strings = text(value)
    if kind == REG_SZ:
        assert "\0" not in strings, strings
        return {text(name): strings}
    assert kind == REG_MULTI_SZ and strings.endswith("\0"), (kind, strings)
    return {text(name): strings[:-1].split("\0")}


def features_20(data: bytes) -> dict[str, object]:
    """The features of a device or function."""
    found: dict[str, object] = {}
    while data:
        length, kind = struct.unpack_from("<HH", data)
        body, data = data[4:length], data[length:]
        if kind == COMPATIBLE_ID:
            assert len(body) == 16 and not any(body[8:]), body
            found["driver"] = body[:8].rstrip(b"\0").decode()
        elif kind == REGISTRY:
            kind, name_bytes = struct.unpack_from("<HH", body)
            name, rest = body[4 : 4 + name_bytes], body[4 + name_bytes :]
            (value_bytes,) = struct.unpack_from("<H", rest)
            assert len(rest) == 2 + value_bytes, rest
            found |= property_of(kind, name, rest[2:])
        else:
            raise AssertionError(f"feature {kind}")
    return found


def subsets(data: bytes, kind: int) -> list[tuple[int, bytes]]:
    """Subsets of this kind: the number of each, and what is in it."""
    found = []
    while data:
        length, this, number, _, total = struct.unpack_from("<HHBBH", data)
        assert (length, this) == (8, kind) and total <= len(data), data
        found.append((number, data[8:total]))
        data = data[total:]
    return found


def version_20(device: Device, capability: bytes, composite: bool) -> dict[str, object]:
    """The descriptor set of version 2.0. Of a device with one interface it is that of the device."""
    windows, length, code, alternate = struct.unpack("<IHBB", capability)
    whole = device.ask(IN | VENDOR, code, 0, 7, length)
    assert whole is not None and len(whole) == length and alternate == 0, whole
    assert struct.unpack_from("<HHIH", whole) == (10, SET, windows, length), whole
    body = whole[10:]
    functions: dict[int, object] = {}
    if composite:
        ((configuration, inside),) = subsets(body, SUBSET_CONFIGURATION)
        assert configuration == 0, configuration
        functions |= {number: features_20(data) for number, data in subsets(inside, SUBSET_FUNCTION)}
    else:
        functions[0] = features_20(body)
    for part in (0, 1, 9, 10, 64, length, MOST):
        assert device.ask(IN | VENDOR, code, 0, 7, part) == whole[:part], part
    for index in (0, 4, 5, 6, 8, 0x0700, 0xFFFF):
        assert device.ask(IN | VENDOR, code, 0, index, 64) is None, index
    return {"version": "2.0", "windows": windows, "functions": functions}


def version_10(device: Device, interfaces: list[int]) -> dict[str, object]:
    """The descriptors of version 1.0, if the device has the string that offers them."""
    string = device.descriptor(STRING, 0xEE, 18)
    if string is None:
        return {"version": None, "functions": {}}
    assert len(string) == 18 and string[:2] == bytes([18, STRING]) and string[2:16].decode("utf-16-le") == "MSFT100", string
    code = string[16]
    head = device.ask(IN | VENDOR, code, 0, 4, 16)
    assert head is not None and len(head) == 16, head
    length, version, index, count = struct.unpack_from("<IHHB", head)
    assert (version, index, length) == (0x0100, 4, 16 + 24 * count), head
    whole = device.ask(IN | VENDOR, code, 0, 4, length)
    assert whole is not None and len(whole) == length and whole[:16] == head, whole
    functions: dict[int, dict[str, object]] = {}
    for at in range(16, length, 24):
        number, reserved, driver, more = struct.unpack_from("<BB8s14s", whole, at)
        assert reserved == 1 and not any(more) and number not in functions, whole
        functions[number] = {"driver": driver.rstrip(b"\0").decode()}
    for number in functions:
        functions[number] |= properties_10(device, code, number)
    for part in (0, 1, 9, 16, 17, length, MOST):
        got = device.ask(IN | VENDOR, code, 0, 4, part)
        assert got == whole[:part], part
    for wrong in (0, 1, 6, 7, 8, 0x0400, 0xFFFF):
        assert device.ask(IN | VENDOR, code, 0, wrong, 64) is None, wrong
    assert device.ask(IN | VENDOR | INTERFACE, code, max(interfaces) + 1, 5, 64) is None
    return {"version": "1.0", "functions": functions}


def properties_10(device: Device, code: int, interface: int) -> dict[str, object]:
    """The extended properties of an interface."""
    head = device.ask(IN | VENDOR | INTERFACE, code, interface, 5, 10)
    assert head is not None and len(head) == 10, head
    length, version, index, count = struct.unpack("<IHHH", head)
    assert (version, index) == (0x0100, 5), head
    whole = device.ask(IN | VENDOR | INTERFACE, code, interface, 5, length)
    assert whole is not None and len(whole) == length, whole
    found: dict[str, object] = {}
    at = 10
    for _ in range(count):
        size, kind, name_bytes = struct.unpack_from("<IIH", whole, at)
        name = whole[at + 10 : at + 10 + name_bytes]
        (value_bytes,) = struct.unpack_from("<I", whole, at + 10 + name_bytes)
        assert size == 14 + name_bytes + value_bytes, whole
        found |= property_of(kind, name, whole[at + 14 + name_bytes : at + size])
        at += size
    assert at == length, whole
    return found


def interfaces_of(device: Device) -> dict[int, int]:
    """The class of each interface."""
    head = device.descriptor(CONFIGURATION, 0, 9)
    assert head is not None
    (length,) = struct.unpack_from("<H", head, 2)
    whole = device.descriptor(CONFIGURATION, 0, length)
    assert whole is not None and len(whole) == length
    classes = {}
    while whole:
        if whole[1] == 4:
            classes[whole[2]] = whole[5]
        whole = whole[whole[0] :]
    return classes


def capability_20(device: Device) -> bytes | None:
    """What the BOS says of version 2.0."""
    head = device.descriptor(BOS, 0, 5)
    if head is None:
        return None
    (length,) = struct.unpack_from("<H", head, 2)
    whole = device.descriptor(BOS, 0, length)
    assert whole is not None and len(whole) == length, whole
    capabilities = whole[5:]
    while capabilities:
        this, capabilities = capabilities[: capabilities[0]], capabilities[capabilities[0] :]
        if this[2] == 5 and this[4:20] == MS_OS_20:
            return this[20:]
    return None


def main() -> None:
    device = Device(*sys.argv[1:])
    described = device.descriptor(DEVICE, 0, 18)
    assert described is not None and len(described) == 18, described
    usb, release = struct.unpack_from("<H", described, 2)[0], struct.unpack_from("<H", described, 12)[0]
    classes = interfaces_of(device)
    # Windows asks for a BOS only if the device is of USB 2.1 or later.
    capability = capability_20(device) if usb > 0x0200 else None
    if capability:
        found = version_20(device, capability, composite=len(classes) > 1)
    else:
        found = version_10(device, list(classes))
    print(json.dumps({"usb": usb, "release": release, "classes": classes, **found}), flush=True)


if __name__ == "__main__":
    main()
