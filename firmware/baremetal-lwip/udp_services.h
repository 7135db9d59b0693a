/* The protocol on one UDP port, and plain echo on another. */
#ifndef WG_UDP_SERVICES_H
#define WG_UDP_SERVICES_H

#include <stdbool.h>

void udp_services_begin(void);

/* Sends the next datagram of a source; false if none flows. */
bool udp_source(void);

#endif
