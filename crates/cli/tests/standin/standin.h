/* A software stand-in for CUDA's driver library, for tests without a GPU. It is NOT a GPU and its times mean
 * nothing. It has the calls that wiregauge makes, keeps their rules (memory must be known, results are there
 * only once they were waited for, nothing is freed under a kernel that runs) and runs the very source of the
 * kernels, compiled as C.
 *
 *   STANDIN_DEVICES=N          so many devices (1)
 *   STANDIN_FAIL=NAME:CODE@N   the N-th call of that name, and each one after, fails with that code
 *   STANDIN_SPOIL=1            one sample in the middle of each block comes back changed
 *   STANDIN_LAST_FIRST=1       who waits for one stream sees all of them run, the last one first
 *   STANDIN_CLOCK=N            the clock that kernels read runs N times as fast
 *   STANDIN_DISPLAY=1          kernels that run for some seconds are not allowed
 *   STANDIN_LOG=FILE           what became of kernels, what was left at the end, what broke a rule */
#ifndef STANDIN_H
#define STANDIN_H

#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

typedef int Result;
typedef uint64_t Address;

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    INVALID_PTX = 218,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_TIMEOUT = 702,
    ALREADY_REGISTERED = 712,
    NOT_REGISTERED = 713,
    COOPERATIVE_TOO_LARGE = 720,
};

/* Of the device: so few, that the threads of a kernel can be threads of this host. */
enum { MULTIPROCESSORS = 2, THREADS_MOST = 4 };

enum { DEVICE_MEMORY = 1, REGISTERED = 2, HOST_MEMORY = 3 };

/* device.c: what fails by wish, and the log. */
int fails(const char *name, Result *code);
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
int has_context(void);

/* memory.c: is all of it memory of that kind, or of any if 0? */
int is_known(const void *at, size_t bytes, int kind);
int left_of(int kind);

/* work.c */
int kernel_runs(void);
int streams_left(void);

/* Each call begins so. */
#define BEGIN                                                                                      \
    do {                                                                                           \
        Result code;                                                                               \
        if (fails(__func__, &code))                                                                \
            return code;                                                                           \
        if (!has_context())                                                                        \
            return INVALID_CONTEXT;                                                                \
    } while (0)

/* CUDA would wait for the kernel to end, which waits for the host. */
#define NOT_UNDER_A_KERNEL                                                                         \
    do {                                                                                           \
        if (kernel_runs()) {                                                                       \
            note("deadlock: %s under a kernel that stays", __func__);                              \
            return LAUNCH_TIMEOUT;                                                                 \
        }                                                                                          \
    } while (0)

#endif
