/* The Ethernet controller of the LM3S6965 as an interface of lwIP. */
#ifndef WG_NIC_H
#define WG_NIC_H

#include <stdbool.h>

#include "lwip/netif.h"

err_t nic_begin(struct netif *); /* for netif_add() */

/* Hands the frames that came to lwIP, and so to whoever listens. */
void nic_hand_over(struct netif *);

/* With interrupts off: is there something to hand over? */
bool nic_waits(void);

/* The clock when the frame arrived that lwIP is looking at: valid in what it calls from nic_hand_over(). */
uint64_t nic_ticks(void);

#endif
