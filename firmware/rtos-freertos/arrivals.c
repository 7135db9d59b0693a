/* The notes: written by lwIP's thread, read by the tasks that serve. */
#include "arrivals.h"

#include <stdbool.h>
#include <string.h>

#include "FreeRTOS.h"
#include "arrivals_hooks.h"
#include "board.h"
#include "frames.h"
#include "lwip/prot/ip4.h"
#include "lwip/prot/tcp.h"
#include "lwip/prot/udp.h"
#include "lwip/tcp.h"
#include "lwip/tcpbase.h"
#include "services.h"
#include "task.h"

/* More than a connection's mailbox holds (DEFAULT_TCP_RECVMBOX_SIZE), so that nothing unread is forgotten. */
#define SEGMENTS 32
#define DATAGRAMS 32
#define KEY_BYTES 8 /* of a datagram: magic, kind, check, sequence */

struct arrivals {
    u32_t address; /* 0: free */
    u16_t port;
    bool open;
    uint32_t age;     /* for the oldest to make room */
    u32_t position;   /* what the task has read up to, as a sequence number of TCP */
    uint32_t in, out; /* of the segments below */
    struct {
        u32_t end;
        uint64_t ticks;
    } segments[SEGMENTS];
};

static arrivals connections[MEMP_NUM_TCP_PCB];

static struct {
    u32_t address;
    u16_t port;
    bool unread;
    uint8_t key[KEY_BYTES];
    uint64_t ticks;
} datagrams[DATAGRAMS];
static uint32_t datagrams_in;

static arrivals *find(u32_t address, u16_t port) {
    for (size_t i = 0; i < MEMP_NUM_TCP_PCB; i++) {
        if (connections[i].address == address && connections[i].port == port) return &connections[i];
    }
    return NULL;
}

/* A new connection takes the place of an old one, or of the one that was longest not accepted. */
static arrivals *begin(u32_t address, u16_t port, u32_t position) {
    static uint32_t age;
    arrivals *a = find(address, port);
    for (size_t i = 0; i < MEMP_NUM_TCP_PCB && !(a && a->address == address && a->port == port); i++) {
        arrivals *other = &connections[i];
        if (!other->open && (!a || (int32_t)(other->age - a->age) < 0)) a = other;
    }
    if (!a) return NULL;
    a->address = address;
    a->port = port;
    a->age = ++age;
    a->position = position;
    a->in = a->out = 0;
    return a;
}

int arrivals_tcp_segment(struct tcp_pcb *pcb, struct tcp_hdr *header, struct pbuf *p) {
    if (pcb->local_port != PROTOCOL_PORT || pcb->state == LISTEN) return 0;
    u32_t address = ip_2_ip4(&pcb->remote_ip)->addr;
    taskENTER_CRITICAL();
    arrivals *a =
        pcb->state == SYN_RCVD ? begin(address, pcb->remote_port, pcb->rcv_nxt) : find(address, pcb->remote_port);
    u32_t end = header->seqno + p->tot_len; /* lwIP has turned the header's numbers to the host's order by now */
    if (a && p->tot_len && header->seqno == pcb->rcv_nxt) {
        a->segments[a->in % SEGMENTS].end = end;
        a->segments[a->in % SEGMENTS].ticks = frame_ticks(p);
        a->in++;
        if (a->in - a->out > SEGMENTS) a->out++;
    }
    taskEXIT_CRITICAL();
    return 0;
}

arrivals *arrivals_open(const struct sockaddr_in *host) {
    taskENTER_CRITICAL();
    arrivals *a = find(host->sin_addr.s_addr, lwip_ntohs(host->sin_port));
    if (a) a->open = true;
    taskEXIT_CRITICAL();
    return a;
}

void arrivals_close(arrivals *a) {
    if (!a) return;
    taskENTER_CRITICAL();
    a->open = false;
    taskEXIT_CRITICAL();
}

size_t arrivals_look(arrivals *a, size_t n, uint64_t *ticks) {
    *ticks = board_ticks(); /* if nothing is known: now */
    if (!a) return n;
    taskENTER_CRITICAL();
    for (; a->out != a->in; a->out++) {
        u32_t left = a->segments[a->out % SEGMENTS].end - a->position;
        if (left == 0 || left > TCP_WND) continue; /* passed already */
        *ticks = a->segments[a->out % SEGMENTS].ticks;
        if (n > left) n = left;
        break;
    }
    taskEXIT_CRITICAL();
    return n;
}

void arrivals_pass(arrivals *a, size_t n) {
    if (a) a->position += (u32_t)n; /* of no concern to lwIP's thread while the connection lives */
}

int arrivals_ip_packet(struct pbuf *p) {
    struct ip_hdr ip;
    struct udp_hdr udp;
    if (pbuf_copy_partial(p, &ip, sizeof ip, 0) != sizeof ip || IPH_PROTO(&ip) != IP_PROTO_UDP) return 0;
    u16_t at = IPH_HL_BYTES(&ip);
    if (pbuf_copy_partial(p, &udp, sizeof udp, at) != sizeof udp || udp.dest != PP_HTONS(PROTOCOL_PORT)) return 0;
    uint8_t key[KEY_BYTES] = {0};
    pbuf_copy_partial(p, key, sizeof key, (u16_t)(at + sizeof udp));
    taskENTER_CRITICAL();
    size_t i = datagrams_in++ % DATAGRAMS;
    datagrams[i].address = ip.src.addr;
    datagrams[i].port = udp.src;
    datagrams[i].unread = true;
    memcpy(datagrams[i].key, key, sizeof key);
    datagrams[i].ticks = frame_ticks(p);
    taskEXIT_CRITICAL();
    return 0;
}

uint64_t arrivals_of_datagram(const struct sockaddr_in *host, const uint8_t *datagram, size_t n) {
    uint8_t key[KEY_BYTES] = {0};
    memcpy(key, datagram, n < sizeof key ? n : sizeof key);
    uint64_t ticks = board_ticks();
    taskENTER_CRITICAL();
    /* From the oldest on: two that are alike are read in the order in which they came. */
    for (uint32_t i = datagrams_in; i != datagrams_in + DATAGRAMS; i++) {
        size_t at = i % DATAGRAMS;
        if (!datagrams[at].unread || datagrams[at].address != host->sin_addr.s_addr ||
            datagrams[at].port != host->sin_port || memcmp(datagrams[at].key, key, sizeof key) != 0) {
            continue;
        }
        datagrams[at].unread = false;
        ticks = datagrams[at].ticks;
        break;
    }
    taskEXIT_CRITICAL();
    return ticks;
}
