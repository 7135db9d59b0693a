/* The streams of a responder: a sink that judges what comes, a source that makes data. Used through wg_responder.h;
 * the structures stand here so that their sizes are known. docs/protocol.md, Streams. */
#ifndef WG_STREAM_H
#define WG_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a small device leaves out, or makes smaller: -DWG_WAITING=2 and so on, the same for all files. */
#ifndef WG_WAITING
#define WG_WAITING 4 /* answers that wait to be sent, and so the max_outstanding that HELLO states: 1 to 255 */
#endif
#ifndef WG_STREAMS
#define WG_STREAMS 1 /* SINK and SOURCE */
#endif
#ifndef WG_MESSAGES
#define WG_MESSAGES 1 /* MESSAGE */
#endif
#ifndef WG_EXACT
#define WG_EXACT                                                                                                       \
    1 /* a sink judges every byte (wg_sink.c); 0: words only, in a quarter of the code (wg_sink_small.c)               \
       */
#endif

/* What link-time optimisation would otherwise copy to every place that calls it. */
#if defined(__GNUC__)
#define WG_ONCE __attribute__((noinline))
#else
#define WG_ONCE
#endif

/* A count of 64 bits in two words: compilers for 8 bits make several times as much code of uint64_t. */
typedef struct {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    uint32_t high;
    uint32_t low;
#else
    uint32_t low;
    uint32_t high;
#endif
} wg_long; /* in memory a uint64_t */

enum {
    WG_REPORT = 72,       /* bytes of a report on the wire */
    WG_ORDER = 16,        /* bytes of an order */
    WG_HEADER = 16,       /* bytes of a request's header */
    WG_KEPT = 16 + 12,    /* "No more than a header and 12 bytes need be kept" */
    WG_STREAM_FRAME = 512 /* the largest frame within a stream */
};

/* What is remembered of a direction, besides its report. */
typedef struct {
    bool flows;
    bool known;         /* there was a START since HELLO */
    bool carried;       /* some of it came, or was given */
    uint8_t started[4]; /* and this was its number */
} wg_direction;

typedef struct {
    wg_direction is;
    uint32_t word; /* the number of the word of the first undecided byte, if it were right (small sink: the word) */
    uint8_t kept;
#if WG_EXACT
    uint8_t in_word;       /* and that byte's place in it */
    uint16_t laps;         /* of 2^32 words */
    uint32_t undecided;    /* bytes; the first of them is wrong */
    uint32_t wrong;        /* of them, if all stand in their place; duplicates left out */
    uint8_t run;           /* right bytes in a row before that place, up to 255 */
    uint8_t fresh;         /* of those, the ones that were no duplicates */
    uint8_t since;         /* bytes since the last frame, up to 255 */
    uint8_t held[WG_KEPT]; /* the last undecided bytes */
    wg_long behind;        /* bytes that had been passed already, from that place on */
#else
    uint8_t held[WG_HEADER];
#endif
    /* The report, in the order of the wire. */
    wg_long bytes;
    wg_long lost;
    wg_long duplicated;
    wg_long corrupted;
    wg_long stray;
    wg_long transfers;
    wg_long overruns;
    uint64_t first_ticks;
    uint64_t last_ticks;
} wg_sink;

typedef struct {
    wg_direction is;
    uint8_t in_word; /* bytes of the word that were given */
    bool limited;    /* it falls silent by itself, after `rest` more bytes */
    uint32_t word;   /* of the stream, at the next byte */
    size_t transfer; /* bytes of one; 0 once it is silent */
    size_t left;     /* bytes of the one that was begun */
    wg_long rest;
    /* The report, in the order of the wire; what is a sink's is left out. */
    wg_long bytes;
    wg_long transfers;
    wg_long overruns;
    uint64_t first_ticks;
    uint64_t last_ticks;
} wg_source;

/* Judges bytes of the stream that came in one read, at `ticks`. Unless `header` is NULL, it stops behind the first
 * header of a frame that stands in the stream: `*found` tells, and the header is written there. Returns how many bytes
 * were used. A sink of zeros is one that begins. */
size_t wg_sink_take(wg_sink *, const uint8_t *bytes, size_t n, uint64_t ticks, uint8_t *header, bool *found);

/* The stream is over: what is undecided fits nowhere. */
void wg_sink_end(wg_sink *);

/* True if a transfer of the source was begun; false: it is silent, or does not flow. */
bool wg_source_begin(wg_source *, uint64_t now);

/* Gives `n` bytes of the transfer that was begun, no more than are left of it. */
void wg_source_give(wg_source *, uint8_t *to, size_t n);

/* A true request header of this version: magic, check, kind and length. Of any version: magic and check alone. */
bool wg_is_header(const uint8_t *header);
bool wg_is_sealed(const uint8_t *header);

/* CRC-16/CCITT-FALSE, carried on from `crc`; begin with 0xFFFF. */
uint16_t wg_crc(uint16_t crc, const uint8_t *bytes, size_t n);

uint32_t wg_get32(const uint8_t *from);
void wg_put32(uint8_t *to, uint32_t value);
void wg_put_longs(uint8_t *to, const void *from, uint8_t n); /* of wg_long or uint64_t */
void wg_add(wg_long *to, uint32_t n);
void wg_take_off(wg_long *from, uint32_t n);
void wg_add_long(wg_long *to, uint32_t low, uint32_t high); /* a number of 64 bits, which may be a negative one */

/* Counts a read of which some bytes belonged to the stream. */
void wg_sunk(wg_sink *, uint32_t before, uint64_t ticks);

#ifdef __cplusplus
}
#endif

#endif
