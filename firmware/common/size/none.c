/* The same program as size/main.c without the library: what `make size` takes off. */
#include <stddef.h>
#include <stdint.h>

static uint64_t ticks(void) { return 0; }

static uint8_t message[64];
static volatile uint8_t bytes[64];
static uint64_t (*volatile device)(void) = ticks;

int main(void) {
    for (;;) {
        size_t n = (size_t)device();

        bytes[n & 63] = message[n & 63];
    }
}
