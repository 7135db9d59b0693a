/* What lwIP asks of a compiler and a board (lwip/arch.h says what may be here). Both Ethernet boards use it. */
#ifndef WG_LWIP_CC_H
#define WG_LWIP_CC_H

#include <stdint.h>

#include "entropy.h"

/* Prints what went wrong and starts the board anew. Each board has one. */
void board_panic(const char *why) __attribute__((noreturn));

#define LWIP_PLATFORM_DIAG(x)
#define LWIP_PLATFORM_ASSERT(why) board_panic(why)
#define LWIP_RAND() entropy_random()

#endif
