/* The responder's side of the wiregauge protocol (docs/protocol.md), version 1, for any C99 compiler.
 *
 * A state machine without I/O, heap, clock or libc but <string.h>. A board hands it the bytes that came,
 * in whatever pieces they came, and sends the bytes that it gives:
 *
 *     static wg_responder responder;
 *     wg_begin(&responder, &device);
 *     for (;;) {
 *         used = wg_take(&responder, came, bytes, ticks);       // the rest again later, if used < bytes
 *         n = wg_give(&responder, to_send, room);               // 0: nothing to send
 *     }
 *
 * Not to be called from an interrupt and from the main program at the same time.
 * docs/porting.md shows a board that does so in under 100 lines. */
#ifndef WG_RESPONDER_H
#define WG_RESPONDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wg_stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The USB speed that a device sees itself. */
enum { WG_BUS_UNKNOWN, WG_BUS_LOW, WG_BUS_FULL, WG_BUS_HIGH, WG_BUS_SUPER };

/* What a device is. Stays where it is while a responder uses it; may be const, and in flash where the compiler
 * maps flash into the address space of data (not on AVR). */
typedef struct {
    const char *name;        /* UTF-8, no control characters, cut after 32 bytes */
    uint32_t max_out;        /* largest request frame, at least 104; at most SIZE_MAX, which is 65535 on AVR */
    uint32_t max_in;         /* largest response frame, likewise */
    uint32_t max_transfer;   /* largest transfer of a stream; 0: as it likes */
    uint32_t tick_hz;        /* of ticks(); 0 without a clock */
    uint8_t tick_bits;       /* after which it wraps; 0 without a clock */
    uint8_t bus;             /* WG_BUS_... */
    uint64_t (*ticks)(void); /* now, to stamp what is sent; NULL without a clock */
    /* Where a MESSAGE is kept while it is answered; NULL: MESSAGE is not offered. A message and its check of 2 bytes
     * must fit into message_room, in either direction; what does not is TOO_LARGE. Two responders (a
     * wg_udp is one, too) that answer messages at the same time need a device each, with a buffer each. */
    uint8_t *message;
    uint32_t message_room;
    /* The application: answers the `bytes` of a message in their place, returns the size of its answer, at most
     * `wanted`. Called from wg_take() or wg_give(). NULL: answers the same bytes, repeated or cut to `wanted`; zeros if
     * there are none. */
    uint32_t (*answer)(void *user, uint8_t *message, uint32_t bytes, uint32_t wanted);
    void *user;
} wg_device;

/* One connection, or one tty. Its fields are private; they stand here so that its size is known: no heap. */
typedef struct {
    const wg_device *device;

    /* What arrives. The first 63 bytes cost an AVR least. */
    uint8_t state;
    uint8_t kept;              /* bytes in the window */
    uint8_t beyond;            /* of those, the ones behind the payload that is being searched */
    uint8_t expected;          /* the pattern's next byte */
    bool last_is_right;        /* the last byte of the payload, though others were wrong */
    bool whole;                /* a datagram: nothing is searched */
    uint8_t waiting;           /* answers that wait to be sent */
    uint8_t phase;             /* the next byte of the pattern that is sent */
    size_t got;                /* bytes of the request's payload that came */
    size_t left;               /* and that have not come */
    size_t wanted;             /* bytes of the answer, header included */
    size_t at;                 /* bytes of the first answer that were given */
    uint8_t head[32];          /* header of the answer to the request that arrives */
    uint64_t ticks;            /* when the last bytes came */
    uint8_t window[WG_HEADER]; /* bytes that may be the beginning of a header */
#if WG_MESSAGES
    bool answers_message; /* the message's buffer holds an answer that waits */
    uint16_t crc;
    size_t again;     /* bytes of a damaged message, from here ... */
    size_t again_end; /* ... to here, are looked into again */
#endif
    uint8_t heads[WG_WAITING][32]; /* of what is to be sent */
#if WG_STREAMS
    uint8_t order[WG_ORDER];
    wg_sink sink;
    wg_source source;
#endif
} wg_responder;

/* Forgets all that was. Also when the host has gone and another may come (a closed connection, a bus reset). */
void wg_begin(wg_responder *, const wg_device *);

/* Takes bytes of a byte stream. `ticks` is the device's clock when the last of them arrived. Returns how many were
 * used; fewer than `n` when WG_WAITING answers wait: give the rest again once wg_give() has given some. Takes all
 * bytes of a sink that flows. */
size_t wg_take(wg_responder *, const uint8_t *bytes, size_t n, uint64_t ticks);

/* Writes what is to be sent next into `to`; returns how many bytes, 0 if there is nothing. What was given counts as
 * sent. One call may give parts of several answers; a source that flows fills `room`, and ends no call within a
 * transfer but for want of room. */
size_t wg_give(wg_responder *, uint8_t *to, size_t room);

/* True if wg_give() would give something: of use where a packet that is not full ends a USB transfer. */
bool wg_owes(const wg_responder *);

/* True while a sink flows (its data may be taken in larger pieces), or a source. */
bool wg_sinks(const wg_responder *);
bool wg_sources(const wg_responder *);

/* The device could not take or give data in time, once: reported with the stream. */
void wg_overrun(wg_responder *, bool source);

#ifdef __cplusplus
}
#endif

#endif
