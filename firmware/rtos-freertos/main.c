/* The responder as FreeRTOS tasks: the protocol on TCP and UDP port 7700, plain echo on port 7. */
#include <stdbool.h>

#include "FreeRTOS.h"
#include "board.h"
#include "lwip/dhcp.h"
#include "lwip/tcpip.h"
#include "nic.h"
#include "services.h"
#include "task.h"

static struct netif interface;

static void address_came(struct netif *netif) {
    static bool begun;
    if (ip4_addr_isany(netif_ip4_addr(netif))) return;
    if (!begun) {
        begun = true;
        tcp_services_begin();
        udp_services_begin();
    }
    board_say("ready ");
    board_say(ip4addr_ntoa(netif_ip4_addr(netif)));
    board_say("\n");
}

static void network_begin(void *unused) {
    (void)unused;
    if (!netif_add(&interface, NULL, NULL, NULL, NULL, nic_begin, tcpip_input)) board_panic("netif");
    netif_set_default(&interface);
    netif_set_status_callback(&interface, address_came);
    netif_set_up(&interface);
    if (dhcp_start(&interface) != ERR_OK) board_panic("dhcp");
}

void vApplicationIdleHook(void) { __asm volatile("wfi"); }

void vApplicationStackOverflowHook(TaskHandle_t task, char *name) {
    (void)task;
    board_panic(name);
}

int main(void) {
    board_begin();
    tcpip_init(network_begin, NULL);
    vTaskStartScheduler();
    board_panic("no memory for FreeRTOS");
}
