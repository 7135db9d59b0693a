/* Judges a stream from the host, to the byte: which bytes are right, lost, repeated, changed, foreign, and which are
 * frames (docs/protocol.md, Telling what happened). While all is right it compares word by word; from the first wrong
 * byte on it takes one byte at a time, so that how the stream was cut on arrival cannot matter. */
#include "wg_stream.h"

#include <string.h>

#define STEP 0x9E3779B1u
#define INVERSE 0x0E8B2F51u /* STEP * INVERSE == 1 modulo 2^32: a word times this is its number */

enum {
    RUN = 8,      /* right bytes in a row that tell their place: one whole word, and four bytes that confirm it */
    FAR_RUN = 12, /* and further than NEAR from where they were expected */
    MAGIC = 0xA7
};
#define NEAR 0x1000000

static uint32_t word_at(uint64_t place)
{
    return (uint32_t)(place >> 2) * STEP;
}

static uint8_t byte_at(uint64_t place)
{
    return (uint8_t)(word_at(place) >> (8 * ((uint8_t)place & 3)));
}

/* How many of the leading bytes are those of the stream from `place` on. */
static size_t agreeing(uint64_t place, const uint8_t *bytes, size_t n)
{
    uint32_t word = word_at(place);
    uint32_t rest;
    size_t at = 0;
    uint8_t in = (uint8_t)place & 3;

    if (in != 0) {
        rest = word >> (8 * in);
        for (; in < 4; in++) {
            if (at == n || bytes[at] != (uint8_t)rest) {
                return at;
            }
            rest >>= 8;
            at++;
        }
        word += STEP;
    }
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    /* The path of all that is right. A core that loads words from even addresses only gets its own loop. */
    if (((uintptr_t)(bytes + at) & 3) == 0) {
        const uint8_t *aligned = bytes + at;
        for (; n - at >= 4; at += 4, aligned += 4, word += STEP) {
#if defined(__GNUC__)
            memcpy(&rest, __builtin_assume_aligned(aligned, 4), 4);
#else
            memcpy(&rest, aligned, 4);
#endif
            if (rest != word) {
                break;
            }
        }
    }
#endif
    for (; n - at >= 4; at += 4, word += STEP) {
        if (wg_get32(bytes + at) != word) {
            break;
        }
    }
    /* Within the word that is wrong, or not whole. */
    for (; at < n && bytes[at] == (uint8_t)word; at++) {
        word >>= 8;
    }
    return at;
}

static uint8_t up_to_255(uint8_t count, size_t more)
{
    return more > (size_t)(255 - count) ? 255 : (uint8_t)(count + more);
}

static void restart(wg_sink *s)
{
    s->run = 0;
    s->fresh = 0;
}

static void forget(wg_sink *s)
{
    s->undecided = 0;
    s->wrong = 0;
    s->kept = 0;
}

/* The place is `bytes` further. Returns how many of them the stream had passed already. */
static uint32_t pass(wg_sink *s, uint32_t bytes)
{
    uint64_t behind = s->reached - s->position;
    uint32_t again = behind < bytes ? (uint32_t)behind : bytes;

    s->report.bytes += bytes;
    s->report.duplicated += again;
    s->position += bytes;
    s->reached += bytes - again;
    return again;
}

/* Counts right bytes at the place. */
static void advance(wg_sink *s, size_t right)
{
    size_t again = (size_t)pass(s, (uint32_t)right);

    s->run = up_to_255(s->run, right);
    s->fresh = up_to_255(s->fresh, right - again);
}

static uint32_t is_wrong(const wg_sink *s, uint64_t place, uint8_t byte)
{
    return place >= s->reached && byte != byte_at(place);
}

static void hold(wg_sink *s, uint8_t byte)
{
    s->wrong += is_wrong(s, s->position + s->undecided, byte);
    s->undecided++;
    s->since = up_to_255(s->since, 1);
    if (s->kept == WG_KEPT) {
        memmove(s->held, s->held + 1, WG_KEPT - 1);
        s->kept--;
    }
    s->held[s->kept++] = byte;
}

/* The last right bytes were none of the stream's. */
static void take_back(wg_sink *s, uint8_t bytes)
{
    uint8_t fresh = bytes < s->fresh ? bytes : s->fresh;

    s->report.bytes -= bytes;
    s->report.duplicated -= (uint8_t)(bytes - fresh);
    s->position -= bytes;
    s->reached -= fresh;
    s->run = (uint8_t)(s->run - bytes);
    s->fresh = (uint8_t)(s->fresh - fresh);
}

/* True if a header ends with the last byte held. It may have begun among the bytes before the first wrong one, which
 * agreed with the stream by chance and can be made again from it. */
static bool frame_ends_here(wg_sink *s, uint8_t *header)
{
    uint8_t own = s->kept < WG_HEADER ? s->kept : WG_HEADER;
    uint8_t before = (uint8_t)(WG_HEADER - own);
    uint8_t at;

    if (s->since < WG_HEADER || before > s->run) {
        return false;
    }
    if ((before > 0 ? byte_at(s->position - before) : s->held[s->kept - WG_HEADER]) != MAGIC) {
        return false;
    }
    for (at = 0; at < before; at++) {
        header[at] = byte_at(s->position - before + at);
    }
    memcpy(header + before, s->held + s->kept - own, own);
    if (!wg_is_header(header) || wg_get32(header + 8) > WG_STREAM_FRAME - WG_HEADER) {
        return false;
    }
    s->since = 0;
    if (before > 0 || s->undecided == WG_HEADER) {
        forget(s);
        take_back(s, before);
    } else {
        s->kept = (uint8_t)(s->kept - WG_HEADER);
        s->undecided -= WG_HEADER;
        for (at = 0; at < WG_HEADER; at++) {
            s->wrong -= is_wrong(s, s->position + s->undecided + at, header[at]);
        }
    }
    return true;
}

/* How many of the last bytes held belong together, and the place of the first of them; 0 if they tell none. */
static uint8_t found_again(const wg_sink *s, uint64_t *found)
{
    const uint8_t *last;
    uint64_t expected;
    uint8_t ahead;

    if (s->kept < RUN) {
        return 0;
    }
    last = s->held + s->kept - RUN;
    expected = s->position + s->undecided - RUN;
    for (ahead = 0; ahead < 4; ahead++) {
        /* The one whole word that is there in any case begins `ahead` bytes into the run. Its number, less the one
         * expected, is the way in words; the nearest place of that number is meant. */
        int32_t words;
        int64_t off;
        uint64_t place;

        if (last[ahead + 4] != (uint8_t)(last[ahead] + (uint8_t)STEP)) {
            continue; /* the lowest byte of the word behind it: spares the rest but for one case in 256 */
        }
        words = (int32_t)(wg_get32(last + ahead) * INVERSE - (uint32_t)(expected >> 2));
        off = (int64_t)words * 4 - ahead - ((uint8_t)expected & 3);
        if (off < 0 && (uint64_t)-off > expected) {
            continue; /* before the first byte is nothing */
        }
        place = expected + (uint64_t)off;
        if (agreeing(place, last, RUN) != RUN) {
            continue;
        }
        if (off >= -(int64_t)NEAR && off <= (int64_t)NEAR) {
            *found = place;
            return RUN;
        }
        if (place < FAR_RUN - RUN || s->kept < FAR_RUN) {
            continue;
        }
        place -= FAR_RUN - RUN;
        if (agreeing(place, s->held + s->kept - FAR_RUN, FAR_RUN) == FAR_RUN) {
            *found = place;
            return FAR_RUN;
        }
    }
    return 0;
}

/* Decides upon all that is held, once the last bytes tell where the stream goes on. */
static void decide(wg_sink *s)
{
    uint64_t place;
    uint8_t right = found_again(s, &place);
    uint32_t before = s->undecided - right;
    uint32_t wrong = s->wrong;
    uint64_t back;

    if (right == 0) {
        return;
    }
    forget(s);
    restart(s);
    if (place == s->position + before) {
        /* In place: the wrong bytes were changed. */
        (void)pass(s, before);
        s->report.corrupted += wrong;
        advance(s, right);
        return;
    }
    s->report.bytes += before;
    s->report.stray += before;
    back = s->position - place;
    if (before > 0 && back < RUN) {
        /* Inserted bytes. The first of them may have agreed with the stream by chance, or the last ones with what
         * stood before them. */
        s->report.bytes += back;
        s->report.stray += back;
        advance(s, right - (uint8_t)back);
        return;
    }
    if (place > s->reached) {
        s->report.lost += place - s->reached;
        s->reached = place;
    }
    s->position = place;
    advance(s, right);
}

void wg_sink_begin(wg_sink *s)
{
    wg_direction is = s->is;

    memset(s, 0, sizeof *s);
    s->is = is;
}

size_t wg_sink_take(wg_sink *s, const uint8_t *bytes, size_t n, uint64_t ticks, uint8_t *header, bool *found)
{
    uint64_t before = s->report.bytes;
    size_t used = 0;

    *found = false;
    for (;;) {
        if (s->undecided == 0) {
            size_t right = agreeing(s->position, bytes + used, n - used);

            s->since = up_to_255(s->since, right);
            advance(s, right);
            used += right;
        }
        if (used == n) {
            break;
        }
        hold(s, bytes[used++]);
        if (header != NULL && frame_ends_here(s, header)) {
            *found = true;
            break;
        }
        decide(s);
    }
    if (s->report.bytes > before) {
        s->report.transfers++;
        s->report.last_ticks = ticks;
        if (before == 0) {
            s->report.first_ticks = ticks;
        }
    }
    return used;
}

void wg_sink_end(wg_sink *s)
{
    s->report.bytes += s->undecided;
    s->report.stray += s->undecided;
    forget(s);
}
