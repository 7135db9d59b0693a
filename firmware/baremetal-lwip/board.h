/* The LM3S6965 (Texas Instruments' evaluation board EK-LM3S6965): start-up, clock, the UART for a few words. */
#ifndef WG_BOARD_H
#define WG_BOARD_H

#include <stdint.h>

#define REG(address) (*(volatile uint32_t *)(address))

#define BOARD_NAME "LM3S6965, lwIP raw API"
#define CLOCK_HZ 50000000u
#define CLOCK_BITS 64

void board_begin(void);

/* Clock cycles since the start, 64 bits of them. Also in interrupts. */
uint64_t board_ticks(void);

/* Milliseconds since the start. Not in interrupts. */
uint32_t board_ms(void);

void board_say(const char *);
void board_panic(const char *why) __attribute__((noreturn));

/* The two words that the maker keeps the board's Ethernet address in; ~0 if he did not. */
uint32_t board_user_word(int which);

#endif
