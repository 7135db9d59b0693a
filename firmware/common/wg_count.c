/* What both directions of a stream count with, and the numbers of the wire. */
#include "wg_stream.h"

#include <string.h>

uint32_t wg_get32(const uint8_t *from) {
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

void wg_put32(uint8_t *to, uint32_t value) {
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
    to[2] = (uint8_t)(value >> 16);
    to[3] = (uint8_t)(value >> 24);
}

WG_ONCE void wg_put_longs(uint8_t *to, const void *from, uint8_t n) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    const uint8_t *bytes = (const uint8_t *)from;
    uint8_t at;

    for (at = 0; at < 8 * n; at++) {
        to[at] = bytes[at ^ 7];
    }
#else
    memcpy(to, from, 8u * n);
#endif
}

WG_ONCE void wg_add_long(wg_long *to, uint32_t low, uint32_t high) {
    to->low += low;
    to->high += high;
    if (to->low < low) {
        to->high++;
    }
}

WG_ONCE void wg_add(wg_long *to, uint32_t n) { wg_add_long(to, n, 0); }

WG_ONCE void wg_take_off(wg_long *from, uint32_t n) {
    if (n > 0) {
        wg_add_long(from, -n, 0xFFFFFFFFu);
    }
}

void wg_sunk(wg_sink *s, uint32_t before, uint64_t ticks) {
    if ((int32_t)(s->bytes.low - before) <= 0) {
        return; /* none belongs to the stream for certain */
    }
    wg_add(&s->transfers, 1);
    s->last_ticks = ticks;
    if (!s->is.carried) {
        s->is.carried = true;
        s->first_ticks = ticks;
    }
}
