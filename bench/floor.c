/*
 * The floor: the least that a program can do between two reads of the clock, for every link kind
 * that the bench compares. Whatever a tool needs beyond it is the tool's own.
 *
 *   floor serve tcp|udp|unix|pty ADDRESS [--spin]
 *   floor ping  tcp|udp|unix|pty|connect ADDRESS SIZE COUNT [--spin] [--depth N] [--separate]
 *
 * serve prints the address that it got (port 0 asks the system for a free one, a pty's ADDRESS is
 * ignored) and echoes, one client after the other, until it is killed or an hour is over. ping
 * prints one line of JSON. A tenth of COUNT, at least 100, runs before as warm-up.
 */
#include "floor.h"

#include <sys/un.h>

enum { BUFFER = 1 << 16, MAX_DEPTH = 1024 };

static unsigned char out_bytes[BUFFER], in_bytes[BUFFER];

static void usage(void)
{
    fprintf(stderr, "usage: floor serve tcp|udp|unix|pty ADDRESS [--spin]\n"
                    "       floor ping tcp|udp|unix|pty|connect ADDRESS SIZE COUNT"
                    " [--spin] [--depth N] [--separate]\n");
    exit(2);
}

/* ---- addresses ---- */

static struct sockaddr_un parse_unix(const char *path)
{
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address.sun_path)
        usage();
    strcpy(address.sun_path, path);
    return address;
}

/* ---- the echo server ---- */

static void echo_stream(const struct end *e)
{
    ssize_t n;
    while ((n = take(e, in_bytes, sizeof in_bytes)) > 0 && give(e, in_bytes, (size_t)n) == 0)
        ;
}

static void serve_listener(int listener, int spin)
{
    if (listen(listener, 128) < 0)
        fail("listen");
    for (;;) {
        struct end e = {accept(listener, NULL, NULL), 0, spin};
        if (e.fd < 0 && (again() || errno == ECONNABORTED))
            continue;
        if (e.fd < 0)
            fail("accept");
        echo_stream(&e);
        close(e.fd);
    }
}

static void serve_tcp(const char *address, int spin)
{
    struct sockaddr_in at = parse_inet(address);
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    no_delay(fd); /* accepted sockets inherit it */
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0)
        fail("bind");
    if (listen(fd, 128) < 0)
        fail("listen");
    say_port(fd);
    serve_listener(fd, spin);
}

static void serve_unix(const char *address, int spin)
{
    struct sockaddr_un at = parse_unix(address);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    unlink(address);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0)
        fail("bind");
    if (listen(fd, 128) < 0)
        fail("listen");
    say(address);
    serve_listener(fd, spin);
}

static void serve_udp(const char *address, int spin)
{
    struct sockaddr_in at = parse_inet(address);
    int fd = socket(AF_INET, SOCK_DGRAM, 0), flags = spin ? MSG_DONTWAIT : 0;
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0)
        fail("bind");
    say_port(fd);
    for (;;) {
        struct sockaddr_in from;
        socklen_t length = sizeof from;
        ssize_t n = recvfrom(fd, in_bytes, sizeof in_bytes, flags, (struct sockaddr *)&from, &length);
        if (n >= 0)
            sendto(fd, in_bytes, (size_t)n, 0, (struct sockaddr *)&from, length);
    }
}

static void serve_pty(int spin)
{
    struct end e = {posix_openpt(O_RDWR | O_NOCTTY), 1, spin};
    int slave;
    if (e.fd < 0 || grantpt(e.fd) < 0 || unlockpt(e.fd) < 0)
        fail("posix_openpt");
    /* Held open: a master whose tty nobody has open fails every read. */
    slave = open(ptsname(e.fd), O_RDWR | O_NOCTTY);
    if (slave < 0)
        fail("opening the tty");
    make_raw(slave);
    if (spin)
        fcntl(e.fd, F_SETFL, O_NONBLOCK);
    say(ptsname(e.fd));
    echo_stream(&e);
    fail("pty");
}

/* ---- the client ---- */

static struct end open_end(const char *kind, const char *address, int spin)
{
    struct end e = {-1, 0, spin};
    if (is(kind, "tcp") || is(kind, "udp")) {
        struct sockaddr_in to = parse_inet(address);
        e.fd = connected(AF_INET, is(kind, "tcp") ? SOCK_STREAM : SOCK_DGRAM, (struct sockaddr *)&to, sizeof to);
    } else if (is(kind, "unix")) {
        struct sockaddr_un to = parse_unix(address);
        e.fd = connected(AF_UNIX, SOCK_STREAM, (struct sockaddr *)&to, sizeof to);
    } else if (is(kind, "pty")) {
        e.tty = 1;
        e.fd = open(address, O_RDWR | O_NOCTTY | (spin ? O_NONBLOCK : 0));
        if (e.fd < 0)
            fail(address);
        make_raw(e.fd);
        tcflush(e.fd, TCIOFLUSH);
    } else {
        usage();
    }
    return e;
}

static void take_all(const struct end *e, size_t size)
{
    size_t got = 0;
    while (got < size) {
        ssize_t n = take(e, in_bytes + got, size - got);
        if (n <= 0)
            fail("receiving");
        got += (size_t)n;
    }
}

static void ping(const struct end *e, size_t size, uint64_t *samples, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        uint64_t begin = now_ns();
        if (give(e, out_bytes, size) < 0)
            fail("sending");
        take_all(e, size);
        samples[i] = now_ns() - begin;
    }
}

/* A new connection for each exchange; a sample is the whole of it, the close included. */
static void ping_connect(const char *address, int spin, size_t size, uint64_t *samples, size_t count)
{
    struct sockaddr_in to = parse_inet(address);
    struct linger reset = {1, 0}; /* or tens of thousands of ports would wait in TIME_WAIT */
    size_t i;
    for (i = 0; i < count; i++) {
        uint64_t begin = now_ns();
        struct end e = {connected(AF_INET, SOCK_STREAM, (struct sockaddr *)&to, sizeof to), 0, spin};
        setsockopt(e.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        if (give(&e, out_bytes, size) < 0)
            fail("sending");
        take_all(&e, size);
        close(e.fd);
        samples[i] = now_ns() - begin;
    }
}

/*
 * `depth` requests outstanding: each receive takes what is there, each send hands over as many
 * requests as answers were completed; with `separate` one request a send and one answer a receive,
 * as tools without pipelining in one buffer do it.
 */
static void ping_deep(const struct end *e, size_t size, size_t depth, int separate, uint64_t *samples, size_t count)
{
    static uint64_t begun[MAX_DEPTH];
    size_t sent = 0, done = 0, partial = 0, due = depth < count ? depth : count;
    while (done < count) {
        uint64_t now = now_ns();
        size_t k, room = separate ? size - partial : depth * size;
        ssize_t n;
        for (k = 0; k < due; k++)
            begun[(sent + k) % depth] = now;
        for (k = 0; k < due && separate; k++)
            if (give(e, out_bytes, size) < 0)
                fail("sending");
        if (!separate && give(e, out_bytes, due * size) < 0)
            fail("sending");
        sent += due;
        n = take(e, in_bytes, room);
        if (n <= 0)
            fail("receiving");
        now = now_ns();
        partial += (size_t)n;
        for (k = partial / size, due = 0; k > 0; k--, done++) {
            samples[done] = now - begun[done % depth];
            due += sent + due < count;
        }
        partial %= size;
    }
}

static int run_ping(const char *kind, const char *address, size_t size, size_t count, int spin, size_t depth,
                    int separate)
{
    size_t warm = count / 10 > 100 ? count / 10 : 100, room = count > warm ? count : warm, i;
    uint64_t *samples = malloc(room * sizeof *samples), begin;
    struct end e = {-1, 0, 0};
    int turn;
    if (!samples)
        fail("memory for samples");
    for (i = 0; i < room; i++)
        samples[i] = 1; /* every page is there before the start */
    for (i = 0; i < sizeof out_bytes; i++)
        out_bytes[i] = (unsigned char)(i % 251), in_bytes[i] = 1;
    if (!is(kind, "connect"))
        e = open_end(kind, address, spin);
    for (turn = 0, begin = 0; turn < 2; turn++) {
        size_t n = turn ? count : warm;
        begin = now_ns();
        if (is(kind, "connect"))
            ping_connect(address, spin, size, samples, n);
        else if (depth > 1)
            ping_deep(&e, size, depth, separate, samples, n);
        else
            ping(&e, size, samples, n);
    }
    report(samples, count, now_ns() - begin);
    free(samples);
    return 0;
}

int main(int argc, char **argv)
{
    int spin = 0, separate = 0, i, options = argc > 1 && is(argv[1], "ping") ? 6 : 4;
    long depth = 1;
    if (argc < options)
        usage();
    for (i = options; i < argc; i++) {
        if (is(argv[i], "--spin"))
            spin = 1;
        else if (is(argv[i], "--separate"))
            separate = 1;
        else if (is(argv[i], "--depth") && i + 1 < argc)
            depth = atol(argv[++i]);
        else
            usage();
    }
    if (is(argv[1], "ping")) {
        long size = atol(argv[4]), count = atol(argv[5]);
        if (size < 1 || count < 1 || depth < 1 || depth > MAX_DEPTH || size > BUFFER / depth)
            usage();
        alarm(PING_SECONDS);
        return run_ping(argv[2], argv[3], (size_t)size, (size_t)count, spin, (size_t)depth, separate);
    }
    if (!is(argv[1], "serve"))
        usage();
    alarm(SERVE_SECONDS);
    if (is(argv[2], "tcp"))
        serve_tcp(argv[3], spin);
    else if (is(argv[2], "unix"))
        serve_unix(argv[3], spin);
    else if (is(argv[2], "udp"))
        serve_udp(argv[3], spin);
    else if (is(argv[2], "pty"))
        serve_pty(spin);
    else
        usage();
    return 0;
}
