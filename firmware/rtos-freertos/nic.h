/* The LAN9118 of the MPS2 board as an interface of lwIP. */
#ifndef WG_NIC_H
#define WG_NIC_H

#include "lwip/netif.h"

err_t nic_begin(struct netif *); /* for netif_add(); starts the task that receives */

#endif
