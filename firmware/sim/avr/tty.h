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
    /* What its reader has not had room for. */
    uint8_t held[TTY_HELD];
    size_t held_from, held_to;
};

/* Makes one in raw mode. */
bool tty_make(struct tty *);

/* Bytes that a program has written to it, at most `room`; 0: none now; -1: no program has it open, and all that
 * was written has been read. */
int tty_take(struct tty *, uint8_t *to, size_t room);

/* Hands bytes to the program that has it open; keeps what it has no room for. Returns how many were taken. */
size_t tty_give(struct tty *, const uint8_t *bytes, size_t n);

/* Tries again to hand over what was kept; true if nothing is left. */
bool tty_settle(struct tty *);

/* Its last program has closed it: throws away what that one did not read, and makes it as it was. */
void tty_renew(struct tty *);

#endif
