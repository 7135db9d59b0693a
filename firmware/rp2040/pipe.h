/* A pair of bulk endpoints, IN and OUT, with two buffers each, between the USB controller and a function. */
#ifndef PIPE_H
#define PIPE_H

#include <stdbool.h>
#include <stdint.h>

#define PACKET 64u /* full speed allows no more (USB 2.0, 5.8.3) */

/* The numbers of the endpoints and of their functions. */
enum { PIPE_CDC = 2, PIPE_VENDOR = 3 };

/* Enables both pairs; data toggles from DATA0, functions begun anew. */
void pipes_begin(void);
/* One pair, likewise. */
void pipe_begin(unsigned endpoint);
/* Forgets what was to be sent; toggles go on. */
void pipe_drop(unsigned endpoint);
/* Disables them: a bus reset, or configuration 0. */
void pipes_end(void);

/* Packets have come or gone: `buffers` as in BUFF_STATUS (4.1.4, bit 2n IN, 2n + 1 OUT of endpoint n). Returns true if
 * there is more to do: call it again, if only with 0. */
bool pipes_serve(uint32_t buffers);

/* The halt feature of an endpoint (USB 2.0, 9.4.5): it answers STALL, until it is cleared. */
bool pipe_exists(unsigned endpoint);
bool pipe_halted(unsigned endpoint, bool out);
void pipe_halt(unsigned endpoint, bool out);
void pipe_unhalt(unsigned endpoint, bool out);

#endif
