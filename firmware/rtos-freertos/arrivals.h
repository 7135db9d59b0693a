/* When the bytes that a socket gives had arrived. Sockets do not tell: so lwIP's hooks note for each segment of TCP
 * where in its stream it ends, and for each datagram whose it is, together with the clock that the Ethernet interrupt
 * read; a task that has received something asks here. */
#ifndef WG_ARRIVALS_H
#define WG_ARRIVALS_H

#include <stddef.h>
#include <stdint.h>

#include "lwip/sockets.h"

/* One connection's notes. */
typedef struct arrivals arrivals;

/* Those of the host at the other end; from then on they are kept until arrivals_close(). NULL if it is unknown. */
arrivals *arrivals_open(const struct sockaddr_in *host);
void arrivals_close(arrivals *);

/* How many of the next `n` bytes of the stream came together, and when. */
size_t arrivals_look(arrivals *, size_t n, uint64_t *ticks);

/* They were used up. */
void arrivals_pass(arrivals *, size_t n);

/* When this datagram came. */
uint64_t arrivals_of_datagram(const struct sockaddr_in *host, const uint8_t *datagram, size_t n);

#endif
