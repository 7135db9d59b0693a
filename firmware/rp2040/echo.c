/* Sends back what it gets: what any echo client can measure, and `wiregauge exchange --protocol echo`. */
#include "function.h"

/* A power of two. Takes what comes while the host does not fetch; beyond that, OUT packets get NAK. */
#define HELD 4096u

const char function_name[] = "echo";

static struct {
    uint8_t bytes[HELD];
    uint32_t came, went; /* since the begin; they may wrap */
} held[FUNCTIONS];

void function_begin(int which) { held[which].came = held[which].went = 0; }

size_t function_take(int which, const uint8_t *bytes, size_t n, uint64_t came) {
    (void)came;
    size_t taken = 0;
    while (taken < n && held[which].came - held[which].went < HELD) {
        held[which].bytes[held[which].came++ % HELD] = bytes[taken++];
    }
    return taken;
}

size_t function_give(int which, uint8_t *to, size_t room) {
    size_t given = 0;
    while (given < room && held[which].went != held[which].came) {
        to[given++] = held[which].bytes[held[which].went++ % HELD];
    }
    return given;
}
