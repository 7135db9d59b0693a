/* The clocks: 125 MHz for the processor, 48 MHz for USB, 1 MHz for time stamps. */
#ifndef CLOCKS_H
#define CLOCKS_H

#include <stdint.h>

#define TICK_HZ 1000000u

/* From the crystal of 12 MHz that every board of this family has. */
void clocks_begin(void);

/* Takes blocks out of reset, and waits until they are. */
void unreset(uint32_t blocks);

/* Microseconds since the start: a counter of 64 bits. */
uint64_t ticks(void);

#endif
