/* What lwIP calls for each packet (lwipopts.h). Both always return 0: go on with it. */
#ifndef WG_ARRIVALS_HOOKS_H
#define WG_ARRIVALS_HOOKS_H

struct tcp_pcb;
struct tcp_hdr;
struct pbuf;

int arrivals_tcp_segment(struct tcp_pcb *, struct tcp_hdr *, struct pbuf *);
int arrivals_ip_packet(struct pbuf *);

#endif
