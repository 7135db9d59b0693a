#!/usr/bin/env python3
"""Packs a binary into a UF2 file, which the boot drive of an RP2040 takes.

    uf2.py --ram image.bin image-ram.uf2               starts at once, is gone when the power is
    uf2.py --flash boot2.bin image.bin image.uf2       stays

Format: https://github.com/microsoft/uf2. The boot ROM's own rules are in the RP2040 datasheet, 2.8.4.2.
"""

from __future__ import annotations

import argparse
import struct
from pathlib import Path

RAM, FLASH = 0x2000_0000, 0x1000_0000
FAMILY = 0xE48B_FF56
FAMILY_PRESENT = 0x2000
PAYLOAD = 256
SECTOR = 4096


def crc32(data: bytes) -> int:
    """As the boot ROM checks its second stage (2.8.1.3.1): neither reflected nor inverted."""
    crc = 0xFFFF_FFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = crc << 1 ^ (0x04C1_1DB7 if crc & 0x8000_0000 else 0)
        crc &= 0xFFFF_FFFF
    return crc


def with_checksum(stage: bytes) -> bytes:
    """A second stage of 256 bytes."""
    if len(stage) > PAYLOAD - 4:
        raise SystemExit(f"uf2.py: the second stage has {len(stage)} bytes, and only {PAYLOAD - 4} fit")
    stage = stage.ljust(PAYLOAD - 4, b"\0")
    return stage + struct.pack("<I", crc32(stage))


def blocks(image: bytes, address: int) -> bytes:
    """UF2 blocks of 512 bytes with 256 of the image each."""
    count = len(image) // PAYLOAD
    out = bytearray()
    for number in range(count):
        place = address + number * PAYLOAD
        head = (0x0A32_4655, 0x9E5D_5157, FAMILY_PRESENT, place, PAYLOAD, number, count, FAMILY)
        part = image[number * PAYLOAD : (number + 1) * PAYLOAD]
        out += struct.pack("<8I", *head) + part.ljust(476, b"\0") + struct.pack("<I", 0x0AB1_6F30)
    return bytes(out)


def padded(image: bytes, unit: int) -> bytes:
    """Filled up to whole units."""
    return image.ljust(-(-len(image) // unit) * unit, b"\0")


def main() -> None:
    """Write the file that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ram", action="store_true", help="for RAM")
    parser.add_argument("--flash", type=Path, metavar="BOOT2", help="for flash, behind this second stage")
    parser.add_argument("image", type=Path)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    if asked.ram == bool(asked.flash):
        parser.error("one of --ram and --flash BOOT2 is needed")
    image = asked.image.read_bytes()
    if asked.flash:
        # Whole sectors: some chips lose a sector that is written in part (RP2040-E14).
        asked.out.write_bytes(blocks(padded(with_checksum(asked.flash.read_bytes()) + image, SECTOR), FLASH))
    else:
        asked.out.write_bytes(blocks(padded(image, PAYLOAD), RAM))


if __name__ == "__main__":
    main()
