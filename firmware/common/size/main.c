/* Calls all of the library, so that `make size` links all of it and nothing else. */
#include "wg_responder.h"

static uint64_t ticks(void) { return 0; }

static uint8_t message[64];
static uint8_t bytes[64];
static wg_responder responder;
static wg_device device = {"size", 65536,   65536,          0,    1000000, 32, WG_BUS_FULL,
                           ticks,  message, sizeof message, NULL, NULL};

int main(void) {
    wg_begin(&responder, &device);
    for (;;) {
        size_t n = wg_take(&responder, bytes, sizeof bytes, ticks());

        n += wg_give(&responder, bytes, sizeof bytes - n);
        if (wg_owes(&responder) || wg_sinks(&responder) || wg_sources(&responder)) {
            wg_overrun(&responder, n > 0);
        }
    }
}
