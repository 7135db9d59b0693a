// The checksum of the second boot stage: CRC-32, neither reflected nor inverted (datasheet 2.8.1.3.1).
export function crc32(bytes) {
    let crc = 0xffff_ffff;
    for (const byte of bytes) {
        crc ^= byte << 24;
        for (let bit = 0; bit < 8; bit++) {
            crc = (crc << 1) ^ (crc & 0x8000_0000 ? 0x04c1_1db7 : 0);
        }
    }
    return crc >>> 0;
}
