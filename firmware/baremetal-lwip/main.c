/* The responder: the protocol on TCP and UDP port 7700, plain echo on port 7. */
#include "network.h"
#include "tcp_services.h"
#include "udp_services.h"

static void services(void) {
    /* UDP's key is drawn here: DHCP's answers have left their jitter by now. */
    tcp_services_begin();
    udp_services_begin();
}

int main(void) {
    network_begin(services);
    for (;;) {
        bool flows = udp_source();
        network_run(!flows);
    }
}
