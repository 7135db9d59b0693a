/* What a responder does on datagrams that it does not on a byte stream: it trusts an address only when it is proved,
 * and each proved address has streams of its own. The frames themselves are answered by wg_responder.c. */
#include "wg_udp.h"

#include <string.h>

enum { KIND_HELLO, KIND_EXCHANGE, KIND_SINK, KIND_SOURCE, KIND_MESSAGE, KINDS };
enum { VERSION = 1, TOO_LARGE, UNSUPPORTED, UNPROVEN };
enum {
    START = 1,
    PROOF_MS = 60000,   /* a proof holds so long after the last request */
    UNHEARD_MS = 10000, /* and a source goes on so long after it */
    RESPONSE = 32,
    HELLO = 104, /* bytes of either frame */
    HELLO_MAX_OUT = 40,
    HELLO_MAX_IN = 44,
    HELLO_TOKEN = 96
};

void wg_udp_begin(wg_udp *u, const wg_device *device, const uint8_t key[16]) {
    memset(u, 0, sizeof *u);
    u->device = device;
    memcpy(u->key, key, sizeof u->key);
}

static uint32_t least(size_t room, uint32_t bytes) { return bytes < room ? bytes : (uint32_t)room; }

static void token_for(const wg_udp *u, const wg_address *address, uint8_t token[8]) {
    uint64_t hash = wg_siphash(u->key, address->bytes, sizeof address->bytes);

    wg_put32(token, (uint32_t)hash);
    wg_put32(token + 4, (uint32_t)(hash >> 32));
}

/* Takes as long for a token that is nearly right as for any other. */
static bool is_token(const uint8_t *sent, const uint8_t token[8]) {
    uint8_t differ = 0;
    uint8_t at;

    for (at = 0; at < 8; at++) {
        differ |= (uint8_t)(sent[at] ^ token[at]);
    }
    return differ == 0;
}

/* Forgets addresses whose proof is over, returns the one that is asked for. */
static wg_peer *peer_at(wg_udp *u, const wg_address *address, uint32_t now_ms) {
    wg_peer *found = NULL;
    wg_peer *peer;

    for (peer = u->peers; peer < u->peers + WG_PEERS; peer++) {
        if (peer->used && now_ms - peer->heard_ms >= PROOF_MS) {
            peer->used = false;
        }
        if (peer->used && memcmp(&peer->address, address, sizeof *address) == 0) {
            found = peer;
        }
    }
    return found;
}

/* Remembers an address in place of the one that was heard the longest ago. */
static wg_peer *remember(wg_udp *u, const wg_address *address, uint32_t now_ms) {
    wg_peer *oldest = u->peers;
    wg_peer *peer;

    for (peer = u->peers; peer < u->peers + WG_PEERS; peer++) {
        if (!peer->used) {
            oldest = peer;
            break;
        }
        if (now_ms - peer->heard_ms > now_ms - oldest->heard_ms) {
            oldest = peer;
        }
    }
    memset(oldest, 0, sizeof *oldest);
    oldest->address = *address;
    oldest->used = true;
    return oldest;
}

/* A datagram is a frame if it is exactly as long as its header says. */
static bool is_frame(const uint8_t *datagram, size_t n) {
    return n >= WG_HEADER && wg_is_header(datagram) && wg_get32(datagram + 8) == n - WG_HEADER;
}

/* The header alone, made from the request's. */
static size_t refuse(wg_udp *u, const uint8_t *request, uint8_t kind, uint8_t status, uint64_t ticks, uint8_t *to,
                     size_t room) {
    wg_responder *r = &u->responder;
    uint64_t rx;

    wg_begin(r, u->device);
    r->heads[0][0] = 0x7A;
    r->heads[0][1] = (uint8_t)(1 << 4 | kind);
    memcpy(r->heads[0] + 4, request + 4, 4);
    r->heads[0][12] = status;
    rx = u->device->ticks != NULL ? ticks : 0;
    wg_put_longs(r->heads[0] + 16, &rx, 1);
    r->waiting = 1;
    return wg_give(r, to, room);
}

/* What is sent back for a datagram that is no frame of this version, though its header is a true one; 0: nothing. */
static uint8_t status_of_stranger(const uint8_t *datagram, size_t n) {
    if (n < WG_HEADER || !wg_is_sealed(datagram)) {
        return 0;
    }
    if (datagram[1] >> 4 != 1) {
        return VERSION;
    }
    return (datagram[1] & 0x0F) >= KINDS ? UNSUPPORTED : 0;
}

/* Bytes of the answer to a request that is carried out. */
static uint32_t size_of_answer(const wg_udp *u, const uint8_t *request) {
    uint8_t kind = request[1] & 0x0F;
    uint32_t least_bytes = kind == KIND_MESSAGE && u->device->message != NULL ? RESPONSE + 2 : RESPONSE;
    uint32_t in_bytes = wg_get32(request + 12);

    return in_bytes > least_bytes ? in_bytes : least_bytes;
}

static size_t answer(wg_udp *u, wg_peer *peer, const uint8_t *datagram, size_t n, uint64_t ticks, uint8_t *to,
                     size_t room) {
    wg_responder *r = &u->responder;

    wg_begin(r, u->device);
    r->whole = true;
#if WG_STREAMS
    if (peer != NULL) {
        r->sink = peer->sink;
        r->source = peer->source;
    }
#else
    (void)peer;
#endif
    (void)wg_take(r, datagram, n, ticks);
#if WG_STREAMS
    if (peer != NULL) {
        peer->sink = r->sink;
        peer->source = r->source;
    }
    r->source.is.flows = false; /* wg_udp_give() goes on with it */
#endif
    return wg_give(r, to, room);
}

size_t wg_udp_take(wg_udp *u, const wg_address *from, const uint8_t *datagram, size_t n, uint64_t ticks,
                   uint32_t now_ms, uint8_t *to, size_t room) {
    wg_peer *peer = peer_at(u, from, now_ms);
    uint8_t token[8];
    uint8_t kind;
    uint8_t status = 0;
    size_t given;

    if (!is_frame(datagram, n)) {
#if WG_STREAMS
        if (peer != NULL && peer->sink.is.flows) {
            uint64_t came = u->device->ticks != NULL ? ticks : 0;
            bool found;

            (void)wg_sink_take(&peer->sink, datagram, n, came, NULL, &found);
            peer->heard_ms = now_ms;
            return 0;
        }
#endif
        status = status_of_stranger(datagram, n);
        if (status == 0 || (peer == NULL && n < RESPONSE)) {
            return 0;
        }
        return refuse(u, datagram, KIND_HELLO, status, ticks, to, room);
    }
    kind = datagram[1] & 0x0F;
    if (n > u->device->max_out) {
        status = TOO_LARGE;
    } else if (kind == KIND_HELLO) {
        if (n < HELLO) {
            return 0;
        }
        token_for(u, from, token);
        if (peer == NULL && is_token(datagram + WG_HEADER, token)) {
            peer = remember(u, from, now_ms);
        }
    } else if (kind == KIND_SINK || kind == KIND_SOURCE) {
        if (peer == NULL) {
            status = UNPROVEN;
        } else if (n >= WG_HEADER + WG_ORDER && datagram[WG_HEADER] == START &&
                   wg_get32(datagram + WG_HEADER + 4) > room) {
            status = TOO_LARGE; /* a transfer is one datagram, too */
        }
    } else if (kind == KIND_EXCHANGE || kind == KIND_MESSAGE) {
        uint32_t size = size_of_answer(u, datagram);

        if (size > room) {
            status = TOO_LARGE; /* an answer is one datagram */
        } else if (peer == NULL && size > n && size <= u->device->max_in) {
            status = UNPROVEN;
        }
    }
    if (peer != NULL) {
        peer->heard_ms = now_ms;
        peer->requested_ms = now_ms;
    } else if (n < RESPONSE) {
        return 0; /* every answer is longer */
    }
    given = status != 0 ? refuse(u, datagram, kind, status, ticks, to, room)
                        : answer(u, peer, datagram, n, ticks, to, room);
    if (kind == KIND_HELLO && given == HELLO) {
        wg_put32(to + HELLO_MAX_OUT, least(room, u->device->max_out));
        wg_put32(to + HELLO_MAX_IN, least(room, u->device->max_in));
        memcpy(to + HELLO_TOKEN, token, sizeof token);
    }
    return peer == NULL && given > n ? 0 : given;
}

size_t wg_udp_give(wg_udp *u, wg_address *to_whom, uint32_t now_ms, uint8_t *to, size_t room) {
#if WG_STREAMS
    uint8_t turn;

    for (turn = 0; turn < WG_PEERS; turn++) {
        wg_peer *peer = &u->peers[u->next];
        wg_source *source = &peer->source;
        uint64_t ticks;

        if (++u->next == WG_PEERS) {
            u->next = 0;
        }
        if (!peer->used || !source->is.flows) {
            continue;
        }
        if (now_ms - peer->requested_ms > UNHEARD_MS) {
            source->is.flows = false;
            continue;
        }
        ticks = u->device->ticks != NULL ? u->device->ticks() : 0;
        if (source->transfer <= room && wg_source_begin(source, ticks)) {
            size_t n = source->left;

            wg_source_give(source, to, n);
            source->last_ticks = ticks;
            *to_whom = peer->address;
            return n;
        }
    }
#else
    (void)u;
    (void)to_whom;
    (void)now_ms;
    (void)to;
    (void)room;
#endif
    return 0;
}
