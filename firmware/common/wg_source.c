/* Makes the stream to the host, in transfers: numbered words, by adding a constant (docs/protocol.md, What a stream is
 * made of). */
#include "wg_stream.h"

#define STEP 0x9E3779B1u

bool wg_source_begin(wg_source *s, uint64_t now)
{
    if (!s->is.flows || s->rest == 0) {
        return false;
    }
    s->left = s->rest < s->transfer ? (uint32_t)s->rest : s->transfer;
    if (s->rest != UINT64_MAX) {
        s->rest -= s->left;
    }
    if (s->bytes == 0) {
        s->first_ticks = now;
    }
    s->bytes += s->left; /* as a whole: END's answer stands behind it */
    s->transfers++;
    return true;
}

bool wg_source_give(wg_source *s, uint8_t *to, size_t n)
{
    uint32_t word = s->word;
    uint8_t in = s->in_word;

    s->left -= (uint32_t)n;
    while (n > 0) {
        if (in == 0 && n >= 4) {
            wg_put32(to, word);
            to += 4;
            n -= 4;
            word += STEP;
            continue;
        }
        *to++ = (uint8_t)(word >> (8 * in));
        n--;
        if (++in == 4) {
            in = 0;
            word += STEP;
        }
    }
    s->word = word;
    s->in_word = in;
    return s->left == 0;
}
