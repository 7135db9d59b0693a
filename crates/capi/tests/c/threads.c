/* Several threads, signals, and a fork: each is answered, none is a race.
 *
 *     threads ADDRESS SILENT
 *
 * SILENT accepts and never says a word.
 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXCHANGES = 2000 };

static wg_device *shared;

static void *exchange(void *user)
{
    unsigned char request[8], reply[8];
    size_t bytes = 0, done = 0, in_use = 0;

    memset(request, *(int *)user, sizeof request);
    while (done < EXCHANGES) {
        int32_t code = wg_exchange(shared, request, sizeof request, WG_AS_SENT, reply, sizeof reply, &bytes, NULL);

        if (code == WG_ERROR_IN_USE) {
            in_use++;
            continue;
        }
        done++;
        IS(WG_OK, code);
        HOLDS(bytes == sizeof request && memcmp(request, reply, bytes) == 0);
    }
    printf("thread %d: %d exchanges, the device was in use %zu times\n", *(int *)user, EXCHANGES, in_use);
    return NULL;
}

static void two_threads_share_a_device(void)
{
    pthread_t other;
    int mine = 1, its = 2;

    pthread_create(&other, NULL, exchange, &its);
    exchange(&mine);
    pthread_join(other, NULL);
}

static void *interrupt(void *user)
{
    struct timespec a_while = {0, 200000000};

    (void)user;
    nanosleep(&a_while, NULL);
    /* The call that waits holds the device. */
    IS(WG_ERROR_IN_USE, wg_close(shared));
    IS(WG_OK, wg_interrupt(shared));
    return NULL;
}

static void on_alarm(int number)
{
    (void)number;
    wg_interrupt(shared);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void a_wait_is_interrupted(const char *silent)
{
    wg_options *options = NULL;
    unsigned char byte = 0;
    pthread_t other;
    struct sigaction action;
    double begun = seconds();

    IS(WG_OK, wg_options_new(&options));
    IS(WG_OK, wg_options_raw(options));
    IS(WG_OK, wg_options_timeout(options, UINT64_C(60000000000)));
    IS(WG_OK, wg_open(silent, options, &shared));
    IS(WG_OK, wg_options_free(options));

    pthread_create(&other, NULL, interrupt, NULL);
    IS(WG_ERROR_INTERRUPTED, wg_exchange(shared, &byte, 1, 1, &byte, 1, NULL, NULL));
    pthread_join(other, NULL);

    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    alarm(1);
    IS(WG_ERROR_INTERRUPTED, wg_exchange(shared, &byte, 1, 1, &byte, 1, NULL, NULL));

    /* Nobody waits: the next call is the one that ends. */
    IS(WG_OK, wg_interrupt(shared));
    IS(WG_ERROR_INTERRUPTED, wg_exchange(shared, &byte, 1, 1, &byte, 1, NULL, NULL));
    HOLDS(seconds() - begun < 30);
    IS(WG_OK, wg_close(shared));
}

static void a_child_leaves_its_parents_device_alone(void)
{
    unsigned char byte = 7;
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        broken = 0;
        IS(WG_ERROR_FORKED, wg_exchange(shared, &byte, 1, WG_AS_SENT, &byte, 1, NULL, NULL));
        IS(WG_ERROR_FORKED, wg_close(shared));
        _exit(result());
    }
    waitpid(child, &status, 0);
    HOLDS(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    IS(WG_OK, wg_exchange(shared, &byte, 1, WG_AS_SENT, &byte, 1, NULL, NULL));
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    IS(WG_OK, wg_open(argv[1], NULL, &shared));
    if (shared == NULL)
        return result();
    two_threads_share_a_device();
    a_child_leaves_its_parents_device_alone();
    IS(WG_OK, wg_close(shared));
    a_wait_is_interrupted(argv[2]);
    return result();
}
