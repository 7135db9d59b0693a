/* The table of frames. No lock: one side only takes, all others only give back, and a flag is written in one go. */
#include "frames.h"

static frame frames[FRAMES];

frame *frame_take(void) {
    for (unsigned i = 0; i < FRAMES; i++) {
        if (frames[i].taken) continue;
        frames[i].taken = 1;
        return &frames[i];
    }
    return NULL;
}

static void give_back(struct pbuf *p) {
    ((frame *)(void *)p)->taken = 0;
    frame_freed();
}

struct pbuf *frame_pbuf(frame *f, uint16_t offset) {
    f->pbuf.custom_free_function = give_back;
    return pbuf_alloced_custom(PBUF_RAW, f->bytes, PBUF_REF, &f->pbuf, (uint8_t *)f->words + offset,
                               (uint16_t)(sizeof f->words - offset));
}

uint64_t frame_ticks(const struct pbuf *p) {
    return p->flags & PBUF_FLAG_IS_CUSTOM ? ((const frame *)(const void *)p)->ticks : 0;
}
