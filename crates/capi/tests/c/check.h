/* What the test programs are held to: each counts what is not as it should be, says so, and goes on. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <string.h>
#include <wiregauge.h>

static int broken;

/* Of many that fail alike, the first are enough to read. */
enum { SHOWN = 20 };

/* The call is answered with this code; a failure has a text. */
#define IS(expected, call) is_code(expected, call, #call, __LINE__)

/* This holds. */
#define HOLDS(what) holds((what) != 0, #what, __LINE__)

static inline void is_code(int32_t expected, int32_t code, const char *call, int line)
{
    if (code == expected)
        return;
    if (++broken > SHOWN)
        return;
    fprintf(stderr, "line %d: %s\n  is %s, should be %s: %s\n", line, call, wg_error_name(code),
            wg_error_name(expected), code == WG_OK ? "" : wg_last_error());
}

static inline void holds(int true_, const char *what, int line)
{
    if (true_)
        return;
    if (++broken > SHOWN)
        return;
    fprintf(stderr, "line %d: %s does not hold\n", line, what);
}

static inline int result(void)
{
    if (broken > 0)
        fprintf(stderr, "%d checks failed\n", broken);
    return broken > 0;
}

#endif
