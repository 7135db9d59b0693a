/* What answers on one of the two ways into the device: the protocol (protocol.c) or an echo (echo.c), whichever is
 * linked. Both ways work at once and know nothing of each other. */
#ifndef FUNCTION_H
#define FUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FUNCTION_CDC, FUNCTION_VENDOR, FUNCTIONS };

/* Forgets all that was. */
void function_begin(int which);

/* Takes bytes that came at `ticks`; returns how many, the rest is given again later. */
size_t function_take(int which, const uint8_t *bytes, size_t n, uint64_t came);

/* Writes what is to be sent next; returns how many bytes. */
size_t function_give(int which, uint8_t *to, size_t room);

/* What the product string adds to the name. */
extern const char function_name[];

#endif
