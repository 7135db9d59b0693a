/* What a responder makes of the bytes that come, and what it answers. No frame is kept: a payload is compared while it
 * comes and made while it is sent, and all that is remembered of what came is a window of one header. */
#include "wg_responder.h"

#include <string.h>

/* The numbers of docs/protocol.md. */
enum { KIND_HELLO, KIND_EXCHANGE, KIND_SINK, KIND_SOURCE, KIND_MESSAGE, KINDS };
enum { OK, TOO_LARGE = 2, UNSUPPORTED };
enum { START = 1, END = 2 };
enum {
    REQUEST_MAGIC = 0xA7,
    RESPONSE_MAGIC = 0x7A,
    THIS_VERSION = 1,
    OUT_CORRUPTED = 1,
    PERIOD = 251,
    RESPONSE = 32, /* header of a response; its fields: */
    STATUS_AT = 12,
    FLAGS_AT = 14,
    HELLO_PAYLOAD = 88, /* of the request */
    HELLO_REPLY = 72,
    NAME = 32,
    CHECK = 2 /* at the end of a message */
};
#define MAX_FRAME 0x1000000ul

/* What the bytes that come are taken for. */
enum {
    HUNT,    /* nothing yet: a header is looked for; or a stream, while a sink flows */
    PATTERN, /* payload of an EXCHANGE, all of it right so far */
    SEARCH,  /* payload in which the next header may stand: damaged, or not known beforehand */
    STORE,   /* payload of a MESSAGE */
    COMPLETE /* the request is whole, and waits to be answered */
};

WG_ONCE static size_t least(size_t one, size_t other) { return one < other ? one : other; }

uint16_t wg_crc(uint16_t crc, const uint8_t *bytes, size_t n) {
    for (; n > 0; n--) {
        uint8_t x = (uint8_t)((crc >> 8) ^ *bytes++);

        x ^= (uint8_t)(x >> 4);
        crc = (uint16_t)((uint16_t)(crc << 8) ^ (uint16_t)((uint16_t)x << 12) ^ (uint16_t)((uint16_t)x << 5) ^ x);
    }
    return crc;
}

/* Of a header, its check field taken as zero. */
static uint16_t check_of(const uint8_t *header, uint8_t size) {
    static const uint8_t zeros[2];
    uint16_t crc = wg_crc(0xFFFF, header, 2);

    return wg_crc(wg_crc(crc, zeros, 2), header + 4, size - 4u);
}

static bool is_first_two(const uint8_t *h) {
    return h[0] == REQUEST_MAGIC && (uint8_t)(h[1] - (THIS_VERSION << 4)) < KINDS;
}

bool wg_is_sealed(const uint8_t *h) {
    return h[0] == REQUEST_MAGIC && check_of(h, WG_HEADER) == (uint16_t)(h[2] | h[3] << 8);
}

bool wg_is_header(const uint8_t *h) {
    return is_first_two(h) && wg_is_sealed(h) && wg_get32(h + 8) <= MAX_FRAME - WG_HEADER;
}

/* The sequence number modulo 251, without a division: 256 is 5 there. */
static uint8_t phase_of(const uint8_t *sequence) {
    uint16_t sum = 0;
    uint8_t at = 4;

    while (at > 0) {
        sum = (uint16_t)(sum * 5 + sequence[--at]);
        while (sum >= PERIOD) { /* five times at most */
            sum -= PERIOD;
        }
    }
    return (uint8_t)sum;
}

static uint8_t next_of(uint8_t phase) { return phase == PERIOD - 1 ? 0 : (uint8_t)(phase + 1); }

WG_ONCE static uint64_t now(const wg_responder *r) { return r->device->ticks != NULL ? r->device->ticks() : 0; }

static bool offers_messages(const wg_responder *r) { return WG_MESSAGES && r->device->message != NULL; }

static bool in_stream(const wg_responder *r) {
#if WG_STREAMS
    return r->sink.is.flows;
#else
    (void)r;
    return false;
#endif
}

/* True where the end of a payload is certain: a datagram is a frame or none, and within a stream nothing is searched.
 */
WG_ONCE static bool is_certain(const wg_responder *r) { return r->whole || in_stream(r); }

static uint8_t kind_of(const uint8_t *header) { return header[1] & 0x0F; }

void wg_begin(wg_responder *r, const wg_device *device) {
    memset(r, 0, sizeof *r);
    r->device = device;
}

/* ---- What comes ---- */

static bool is_too_large(const wg_responder *r, const uint8_t *header) {
    uint32_t payload = wg_get32(header + 8);

    return payload > r->device->max_out - WG_HEADER ||
           (kind_of(header) == KIND_MESSAGE && offers_messages(r) && payload > r->device->message_room);
}

/* Drops what cannot begin a header from the front of the window, `at` bytes in any case. True if it is one. */
static bool narrow(wg_responder *r, uint8_t at) {
    uint8_t *w = r->window;

    if (r->kept == WG_HEADER) {
        /* In a payload, a header that announces too much is no plausible one. */
        if (wg_is_header(w) && (r->state == HUNT || !is_too_large(r, w))) {
            return true;
        }
        at = 1;
    }
    while (at < r->kept && !(at + 1 == r->kept ? w[at] == REQUEST_MAGIC : is_first_two(w + at))) {
        at++;
    }
    if (at > 0) {
        r->kept = (uint8_t)(r->kept - at);
        memmove(w, w + at, r->kept);
    }
    return false;
}

#if WG_MESSAGES
/* The message is whole: was it right? If not, the next header may stand in it (Resynchronisation, 6). */
static void check_message(wg_responder *r) {
    uint8_t *message = r->device->message;
    size_t got = r->got;

    r->state = COMPLETE;
    if (got >= CHECK && (uint16_t)(message[got - 2] | message[got - 1] << 8) == r->crc) {
        return;
    }
    r->head[FLAGS_AT] = OUT_CORRUPTED;
    if (is_certain(r) || got == 0) {
        return;
    }
    /* In front of what is left of one that it stood in. */
    if (r->again == r->again_end) {
        r->again_end = got;
        r->again = got;
    }
    r->again -= got;
    memmove(message + r->again, message, got);
}
#endif

#if WG_STREAMS
/* A request within a stream that should be an order, and is none: bytes of it were lost, and the stream goes on. */
static bool is_no_order(const wg_responder *r, uint8_t verb) {
    uint8_t kind = kind_of(r->head);

    return WG_EXACT && in_stream(r) && !r->whole && r->got == 0 && (kind == KIND_SINK || kind == KIND_SOURCE) &&
           (r->left < WG_ORDER || (verb != START && verb != END));
}
#endif

/* A request, whose header is in the window. */
static void begin_request(wg_responder *r) {
    const uint8_t *h = r->window;
    uint8_t kind = kind_of(h);
    uint32_t in_bytes = wg_get32(h + 12);

    r->kept = 0;
    r->beyond = 0;
    r->got = 0;
    r->last_is_right = false;
    memset(r->head, 0, sizeof r->head);
    r->head[0] = RESPONSE_MAGIC;
    r->head[1] = h[1];
    memcpy(r->head + 4, h + 4, 4);
    r->expected = phase_of(h + 4);
    r->left = (size_t)wg_get32(h + 8);
    r->wanted = (size_t)in_bytes;
    r->state = SEARCH;
    if ((kind == KIND_EXCHANGE || kind == KIND_MESSAGE) && in_bytes > r->device->max_in) {
        r->head[STATUS_AT] = TOO_LARGE;
    }
    if (is_too_large(r, h)) {
        r->head[STATUS_AT] = TOO_LARGE;
        if (!is_certain(r)) {
            r->left = 0; /* the payload is skipped as noise */
        }
    } else if (kind == KIND_EXCHANGE) {
        r->state = PATTERN;
    }
#if WG_MESSAGES
    else if (kind == KIND_MESSAGE && offers_messages(r)) {
        r->crc = 0xFFFF;
        r->state = STORE;
        if (r->left == 0) {
            check_message(r);
        }
    }
#endif
    if (r->left == 0) {
        r->state = COMPLETE;
    }
#if WG_STREAMS
    if (is_no_order(r, START)) {
        r->state = HUNT;
    }
#endif
}

/* So many bytes of the payload came. */
WG_ONCE static void count(wg_responder *r, size_t n) {
    r->got += n;
    r->left -= n;
    if (r->left == 0) {
        r->state = COMPLETE;
    }
}

static size_t take_pattern(wg_responder *r, const uint8_t *bytes, size_t n) {
    uint8_t expected = r->expected;
    size_t at = 0;

    n = least(n, r->left);
    while (at < n && bytes[at] == expected) {
        at++;
        expected = next_of(expected);
    }
    r->expected = expected;
    count(r, at);
    if (at < n) {
        r->head[FLAGS_AT] = OUT_CORRUPTED;
        r->state = SEARCH;
        /* From the byte before the wrong one on: the first of a header may have agreed. */
        if (r->got > 0 && expected == REQUEST_MAGIC + 1 && !is_certain(r)) {
            r->window[r->kept++] = REQUEST_MAGIC;
        }
    }
    return at;
}

/* The payload has ended, and a header may have begun in its last bytes: the frame's end is open until it is known. */
static void settle_end(wg_responder *r) {
    if (kind_of(r->head) != KIND_EXCHANGE) {
        /* Where nothing tells a header from a payload that ends like one, only those wholly within it count. */
        r->kept = 0;
    }
    if (r->kept == r->beyond + 1 && r->last_is_right) {
        (void)narrow(r, 1); /* the last byte is the payload's own */
    }
    r->state = r->kept <= r->beyond ? COMPLETE : SEARCH;
}

/* Takes a byte of a payload in which the next header may stand, or of what is behind it. */
static void search(wg_responder *r, uint8_t byte) {
    if (r->left > 0) {
#if WG_STREAMS
        if (r->got < WG_ORDER) {
            r->order[r->got] = byte;
        }
#endif
        r->last_is_right = byte == r->expected;
        r->expected = next_of(r->expected);
        count(r, 1);
    } else {
        r->beyond++;
    }
    if (is_certain(r)) {
        return;
    }
    r->window[r->kept++] = byte;
    if (narrow(r, 0)) {
        /* The frame ends where the next begins. */
        r->got -= (size_t)(WG_HEADER - r->beyond);
        r->state = COMPLETE;
    } else if (r->left == 0) {
        settle_end(r);
    }
}

#if WG_MESSAGES
static size_t store(wg_responder *r, const uint8_t *bytes, size_t n) {
    uint8_t *to = r->device->message + r->got;

    n = least(n, r->left);
    memmove(to, bytes, n);
    if (r->left > CHECK) {
        r->crc = wg_crc(r->crc, to, least(n, r->left - CHECK));
    }
    count(r, n);
    if (r->left == 0) {
        check_message(r);
    }
    return n;
}
#endif

/* Takes some of the bytes, at least one unless the state changes. */
static size_t take_some(wg_responder *r, const uint8_t *bytes, size_t n) {
    if (r->state == PATTERN) {
        return take_pattern(r, bytes, n);
    }
#if WG_MESSAGES
    if (r->state == STORE) {
        return store(r, bytes, n);
    }
#endif
    if (r->state == SEARCH) {
#if WG_STREAMS
        if (is_no_order(r, *bytes)) {
            r->state = HUNT;
            return 0;
        }
#endif
        search(r, *bytes);
        return 1;
    }
#if WG_STREAMS
    if (in_stream(r) && !r->whole) {
        bool found;

        n = wg_sink_take(&r->sink, bytes, n, r->ticks, r->window, &found);
        if (found) {
            begin_request(r);
        }
        return n;
    }
#endif
#if WG_EXACT
    /* A header that came in one piece need not go through the window byte by byte. */
    if (r->kept == 0 && n >= WG_HEADER && is_first_two(bytes) && wg_is_header(bytes)) {
        memcpy(r->window, bytes, WG_HEADER);
        begin_request(r);
        return WG_HEADER;
    }
#endif
    r->window[r->kept++] = *bytes;
    if (narrow(r, 0)) {
        begin_request(r);
    }
    return 1;
}

/* ---- What is answered ---- */

#if WG_STREAMS
/* The host that was there before is gone. */
static void forget_streams(wg_responder *r) {
    wg_sink_end(&r->sink);
    memset(&r->sink.is, 0, sizeof r->sink.is);
    memset(&r->source.is, 0, sizeof r->source.is);
    r->source.left = 0;
}

/* Carries out an order. False if it must wait: a new stream would wipe out the report that an answer is yet to tell. */
static bool obey(wg_responder *r, uint8_t kind, size_t *in_payload) {
    wg_direction *is = kind == KIND_SINK ? &r->sink.is : &r->source.is;
    const uint8_t *order = r->order;
    uint32_t transfer = wg_get32(order + 4);
    uint8_t verb = r->got < WG_ORDER ? 0 : order[0];

    if (verb == END) {
        if (kind == KIND_SINK) {
            wg_sink_end(&r->sink);
        }
        is->flows = false;
        *in_payload = WG_REPORT;
        return true;
    }
    if (verb != START || transfer == 0) {
        r->head[STATUS_AT] = UNSUPPORTED;
        return true;
    }
    if ((size_t)transfer != transfer || (r->device->max_transfer != 0 && transfer > r->device->max_transfer)) {
        r->head[STATUS_AT] = TOO_LARGE;
        return true;
    }
    if (is->known && memcmp(is->started, r->head + 4, 4) == 0) {
        return true;
    }
    if (r->waiting > 0) {
        return false;
    }
    if (kind == KIND_SINK) {
        memset(&r->sink, 0, sizeof r->sink);
    } else {
        wg_source *source = &r->source;

        memset(source, 0, sizeof *source);
        source->transfer = (size_t)transfer;
        source->rest.low = wg_get32(order + 8);
        source->rest.high = wg_get32(order + 12);
        source->limited = (source->rest.low | source->rest.high) != 0;
    }
    memcpy(is->started, r->head + 4, 4);
    is->known = true;
    is->flows = true;
    return true;
}
#endif

#if WG_MESSAGES
/* Bytes of the payload that answers the message, or 0 if there is no room for it. */
static size_t answer_message(wg_responder *r) {
    const wg_device *d = r->device;
    uint8_t *message = d->message;
    size_t bytes = r->got - CHECK;
    size_t wanted = r->wanted > RESPONSE + CHECK ? r->wanted - (RESPONSE + CHECK) : 0;
    size_t said = bytes;
    uint16_t crc;

    if (wanted > d->message_room - CHECK) {
        r->head[STATUS_AT] = TOO_LARGE;
        return 0;
    }
    if (r->again < (bytes > wanted ? bytes : wanted) + CHECK) {
        r->again = r->again_end; /* the answer needs the place of a damaged message: that costs the frames in it */
    }
    if (d->answer != NULL) {
        wanted = least(wanted, (size_t)d->answer(d->user, message, (uint32_t)bytes, (uint32_t)wanted));
    } else {
        for (; said < wanted; said++) {
            message[said] = bytes > 0 ? message[said - bytes] : 0;
        }
    }
    crc = wg_crc(0xFFFF, message, wanted);
    message[wanted] = (uint8_t)crc;
    message[wanted + 1] = (uint8_t)(crc >> 8);
    r->answers_message = true;
    return wanted + CHECK;
}
#endif

/* Carries out the request that is complete. False if it must wait. */
static bool carry_out(wg_responder *r, size_t *in_payload) {
    uint8_t kind = kind_of(r->head);

    if (kind == KIND_HELLO) {
#if WG_STREAMS
        forget_streams(r);
#endif
        *in_payload = HELLO_REPLY;
        return true;
    }
    if (kind == KIND_EXCHANGE) {
        if (r->wanted > RESPONSE) {
            *in_payload = r->wanted - RESPONSE;
        }
        return true;
    }
#if WG_STREAMS
    if (kind != KIND_MESSAGE) {
        return obey(r, kind, in_payload);
    }
#endif
#if WG_MESSAGES
    if (kind == KIND_MESSAGE && offers_messages(r)) {
        if (r->head[FLAGS_AT] == 0) {
            *in_payload = answer_message(r);
        }
        return true;
    }
#endif
    r->head[STATUS_AT] = UNSUPPORTED;
    return true;
}

/* Answers the request that is complete, unless that must wait. */
static bool answer(wg_responder *r) {
    uint8_t *head = r->head;
    size_t in_payload = 0;

    if (r->waiting == WG_WAITING) {
        return false;
    }
    if (head[STATUS_AT] == OK) {
        if (kind_of(head) == KIND_HELLO && r->got < HELLO_PAYLOAD) {
            r->state = HUNT; /* a short one could make a responder send more than it got */
            return true;
        }
        if (!carry_out(r, &in_payload)) {
            return false;
        }
    }
    if (head[STATUS_AT] != OK) {
        head[FLAGS_AT] = 0;
    }
    wg_put32(head + 8, (uint32_t)in_payload);
    wg_put_longs(head + 16, &r->ticks, 1);
    memcpy(r->heads[r->waiting++], head, RESPONSE);
    r->state = HUNT;
    return true;
}

size_t wg_take(wg_responder *r, const uint8_t *bytes, size_t n, uint64_t ticks) {
    size_t used = 0;

    for (;;) {
        if (r->state == COMPLETE && !answer(r)) {
            break;
        }
        if (r->state == HUNT && r->kept == WG_HEADER) {
            begin_request(r); /* the one that was found in the payload of the last */
            continue;
        }
#if WG_MESSAGES
        if (r->state == STORE && r->answers_message) {
            break;
        }
        if (r->again < r->again_end) {
            uint8_t byte = r->device->message[r->again++];

            if (take_some(r, &byte, 1) == 0) {
                r->again--;
            }
            continue;
        }
#endif
        if (used == n) {
            break;
        }
        if (r->device->ticks != NULL) {
            r->ticks = ticks;
        }
        used += take_some(r, bytes + used, n - used);
    }
    return used;
}

/* ---- What is sent ---- */

static void put_hello(const wg_responder *r, uint8_t *to) {
    const wg_device *d = r->device;
    const char *name = d->name;
    uint8_t at;

    to[0] = THIS_VERSION;
    to[1] = THIS_VERSION;
    to[2] = d->tick_bits;
    to[3] = d->bus;
    to[4] = (uint8_t)(1 | (WG_STREAMS ? 2 | 4 : 0) | (d->ticks != NULL ? 8 : 0) | 16 | (offers_messages(r) ? 32 : 0));
    wg_put32(to + 8, d->max_out);
    wg_put32(to + 12, d->max_in);
    to[16] = WG_WAITING;
    wg_put32(to + 24, d->tick_hz);
    for (at = 32; at < 32 + NAME && *name != '\0'; at++) {
        to[at] = (uint8_t)*name++;
    }
}

static void give_payload(wg_responder *r, size_t from, uint8_t *to, size_t n) {
    uint8_t kind = kind_of(r->heads[0]);
    uint8_t made[HELLO_REPLY];

    if (kind == KIND_EXCHANGE) {
        uint8_t phase = r->phase;

        for (; n > 0; n--) {
            *to++ = phase;
            phase = next_of(phase);
        }
        r->phase = phase;
        return;
    }
#if WG_MESSAGES
    if (kind == KIND_MESSAGE) {
        memcpy(to, r->device->message + from, n);
        return;
    }
#endif
    memset(made, 0, sizeof made);
    if (kind == KIND_HELLO) {
        put_hello(r, made);
    }
#if WG_STREAMS
    if (kind == KIND_SINK) {
        wg_put_longs(made, &r->sink.bytes, WG_REPORT / 8);
    }
    if (kind == KIND_SOURCE) {
        wg_put_longs(made, &r->source.bytes, 1);
        wg_put_longs(made + 40, &r->source.transfers, 4);
    }
#endif
    memcpy(to, made + from, n);
}

/* The first answer goes to the transport now: its time, and its check. */
static void stamp(wg_responder *r) {
    uint8_t *head = r->heads[0];
    uint64_t ticks = now(r);
    uint16_t check;

    wg_put_longs(head + 24, &ticks, 1);
    check = check_of(head, RESPONSE);
    head[2] = (uint8_t)check;
    head[3] = (uint8_t)(check >> 8);
    r->phase = phase_of(head + 4);
}

static size_t give_answer(wg_responder *r, uint8_t *to, size_t room) {
    uint8_t *head = r->heads[0];
    size_t in_payload = (size_t)wg_get32(head + 8);

    if (r->at == 0) {
        stamp(r);
    }
    if (r->at < RESPONSE) {
        room = least(room, RESPONSE - r->at);
        memcpy(to, head + r->at, room);
    } else {
        room = least(room, RESPONSE + in_payload - r->at);
        give_payload(r, r->at - RESPONSE, to, room);
    }
    r->at += room;
    if (r->at == RESPONSE + in_payload) {
#if WG_MESSAGES
        if (kind_of(head) == KIND_MESSAGE && in_payload > 0) {
            r->answers_message = false;
        }
#endif
        r->at = 0;
        r->waiting--;
        memmove(head, head + RESPONSE, sizeof r->heads - RESPONSE);
        (void)wg_take(r, head, 0, 0); /* what waited for that goes on */
    }
    return room;
}

size_t wg_give(wg_responder *r, uint8_t *to, size_t room) {
    size_t given = 0;

    while (given < room) {
        size_t left = room - given;

#if WG_STREAMS
        wg_source *source = &r->source;

        if (source->left > 0) {
            left = least(left, source->left);
            wg_source_give(source, to + given, left);
            if (source->left == 0) {
                source->last_ticks = now(r);
            }
            given += left;
            continue;
        }
#endif
        if (r->waiting > 0) {
            given += give_answer(r, to + given, left);
            continue;
        }
#if WG_STREAMS
        if (source->is.flows && wg_source_begin(source, now(r))) {
            continue;
        }
#endif
        break;
    }
    return given;
}

bool wg_owes(const wg_responder *r) {
#if WG_STREAMS
    const wg_source *s = &r->source;

    if (s->left > 0 || (s->is.flows && s->transfer > 0)) {
        return true;
    }
#endif
    return r->waiting > 0;
}

bool wg_sinks(const wg_responder *r) { return in_stream(r); }

bool wg_sources(const wg_responder *r) {
#if WG_STREAMS
    return r->source.is.flows;
#else
    (void)r;
    return false;
#endif
}

void wg_overrun(wg_responder *r, bool source) {
#if WG_STREAMS
    wg_long *count = source ? &r->source.overruns : &r->sink.overruns;

    if (source ? r->source.is.flows : r->sink.is.flows) {
        wg_add(count, 1);
    }
#else
    (void)r;
    (void)source;
#endif
}
