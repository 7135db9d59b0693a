/* The event loop's one turn, and the board's address. */
#include "network.h"

#include "board.h"
#include "nic.h"
#include "lwip/dhcp.h"
#include "lwip/init.h"
#include "lwip/timeouts.h"
#include "netif/ethernet.h"

static struct netif interface;
static void (*services_begin)(void);

u32_t sys_now(void) { return board_ms(); }

static void address_came(struct netif *netif) {
    if (ip4_addr_isany(netif_ip4_addr(netif))) return;
    if (services_begin) services_begin();
    services_begin = NULL;
    board_say("ready ");
    board_say(ip4addr_ntoa(netif_ip4_addr(netif)));
    board_say("\n");
}

void network_begin(void (*services)(void)) {
    services_begin = services;
    board_begin();
    lwip_init();
    if (!netif_add(&interface, NULL, NULL, NULL, NULL, nic_begin, ethernet_input)) board_panic("netif");
    netif_set_default(&interface);
    netif_set_status_callback(&interface, address_came);
    netif_set_up(&interface);
    if (dhcp_start(&interface) != ERR_OK) board_panic("dhcp");
}

void network_run(bool may_sleep) {
    nic_hand_over(&interface);
    sys_check_timeouts();
    /* An interrupt that comes between the look and the wfi still ends the wfi, being pending (ARM DDI 0403, B1.5.19);
     * at the latest the millisecond's does. */
    __asm volatile("cpsid i");
    if (may_sleep && !nic_waits()) __asm volatile("wfi");
    __asm volatile("cpsie i");
}
