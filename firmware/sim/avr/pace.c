/* Real time: a simulated board takes as long as a real one, or longer where this computer is too slow. */
#include "pace.h"
#include "machine.h"
#include <time.h>

/* Behind by more than this, it does not catch up: the host would see a board that is faster than a real one. */
enum { PATIENCE_NS = 100 * 1000 };

int64_t wall_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void pace_begin(struct pace *pace, uint64_t cycle) {
    pace->wall_ns = wall_ns();
    pace->cycle = cycle;
}

void pace_wait(struct pace *pace, uint64_t cycle) {
    int64_t due = pace->wall_ns + (int64_t)((cycle - pace->cycle) * 1000 / (CLOCK_HZ / 1000000u));
    int64_t behind = wall_ns() - due;
    if (behind > PATIENCE_NS) {
        pace->behind_ns += behind;
        pace_begin(pace, cycle);
    } else if (behind < 0) {
        /* Not until the host writes: simulated time would then run ahead of it by what is left to sleep. */
        struct timespec until = {due / 1000000000, due % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
}
