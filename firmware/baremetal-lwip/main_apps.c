/* lwIP's own echo applications, unmodified, on the same board files: a partner for comparison that shares nothing with
 * our responder but the driver. */
#include "network.h"
#include "tcpecho_raw.h"
#include "udpecho_raw.h"

static void services(void) {
    tcpecho_raw_init();
    udpecho_raw_init();
}

int main(void) {
    network_begin(services);
    for (;;) network_run(true);
}
