/* The responder as FreeRTOS tasks: the protocol on TCP and UDP port 7700, plain echo on port 7. */
#include "FreeRTOS.h"
#include "board.h"
#include "lwip/dhcp.h"
#include "lwip/tcpip.h"
#include "nic.h"
#include "services.h"
#include "task.h"

#define STARTER_STACK 256

static struct netif interface;
static TaskHandle_t starter;

static void address_came(struct netif *netif) {
    if (!ip4_addr_isany(netif_ip4_addr(netif))) xTaskNotifyGive(starter);
}

/* Below the services: each of them has begun to listen when it is this task's turn again. */
static void start(void *unused) {
    (void)unused;
    ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
    tcp_services_begin();
    udp_services_begin();
    for (;;) {
        board_say("ready ");
        board_say(ip4addr_ntoa(netif_ip4_addr(&interface)));
        board_say("\n");
        ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
    }
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
    static StaticTask_t starter_memory;
    static StackType_t starter_stack[STARTER_STACK];

    board_begin();
    starter =
        xTaskCreateStatic(start, "start", STARTER_STACK, NULL, SERVICE_PRIORITY - 1, starter_stack, &starter_memory);
    tcpip_init(network_begin, NULL);
    vTaskStartScheduler();
    board_panic("no memory for FreeRTOS");
}
