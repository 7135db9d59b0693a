/* TCP by lwIP's raw API: a table of connections, all of them driven by what lwIP calls when something came or went.
 *
 *     frame -> came() -> take -> ... -> give -> outbox -> tcp_write() -> acknowledged()
 *
 * What the host sends is used up as it comes, or waits in the inbox, which has room for a whole window; what is to
 * be sent is made in the outbox and stays there, uncopied, until the host has acknowledged it. So no frame is ever
 * larger than a board's memory, and no slow host takes memory from another. */
#include "tcp_services.h"

#include <stdbool.h>
#include <string.h>

#include "board.h"
#include "device.h"
#include "nic.h"
#include "frames.h"
#include "lwip/tcp.h"
#include "wg_responder.h"

#define POLL_HALF_SECONDS 2
#define POLLS_TO_FINISH 3 /* for a host that has closed its side and takes none of its answers */

typedef struct {
    uint8_t bytes[TCP_WND];
    uint16_t first, count;
} inbox;

typedef struct {
    uint8_t bytes[TCP_SND_BUF];
    uint16_t first, count; /* not acknowledged */
    uint16_t queued;       /* of these, handed to lwIP */
} outbox;

typedef struct connection {
    struct tcp_pcb *pcb; /* NULL: free */
    const struct service *service;
    inbox in;
    uint64_t in_ticks; /* when the last byte of the inbox came */
    outbox out;
    bool host_done;
    uint8_t polls; /* since it was last heard of */
    wg_device device;
    wg_responder responder;
    uint8_t message[MESSAGE_ROOM];
} connection;

/* What a port does with the bytes. Both return how many they used or made. */
typedef struct service {
    size_t (*take)(connection *, const uint8_t *bytes, size_t n, uint64_t ticks);
    size_t (*give)(connection *, uint8_t *to, size_t room);
    bool (*endless)(const connection *); /* it makes more, however much is taken */
} service;

static connection connections[CONNECTIONS];

/* The longest run of free bytes of the outbox that is in one piece. */
static uint8_t *room_in(outbox *out, size_t *room) {
    size_t at = ((size_t)out->first + out->count) % sizeof out->bytes;
    size_t left = sizeof out->bytes - out->count;
    size_t to_end = sizeof out->bytes - at;
    *room = left < to_end ? left : to_end;
    return out->bytes + at;
}

static size_t protocol_take(connection *c, const uint8_t *bytes, size_t n, uint64_t ticks) {
    return wg_take(&c->responder, bytes, n, ticks);
}

static size_t protocol_give(connection *c, uint8_t *to, size_t room) { return wg_give(&c->responder, to, room); }

static bool protocol_endless(const connection *c) { return wg_sources(&c->responder); }

static size_t echo_take(connection *c, const uint8_t *bytes, size_t n, uint64_t ticks) {
    (void)ticks;
    size_t used = 0;
    while (used < n) {
        size_t room;
        uint8_t *to = room_in(&c->out, &room);
        if (room == 0) break;
        if (room > n - used) room = n - used;
        memcpy(to, bytes + used, room);
        c->out.count = (uint16_t)(c->out.count + room);
        used += room;
    }
    return used;
}

static size_t echo_give(connection *c, uint8_t *to, size_t room) {
    (void)c, (void)to, (void)room;
    return 0;
}

static bool echo_endless(const connection *c) {
    (void)c;
    return false;
}

static const service protocol = {protocol_take, protocol_give, protocol_endless};
static const service echo = {echo_take, echo_give, echo_endless};

/* Hands lwIP what is in the outbox. What it has no room for now is tried again when some was acknowledged, or by
 * checked_upon(). */
static void hand_to_lwip(connection *c) {
    outbox *out = &c->out;
    while (out->queued < out->count) {
        size_t at = ((size_t)out->first + out->queued) % sizeof out->bytes;
        size_t n = (size_t)(out->count - out->queued);
        if (n > sizeof out->bytes - at) n = sizeof out->bytes - at;
        if (n > tcp_sndbuf(c->pcb)) n = tcp_sndbuf(c->pcb);
        if (n == 0 || tcp_write(c->pcb, out->bytes + at, (u16_t)n, 0) != ERR_OK) return;
        out->queued = (uint16_t)(out->queued + n);
    }
}

/* Moves bytes until no more can be moved. */
static void work(connection *c) {
    size_t used, given, taken = 0;
    do {
        used = 0;
        if (c->in.count) {
            size_t to_end = sizeof c->in.bytes - c->in.first;
            size_t n = c->in.count < to_end ? c->in.count : to_end;
            used = c->service->take(c, c->in.bytes + c->in.first, n, c->in_ticks);
            c->in.first = (uint16_t)((c->in.first + used) % sizeof c->in.bytes);
            c->in.count = (uint16_t)(c->in.count - used);
            taken += used;
        }
        size_t room;
        uint8_t *to = room_in(&c->out, &room);
        given = room ? c->service->give(c, to, room) : 0;
        c->out.count = (uint16_t)(c->out.count + given);
    } while (used || given);
    hand_to_lwip(c);
    /* Behind the answer, so that it tells the host of the window as well. */
    if (taken) tcp_recved(c->pcb, (u16_t)taken);
    tcp_output(c->pcb);
}

static void forget(connection *c) {
    tcp_arg(c->pcb, NULL);
    tcp_recv(c->pcb, NULL);
    tcp_sent(c->pcb, NULL);
    tcp_err(c->pcb, NULL);
    tcp_poll(c->pcb, NULL, 0);
    c->pcb = NULL;
}

static err_t drop(connection *c) {
    struct tcp_pcb *pcb = c->pcb;
    forget(c);
    tcp_abort(pcb);
    return ERR_ABRT;
}

/* A host may close its side and still wait for answers: work() has left nothing to be made when the outbox is empty.
 * But it cannot end a source any more. */
static err_t close_when_done(connection *c) {
    if (!c->host_done) return ERR_OK;
    if (c->service->endless(c)) return drop(c);
    if (c->out.count) return ERR_OK;
    struct tcp_pcb *pcb = c->pcb;
    forget(c);
    if (tcp_close(pcb) == ERR_OK) return ERR_OK;
    tcp_abort(pcb);
    return ERR_ABRT;
}

static void keep(connection *c, const uint8_t *bytes, size_t n) {
    inbox *in = &c->in;
    while (n) {
        size_t at = ((size_t)in->first + in->count) % sizeof in->bytes;
        size_t piece = sizeof in->bytes - at;
        if (piece > n) piece = n;
        memcpy(in->bytes + at, bytes, piece);
        in->count = (uint16_t)(in->count + piece);
        bytes += piece;
        n -= piece;
    }
}

/* Something came, or (p is NULL) the host has closed its side. */
static err_t came(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err) {
    connection *c = arg;
    (void)err;
    if (!p) {
        c->host_done = true;
        work(c);
        return close_when_done(c);
    }
    /* lwIP takes no more than the window, which the inbox has room for. */
    LWIP_ASSERT("inbox", p->tot_len <= sizeof c->in.bytes - c->in.count);
    size_t taken = 0;
    uint64_t ticks = nic_ticks();
    for (struct pbuf *q = p; q; q = q->next) {
        size_t used = c->in.count ? 0 : c->service->take(c, q->payload, q->len, ticks);
        keep(c, (const uint8_t *)q->payload + used, q->len - used);
        taken += used;
    }
    c->in_ticks = ticks;
    pbuf_free(p);
    work(c);
    if (taken) tcp_recved(pcb, (u16_t)taken);
    return ERR_OK;
}

static err_t acknowledged(void *arg, struct tcp_pcb *pcb, u16_t n) {
    connection *c = arg;
    (void)pcb;
    c->polls = 0;
    c->out.first = (uint16_t)((c->out.first + n) % sizeof c->out.bytes);
    c->out.count = (uint16_t)(c->out.count - n);
    c->out.queued = (uint16_t)(c->out.queued - n);
    work(c);
    return close_when_done(c);
}

static err_t checked_upon(void *arg, struct tcp_pcb *pcb) {
    connection *c = arg;
    (void)pcb;
    work(c);
    if (c->host_done && ++c->polls > POLLS_TO_FINISH) return drop(c);
    return close_when_done(c);
}

/* lwIP has given the connection up, or the host has: its pcb is gone already. */
static void broke(void *arg, err_t err) {
    (void)err;
    ((connection *)arg)->pcb = NULL;
}

static err_t accepted(void *arg, struct tcp_pcb *pcb, err_t err) {
    if (err != ERR_OK || !pcb) return ERR_VAL;
    connection *c = NULL;
    for (int i = 0; i < CONNECTIONS && !c; i++) {
        if (!connections[i].pcb) c = &connections[i];
    }
    if (!c) return ERR_MEM; /* lwIP resets it */
    c->pcb = pcb;
    c->service = arg;
    c->in.first = c->in.count = 0;
    c->out.first = c->out.count = c->out.queued = 0;
    c->host_done = false;
    c->polls = 0;
    device_for_tcp(&c->device, c->message, sizeof c->message);
    wg_begin(&c->responder, &c->device);

    tcp_nagle_disable(pcb);
    /* A host that vanished without a word holds one of few connections. */
    ip_set_option(pcb, SOF_KEEPALIVE);
    pcb->keep_idle = 10000;
    pcb->keep_intvl = 2000;
    pcb->keep_cnt = 4;
    tcp_arg(pcb, c);
    tcp_recv(pcb, came);
    tcp_sent(pcb, acknowledged);
    tcp_err(pcb, broke);
    tcp_poll(pcb, checked_upon, POLL_HALF_SECONDS);
    return ERR_OK;
}

static void listen_on(u16_t port, const service *s) {
    struct tcp_pcb *pcb = tcp_new();
    if (!pcb || tcp_bind(pcb, IP_ADDR_ANY, port) != ERR_OK || !(pcb = tcp_listen(pcb))) board_panic("tcp");
    tcp_arg(pcb, (void *)(uintptr_t)s);
    tcp_accept(pcb, accepted);
}

void tcp_services_begin(void) {
    listen_on(PROTOCOL_PORT, &protocol);
    listen_on(ECHO_PORT, &echo);
}
