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

/* What a device says of a stream at its end, in the order of the wire. */
typedef struct {
    uint64_t bytes;
    uint64_t lost;
    uint64_t duplicated;
    uint64_t corrupted;
    uint64_t stray;
    uint64_t transfers;
    uint64_t overruns;
    uint64_t first_ticks;
    uint64_t last_ticks;
} wg_report;

enum {
    WG_REPORT = 72,       /* bytes of a report on the wire */
    WG_ORDER = 16,        /* bytes of an order */
    WG_HEADER = 16,       /* bytes of a request's header */
    WG_KEPT = 16 + 12,    /* "No more than a header and 12 bytes need be kept" */
    WG_STREAM_FRAME = 512 /* the largest frame within a stream */
};

/* What is remembered of a direction, besides its report. */
typedef struct {
    uint32_t started; /* number of the last START */
    bool known;       /* there was one since HELLO */
    bool flows;
} wg_direction;

typedef struct {
    wg_direction is;
    wg_report report;
    uint64_t position;  /* of the first undecided byte, if it were right */
    uint64_t reached;   /* the end of what was seen */
    uint32_t undecided; /* bytes; the first of them is wrong */
    uint32_t wrong;     /* of them, if all stand in their place; duplicates left out */
    uint8_t run;        /* right bytes in a row before `position`, up to 255 */
    uint8_t fresh;      /* of those, the ones that were no duplicates */
    uint8_t since;      /* bytes since the last frame, up to 255 */
    uint8_t kept;
    uint8_t held[WG_KEPT]; /* the last undecided bytes */
} wg_sink;

typedef struct {
    wg_direction is;
    uint32_t word;     /* of the stream, at the next byte */
    uint8_t in_word;   /* bytes of it that were given */
    uint32_t transfer; /* bytes of one */
    uint32_t left;     /* bytes of the one that was begun */
    uint64_t rest;     /* bytes until it falls silent; UINT64_MAX: until END */
    uint64_t bytes;
    uint64_t transfers;
    uint64_t overruns;
    uint64_t first_ticks;
    uint64_t last_ticks;
} wg_source;

/* Word 0, all counts zero. */
void wg_sink_begin(wg_sink *);

/* Judges bytes of the stream that came in one read, at `ticks`. Unless `header` is NULL, it stops behind the first
 * header of a frame that stands in the stream: `*found` tells, and the header is written there. Returns how many bytes
 * were used. */
size_t wg_sink_take(wg_sink *, const uint8_t *bytes, size_t n, uint64_t ticks, uint8_t *header, bool *found);

/* The stream is over: what is undecided fits nowhere. */
void wg_sink_end(wg_sink *);

/* A transfer of the source is begun if one is due; false: it is silent, or does not flow. */
bool wg_source_begin(wg_source *, uint64_t now);

/* Gives bytes of the transfer that was begun. True when that was its end. */
bool wg_source_give(wg_source *, uint8_t *to, size_t n);

/* A true request header of this version: magic, check, kind and length. Of any version: magic and check alone. */
bool wg_is_header(const uint8_t *header);
bool wg_is_sealed(const uint8_t *header);

/* CRC-16/CCITT-FALSE, carried on from `crc`; begin with 0xFFFF. */
uint16_t wg_crc(uint16_t crc, const uint8_t *bytes, size_t n);

uint32_t wg_get32(const uint8_t *from);
void wg_put32(uint8_t *to, uint32_t value);

#ifdef __cplusplus
}
#endif

#endif
