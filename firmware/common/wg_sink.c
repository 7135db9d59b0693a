/* Judges a stream from the host, to the byte: which bytes are right, lost, repeated, changed, foreign, and which are
 * frames (docs/protocol.md, Classifying received bytes). While all is right it compares word by word; from the first
 * wrong byte on it takes one byte at a time, so that how the stream was cut on arrival cannot matter.
 *
 * Exact as long as no more than 2 GiB come without 8 right bytes in a row. */
#include "wg_stream.h"

#include <string.h>

#if WG_STREAMS && WG_EXACT

#define STEP 0x9E3779B1u
#define INVERSE 0x0E8B2F51u /* STEP * INVERSE == 1 modulo 2^32: a word times this is its number */

enum {
    RUN = 8,      /* right bytes in a row that tell their place: one whole word, and four bytes that confirm it */
    FAR_RUN = 12, /* and further than NEAR from where they were expected */
    MAGIC = 0xA7
};
#define NEAR 0x1000000

/* A place in a stream: that of a byte, modulo 2^34. */
typedef struct {
    uint32_t word;
    uint8_t in_word;
} place;

/* Where the stream is so many bytes after the first undecided one, or before it. */
static place place_after(const wg_sink *s, int32_t bytes) {
    place at;

    bytes += s->in_word;
    at.word = s->word + (uint32_t)(bytes >> 2); /* an arithmetic shift, as every compiler for boards has it */
    at.in_word = (uint8_t)bytes & 3;
    return at;
}

/* How many of the leading bytes are those of the stream from a place on. */
static size_t agreeing(uint32_t number, uint8_t in_word, const uint8_t *bytes, size_t n) {
    uint32_t word = number * STEP;
    size_t at = 0;

    if (in_word > 0) {
        uint32_t rest = word >> (8 * in_word);

        for (; in_word < 4; in_word++, at++) {
            if (at == n || bytes[at] != (uint8_t)rest) {
                return at;
            }
            rest >>= 8;
        }
        word += STEP;
    }
#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && SIZE_MAX > 0xFFFF
    /* The path of all that is right, for cores that load words from addresses of words only. */
    if (((uintptr_t)(bytes + at) & 3) == 0) {
        for (; n - at >= 4; at += 4, word += STEP) {
            uint32_t came;

            memcpy(&came, __builtin_assume_aligned(bytes + at, 4), 4);
            if (came != word) {
                break;
            }
        }
    }
#endif
    for (; n - at >= 4 && wg_get32(bytes + at) == word; at += 4) {
        word += STEP;
    }
    /* Within the word that is wrong, or not whole. */
    for (; at < n && bytes[at] == (uint8_t)word; at++) {
        word >>= 8;
    }
    return at;
}

static uint8_t byte_after(const wg_sink *s, int32_t bytes) {
    place at = place_after(s, bytes);

    return (uint8_t)(at.word * STEP >> (8 * at.in_word));
}

static void up_to_255(uint8_t *count, size_t more) {
    *count = more > (size_t)(255 - *count) ? 255 : (uint8_t)(*count + more);
}

static void forget(wg_sink *s) {
    s->undecided = 0;
    s->wrong = 0;
    s->kept = 0;
}

static void go_to(wg_sink *s, uint32_t word, uint8_t in_word) {
    /* The nearest place of that number is meant. */
    if ((int32_t)(word - s->word) < 0) {
        if (word > s->word) {
            s->laps--;
        }
    } else if (word < s->word) {
        s->laps++;
    }
    s->word = word;
    s->in_word = in_word;
}

/* The stream is so many bytes further. Returns how many of them it had passed already. */
static uint32_t pass(wg_sink *s, uint32_t bytes) {
    uint32_t again = s->behind.high == 0 && s->behind.low < bytes ? s->behind.low : bytes;
    place at = place_after(s, (int32_t)bytes);

    wg_add(&s->bytes, bytes);
    wg_add(&s->duplicated, again);
    wg_take_off(&s->behind, again);
    go_to(s, at.word, at.in_word);
    return again;
}

/* Counts right bytes at the place. */
static void advance(wg_sink *s, size_t right) {
    size_t again = (size_t)pass(s, (uint32_t)right);

    up_to_255(&s->run, right);
    up_to_255(&s->fresh, right - again);
}

/* Whether a byte that is held is wrong, so many bytes after the place, and no duplicate. */
static bool is_wrong(const wg_sink *s, uint32_t after, uint8_t byte) {
    return s->behind.high == 0 && after >= s->behind.low && byte != byte_after(s, (int32_t)after);
}

static void hold(wg_sink *s, uint8_t byte) {
    s->wrong += is_wrong(s, s->undecided, byte);
    s->undecided++;
    up_to_255(&s->since, 1);
    if (s->kept == WG_KEPT) {
        s->kept--;
        memmove(s->held, s->held + 1, WG_KEPT - 1);
    }
    s->held[s->kept++] = byte;
}

/* The last right bytes, fewer than a header has, were none of the stream's. */
static void take_back(wg_sink *s, uint8_t bytes) {
    uint8_t fresh = bytes < s->fresh ? bytes : s->fresh;
    uint8_t again = (uint8_t)(bytes - fresh);
    place at = place_after(s, -(int8_t)bytes);

    go_to(s, at.word, at.in_word);
    wg_take_off(&s->bytes, bytes);
    wg_take_off(&s->duplicated, again);
    wg_add(&s->behind, again);
    s->run = (uint8_t)(s->run - bytes);
    s->fresh = (uint8_t)(s->fresh - fresh);
}

/* True if a header ends with the last byte held. It may have begun among the bytes before the first wrong one, which
 * agreed with the stream by chance and can be made again from it. */
static bool frame_ends_here(wg_sink *s, uint8_t *header) {
    uint8_t own = s->kept < WG_HEADER ? s->kept : WG_HEADER;
    uint8_t before = (uint8_t)(WG_HEADER - own);
    uint8_t at;

    if (s->since < WG_HEADER || before > s->run) {
        return false;
    }
    for (at = 0; at < before; at++) {
        header[at] = byte_after(s, (int8_t)at - (int8_t)before);
    }
    memcpy(header + before, s->held + s->kept - own, own);
    if (!wg_is_header(header) || wg_get32(header + 8) > WG_STREAM_FRAME - WG_HEADER) {
        return false;
    }
    s->since = 0;
    if (s->undecided <= WG_HEADER) {
        forget(s);
        take_back(s, before);
        return true;
    }
    s->kept = (uint8_t)(s->kept - WG_HEADER);
    s->undecided -= WG_HEADER;
    for (at = 0; at < WG_HEADER; at++) {
        s->wrong -= is_wrong(s, s->undecided + at, header[at]);
    }
    return true;
}

/* Whether two places are so many words and bytes apart that 8 right bytes are enough. */
static bool is_near(int32_t words, int8_t bytes) {
    const int32_t most = NEAR / 4;

    return (words > -most && words < most) || (words == most && bytes <= 0) || (words == -most && bytes >= 0);
}

/* How many of the last bytes held belong together, and the place of the first of them; 0 if they tell none. */
static uint8_t found_again(const wg_sink *s, place *found) {
    const uint8_t *last = s->held + s->kept - RUN;
    place expected = place_after(s, (int32_t)s->undecided - RUN);
    uint8_t ahead;

    for (ahead = 0; ahead < 4; ahead++) {
        /* The one whole word that is there in any case begins `ahead` bytes into the run, and tells its number. */
        int32_t words;
        bool is_first_lap;

        if (last[ahead + 4] != (uint8_t)(last[ahead] + (uint8_t)STEP)) {
            continue; /* the lowest byte of the word behind it: spares the rest but for one case in 256 */
        }
        found->word = wg_get32(last + ahead) * INVERSE;
        found->in_word = 0;
        if (ahead > 0) {
            found->word--;
            found->in_word = (uint8_t)(4 - ahead);
        }
        words = (int32_t)(found->word - expected.word);
        is_first_lap = s->laps == 0 && expected.word >= s->word;
        if ((is_first_lap && words < 0 && found->word > expected.word) ||
            agreeing(found->word, found->in_word, last, RUN) != RUN) {
            continue; /* before the first byte is nothing */
        }
        if (is_near(words, (int8_t)(found->in_word - expected.in_word))) {
            return RUN;
        }
        if (s->kept < FAR_RUN || (found->word == 0 && is_first_lap && words < 0)) {
            continue;
        }
        found->word--;
        if (agreeing(found->word, found->in_word, last - (FAR_RUN - RUN), FAR_RUN) == FAR_RUN) {
            return FAR_RUN;
        }
    }
    return 0;
}

/* Decides upon all that is held, once the last bytes tell where the stream goes on. */
static void decide(wg_sink *s) {
    place found;
    place in_place;
    uint8_t right = s->kept >= RUN ? found_again(s, &found) : 0;
    uint32_t before = s->undecided - right;
    uint32_t wrong = s->wrong;
    int32_t words;
    int8_t bytes;

    if (right == 0) {
        return;
    }
    forget(s);
    s->run = 0;
    s->fresh = 0;
    in_place = place_after(s, (int32_t)before);
    if (found.word == in_place.word && found.in_word == in_place.in_word) {
        /* The wrong bytes were changed. */
        (void)pass(s, before);
        wg_add(&s->corrupted, wrong);
        advance(s, right);
        return;
    }
    words = (int32_t)(s->word - found.word); /* the way back */
    bytes = (int8_t)(s->in_word - found.in_word);
    wg_add(&s->bytes, before);
    wg_add(&s->stray, before);
    if (before > 0 && words >= 0 && words <= 2 && (uint8_t)(words * 4 + bytes) < RUN) {
        /* Inserted bytes. The first of them may have agreed with the stream by chance, or the last ones with what
         * stood before them. */
        uint8_t back = (uint8_t)(words * 4 + bytes);

        wg_add(&s->bytes, back);
        wg_add(&s->stray, back);
        advance(s, (size_t)(right - back));
        return;
    }
    wg_add_long(&s->behind, (uint32_t)words << 2, (uint32_t)(words >> 30));
    wg_add_long(&s->behind, (uint32_t)bytes, bytes < 0 ? 0xFFFFFFFFu : 0);
    if ((int32_t)s->behind.high < 0) {
        /* Ahead of all that came. */
        wg_take_off(&s->behind, 1);
        wg_add_long(&s->lost, ~s->behind.low, ~s->behind.high);
        s->behind.low = 0;
        s->behind.high = 0;
    }
    go_to(s, found.word, found.in_word);
    advance(s, right);
}

size_t wg_sink_take(wg_sink *s, const uint8_t *bytes, size_t n, uint64_t ticks, uint8_t *header, bool *found) {
    uint32_t before = s->bytes.low;
    size_t used = 0;

    *found = false;
    for (;;) {
        if (s->undecided == 0) {
            size_t right = agreeing(s->word, s->in_word, bytes + used, n - used);

            up_to_255(&s->since, right);
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
    wg_sunk(s, before, ticks);
    return used;
}

void wg_sink_end(wg_sink *s) {
    wg_add(&s->bytes, s->undecided);
    wg_add(&s->stray, s->undecided);
    forget(s);
}

#endif
