/*
 * The floor of an exchange on CAN: the least that a program can do between two reads of the clock. Whatever wiregauge
 * needs beyond it is wiregauge's own.
 *
 *   can_floor serve IFACE frame|fd|isotp REQUEST RESPONSE
 *   can_floor ping  IFACE frame|fd|isotp REQUEST RESPONSE SIZE COUNT [times]
 *
 * Identifiers are hexadecimal, 11 bits. serve echoes until it is killed. ping prints one line of JSON; a tenth of COUNT,
 * at least 100, runs before as warm-up. `times` also takes the kernel's time of receipt of each response, as
 * `wiregauge exchange --kernel-wait` does: recvmsg with SO_TIMESTAMPNS, and a second clock.
 */
#define _DEFAULT_SOURCE

#include <errno.h>
#include <linux/can.h>
#include <linux/can/isotp.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 4096 };

static void fail(const char *doing)
{
    fprintf(stderr, "can_floor: %s: %s\n", doing, strerror(errno));
    exit(1);
}

static void usage(void)
{
    fprintf(stderr, "usage: can_floor serve IFACE frame|fd|isotp REQUEST RESPONSE\n"
                    "       can_floor ping  IFACE frame|fd|isotp REQUEST RESPONSE SIZE COUNT [times]\n");
    exit(2);
}

static int is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static uint64_t ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void set(int fd, int level, int name, const void *value, size_t size)
{
    if (setsockopt(fd, level, name, value, (socklen_t)size) < 0)
        fail("setsockopt");
}

/* A socket that sends with one identifier and receives only frames with the other. */
static int open_can(const char *interface, const char *kind, canid_t sends, canid_t receives)
{
    const int on = 1;
    int isotp = is(kind, "isotp");
    int fd = socket(AF_CAN, isotp ? SOCK_DGRAM : SOCK_RAW, isotp ? CAN_ISOTP : CAN_RAW);
    struct sockaddr_can at;
    if (fd < 0)
        fail("socket");
    if (!isotp) {
        struct can_filter filter = {receives, CAN_SFF_MASK | CAN_EFF_FLAG};
        set(fd, SOL_CAN_RAW, CAN_RAW_FILTER, &filter, sizeof filter);
        if (is(kind, "fd"))
            set(fd, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, &on, sizeof on);
        else if (!is(kind, "frame"))
            usage();
    }
    memset(&at, 0, sizeof at);
    at.can_family = AF_CAN;
    at.can_ifindex = (int)if_nametoindex(interface);
    at.can_addr.tp.tx_id = sends;
    at.can_addr.tp.rx_id = receives;
    if (at.can_ifindex == 0 || bind(fd, (struct sockaddr *)&at, sizeof at) < 0)
        fail(interface);
    return fd;
}

static void serve(const char *interface, const char *kind, canid_t request, canid_t response)
{
    static unsigned char buffer[BUFFER];
    int fd = open_can(interface, kind, response, request), isotp = is(kind, "isotp");
    for (;;) {
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n <= 0)
            fail("read");
        if (!isotp)
            memcpy(buffer, &response, sizeof response);
        if (write(fd, buffer, (size_t)n) != n)
            fail("write");
    }
}

/* The response, and how long it has waited since the kernel received it. */
static ssize_t take_with_time(int fd, void *into, size_t room, uint64_t *waited)
{
    union {
        char bytes[64];
        struct cmsghdr header;
    } control;
    struct iovec part = {into, room};
    struct msghdr message;
    struct cmsghdr *c;
    ssize_t n;
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    n = recvmsg(fd, &message, 0);
    for (c = n < 0 ? NULL : CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS) {
            struct timespec t;
            memcpy(&t, CMSG_DATA(c), sizeof t);
            *waited += ns(CLOCK_REALTIME) - ((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec);
        }
    }
    return n;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void ping(const char *interface, const char *kind, canid_t request, canid_t response, size_t size, size_t count,
                 int times)
{
    static unsigned char out[BUFFER], in[BUFFER];
    const int on = 1;
    int fd = open_can(interface, kind, request, response), isotp = is(kind, "isotp");
    size_t warm = count / 10 > 100 ? count / 10 : 100, total = warm + count, i;
    size_t length = isotp ? size : is(kind, "fd") ? CANFD_MTU : CAN_MTU;
    uint64_t *samples = malloc(total * sizeof *samples), waited = 0;
    if (!samples)
        fail("memory for samples");
    memset(samples, 1, total * sizeof *samples); /* every page is there before the start */
    if (size == 0 || length > sizeof out || (!isotp && size > length - 8))
        usage();
    memset(out, 0x55, sizeof out);
    if (!isotp) {
        memset(out, 0, 8);
        memcpy(out, &request, sizeof request);
        out[4] = (unsigned char)size;
        out[5] = is(kind, "fd") ? CANFD_BRS : 0;
    }
    if (times)
        set(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    for (i = 0; i < total; i++) {
        uint64_t begin = ns(CLOCK_MONOTONIC);
        ssize_t n;
        if (write(fd, out, length) != (ssize_t)length)
            fail("write");
        n = times ? take_with_time(fd, in, sizeof in, &waited) : read(fd, in, sizeof in);
        if (n != (ssize_t)length)
            fail("read");
        samples[i] = ns(CLOCK_MONOTONIC) - begin;
    }
    samples += warm;
    qsort(samples, count, sizeof *samples, by_size);
    printf("{\"kind\": \"%s\", \"bytes\": %zu, \"times\": %d, \"n\": %zu, \"min\": %llu, \"p50\": %llu, \"p99\": %llu, "
           "\"waited_ns\": %llu}\n",
           kind, size, times, count, (unsigned long long)samples[0], (unsigned long long)samples[count / 2],
           (unsigned long long)samples[count - 1 - count / 100], (unsigned long long)(waited / total));
}

int main(int argc, char **argv)
{
    canid_t request, response;
    if (argc < 6)
        usage();
    request = (canid_t)strtoul(argv[4], NULL, 16);
    response = (canid_t)strtoul(argv[5], NULL, 16);
    if (is(argv[1], "serve") && argc == 6)
        serve(argv[2], argv[3], request, response);
    else if (is(argv[1], "ping") && argc >= 8)
        ping(argv[2], argv[3], request, response, (size_t)atol(argv[6]), (size_t)atol(argv[7]),
             argc > 8 && is(argv[8], "times"));
    else
        usage();
    return 0;
}
