/* What this board says of itself in HELLO. */
#ifndef WG_DEVICE_H
#define WG_DEVICE_H

#include "wg_responder.h"

/* Where a message is kept while it is answered: one a connection. */
#define MESSAGE_ROOM 512

/* The largest datagram that is one frame: 1500 - 20 of IP - 8 of UDP. */
#define LARGEST_DATAGRAM 1472

void device_for_tcp(wg_device *, uint8_t *message, uint32_t room);
void device_for_udp(wg_device *, uint8_t *message, uint32_t room);

#endif
