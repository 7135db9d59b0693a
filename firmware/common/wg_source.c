/* Makes the stream to the host, in transfers: numbered words, by adding a constant (docs/protocol.md, What a stream is
 * made of). */
#include "wg_stream.h"

#define STEP 0x9E3779B1u

bool wg_source_begin(wg_source *s, uint64_t now)
{
    if (!s->is.flows) {
        return false;
    }
    s->left = s->transfer;
    if (s->limited) {
        if (s->rest.high == 0 && s->rest.low < s->left) {
            s->left = (size_t)s->rest.low;
            if (s->left == 0) {
                return false;
            }
        }
        if (s->rest.low < s->left) {
            s->rest.high--;
        }
        s->rest.low -= (uint32_t)s->left;
    }
    if (s->transfers == 0) {
        s->first_ticks = now;
    }
    s->transfers++;
    wg_add(&s->bytes, (uint32_t)s->left); /* as a whole: END's answer stands behind it */
    return true;
}

void wg_source_give(wg_source *s, uint8_t *to, size_t n)
{
    uint32_t word = s->word;
    uint8_t in_word = s->in_word;

    s->left -= n;
    while (n > 0) {
        if (in_word == 0) {
            for (; n >= 4; n -= 4, to += 4, word += STEP) {
                wg_put32(to, word);
            }
            if (n == 0) {
                break;
            }
        }
        *to++ = (uint8_t)(word >> (8 * in_word));
        n--;
        if (++in_word == 4) {
            in_word = 0;
            word += STEP;
        }
    }
    s->word = word;
    s->in_word = in_word;
}

void wg_source_report(const wg_source *s, uint8_t *to)
{
    wg_put_long(to, &s->bytes);
    wg_put32(to + 40, s->transfers);
    wg_put32(to + 48, s->overruns);
    wg_put64(to + 56, s->first_ticks);
    wg_put64(to + 64, s->last_ticks);
}
