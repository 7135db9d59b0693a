/* The sink of whole words (WG_EXACT 0) beside the exact one: its own structures, its functions renamed by build.rs. */
#include "wg_stream.h"

#include <stdlib.h>

wg_sink *small_new(void) {
    wg_sink *s = calloc(1, sizeof *s);

    if (s == NULL) {
        abort();
    }
    return s;
}

void small_free(wg_sink *s) { free(s); }

size_t small_take(wg_sink *s, const uint8_t *bytes, size_t n, uint8_t *header, bool *found) {
    return wg_sink_take(s, bytes, n, 0, header, found);
}

void small_end(wg_sink *s, uint64_t counts[5]) {
    const wg_long *count = &s->bytes;
    int at;

    wg_sink_end(s);
    for (at = 0; at < 5; at++) {
        counts[at] = count[at].low | (uint64_t)count[at].high << 32;
    }
}
