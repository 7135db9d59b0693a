/* Received Ethernet frames in static memory, each with the time of its arrival, handed to lwIP without being copied.
 * A driver takes one in its interrupt (or its task), lwIP gives it back wherever it is done with it. */
#ifndef WG_FRAMES_H
#define WG_FRAMES_H

#include <stdint.h>

#include "lwip/pbuf.h"

/* 1514 bytes of frame, 2 before it so that the IP header is aligned, 4 of check, in whole words. */
#define FRAME_WORDS 380

typedef struct frame {
    struct pbuf_custom pbuf; /* first: lwIP's pointer is ours */
    uint64_t ticks;          /* the board's clock when it was found to have come */
    volatile uint8_t taken;
    uint16_t bytes;
    uint32_t words[FRAME_WORDS];
} frame;

/* One that is free, now taken; NULL if there is none. From one place only: the driver. */
frame *frame_take(void);

/* What lwIP reads: `bytes` from `offset` within the words on. */
struct pbuf *frame_pbuf(frame *, uint16_t offset);

/* Told by frames.c when one has been given back; the driver has this. */
void frame_freed(void);

/* When the first bytes of this pbuf came; 0 if it is none of ours. */
uint64_t frame_ticks(const struct pbuf *);

#endif
