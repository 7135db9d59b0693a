/* The bulk endpoints of the ATmega32U4 as they are: simavr's have one bank each, and more. */
#ifndef BANKS_H
#define BANKS_H

#include <sim_avr.h>
#include <stdbool.h>
#include <stdint.h>

/* Puts itself between the processor and simavr's endpoints. Once, after the processor was made. */
void banks_join(avr_t *);

/* Forgets what is in the banks: the processor or the bus was reset. */
void banks_forget(void);

/* The host sends a packet: false if the endpoint answers NAK. */
bool banks_out(avr_t *, uint8_t endpoint, const uint8_t *packet, uint8_t bytes);

/* The host asks for a packet of at most 64 bytes: its size, or -1 if the endpoint answers NAK. */
int banks_in(avr_t *, uint8_t endpoint, uint8_t *packet);

/* The host begins a frame of 1 ms. */
void banks_start_of_frame(avr_t *);

#endif
