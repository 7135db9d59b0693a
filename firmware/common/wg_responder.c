/* What a responder makes of the bytes that come, and what it answers. No frame is kept: a payload is compared while it
 * comes and made while it is sent, and all that is remembered of what came is a window of one header. */
#include "wg_responder.h"

#include <string.h>

/* The numbers of docs/protocol.md. */
enum { KIND_HELLO, KIND_EXCHANGE, KIND_SINK, KIND_SOURCE, KIND_MESSAGE, KINDS };
enum { OK, VERSION, TOO_LARGE, UNSUPPORTED, UNPROVEN };
enum { START = 1, END = 2 };
enum {
    REQUEST_MAGIC = 0xA7,
    RESPONSE_MAGIC = 0x7A,
    THIS_VERSION = 1,
    OUT_CORRUPTED = 1,
    PERIOD = 251,
    RESPONSE = 32,      /* header of a response */
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
    SKIP,    /* payload whose end is certain */
    COMPLETE /* the request is whole, and waits to be answered */
};

static size_t least(size_t room, uint32_t bytes)
{
    return bytes < room ? (size_t)bytes : room;
}

uint32_t wg_get32(const uint8_t *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

void wg_put32(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
    to[2] = (uint8_t)(value >> 16);
    to[3] = (uint8_t)(value >> 24);
}

static void put64(uint8_t *to, uint64_t value)
{
    wg_put32(to, (uint32_t)value);
    wg_put32(to + 4, (uint32_t)(value >> 32));
}

uint16_t wg_crc(uint16_t crc, const uint8_t *bytes, size_t n)
{
    for (; n > 0; n--) {
        uint8_t x = (uint8_t)((crc >> 8) ^ *bytes++);

        x ^= (uint8_t)(x >> 4);
        crc = (uint16_t)((uint16_t)(crc << 8) ^ (uint16_t)((uint16_t)x << 12) ^ (uint16_t)((uint16_t)x << 5) ^ x);
    }
    return crc;
}

/* Of a header, its check field taken as zero. */
static uint16_t check_of(const uint8_t *header, uint8_t size)
{
    static const uint8_t zeros[2];
    uint16_t crc = wg_crc(0xFFFF, header, 2);

    return wg_crc(wg_crc(crc, zeros, 2), header + 4, size - 4u);
}

static bool is_first_two(uint8_t magic, uint8_t version_kind)
{
    return magic == REQUEST_MAGIC && (uint8_t)(version_kind - (THIS_VERSION << 4)) < KINDS;
}

bool wg_is_sealed(const uint8_t *h)
{
    return h[0] == REQUEST_MAGIC && check_of(h, WG_HEADER) == (uint16_t)(h[2] | h[3] << 8);
}

bool wg_is_header(const uint8_t *h)
{
    return is_first_two(h[0], h[1]) && wg_is_sealed(h) && wg_get32(h + 8) <= MAX_FRAME - WG_HEADER;
}

/* The sequence number modulo 251, without a division: 256 is 5 there, 65,536 is 25, and 2^24 is 125. */
static uint8_t phase_of(uint32_t sequence)
{
    uint16_t sum = (uint16_t)((uint8_t)sequence + 5u * (uint8_t)(sequence >> 8) + 25u * (uint8_t)(sequence >> 16) +
                              125u * (uint8_t)(sequence >> 24));

    while (sum > 255) {
        sum = (uint16_t)((uint8_t)sum + 5u * (sum >> 8));
    }
    return (uint8_t)(sum >= PERIOD ? sum - PERIOD : sum);
}

static uint64_t now(const wg_responder *r)
{
    return r->device->ticks != NULL ? r->device->ticks() : 0;
}

static bool offers_messages(const wg_responder *r)
{
#if WG_MESSAGES
    return r->device->message != NULL;
#else
    (void)r;
    return false;
#endif
}

static bool in_stream(const wg_responder *r)
{
#if WG_STREAMS
    return r->sink.is.flows;
#else
    (void)r;
    return false;
#endif
}

/* True where the end of a payload is certain: a datagram is a frame or none, and within a stream nothing is searched. */
static bool is_certain(const wg_responder *r)
{
    return r->whole || in_stream(r);
}

void wg_begin(wg_responder *r, const wg_device *device)
{
    memset(r, 0, sizeof *r);
    r->device = device;
}

/* ---- What comes ---- */

static bool is_too_large(const wg_responder *r, uint8_t kind, uint32_t payload)
{
    return payload + WG_HEADER > r->device->max_out ||
           (kind == KIND_MESSAGE && offers_messages(r) && payload > r->device->message_room);
}

/* Drops what cannot begin a header from the front of the window, `at` bytes in any case. True if it is one. */
static bool narrow(wg_responder *r, uint8_t at)
{
    const uint8_t *w = r->window;

    if (r->kept == WG_HEADER) {
        /* In a payload, a header that announces too much is no plausible one. */
        if (wg_is_header(w) && (r->state == HUNT || !is_too_large(r, w[1] & 0x0F, wg_get32(w + 8)))) {
            return true;
        }
        at = 1;
    }
    while (at < r->kept && !(at + 1 == r->kept ? w[at] == REQUEST_MAGIC : is_first_two(w[at], w[at + 1]))) {
        at++;
    }
    r->kept = (uint8_t)(r->kept - at);
    memmove(r->window, r->window + at, r->kept);
    return false;
}

/* The message is whole: was it right? If not, the next header may stand in it (Resynchronisation, 6). */
static void check_message(wg_responder *r)
{
#if WG_MESSAGES
    uint8_t *message = r->device->message;

    r->state = COMPLETE;
    if (r->got >= CHECK && (uint16_t)(message[r->got - 2] | message[r->got - 1] << 8) == r->crc) {
        return;
    }
    r->flags = OUT_CORRUPTED;
    if (is_certain(r) || r->got == 0) {
        return;
    }
    /* In front of what is left of one that it stood in. */
    if (r->again == r->again_end) {
        r->again_end = r->got;
        r->again = r->got;
    }
    r->again -= r->got;
    memmove(message + r->again, message, r->got);
#else
    (void)r;
#endif
}

/* So many bytes of the payload came. */
static bool is_whole_with(wg_responder *r, size_t n)
{
    r->got += (uint32_t)n;
    r->left -= (uint32_t)n;
    return r->left == 0;
}

/* A request, whose header is in the window. */
static void begin_request(wg_responder *r)
{
    const uint8_t *h = r->window;

    r->kept = 0;
    r->beyond = 0;
    r->kind = h[1] & 0x0F;
    r->sequence = wg_get32(h + 4);
    r->left = wg_get32(h + 8);
    r->in_bytes = wg_get32(h + 12);
    r->got = 0;
    r->flags = 0;
    r->status = OK;
    r->last_is_right = false;
    r->expected = phase_of(r->sequence);
    r->state = is_certain(r) ? SKIP : SEARCH;
    if (is_too_large(r, r->kind, r->left)) {
        r->status = TOO_LARGE;
        if (!is_certain(r)) {
            r->left = 0; /* the payload is skipped as noise */
        }
    } else if (r->kind == KIND_EXCHANGE) {
        r->state = PATTERN;
    } else if (r->kind == KIND_MESSAGE && offers_messages(r)) {
#if WG_MESSAGES
        r->crc = 0xFFFF;
        r->state = STORE;
        if (r->left == 0) {
            check_message(r);
        }
#endif
    } else if (r->kind != KIND_HELLO && in_stream(r) && !r->whole && r->left < WG_ORDER) {
        r->state = HUNT; /* no order: the stream goes on behind the header */
        return;
    }
    if (r->left == 0) {
        r->state = COMPLETE;
    }
}

static size_t take_pattern(wg_responder *r, const uint8_t *bytes, size_t n)
{
    uint8_t expected = r->expected;
    size_t at = 0;

    n = least(n, r->left);
    while (at < n && bytes[at] == expected) {
        at++;
        if (++expected == PERIOD) {
            expected = 0;
        }
    }
    r->expected = expected;
    if (is_whole_with(r, at)) {
        r->state = COMPLETE;
    } else if (at < n) {
        r->flags = OUT_CORRUPTED;
        r->state = SKIP;
        if (!is_certain(r)) {
            r->state = SEARCH;
            /* From the byte before the wrong one on: the first of a header may have agreed. */
            if (r->got > 0 && expected == REQUEST_MAGIC + 1) {
                r->window[r->kept++] = REQUEST_MAGIC;
            }
        }
    }
    return at;
}

/* The payload has ended, and a header may have begun in its last bytes: the frame's end is open until it is known. */
static void settle_end(wg_responder *r)
{
    if (r->kind != KIND_EXCHANGE) {
        /* Where nothing tells a header from a payload that ends like one, only those wholly within it count. */
        r->kept = 0;
    }
    if (r->kept == r->beyond + 1 && r->last_is_right) {
        (void)narrow(r, 1); /* the last byte is the payload's own */
    }
    if (r->kept <= r->beyond) {
        r->state = COMPLETE;
    }
}

static void search(wg_responder *r, uint8_t byte)
{
    r->window[r->kept++] = byte;
    if (r->left > 0) {
#if WG_STREAMS
        if (r->got < WG_ORDER) {
            r->order[r->got] = byte;
        }
#endif
        r->got++;
        r->left--;
        r->last_is_right = byte == r->expected;
        if (++r->expected == PERIOD) {
            r->expected = 0;
        }
    } else {
        r->beyond++;
    }
    if (narrow(r, 0)) {
        /* The frame ends where the next begins. */
        r->got -= (uint32_t)(WG_HEADER - r->beyond);
        r->state = COMPLETE;
    } else if (r->left == 0) {
        settle_end(r);
    }
}

static size_t skip(wg_responder *r, const uint8_t *bytes, size_t n)
{
    n = least(n, r->left);
#if WG_STREAMS
    if (r->got == 0 && (r->kind == KIND_SINK || r->kind == KIND_SOURCE) && !r->whole && *bytes != START &&
        *bytes != END) {
        r->state = HUNT; /* bytes of the order were lost: the stream goes on in its place */
        return 0;
    }
    if (r->got < WG_ORDER) {
        n = least(n, WG_ORDER - r->got);
        memcpy(r->order + r->got, bytes, n);
    }
#endif
    if (is_whole_with(r, n)) {
        r->state = COMPLETE;
    }
    return n;
}

#if WG_MESSAGES
static size_t store(wg_responder *r, const uint8_t *bytes, size_t n)
{
    uint8_t *to = r->device->message + r->got;

    n = least(n, r->left);
    memmove(to, bytes, n);
    if (r->left > CHECK) {
        r->crc = wg_crc(r->crc, to, least(n, r->left - CHECK));
    }
    if (is_whole_with(r, n)) {
        check_message(r);
    }
    return n;
}
#endif

/* Takes some of the bytes, at least one unless the state changes. */
static size_t take_some(wg_responder *r, const uint8_t *bytes, size_t n)
{
    switch (r->state) {
    case PATTERN:
        return take_pattern(r, bytes, n);
    case SEARCH:
        search(r, *bytes);
        return 1;
#if WG_MESSAGES
    case STORE:
        return store(r, bytes, n);
#endif
    case SKIP:
        return skip(r, bytes, n);
    default:
        break;
    }
#if WG_STREAMS
    if (in_stream(r)) {
        bool found;

        n = wg_sink_take(&r->sink, bytes, n, r->ticks, r->window, &found);
        if (found) {
            begin_request(r);
        }
        return n;
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
/* What has been heard of the host that was there before is over. */
static void forget_streams(wg_responder *r)
{
    if (r->sink.is.flows) {
        wg_sink_end(&r->sink);
    }
    r->sink.is.flows = false;
    r->sink.is.known = false;
    r->source.is.flows = false;
    r->source.is.known = false;
    r->source.left = 0;
}

/* Carries out an order. False if it must wait: a new stream would wipe out the report that an answer is yet to tell. */
static bool obey(wg_responder *r, uint32_t *in_payload)
{
    wg_direction *is = r->kind == KIND_SINK ? &r->sink.is : &r->source.is;
    uint32_t transfer = wg_get32(r->order + 4);
    uint64_t stop_after;

    if (r->got >= WG_ORDER && r->order[0] == END) {
        if (is->flows && r->kind == KIND_SINK) {
            wg_sink_end(&r->sink);
        }
        is->flows = false;
        *in_payload = WG_REPORT;
        return true;
    }
    if (r->got < WG_ORDER || r->order[0] != START || transfer == 0) {
        r->status = UNSUPPORTED;
        return true;
    }
    if (r->device->max_transfer != 0 && transfer > r->device->max_transfer) {
        r->status = TOO_LARGE;
        return true;
    }
    if (is->known && is->started == r->sequence) {
        return true;
    }
    if (r->waiting > 0) {
        return false;
    }
    if (r->kind == KIND_SINK) {
        memset(&r->sink, 0, sizeof r->sink);
    } else {
        memset(&r->source, 0, sizeof r->source);
        r->source.transfer = transfer;
        stop_after = wg_get32(r->order + 8) | (uint64_t)wg_get32(r->order + 12) << 32;
        r->source.rest = stop_after != 0 ? stop_after : UINT64_MAX;
    }
    is->started = r->sequence;
    is->known = true;
    is->flows = true;
    return true;
}
#endif

#if WG_MESSAGES
/* Bytes of the payload that answers the message. */
static uint32_t answer_message(wg_responder *r)
{
    const wg_device *d = r->device;
    uint8_t *message = d->message;
    uint32_t bytes = r->got - CHECK;
    uint32_t wanted = r->in_bytes > RESPONSE + CHECK ? r->in_bytes - (RESPONSE + CHECK) : 0;
    uint32_t most = bytes > wanted ? bytes : wanted;
    uint32_t said;
    uint16_t crc;

    if (r->again < most + CHECK) {
        r->again = r->again_end; /* the answer needs the place of a damaged message: that costs the frames in it */
    }
    if (d->answer != NULL) {
        said = d->answer(d->user, message, bytes, wanted);
        if (said < wanted) {
            wanted = said;
        }
    } else {
        for (said = bytes; said < wanted; said++) {
            message[said] = bytes > 0 ? message[said - bytes] : 0;
        }
    }
    crc = wg_crc(0xFFFF, message, (size_t)wanted);
    message[wanted] = (uint8_t)crc;
    message[wanted + 1] = (uint8_t)(crc >> 8);
    r->answers_message = true;
    return wanted + CHECK;
}
#endif

/* Answers the request that is complete, unless that must wait. */
static bool answer(wg_responder *r)
{
    uint32_t in_payload = 0;
    uint8_t last;
    wg_answer *a;

    if (r->waiting == WG_WAITING) {
        return false;
    }
    if (r->status == OK) {
        switch (r->kind) {
        case KIND_HELLO:
            if (r->got < HELLO_PAYLOAD) {
                r->state = HUNT; /* a short one could make a responder send more than it got */
                return true;
            }
#if WG_STREAMS
            forget_streams(r);
#endif
            in_payload = HELLO_REPLY;
            break;
        case KIND_EXCHANGE:
            if (r->in_bytes > r->device->max_in) {
                r->status = TOO_LARGE;
            } else if (r->in_bytes > RESPONSE) {
                in_payload = r->in_bytes - RESPONSE;
            }
            break;
#if WG_STREAMS
        case KIND_SINK:
        case KIND_SOURCE:
            if (!obey(r, &in_payload)) {
                return false;
            }
            break;
#endif
#if WG_MESSAGES
        case KIND_MESSAGE:
            if (!offers_messages(r)) {
                r->status = UNSUPPORTED;
            } else if (r->in_bytes > r->device->max_in ||
                       (r->in_bytes > RESPONSE && r->in_bytes - RESPONSE > r->device->message_room)) {
                r->status = TOO_LARGE;
            } else if (r->flags == 0) {
                in_payload = answer_message(r);
            }
            break;
#endif
        default:
            r->status = UNSUPPORTED;
        }
    }
    last = (uint8_t)(r->first + r->waiting >= WG_WAITING ? r->first + r->waiting - WG_WAITING : r->first + r->waiting);
    a = &r->answers[last];
    a->rx_ticks = r->ticks;
    a->sequence = r->sequence;
    a->in_payload = in_payload;
    a->kind = r->kind;
    a->status = r->status;
    a->flags = r->status == OK ? r->flags : 0;
    r->waiting++;
    r->state = HUNT;
    return true;
}

size_t wg_take(wg_responder *r, const uint8_t *bytes, size_t n, uint64_t ticks)
{
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
        r->ticks = r->device->ticks != NULL ? ticks : 0;
        used += take_some(r, bytes + used, n - used);
    }
    return used;
}

/* ---- What is sent ---- */

static void make_header(wg_responder *r, const wg_answer *a)
{
    uint8_t *h = r->head;
    uint16_t check;

    h[0] = RESPONSE_MAGIC;
    h[1] = (uint8_t)(THIS_VERSION << 4 | a->kind);
    wg_put32(h + 4, a->sequence);
    wg_put32(h + 8, a->in_payload);
    wg_put32(h + 12, a->status | (uint32_t)a->flags << 16);
    put64(h + 16, a->rx_ticks);
    put64(h + 24, now(r));
    check = check_of(h, RESPONSE);
    h[2] = (uint8_t)check;
    h[3] = (uint8_t)(check >> 8);
    r->phase = phase_of(a->sequence);
}

static void put_hello(const wg_responder *r, uint8_t *to)
{
    const wg_device *d = r->device;
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
    for (at = 0; at < NAME && d->name[at] != '\0'; at++) {
        to[32 + at] = (uint8_t)d->name[at];
    }
}

#if WG_STREAMS
static void put_report(const wg_responder *r, uint8_t kind, uint8_t *to)
{
    const wg_source *s = &r->source;

    if (kind == KIND_SINK) {
        const uint64_t *field = &r->sink.report.bytes;
        uint8_t at;

        for (at = 0; at < WG_REPORT; at += 8) {
            put64(to + at, *field++);
        }
        return;
    }
    put64(to, s->bytes);
    put64(to + 40, s->transfers);
    put64(to + 48, s->overruns);
    put64(to + 56, s->first_ticks);
    put64(to + 64, s->last_ticks);
}
#endif

static void give_payload(wg_responder *r, const wg_answer *a, uint32_t from, uint8_t *to, size_t n)
{
    uint8_t made[HELLO_REPLY];

    if (a->kind == KIND_EXCHANGE) {
        uint8_t phase = r->phase;

        for (; n > 0; n--) {
            *to++ = phase;
            if (++phase == PERIOD) {
                phase = 0;
            }
        }
        r->phase = phase;
        return;
    }
#if WG_MESSAGES
    if (a->kind == KIND_MESSAGE) {
        memcpy(to, r->device->message + from, n);
        return;
    }
#endif
    memset(made, 0, sizeof made);
#if WG_STREAMS
    if (a->kind != KIND_HELLO) {
        put_report(r, a->kind, made);
    } else
#endif
    {
        put_hello(r, made);
    }
    memcpy(to, made + from, n);
}

static size_t give_answer(wg_responder *r, uint8_t *to, size_t room)
{
    const wg_answer *a = &r->answers[r->first];
    size_t given;

    if (r->at == 0) {
        make_header(r, a);
    }
    if (r->at < RESPONSE) {
        given = least(room, RESPONSE - r->at);
        memcpy(to, r->head + r->at, given);
    } else {
        given = least(room, RESPONSE + a->in_payload - r->at);
        give_payload(r, a, r->at - RESPONSE, to, given);
    }
    r->at += (uint32_t)given;
    if (r->at == RESPONSE + a->in_payload) {
#if WG_MESSAGES
        if (a->kind == KIND_MESSAGE && a->in_payload > 0) {
            r->answers_message = false;
        }
#endif
        r->at = 0;
        r->waiting--;
        if (++r->first == WG_WAITING) {
            r->first = 0;
        }
        (void)wg_take(r, NULL, 0, 0); /* what waited for that goes on */
    }
    return given;
}

size_t wg_give(wg_responder *r, uint8_t *to, size_t room)
{
    size_t given = 0;

    while (given < room) {
#if WG_STREAMS
        wg_source *source = &r->source;

        if (source->left > 0) {
            size_t n = least(room - given, source->left);

            if (wg_source_give(source, to + given, n)) {
                source->last_ticks = now(r);
            }
            given += n;
            continue;
        }
#endif
        if (r->waiting > 0) {
            given += give_answer(r, to + given, room - given);
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

bool wg_owes(const wg_responder *r)
{
#if WG_STREAMS
    if (r->source.left > 0 || (r->source.is.flows && r->source.rest > 0)) {
        return true;
    }
#endif
    return r->waiting > 0;
}

bool wg_sinks(const wg_responder *r)
{
    return in_stream(r);
}

bool wg_sources(const wg_responder *r)
{
#if WG_STREAMS
    return r->source.is.flows;
#else
    (void)r;
    return false;
#endif
}

void wg_overrun(wg_responder *r, bool source)
{
#if WG_STREAMS
    if (source) {
        r->source.overruns++;
    } else {
        r->sink.report.overruns++;
    }
#else
    (void)r;
    (void)source;
#endif
}
