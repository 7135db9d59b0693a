/* What a GPU does to the samples of a loop: the arithmetic of process/, in the same order and without
 * fused multiply and add, so that both agree to the bit. scripts/kernels compiles it to kernels.ptx,
 * which the driver compiles for its GPU. The test's stand-in compiles it as C, so it is C. */

typedef unsigned int u32;
typedef unsigned long long u64;

/* Eight samples. */
typedef struct {
    u32 pairs[4];
} Octet;

/* A stage without a memory. */
typedef struct {
    u32 kind;
    float value;
} Op;

enum { GAIN = 1, THRESHOLD = 2 };

/* Once over the block: a filter, or the block as it came in; then stages without a memory; then the line of
 * the next filter, or the block as it goes out. A line holds interleaved floats, in front of the block's
 * the history that its filter needs. There are two of each: while the one is read, the other gets the history
 * for the next block. Laid out as `Pass` in passes.rs. */
typedef struct {
    const float *from;
    const float *taps;
    float *to;
    float *next;
    const Op *ops;
    u32 ops_count;
    u32 taps_count;
    /* Floats in front of `to`. */
    u32 history;
    /* Channels: the distance of two samples of one. */
    u32 stride;
    /* Of the block, all channels. */
    u32 samples;
    u32 unused;
} Pass;

#ifdef WIREGAUGE_WORDS
#include WIREGAUGE_WORDS
#else
#include "words.cuh"
#endif

/* As in process/convert.rs. */
#define SCALE 32768.0f
#define HIGHEST (32767.0f / SCALE)
#define ROUNDER 12582912.0f

DEVICE float saturated(float value) {
    value = value > -1.0f ? value : -1.0f;
    return value < HIGHEST ? value : HIGHEST;
}

DEVICE float to_float(short sample) { return (float)sample * (1.0f / SCALE); }

DEVICE short to_integer(float value) { return (short)bits_of(saturated(value) * SCALE + ROUNDER); }

DEVICE float worked(const Pass *pass, float value) {
    for (u32 i = 0; i < pass->ops_count; i++) {
        const Op op = pass->ops[i];
        if (op.kind == GAIN)
            value = saturated(value * op.value);
        else
            value = value > op.value ? HIGHEST : 0.0f;
    }
    return value;
}

/* Sample n of the block into the line of the next filter, and where it is history for the next block there
 * as well. */
DEVICE void keep(const Pass *pass, u32 n, float value) {
    const u32 at = pass->history + n;
    pass->to[at] = value;
    if (at >= pass->samples)
        pass->next[at - pass->samples] = value;
}

/* Of a block shorter than the history, some history is history still. */
DEVICE void keep_older(const Pass *pass, u32 me, u32 all) {
    for (u32 i = me; i + pass->samples < pass->history; i += all)
        pass->next[i] = pass->to[pass->samples + i];
}

/* The integers of the block, eight at once where they lie so. */
DEVICE void begin(const Pass *pass, const short *in, short *out, u32 first, u32 count, u32 me, u32 all) {
    u64 places = (u64)(in + first);
    if (!pass->to)
        places |= (u64)(out + first);
    const u32 octets = places % sizeof(Octet) ? 0 : count / 8;
    for (u32 i = me; i < octets; i += all) {
        const u32 n = first + 8 * i;
        Octet octet = load_octet(in + n);
        UNROLLED
        for (u32 pair = 0; pair < 4; pair++) {
            const float low = worked(pass, to_float((short)(octet.pairs[pair] & 0xffff)));
            const float high = worked(pass, to_float((short)(octet.pairs[pair] >> 16)));
            if (pass->to) {
                keep(pass, n + 2 * pair, low);
                keep(pass, n + 2 * pair + 1, high);
            } else {
                const u32 bits = (unsigned short)to_integer(low);
                octet.pairs[pair] = bits | (u32)(unsigned short)to_integer(high) << 16;
            }
        }
        if (!pass->to)
            store_octet(out + n, octet);
    }
    for (u32 i = 8 * octets + me; i < count; i += all) {
        const u32 n = first + i;
        const float value = worked(pass, to_float(((const volatile short *)in)[n]));
        if (pass->to)
            keep(pass, n, value);
        else
            out[n] = to_integer(value);
    }
}

/* Each output is the sum over its own window of the line, in the order of the taps. */
DEVICE void filter(const Pass *pass, short *out, u32 first, u32 count, u32 me, u32 all) {
    for (u32 i = me; i < count; i += all) {
        const u32 n = first + i;
        const float *window = pass->from + n;
        float sum = 0.0f;
        for (u32 tap = 0; tap < pass->taps_count; tap++)
            sum += window[tap * pass->stride] * pass->taps[tap];
        const float value = worked(pass, sum);
        if (pass->to)
            keep(pass, n, value);
        else
            out[n] = to_integer(value);
    }
}

DEVICE void once(const Pass *pass, const short *in, short *out, u32 first, u32 count, u32 me, u32 all) {
    if (pass->from)
        filter(pass, out, first, count, me, all);
    else
        begin(pass, in, out, first, count, me, all);
    if (pass->to && first == 0)
        keep_older(pass, me, all);
}

/* One pass over `count` samples of the block from `first` on. */
KERNEL wiregauge_pass(Pass pass, const short *in, short *out, u32 first, u32 count) {
    const u32 me = block_in_grid() * threads_in_block() + thread_in_block();
    once(&pass, in, out, first, count, me, blocks_in_grid() * threads_in_block());
}

enum { RUN = 0, FORGET = 1, QUIT = 2, GAVE_UP = 3 };

/* Between host and persistent kernel, in the host's memory. Each side writes its own lines of the cache only.
 * Laid out as `Mailbox` in persistent.rs. */
typedef struct {
    /* The host's: number of the newest order, written last; what it is, and where the block is. */
    u32 order;
    u32 what;
    u64 in_at;
    u64 out_at;
    u32 unused[26];
    /* The GPU's: the order that is done; QUIT or GAVE_UP once it has ended. */
    u32 answer;
    u32 ended;
    u32 unused_too[30];
} Mailbox;

/* Between the blocks of threads, in the GPU's memory; zeros before the launch. */
typedef struct {
    u32 arrived;
    u32 order;
    u32 what;
    u32 unused;
    u64 in_at;
    u64 out_at;
} State;

/* All threads of the grid meet, for the `times`-th time. Every block must be running at once. */
DEVICE void meet_in_grid(State *state, u32 times) {
    meet_in_block();
    if (thread_in_block() == 0) {
        fence_gpu();
        add(&state->arrived, 1);
        const u32 expected = times * blocks_in_grid();
        while ((int)(((volatile State *)state)->arrived - expected) < 0)
            look_again();
        fence_gpu();
    }
    meet_in_block();
}

/* The leader waits for the host, and tells the others through the GPU's own memory: only one thread looks
 * through PCIe. Without an order for `patience_ns` it gives up, so that a host that died or forgot it
 * leaves no kernel behind that hangs a display. */
DEVICE void hear(volatile Mailbox *mail, volatile State *state, u32 seen, u64 patience_ns) {
    const u64 since = now_ns();
    u32 what = GAVE_UP;
    while (now_ns() - since < patience_ns) {
        if (mail->order != seen) {
            fence_system();
            what = mail->what;
            break;
        }
        look_again();
    }
    state->what = what;
    state->in_at = mail->in_at;
    state->out_at = mail->out_at;
    fence_gpu();
    state->order = seen + 1;
}

/* Runs until it is told to quit: a block for each order, with the passes of even and odd turns. */
KERNEL wiregauge_persist(Mailbox *mail, State *state, const Pass *passes, u32 passes_count,
                         const short *ring_in, short *ring_out, u64 patience_ns) {
    volatile State *told = state;
    const u32 me = block_in_grid() * threads_in_block() + thread_in_block();
    const u32 all = blocks_in_grid() * threads_in_block();
    u32 seen = 0, turn = 0, times = 0, what;
    for (;;) {
        if (me == 0)
            hear(mail, state, seen, patience_ns);
        else if (thread_in_block() == 0)
            while (told->order == seen)
                look_again();
        if (thread_in_block() == 0)
            fence_gpu();
        meet_in_block();
        seen++;
        what = told->what;
        if (what != RUN && what != FORGET)
            break;
        const short *in = ring_in + told->in_at;
        short *out = ring_out + told->out_at;
        const Pass *of_turn = passes + turn % 2 * passes_count;
        for (u32 at = 0; at < passes_count; at++) {
            const Pass pass = of_turn[at];
            if (what == RUN)
                once(&pass, in, out, 0, pass.samples, me, all);
            else if (pass.to)
                for (u32 i = me; i < pass.history; i += all)
                    pass.to[i] = pass.next[i] = 0.0f;
            /* Each thread's samples are in the host's memory before any of them says so. */
            if (at + 1 == passes_count)
                fence_system();
            meet_in_grid(state, ++times);
        }
        turn += what == RUN;
        if (me == 0) {
            fence_system();
            ((volatile Mailbox *)mail)->answer = seen;
        }
    }
    if (me == 0) {
        fence_system();
        ((volatile Mailbox *)mail)->ended = what;
    }
}
