/* The pseudo-terminal that stands for the board's serial port. */
#ifndef TTY_H
#define TTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TTY_HELD = 4096 };

struct tty {
    int master;
    char name[64];
    bool open;     /* by a program */
    bool ended;    /* it has closed it, but what it wrote has not all been read */
    bool reopened; /* by another, before that */
    /* What its reader has not had room for. */
    uint8_t held[TTY_HELD];
    size_t held_from, held_to;
};

/* Makes one in raw mode. */
bool tty_make(struct tty *);

/* Sees whether a program has closed it, and makes it free for the next one. To be called often. */
void tty_look(struct tty *);

/* Bytes that a program has written to it, at most `room`; 0: none now; -1: no program has it open, and all that
 * was written has been read. Also -1, once, between two programs. */
int tty_take(struct tty *, uint8_t *to, size_t room);

/* Hands bytes to the program that has it open; keeps what it has no room for. Returns how many were taken. */
size_t tty_give(struct tty *, const uint8_t *bytes, size_t n);

/* Tries again to hand over what was kept; true if nothing is left. */
bool tty_settle(struct tty *);

/* Throws away what the program that had it open did not read. */
void tty_forget(struct tty *);

#endif
