/* From a code of the C ABI to an error of MATLAB: an identifier to tell it by, and the text of wg_last_error. */

#ifndef WIREGAUGE_FAILURE_H
#define WIREGAUGE_FAILURE_H

#include <stdint.h>

/* Returns if `code` is WG_OK; else the call ends in an error. `more` (may be empty) is added to its text. */
void failure_check(int32_t code, const char *more);

#endif
