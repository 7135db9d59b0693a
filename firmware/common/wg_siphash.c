/* The keyed hash behind the tokens of UDP: SipHash-2-4 (J.-P. Aumasson and D. J. Bernstein, SipHash: a fast
 * short-input PRF, 2012; the reference implementation is in the public domain, CC0). */
#include "wg_udp.h"

static uint64_t rotated(uint64_t x, uint8_t bits) { return x << bits | x >> (64 - bits); }

static void rounds(uint64_t v[4], uint8_t n) {
    for (; n > 0; n--) {
        v[0] += v[1];
        v[1] = rotated(v[1], 13) ^ v[0];
        v[0] = rotated(v[0], 32);
        v[2] += v[3];
        v[3] = rotated(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = rotated(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = rotated(v[1], 17) ^ v[2];
        v[2] = rotated(v[2], 32);
    }
}

static uint64_t get64(const uint8_t *from) { return wg_get32(from) | (uint64_t)wg_get32(from + 4) << 32; }

uint64_t wg_siphash(const uint8_t key[16], const uint8_t *bytes, uint8_t n) {
    uint64_t k0 = get64(key);
    uint64_t k1 = get64(key + 8);
    uint64_t v[4] = {k0 ^ 0x736F6D6570736575u, k1 ^ 0x646F72616E646F6Du, k0 ^ 0x6C7967656E657261u,
                     k1 ^ 0x7465646279746573u};
    uint64_t last = (uint64_t)n << 56;
    uint8_t left = n;

    for (; left >= 8; left = (uint8_t)(left - 8), bytes += 8) {
        v[3] ^= get64(bytes);
        rounds(v, 2);
        v[0] ^= get64(bytes);
    }
    while (left > 0) {
        left--;
        last |= (uint64_t)bytes[left] << (8 * left);
    }
    v[3] ^= last;
    rounds(v, 2);
    v[0] ^= last;
    v[2] ^= 0xFF;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
