/* lwIP and its one interface, as both binaries use them: ours, and lwIP's own echo applications. */
#ifndef WG_NETWORK_H
#define WG_NETWORK_H

#include <stdbool.h>

/* Starts the board and lwIP, and asks for an address by DHCP. `services` is called once, when it has come. */
void network_begin(void (*services)(void));

/* Hands over what came, and does what is due. Sleeps until there is more, if `may_sleep`. */
void network_run(bool may_sleep);

#endif
