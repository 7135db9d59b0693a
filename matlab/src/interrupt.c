/* Ctrl-C; see interrupt.h. */

/* sigaction is POSIX's, not C99's. */
#define _POSIX_C_SOURCE 200809L

#include "interrupt.h"

#ifdef _WIN32

/* Not distinguished there yet: a call ends with its timeout. */
void interrupt_begin(wg_device *device) { (void)device; }
void interrupt_end(void) {}

#else

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static wg_device *volatile waiting;
static volatile sig_atomic_t came;
static struct sigaction before;
static sigset_t mask_before;

static void on_interrupt(int number) {
    wg_device *device = waiting;
    (void)number;
    came = 1;
    if (device != NULL) {
        wg_interrupt(device);
    }
}

void interrupt_begin(wg_device *device) {
    struct sigaction action;
    sigset_t interrupt;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    sigemptyset(&action.sa_mask);
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    came = 0;
    waiting = device;
    sigaction(SIGINT, &action, &before);
    /* Octave blocks it and has another thread wait for it; the kernel prefers the main thread, if that takes it. */
    pthread_sigmask(SIG_UNBLOCK, &interrupt, &mask_before);
}

void interrupt_end(void) {
    pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
    sigaction(SIGINT, &before, NULL);
    waiting = NULL;
    if (came) {
        /* To the process, not to this thread, where it may be blocked. */
        kill(getpid(), SIGINT);
    }
}

#endif
