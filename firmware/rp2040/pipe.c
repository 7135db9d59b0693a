/* Keeps the buffers of the bulk endpoints full (IN) and empty (OUT).
 *
 * Each endpoint has two buffers (datasheet 4.1.2.5): while the controller sends or receives one, this code, called by
 * the interrupt that reported the other, refills that one. So the device has an answer to every IN token as long as
 * there is anything to send, and no time on the bus is lost to NAK: the design of Augustyn and Tutaj's device.
 *
 * The controller takes the buffers of an endpoint in turn, 0, 1, 0, 1, each with an interrupt. Its half of the buffer
 * control register says which data toggle the packet has; as the toggle changes with every packet as well, buffer 0 is
 * DATA0 and buffer 1 DATA1. Processor and controller write the two halves at the same time, so only 16-bit writes are
 * made here: a read and write of all 32 bits could take back what the controller has just written.
 *
 * -DSINGLE uses one buffer only, to be compared with. */
#include "pipe.h"

#include <stddef.h>
#include <string.h>

#include "clocks.h"
#include "function.h"
#include "registers.h"

#ifdef SINGLE
#define BUFFERS 1u
#define EP_BUFFERS 0u
#else
#define BUFFERS 2u
#define EP_BUFFERS EP_DOUBLE
#endif

#define FIRST_BUFFER 0x180u /* behind those of endpoint 0; 64-byte steps (4.1.2.5.2) */
#define BULK 2u

/* One endpoint of a pair. */
typedef struct {
    uint8_t armed;  /* buffers in the controller's hands, in turn */
    uint8_t oldest; /* the one of them that it will be done with first */
    bool data1;     /* toggle of the packet that is armed next */
    bool fresh;     /* it is the first: the controller's turn begins at buffer 0 */
    bool halted;
} side;

typedef struct {
    side in, out;
    bool full;     /* the last packet was: more must follow, if only a packet of no bytes */
    uint8_t taken; /* bytes of the oldest OUT packet that the function has taken so far */
    bool waiting;  /* that packet is there and the function could not take all of it */
    uint64_t came; /* when it came */
    bool due;      /* there may be more to do */
} pipe;

static pipe pipes[FUNCTIONS];
static bool enabled;

static unsigned endpoint_of(int which) { return which == FUNCTION_CDC ? PIPE_CDC : PIPE_VENDOR; }

bool pipe_exists(unsigned endpoint) { return endpoint == PIPE_CDC || endpoint == PIPE_VENDOR; }

static int function_of(unsigned endpoint) { return endpoint == PIPE_CDC ? FUNCTION_CDC : FUNCTION_VENDOR; }

static side *side_of(unsigned endpoint, bool out) {
    pipe *p = &pipes[function_of(endpoint)];
    return out ? &p->out : &p->in;
}

/* The half of the buffer control register that belongs to a buffer. */
static volatile uint16_t *control_of(unsigned endpoint, bool out, unsigned buffer) {
    return (volatile uint16_t *)BUFFER_CONTROL(endpoint, out) + buffer;
}

static uint32_t place_of(unsigned endpoint, bool out, unsigned buffer) {
    return FIRST_BUFFER + ((endpoint - PIPE_CDC) * 4u + (out ? 2u : 0u) + buffer) * PACKET;
}

static volatile uint32_t *words_of(unsigned endpoint, bool out, unsigned buffer) {
    return (volatile uint32_t *)(USB_MEMORY + place_of(endpoint, out, buffer));
}

/* Hands the next buffer to the controller. AVAILABLE follows by a write of its own, when the rest must have arrived in
 * the other clock's domain (4.1.2.5.1): 3 cycles of 48 MHz are 8 of 125 MHz; 12 as in the vendor's own code. */
static void arm(unsigned endpoint, bool out, uint16_t control) {
    side *s = side_of(endpoint, out);
    unsigned buffer = (s->oldest + s->armed) % BUFFERS;
    volatile uint16_t *half = control_of(endpoint, out, buffer);
    if (s->data1) {
        control |= BUFFER_DATA1;
    }
    if (s->fresh) {
        control |= BUFFER_SELECT_FIRST;
    }
    *half = control;
    __asm volatile("nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop" ::: "memory");
    *half = control | BUFFER_AVAILABLE;
    s->data1 = !s->data1;
    s->fresh = false;
    s->armed++;
}

/* True if the controller is done with the oldest buffer. */
static bool is_done(unsigned endpoint, bool out) {
    const side *s = side_of(endpoint, out);
    return s->armed > 0 && !(*control_of(endpoint, out, s->oldest) & BUFFER_AVAILABLE);
}

static void let_go(side *s) {
    s->armed--;
    s->oldest = (uint8_t)((s->oldest + 1u) % BUFFERS);
}

static void write_packet(volatile uint32_t *to, const uint32_t *from, size_t bytes) {
    for (size_t word = 0; word < (bytes + 3u) / 4u; word++) {
        to[word] = from[word];
    }
}

static void read_packet(uint32_t *to, const volatile uint32_t *from, size_t bytes) {
    for (size_t word = 0; word < (bytes + 3u) / 4u; word++) {
        to[word] = from[word];
    }
}

/* Fills the empty IN buffers, as far as there is anything to send. */
static void fill(int which) {
    pipe *p = &pipes[which];
    unsigned endpoint = endpoint_of(which);
    while (is_done(endpoint, false)) {
        let_go(&p->in);
    }
    while (p->in.armed < BUFFERS && !p->in.halted) {
        uint32_t packet[PACKET / 4u];
        size_t bytes = function_give(which, (uint8_t *)packet, PACKET);
        /* Behind a full packet a host that asked for more would wait on: docs/protocol.md, USB bulk. */
        if (bytes == 0 && !p->full) {
            break;
        }
        p->full = bytes == PACKET;
        write_packet(words_of(endpoint, false, (p->in.oldest + p->in.armed) % BUFFERS), packet, bytes);
        arm(endpoint, false, (uint16_t)(BUFFER_FULL | bytes));
    }
}

/* Hands one OUT packet to the function, or more of it. Returns true if it took some. */
static bool empty(int which) {
    pipe *p = &pipes[which];
    unsigned endpoint = endpoint_of(which);
    if (!p->waiting) {
        if (!is_done(endpoint, true)) {
            return false;
        }
        p->waiting = true;
        p->taken = 0;
        p->came = ticks();
    }
    uint32_t packet[PACKET / 4u];
    size_t bytes = *control_of(endpoint, true, p->out.oldest) & BUFFER_BYTES;
    read_packet(packet, words_of(endpoint, true, p->out.oldest), bytes);
    size_t taken = function_take(which, (const uint8_t *)packet + p->taken, bytes - p->taken, p->came);
    p->taken = (uint8_t)(p->taken + taken);
    if (p->taken < bytes) {
        return taken > 0;
    }
    p->waiting = false;
    let_go(&p->out);
    if (!p->out.halted) {
        arm(endpoint, true, PACKET);
    }
    return true;
}

bool pipes_serve(uint32_t buffers) {
    for (int which = 0; which < FUNCTIONS; which++) {
        pipe *p = &pipes[which];
        p->due = p->due || (buffers >> 2u * endpoint_of(which) & 3u);
        if (!enabled || !p->due) {
            continue;
        }
        /* IN first: that is where time on the bus is lost. Then one OUT packet, no more: a host that sends faster than
         * its bytes can be looked at must not keep the other function and endpoint 0 waiting. It may have brought
         * something to send; and what was sent may have made room for it. */
        fill(which);
        p->due = empty(which);
        if (p->due) {
            fill(which);
        }
    }
    return enabled && (pipes[FUNCTION_CDC].due || pipes[FUNCTION_VENDOR].due);
}

/* The controller's bit of an endpoint in BUFF_STATUS and the abort registers. */
static uint32_t bit_of(unsigned endpoint, bool out) { return 1u << (2u * endpoint + (out ? 1u : 0u)); }

/* Keeps the controller off the buffers of an endpoint. Revisions before B2 never say that they are done (RP2040-E2);
 * there, and should the controller stay silent, the buffers are taken all the same. */
static void keep_off(uint32_t bit) {
    if (REGISTER(SYSINFO_CHIP_ID) >> 28 < 2u) {
        return;
    }
    SET_BITS(USB_ABORT) = bit;
    for (unsigned tries = 0; tries < 10000u && !(REGISTER(USB_ABORT_DONE) & bit); tries++) {}
}

static void let_on(uint32_t bit) {
    REGISTER(USB_ABORT_DONE) = bit;
    CLEAR_BITS(USB_ABORT) = bit;
}

/* Takes all buffers of an endpoint back from the controller; toggle and turn begin anew. */
static void take_back(unsigned endpoint, bool out) {
    uint32_t bit = bit_of(endpoint, out);
    keep_off(bit);
    REGISTER(BUFFER_CONTROL(endpoint, out)) = 0;
    let_on(bit);
    REGISTER(USB_BUFF_STATUS) = bit;
    side *s = side_of(endpoint, out);
    s->armed = s->oldest = 0;
    s->data1 = false;
    s->fresh = true;
}

static void begin_side(unsigned endpoint, bool out) {
    take_back(endpoint, out);
    side_of(endpoint, out)->halted = false;
    pipe *p = &pipes[function_of(endpoint)];
    if (out) {
        p->waiting = false;
        for (unsigned buffer = 0; buffer < BUFFERS; buffer++) {
            arm(endpoint, true, PACKET);
        }
    } else {
        p->full = false;
    }
}

void pipe_begin(unsigned endpoint) {
    int which = function_of(endpoint);
    function_begin(which);
    for (unsigned out = 0; out < 2; out++) {
        REGISTER(EP_CONTROL(endpoint, out)) =
            EP_ENABLE | EP_BUFFERS | EP_INTERRUPT_EACH | EP_TYPE(BULK) | place_of(endpoint, out, 0);
        begin_side(endpoint, out);
    }
}

void pipes_begin(void) {
    enabled = true;
    pipe_begin(PIPE_CDC);
    pipe_begin(PIPE_VENDOR);
}

void pipe_drop(unsigned endpoint) {
    int which = function_of(endpoint);
    side *in = &pipes[which].in;
    function_begin(which);
    keep_off(bit_of(endpoint, false));
    while (is_done(endpoint, false)) {
        let_go(in);
    }
    while (in->armed > 0) { /* the youngest first: its toggle is free again */
        in->armed--;
        in->data1 = !in->data1;
        *control_of(endpoint, false, (in->oldest + in->armed) % BUFFERS) = 0;
    }
    let_on(bit_of(endpoint, false));
    pipes[which].full = false;
}

void pipes_end(void) {
    enabled = false;
    for (unsigned endpoint = PIPE_CDC; endpoint <= PIPE_VENDOR; endpoint++) {
        for (unsigned out = 0; out < 2; out++) {
            take_back(endpoint, out);
            REGISTER(EP_CONTROL(endpoint, out)) = 0;
            side_of(endpoint, out)->halted = false;
        }
    }
}

bool pipe_halted(unsigned endpoint, bool out) { return side_of(endpoint, out)->halted; }

void pipe_halt(unsigned endpoint, bool out) {
    take_back(endpoint, out);
    side_of(endpoint, out)->halted = true;
    if (out) {
        pipes[function_of(endpoint)].waiting = false;
    }
    REGISTER(BUFFER_CONTROL(endpoint, out)) = BUFFER_SELECT_FIRST | BUFFER_STALL;
}

/* Also of an endpoint that is not halted: hosts reset the toggle so (9.4.5). What was in its buffers is lost. */
void pipe_unhalt(unsigned endpoint, bool out) {
    function_begin(function_of(endpoint));
    begin_side(endpoint, out);
}
