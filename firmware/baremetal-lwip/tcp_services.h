/* The protocol on one TCP port, and plain echo on another. */
#ifndef WG_TCP_SERVICES_H
#define WG_TCP_SERVICES_H

#include <stdint.h>

#define PROTOCOL_PORT 7700
#define ECHO_PORT 7 /* RFC 862 */

void tcp_services_begin(void);

#endif
