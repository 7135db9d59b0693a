/* What comes out of the caller's arrays and goes back into new ones: every type, shape and size is checked here, and
 * whatever does not fit ends the call with the error wiregauge:argument. Memory is of mxMalloc and mxCreate, which
 * MATLAB and Octave free when a call ends in an error. */

#ifndef WIREGAUGE_ARRAYS_H
#define WIREGAUGE_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

#include "mex.h"
#include "wiregauge.h"

/* Bytes that a caller handed over. They are the caller's own where these are uint8, else a copy. */
typedef struct {
    const uint8_t *bytes;
    size_t count;
} arrays_bytes;

/* Ends the call with wiregauge:argument. `what` is the argument, as the help calls it. */
#if defined(__GNUC__)
__attribute__((noreturn))
#endif
void arrays_refuse(const char *what, const char *wanted, const mxArray *array);

/* A uint8 vector, or a row of characters below 256, or nothing ([]). */
arrays_bytes arrays_vector(const char *what, const mxArray *array);

/* A text without NUL, as a string of mxMalloc. */
char *arrays_text(const char *what, const mxArray *array);

/* A whole number from `least` to `most` (at most 2^53), of any numeric type, or a logical. */
uint64_t arrays_whole(const char *what, const mxArray *array, uint64_t least, uint64_t most);

/* Such a number of a field; `fields` must have it. */
uint64_t arrays_field_whole(const mxArray *fields, const char *name, uint64_t least, uint64_t most);

/* A field of a struct; its absence is an error. */
const mxArray *arrays_field(const mxArray *fields, const char *name);

/* A size of a reply: WG_AS_SENT for []. */
size_t arrays_asked(const mxArray *array);

/* a * b, or the error wiregauge:argument if no memory is that large. */
size_t arrays_product(size_t a, size_t b);

/* A uint8 column that holds a copy of the bytes. */
mxArray *arrays_column(const uint8_t *bytes, size_t count);

/* A number as a double. */
mxArray *arrays_number(double value);

/* A struct of 1-by-count uint64 rows: the times of `count` exchanges, and the sizes of their replies. */
mxArray *arrays_timings(const wg_timing *timings, const size_t *lengths, size_t count);

#endif
