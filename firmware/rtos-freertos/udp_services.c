/* UDP by sockets: a task for each port. */
#include <string.h>

#include "FreeRTOS.h"
#include "arrivals.h"
#include "board.h"
#include "device.h"
#include "entropy.h"
#include "lwip/sockets.h"
#include "lwip/sys.h"
#include "services.h"
#include "task.h"
#include "wg_udp.h"

static int bound_to(uint16_t port) {
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = lwip_htons(port)};
    int socket = lwip_socket(AF_INET, SOCK_DGRAM, 0);
    if (lwip_bind(socket, (struct sockaddr *)&any, sizeof any) != 0) board_panic("udp");
    return socket;
}

static void protocol(void *unused) {
    static wg_udp responder;
    static wg_device device;
    static uint8_t message[LARGEST_DATAGRAM], datagram[LARGEST_DATAGRAM], answer[LARGEST_DATAGRAM];
    (void)unused;

    uint8_t key[16];
    entropy_key(key, sizeof key);
    device_for_udp(&device, message, sizeof message);
    wg_udp_begin(&responder, &device, key);
    int socket = bound_to(PROTOCOL_PORT);
    bool flows = false;
    for (;;) {
        struct sockaddr_in host;
        socklen_t size = sizeof host;
        ssize_t came =
            lwip_recvfrom(socket, datagram, sizeof datagram, flows ? MSG_DONTWAIT : 0, (struct sockaddr *)&host, &size);
        wg_address address = {{0}};
        size_t n = 0;
        if (came >= 0) {
            memcpy(address.bytes, &host.sin_addr.s_addr, 4);
            memcpy(address.bytes + 16, &host.sin_port, 2);
            uint64_t ticks = arrivals_of_datagram(&host, datagram, (size_t)came);
            n = wg_udp_take(&responder, &address, datagram, (size_t)came, ticks, sys_now(), answer, sizeof answer);
        }
        if (n) lwip_sendto(socket, answer, n, 0, (struct sockaddr *)&host, sizeof host);

        n = wg_udp_give(&responder, &address, sys_now(), answer, sizeof answer);
        flows = n > 0;
        if (!flows) continue;
        memset(&host, 0, sizeof host);
        host.sin_family = AF_INET;
        memcpy(&host.sin_addr.s_addr, address.bytes, 4);
        memcpy(&host.sin_port, address.bytes + 16, 2);
        lwip_sendto(socket, answer, n, 0, (struct sockaddr *)&host, sizeof host);
    }
}

static void echo(void *unused) {
    static uint8_t datagram[LARGEST_DATAGRAM];
    (void)unused;
    int socket = bound_to(ECHO_PORT);
    for (;;) {
        struct sockaddr_in host;
        socklen_t size = sizeof host;
        ssize_t came = lwip_recvfrom(socket, datagram, sizeof datagram, 0, (struct sockaddr *)&host, &size);
        /* Two echo servers would answer one another for ever. */
        if (came < 0 || host.sin_port == PP_HTONS(ECHO_PORT)) continue;
        lwip_sendto(socket, datagram, (size_t)came, 0, (struct sockaddr *)&host, sizeof host);
    }
}

void udp_services_begin(void) {
    static StaticTask_t tasks[2];
    static StackType_t stacks[2][SERVICE_STACK];
    xTaskCreateStatic(protocol, "udp", SERVICE_STACK, NULL, SERVICE_PRIORITY, stacks[0], &tasks[0]);
    xTaskCreateStatic(echo, "udpecho", SERVICE_STACK, NULL, SERVICE_PRIORITY, stacks[1], &tasks[1]);
}
