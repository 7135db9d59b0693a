/* The protocol over datagrams: one frame each, and no more bytes to an address than came from it until it has proved
 * itself (docs/protocol.md, UDP: proof of address). No sockets: a board hands over a datagram and sends the answer.
 * Apart, because a device without a network needs none of it. */
#ifndef WG_UDP_H
#define WG_UDP_H

#include "wg_responder.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef WG_PEERS
#define WG_PEERS                                                                                                       \
    4 /* addresses that are remembered as proved, each with streams of its own; the oldest is forgotten                \
       */
#endif

/* Whoever sent a datagram: IP address and port, as the board's network has them, unused bytes zero. */
typedef struct {
    uint8_t bytes[18]; /* 16 of address (IPv4: the first 4), 2 of port */
} wg_address;

/* An address that is proved. */
typedef struct {
    wg_address address;
    bool used;
    uint32_t heard_ms;     /* when a request or data of a sink came last */
    uint32_t requested_ms; /* when a request came last */
#if WG_STREAMS
    wg_sink sink;
    wg_source source;
#endif
} wg_peer;

/* Its fields are private. */
typedef struct {
    const wg_device *device;
    uint8_t key[16];
    uint8_t next; /* whose source has its turn */
    wg_peer peers[WG_PEERS];
    wg_responder responder; /* of the datagram that is being answered */
} wg_udp;

/* `key` is 16 random bytes, drawn anew at each start: who knows them can forge proofs. */
void wg_udp_begin(wg_udp *, const wg_device *, const uint8_t key[16]);

/* Takes one datagram, at `now_ms` of any clock that wraps at 2^32 ms. Writes the answer into `to`, returns its size;
 * 0: nothing is sent. `room` is the largest datagram that the board can send, and receive, at least 104. */
size_t wg_udp_take(wg_udp *, const wg_address *from, const uint8_t *datagram, size_t n, uint64_t ticks, uint32_t now_ms,
                   uint8_t *to, size_t room);

/* The next datagram of any source that flows, and to whom; 0: none does. `room` as for wg_udp_take(). */
size_t wg_udp_give(wg_udp *, wg_address *to_whom, uint32_t now_ms, uint8_t *to, size_t room);

/* SipHash-2-4 of `n` bytes, 255 at most. Its bytes in order are the token. */
uint64_t wg_siphash(const uint8_t key[16], const uint8_t *bytes, uint8_t n);

#ifdef __cplusplus
}
#endif

#endif
