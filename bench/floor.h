/*
 * What the floors share (floor.c, query_floor.c): clock, addresses, one read and one write, the report.
 */
#ifndef WIREGAUGE_FLOOR_H
#define WIREGAUGE_FLOOR_H

#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { SERVE_SECONDS = 3600, PING_SECONDS = 60 };

/* Says how the program is called, and ends it. */
static void usage(void);

static void fail(const char *doing)
{
    fprintf(stderr, "floor: %s: %s\n", doing, strerror(errno));
    exit(1);
}

static int is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* Nothing there yet, or a signal: try again. */
static int again(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct sockaddr_in parse_inet(const char *text)
{
    struct sockaddr_in address;
    char host[64];
    const char *colon = strrchr(text, ':');
    memset(&address, 0, sizeof address);
    if (!colon || (size_t)(colon - text) >= sizeof host)
        usage();
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = 0;
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)atoi(colon + 1));
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        usage();
    return address;
}

static void no_delay(int fd)
{
    int one = 1;
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0)
        fail("TCP_NODELAY");
}

static void make_raw(int fd)
{
    struct termios t;
    if (tcgetattr(fd, &t) < 0)
        fail("tcgetattr");
    cfmakeraw(&t);
    t.c_cc[VMIN] = 1;
    t.c_cc[VTIME] = 0;
    if (tcsetattr(fd, TCSANOW, &t) < 0)
        fail("tcsetattr");
}

/* ---- one read, one write; sockets through recv and send, a tty through read and write ---- */

struct end {
    int fd, tty, spin;
};

/* Bytes received, 0 at the end of the stream, -1 on an error; waits as the end was configured to. */
static ssize_t take(const struct end *e, unsigned char *into, size_t room)
{
    for (;;) {
        ssize_t n = e->tty ? read(e->fd, into, room) : recv(e->fd, into, room, e->spin ? MSG_DONTWAIT : 0);
        if (n >= 0 || !again())
            return n;
    }
}

static int give(const struct end *e, const unsigned char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t n = e->tty ? write(e->fd, bytes, count)
                           : send(e->fd, bytes, count, MSG_NOSIGNAL | (e->spin ? MSG_DONTWAIT : 0));
        if (n >= 0) {
            bytes += n;
            count -= (size_t)n;
        } else if (!again()) {
            return -1;
        }
    }
    return 0;
}

/* ---- what a server says ---- */

static void say(const char *address)
{
    puts(address);
    fflush(stdout);
}

static void say_port(int fd)
{
    struct sockaddr_in got;
    socklen_t length = sizeof got;
    char host[64], text[80];
    if (getsockname(fd, (struct sockaddr *)&got, &length) < 0)
        fail("getsockname");
    inet_ntop(AF_INET, &got.sin_addr, host, sizeof host);
    snprintf(text, sizeof text, "%s:%u", host, ntohs(got.sin_port));
    say(text);
}

/* ---- the client ---- */

static int connected(int family, int type, const struct sockaddr *to, socklen_t length)
{
    int fd = socket(family, type, 0);
    if (fd < 0)
        fail("socket");
    if (family == AF_INET && type == SOCK_STREAM)
        no_delay(fd);
    if (connect(fd, to, length) < 0)
        fail("connect");
    return fd;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void report(uint64_t *samples, size_t count, uint64_t elapsed)
{
    double sum = 0;
    size_t i;
    for (i = 0; i < count; i++)
        sum += (double)samples[i];
    qsort(samples, count, sizeof *samples, by_size);
    printf("{\"n\": %zu, \"min\": %llu, \"p50\": %llu, \"p99\": %llu, \"max\": %llu, \"mean\": %.1f, "
           "\"exchanges_s\": %.1f}\n",
           count, (unsigned long long)samples[0], (unsigned long long)samples[count / 2],
           (unsigned long long)samples[count - 1 - count / 100], (unsigned long long)samples[count - 1],
           sum / (double)count, (double)count * 1e9 / (double)elapsed);
}

#endif
