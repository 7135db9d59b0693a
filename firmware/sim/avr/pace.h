/* Keeps simulated time from running ahead of the wall clock. */
#ifndef PACE_H
#define PACE_H

#include <stdint.h>

struct pace {
    int64_t wall_ns; /* when simulated time was `cycle` */
    uint64_t cycle;
    int64_t behind_ns; /* given up on, in all: the simulation was slower than the real processor */
};

void pace_begin(struct pace *, uint64_t cycle);

/* Sleeps until a real processor would have got to `cycle`. */
void pace_wait(struct pace *, uint64_t cycle);

int64_t wall_ns(void);

#endif
