/* The board's name, limits and clock. */
#include "device.h"

#include <string.h>

#include "board.h"

static void device(wg_device *d, uint8_t *message, uint32_t room) {
    memset(d, 0, sizeof *d);
    d->name = BOARD_NAME;
    d->tick_hz = CLOCK_HZ;
    d->tick_bits = CLOCK_BITS;
    d->ticks = board_ticks;
    d->message = message;
    d->message_room = room;
}

/* No frame is ever held in memory, so only the protocol limits them. */
void device_for_tcp(wg_device *d, uint8_t *message, uint32_t room) {
    device(d, message, room);
    d->max_out = d->max_in = 16u << 20;
    d->max_transfer = 0;
}

void device_for_udp(wg_device *d, uint8_t *message, uint32_t room) {
    device(d, message, room);
    d->max_out = d->max_in = d->max_transfer = LARGEST_DATAGRAM;
}
