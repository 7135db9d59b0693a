/* Arm's MPS2 board with the Cortex-M3 of AN385: start-up, a clock, the UART for a few words. */
#ifndef WG_BOARD_H
#define WG_BOARD_H

#include <stdint.h>

#define REG(address) (*(volatile uint32_t *)(address))

#define BOARD_NAME "MPS2-AN385, FreeRTOS, lwIP"
#define CLOCK_HZ 25000000u
#define CLOCK_BITS 32

void board_begin(void);

/* Cycles of the board's clock; 32 bits, so they wrap after 172 s. Also in interrupts. */
uint64_t board_ticks(void);

void board_say(const char *);
void board_panic(const char *why) __attribute__((noreturn));

#endif
