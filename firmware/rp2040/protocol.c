/* The wiregauge protocol on both ways into the device. */
#include "clocks.h"
#include "function.h"
#include "wg_responder.h"

/* Nothing of a frame is kept, so that the limits are the protocol's own. */
#define LARGEST_FRAME (16u << 20)
#define MESSAGE_ROOM 4096u

const char function_name[] = "responder";

static uint8_t messages[FUNCTIONS][MESSAGE_ROOM];
static wg_responder responders[FUNCTIONS];

#define DEVICE(which, text)                                                                                            \
    {                                                                                                                  \
        .name = (text),                                                                                                \
        .max_out = LARGEST_FRAME,                                                                                      \
        .max_in = LARGEST_FRAME,                                                                                       \
        .tick_hz = TICK_HZ,                                                                                            \
        .tick_bits = 64,                                                                                               \
        .bus = WG_BUS_FULL,                                                                                            \
        .ticks = ticks,                                                                                                \
        .message = messages[which],                                                                                    \
        .message_room = MESSAGE_ROOM,                                                                                  \
    }

static const wg_device devices[FUNCTIONS] = {
    [FUNCTION_CDC] = DEVICE(FUNCTION_CDC, "RP2040 USB serial"),
    [FUNCTION_VENDOR] = DEVICE(FUNCTION_VENDOR, "RP2040 USB bulk"),
};

void function_begin(int which) { wg_begin(&responders[which], &devices[which]); }

size_t function_take(int which, const uint8_t *bytes, size_t n, uint64_t came) {
    return wg_take(&responders[which], bytes, n, came);
}

size_t function_give(int which, uint8_t *to, size_t room) { return wg_give(&responders[which], to, room); }
