/* UDP by lwIP's raw API: a datagram is answered in the call that brings it. */
#include "udp_services.h"

#include <string.h>

#include "board.h"
#include "device.h"
#include "entropy.h"
#include "nic.h"
#include "lwip/udp.h"
#include "tcp_services.h"
#include "wg_udp.h"

static wg_udp responder;
static wg_device device;
static struct udp_pcb *protocol_pcb;
static uint8_t message[LARGEST_DATAGRAM];
static uint8_t answer[LARGEST_DATAGRAM];

static void send(const ip_addr_t *to, u16_t port, size_t n) {
    /* The driver copies it before this returns; if lwIP must wait for ARP, lwIP copies it (pbuf.h, PBUF_REF). */
    struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, (u16_t)n, PBUF_REF);
    if (!p) return; /* lost, as datagrams may be */
    p->payload = answer;
    udp_sendto(protocol_pcb, p, to, port);
    pbuf_free(p);
}

static void protocol_came(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from, u16_t port) {
    (void)arg, (void)pcb;
    wg_address address = {{0}};
    memcpy(address.bytes, &ip_2_ip4(from)->addr, 4);
    memcpy(address.bytes + 16, &port, 2);
    size_t n = 0;
    if (!p->next) { /* it is one frame */
        n = wg_udp_take(&responder, &address, p->payload, p->len, nic_ticks(), board_ms(), answer, sizeof answer);
    }
    if (n) send(from, port, n);
    pbuf_free(p);
}

bool udp_source(void) {
    if (!protocol_pcb) return false; /* there is no network yet */
    wg_address address;
    size_t n = wg_udp_give(&responder, &address, board_ms(), answer, sizeof answer);
    if (!n) return false;
    ip_addr_t to;
    u16_t port;
    memcpy(&ip_2_ip4(&to)->addr, address.bytes, 4);
    memcpy(&port, address.bytes + 16, 2);
    send(&to, port, n);
    return true;
}

static void echo_came(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from, u16_t port) {
    (void)arg;
    /* Two echo servers would answer one another for ever. */
    if (port != ECHO_PORT) udp_sendto(pcb, p, from, port);
    pbuf_free(p);
}

static struct udp_pcb *listen_on(u16_t port, udp_recv_fn came) {
    struct udp_pcb *pcb = udp_new();
    if (!pcb || udp_bind(pcb, IP_ADDR_ANY, port) != ERR_OK) board_panic("udp");
    udp_recv(pcb, came, NULL);
    return pcb;
}

void udp_services_begin(void) {
    uint8_t key[16];
    entropy_key(key, sizeof key);
    device_for_udp(&device, message, sizeof message);
    wg_udp_begin(&responder, &device, key);
    protocol_pcb = listen_on(PROTOCOL_PORT, protocol_came);
    listen_on(ECHO_PORT, echo_came);
}
