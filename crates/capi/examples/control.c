/* A control loop: every 2 ms a command is made of the newest measurement. Ctrl-C ends it.
 *
 *     ./control tcp://127.0.0.1:7700
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <wiregauge.h>

enum { CYCLES = 500, PERIOD_NS = 2000000 };

/* What the loop keeps from one step to the next: a device that echoes is a valve that obeys. */
struct controller {
    double wanted, valve, furthest;
};

static wg_device *device;

/* wg_interrupt is the one function that a signal handler may call. */
static void stop(int number)
{
    (void)number;
    wg_interrupt(device);
}

static size_t step(void *user, uint64_t cycle, const uint8_t *reply, size_t reply_bytes,
                   uint8_t *request, size_t room)
{
    struct controller *loop = user;
    double measured = 0;

    (void)cycle;
    if (reply != NULL && reply_bytes == sizeof measured)
        memcpy(&measured, reply, sizeof measured);
    loop->valve = measured + 0.1 * (loop->wanted - measured);
    if (measured > loop->furthest)
        loop->furthest = measured;
    if (room < sizeof loop->valve)
        return WG_END;
    memcpy(request, &loop->valve, sizeof loop->valve);
    return sizeof loop->valve;
}

static void print_table(const wg_cycle *cycles, size_t ran)
{
    double sum_ms = 0, longest_ms = 0, latest_ms = 0;
    size_t overruns = 0, lost = 0, row;

    for (row = 0; row < ran; row++) {
        double rtt_ms = (double)cycles[row].rtt_ns / 1e6;
        double late_ms = ((double)cycles[row].start_ns - (double)cycles[row].intended_ns) / 1e6;

        sum_ms += rtt_ms;
        if (rtt_ms > longest_ms)
            longest_ms = rtt_ms;
        if (late_ms > latest_ms)
            latest_ms = late_ms;
        overruns += cycles[row].status == WG_CYCLE_OVERRUN;
        lost += cycles[row].status == WG_CYCLE_LOST;
    }
    printf("cycles   overruns   lost   mean RTT ms   longest ms   latest start ms\n");
    printf("%6zu %10zu %6zu %13.3f %12.3f %17.3f\n", ran, overruns, lost,
           ran > 0 ? sum_ms / (double)ran : 0, longest_ms, latest_ms);
}

int main(int argc, char **argv)
{
    static wg_cycle cycles[CYCLES];
    wg_control_plan plan = {
        .struct_bytes = sizeof plan,
        .period_ns = PERIOD_NS,
        .largest_request = sizeof(double),
        .reply_bytes = WG_AS_SENT,
        .depth = 1,
        .give_up = 10,
    };
    struct controller loop = {100, 0, 0};
    size_t ran = 0;
    int32_t code;

    if (argc != 2) {
        fprintf(stderr, "usage: control ADDRESS\n");
        return 2;
    }
    code = wg_open(argv[1], NULL, &device);
    if (code == WG_OK) {
        signal(SIGINT, stop);
        code = wg_control(device, &plan, step, &loop, cycles, CYCLES, &ran);
        signal(SIGINT, SIG_DFL);
        print_table(cycles, ran);
        printf("the valve came to %.1f of %.1f\n", loop.furthest, loop.wanted);
    }
    if (code != WG_OK && code != WG_ERROR_INTERRUPTED)
        fprintf(stderr, "control: %s\n%s\n", wg_error_name(code), wg_last_error());
    wg_close(device);
    return code == WG_OK || code == WG_ERROR_INTERRUPTED ? 0 : 3;
}
