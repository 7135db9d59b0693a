/* A simulated AVR board and the wire that it hangs on: what the parts of avrsim share. */
#ifndef MACHINE_H
#define MACHINE_H

#include "tty.h"
#include <sim_avr.h>
#include <stdbool.h>
#include <stdint.h>

/* All boards here have a 16 MHz crystal. */
#define CLOCK_HZ 16000000u
#define CYCLES_OF_US(us) ((avr_cycle_count_t)(us) * (CLOCK_HZ / 1000000u))

struct machine;

/* What connects the board with the tty: a UART's two lines, or a USB host. */
struct wire {
    /* Joins the wire to the processor that was made just now. False: the processor has no such thing. */
    bool (*join)(struct machine *);
    /* After every reset of the processor: waits until the board can be talked to. */
    bool (*begin)(struct machine *);
    /* Called between instructions, for what takes longer than one. */
    bool (*attend)(struct machine *);
    /* What it saw, for --verbose. */
    void (*tell)(const struct machine *);
};

extern const struct wire uart_wire, usb_wire;

struct board {
    const char *name;
    const char *mcu;
    const struct wire *wire;
    /* Where on port D the digital pins 2 and 3 are, with which the sketch in MODE_COUNT shows its count and its
     * free time. */
    uint8_t pin_2, pin_3;
};

struct machine {
    const struct board *board;
    avr_t *avr;
    struct tty tty;
    unsigned packet;    /* USB: most bytes that the host hands over at once */
    bool reset_on_open; /* UART: DTR is wired to the processor's reset, as on an Uno */
    volatile int wants_reset;
};

/* Lets the processor run for so many cycles, no faster than a real one. False: it stopped for good, or the user
 * wants an end. */
bool machine_run(struct machine *, avr_cycle_count_t cycles);

#endif
