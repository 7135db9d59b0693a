/* The sink of a device that has no room for wg_sink.c: it judges whole words (docs/protocol.md, In a small device). At
 * a wrong one it waits for 16 bytes. They are a header; or the first two words follow one another, and the stream goes
 * on there, up to 16 MiB before or behind the place expected; or else the first byte is stray. So lost and repeated
 * words are counted to the byte, inserted bytes as stray, and a changed byte as a word lost and four stray bytes.
 * A stream that ends within a word ends with stray bytes, and a frame in it may be longer than 512 bytes. */
#include "wg_stream.h"

#include <string.h>

#if WG_STREAMS && !WG_EXACT

#define STEP 0x9E3779B1u
#define INVERSE 0x0E8B2F51u
#define NEAR 0x400000u /* words */

/* The first word held is not the one expected. Returns 4 if the stream goes on with it, 1 if its first byte is stray.
 */
static uint8_t place(wg_sink *s) {
    uint32_t word = wg_get32(s->held);
    uint32_t words = (word - s->word) * INVERSE;

    if (wg_get32(s->held + 4) != word + STEP || words + NEAR > 2 * NEAR) {
        wg_add(&s->stray, 1);
        return 1;
    }
    if ((int32_t)words > 0) {
        wg_add(&s->lost, words << 2);
    } else {
        wg_add(&s->duplicated, (0 - words) << 2);
    }
    s->word = word;
    return 4;
}

size_t wg_sink_take(wg_sink *s, const uint8_t *bytes, size_t n, uint64_t ticks, uint8_t *header, bool *found) {
    uint32_t before = s->bytes.low;
    size_t used = 0;

    *found = false;
    while (used < n) {
        uint8_t right = 4;

        s->held[s->kept++] = bytes[used++];
        if (s->kept < 4) {
            continue;
        }
        if (wg_get32(s->held) != s->word) {
            if (s->kept < WG_HEADER) {
                continue;
            }
            if (header != NULL && wg_is_header(s->held)) {
                memcpy(header, s->held, WG_HEADER);
                s->kept = 0;
                *found = true;
                break;
            }
            right = place(s);
        }
        wg_add(&s->bytes, right);
        s->kept = (uint8_t)(s->kept - right);
        memmove(s->held, s->held + right, s->kept);
        if (right == 4) {
            s->word += STEP;
        }
    }
    wg_sunk(s, before, ticks);
    return used;
}

void wg_sink_end(wg_sink *s) {
    wg_add(&s->bytes, s->kept);
    wg_add(&s->stray, s->kept);
    s->kept = 0;
}

#endif
