/* The words of kernels.cu in C: threads of the stand-in are threads of this host. */
#ifndef WORDS_H
#define WORDS_H

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KERNEL static void
#define DEVICE static inline
#define UNROLLED

/* Which thread this is. */
typedef struct {
    u32 thread, threads, block, blocks;
    pthread_barrier_t *of_block;
} Place;

static __thread Place place;

/* How much faster than the host's the clock of the stand-in runs. */
static u64 clock_rate = 1;

DEVICE u32 thread_in_block(void) { return place.thread; }
DEVICE u32 threads_in_block(void) { return place.threads; }
DEVICE u32 block_in_grid(void) { return place.block; }
DEVICE u32 blocks_in_grid(void) { return place.blocks; }

DEVICE void meet_in_block(void) {
    if (place.of_block)
        pthread_barrier_wait(place.of_block);
}

DEVICE void fence_gpu(void) { __sync_synchronize(); }
DEVICE void fence_system(void) { __sync_synchronize(); }
DEVICE void add(u32 *to, u32 what) { __sync_fetch_and_add(to, what); }

DEVICE u64 now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((u64)now.tv_sec * 1000000000ull + (u64)now.tv_nsec) * clock_rate;
}

/* Others want the processor too. */
DEVICE void look_again(void) { usleep(20); }

DEVICE Octet load_octet(const short *from) {
    Octet is;
    memcpy(&is, from, sizeof is);
    return is;
}

DEVICE void store_octet(short *to, Octet what) { memcpy(to, &what, sizeof what); }

DEVICE u32 bits_of(float value) {
    u32 bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif
