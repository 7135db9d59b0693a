/* The protocol on one port and plain echo on another, by TCP and by UDP. */
#ifndef WG_SERVICES_H
#define WG_SERVICES_H

#define PROTOCOL_PORT 7700
#define ECHO_PORT 7 /* RFC 862 */

/* lwIP's thread is above these, so that what came is looked at before anything more is made. */
#define SERVICE_PRIORITY 2
#define SERVICE_STACK 768 /* words */

/* Each starts its tasks; once, when the board has an address. */
void tcp_services_begin(void);
void udp_services_begin(void);

#endif
