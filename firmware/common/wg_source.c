/* Makes the stream to the host, in transfers: numbered words, by adding a constant (docs/protocol.md, What a stream is
 * made of). */
#include "wg_stream.h"

#define STEP 0x9E3779B1u

bool wg_source_begin(wg_source *s, uint64_t now) {
    size_t n = s->transfer;

    if (!s->is.flows || n == 0) {
        return false;
    }
    if (s->limited) {
        if (s->rest.high == 0 && s->rest.low <= n) {
            n = (size_t)s->rest.low;
            s->transfer = 0;
        }
        wg_take_off(&s->rest, (uint32_t)n);
    }
    if (!s->is.carried) {
        s->is.carried = true;
        s->first_ticks = now;
    }
    s->left = n;
    wg_add(&s->transfers, 1);
    wg_add(&s->bytes, (uint32_t)n); /* as a whole: END's answer stands behind it */
    return true;
}

void wg_source_give(wg_source *s, uint8_t *to, size_t n) {
    uint8_t in_word = s->in_word;
    uint32_t word = s->word;
    uint32_t rest = word >> (8 * in_word);

    s->left -= n;
    while (n > 0) {
#if SIZE_MAX > 0xFFFF
        if (in_word == 0 && n >= 4) {
            wg_put32(to, word);
            word += STEP;
            rest = word;
            to += 4;
            n -= 4;
            continue;
        }
#endif
        *to++ = (uint8_t)rest;
        rest >>= 8;
        n--;
        if (++in_word == 4) {
            in_word = 0;
            word += STEP;
            rest = word;
        }
    }
    s->word = word;
    s->in_word = in_word;
}
