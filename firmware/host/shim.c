/* Puts firmware/common into boxes that Rust can hold without knowing the structures. Only for tests on a computer,
 * which is why it may ask for memory. */
#include "wg_responder.h"
#include "wg_udp.h"

#include <stdlib.h>
#include <string.h>

uint64_t shim_ticks(void);

typedef struct {
    wg_responder responder;
    wg_udp udp;
    wg_sink sink;
    wg_device device;
    char name[64];
} shim;

/* Answers backwards, as far as is wanted. */
static uint32_t backwards(void *user, uint8_t *message, uint32_t bytes, uint32_t wanted) {
    uint32_t at;

    (void)user;
    for (at = 0; at < bytes / 2; at++) {
        uint8_t byte = message[at];

        message[at] = message[bytes - 1 - at];
        message[bytes - 1 - at] = byte;
    }
    return bytes < wanted ? bytes : wanted;
}

shim *shim_new(const char *name, uint32_t max_out, uint32_t max_in, uint32_t max_transfer, uint32_t message_room,
               bool clock, bool application, const uint8_t key[16]) {
    shim *s = calloc(1, sizeof *s);

    if (s == NULL) {
        abort();
    }
    strncpy(s->name, name, sizeof s->name - 1);
    s->device.name = s->name;
    s->device.max_out = max_out;
    s->device.max_in = max_in;
    s->device.max_transfer = max_transfer;
    s->device.bus = WG_BUS_FULL;
    if (clock) {
        s->device.tick_hz = 1000000000;
        s->device.tick_bits = 64;
        s->device.ticks = shim_ticks;
    }
    if (message_room > 0) {
        /* To the byte, so that a sanitizer sees what is written behind it. */
        s->device.message = malloc(message_room);
        s->device.message_room = message_room;
    }
    s->device.answer = application ? backwards : NULL;
    wg_begin(&s->responder, &s->device);
    wg_udp_begin(&s->udp, &s->device, key);
    return s;
}

void shim_free(shim *s) {
    free(s->device.message);
    free(s);
}

/* How many answers may wait, and how many addresses are remembered. */
uint32_t shim_waiting(void) { return WG_WAITING; }

uint32_t shim_peers(void) { return WG_PEERS; }

void shim_begin(shim *s) { wg_begin(&s->responder, &s->device); }

size_t shim_take(shim *s, const uint8_t *bytes, size_t n, uint64_t ticks) {
    return wg_take(&s->responder, bytes, n, ticks);
}

size_t shim_give(shim *s, uint8_t *to, size_t room) { return wg_give(&s->responder, to, room); }

bool shim_owes(const shim *s) { return wg_owes(&s->responder); }

bool shim_sinks(const shim *s) { return wg_sinks(&s->responder); }

bool shim_sources(const shim *s) { return wg_sources(&s->responder); }

void shim_overrun(shim *s, bool source) { wg_overrun(&s->responder, source); }

size_t shim_udp_take(shim *s, const uint8_t address[18], const uint8_t *datagram, size_t n, uint64_t ticks,
                     uint32_t now_ms, uint8_t *to, size_t room) {
    wg_address from;

    memcpy(from.bytes, address, sizeof from.bytes);
    return wg_udp_take(&s->udp, &from, datagram, n, ticks, now_ms, to, room);
}

size_t shim_udp_give(shim *s, uint8_t address[18], uint32_t now_ms, uint8_t *to, size_t room) {
    wg_address whom;
    size_t n = wg_udp_give(&s->udp, &whom, now_ms, to, room);

    if (n > 0) {
        memcpy(address, whom.bytes, sizeof whom.bytes);
    }
    return n;
}

/* The judge of streams by itself. Returns the bytes used; `*found` if a header ended there. */
size_t shim_sink_take(shim *s, const uint8_t *bytes, size_t n, uint8_t *header, bool *found) {
    return wg_sink_take(&s->sink, bytes, n, 0, header, found);
}

static uint64_t value(const wg_long *count) { return count->low | (uint64_t)count->high << 32; }

void shim_sink_end(shim *s, uint64_t counts[5]) {
    wg_sink_end(&s->sink);
    counts[0] = value(&s->sink.bytes);
    counts[1] = value(&s->sink.lost);
    counts[2] = value(&s->sink.duplicated);
    counts[3] = value(&s->sink.corrupted);
    counts[4] = value(&s->sink.stray);
}

uint16_t shim_crc(const uint8_t *bytes, size_t n) { return wg_crc(0xFFFF, bytes, n); }

bool shim_is_header(const uint8_t *header) { return wg_is_header(header); }

uint64_t shim_siphash(const uint8_t key[16], const uint8_t *bytes, uint8_t n) { return wg_siphash(key, bytes, n); }
