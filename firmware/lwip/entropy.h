/* Unpredictable numbers on boards without a random number generator: uninitialised memory and the jitter of arrivals,
 * hashed. What that is worth stands in the boards' READMEs. */
#ifndef WG_ENTROPY_H
#define WG_ENTROPY_H

#include <stddef.h>
#include <stdint.h>

/* Before .data and .bss are set up: takes in the memory as it was found. */
void entropy_begin(const uint32_t *memory, const uint32_t *end);

/* Takes in the low bits of a clock at the time of something that nobody can tell exactly. Also in interrupts. */
void entropy_add(uint32_t jitter);

/* 32 bits for lwIP: initial sequence numbers, ports, DHCP's transaction. */
uint32_t entropy_random(void);

/* `n` bytes for a key; they tell nothing of what entropy_random() gives, nor the other way round. */
void entropy_key(uint8_t *key, size_t n);

#endif
