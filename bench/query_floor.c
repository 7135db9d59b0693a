/*
 * The floor of queries: a device that answers each request at once, the same for all that ask it, and the least
 * that a program can do between two reads of the clock to ask it.
 *
 *   query_floor serve modbus|rtu|scpi
 *   query_floor ping  modbus|rtu|scpi ADDRESS COUNT SILENCE_US
 *
 * modbus: Modbus TCP. rtu: Modbus RTU on a pty. Both: unit 1 has 10 holding registers from address 0 on. scpi: lines
 * over TCP; `SYST:ERR?` is an empty error queue, any other line a reading. SILENCE_US: so long after a reply the next
 * request waits. serve prints where it serves, one client after the other. ping prints one line of JSON; a tenth of
 * COUNT, at least 100, runs before as warm-up.
 */
#include "floor.h"

enum { REGISTERS = 10, MBAP = 6, ROOM = 512 };

static void usage(void)
{
    fprintf(stderr, "usage: query_floor serve modbus|rtu|scpi\n"
                    "       query_floor ping modbus|rtu|scpi ADDRESS COUNT SILENCE_US\n");
    exit(2);
}

/* ---- what is asked and answered ---- */

static const unsigned char read_request[] = {1, 3, 0, 0, 0, REGISTERS};
static const unsigned char refusal[] = {1, 0x83, 2};
static const char scpi_request[] = "READ?\n", reading[] = "+1.23456789E-03\n", no_error[] = "0,\"No error\"\n";

/* Modbus over Serial Line V1.02, 6.2.2. */
static size_t with_crc(unsigned char *frame, size_t size)
{
    unsigned crc = 0xffff;
    size_t i;
    int bit;
    for (i = 0; i < size; i++)
        for (crc ^= frame[i], bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xa001 : crc >> 1;
    frame[size] = (unsigned char)crc;
    frame[size + 1] = (unsigned char)(crc >> 8);
    return size + 2;
}

/* Puts unit and PDU into the frame of the line; gives its size. */
static size_t framed(int serial, const unsigned char *body, size_t size, unsigned char *frame)
{
    if (serial) {
        memcpy(frame, body, size);
        return with_crc(frame, size);
    }
    memset(frame, 0, MBAP);
    frame[5] = (unsigned char)size;
    memcpy(frame + MBAP, body, size);
    return MBAP + size;
}

static size_t read_reply(int serial, unsigned char *frame)
{
    unsigned char body[3 + 2 * REGISTERS] = {1, 3, 2 * REGISTERS};
    int i;
    for (i = 0; i < REGISTERS; i++) {
        body[3 + 2 * i] = (unsigned char)((1000 + i) >> 8);
        body[4 + 2 * i] = (unsigned char)(1000 + i);
    }
    return framed(serial, body, sizeof body, frame);
}

/* ---- the device ---- */

static void answer_modbus(const struct end *e)
{
    unsigned char asked[ROOM], known[ROOM], right[ROOM], wrong[ROOM];
    size_t size = framed(e->tty, read_request, sizeof read_request, known), got = 0;
    size_t right_size = read_reply(e->tty, right), wrong_size = framed(e->tty, refusal, sizeof refusal, wrong);
    size_t skip = e->tty ? 0 : 2; /* the number of the transaction */
    for (;;) {
        ssize_t n = take(e, asked + got, size - got);
        int is_known;
        if (n <= 0)
            return;
        got += (size_t)n;
        if (got < size)
            continue;
        got = 0;
        is_known = memcmp(asked + skip, known + skip, size - skip) == 0;
        memcpy(is_known ? right : wrong, asked, skip);
        if (give(e, is_known ? right : wrong, is_known ? right_size : wrong_size) < 0)
            return;
    }
}

static void answer_scpi(const struct end *e)
{
    unsigned char line[ROOM];
    size_t got = 0;
    for (;;) {
        ssize_t n = take(e, line + got, sizeof line - got);
        const char *reply;
        if (n <= 0)
            return;
        got += (size_t)n;
        if (line[got - 1] != '\n') {
            if (got == sizeof line)
                return;
            continue;
        }
        reply = line[0] == 'S' ? no_error : reading;
        got = 0;
        if (give(e, (const unsigned char *)reply, strlen(reply)) < 0)
            return;
    }
}

static void serve_tcp(void (*answer)(const struct end *))
{
    struct sockaddr_in at = parse_inet("127.0.0.1:0");
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    no_delay(fd); /* accepted sockets inherit it */
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0)
        fail("bind");
    if (listen(fd, 128) < 0)
        fail("listen");
    say_port(fd);
    for (;;) {
        struct end e = {accept(fd, NULL, NULL), 0, 0};
        if (e.fd < 0 && (again() || errno == ECONNABORTED))
            continue;
        if (e.fd < 0)
            fail("accept");
        answer(&e);
        close(e.fd);
    }
}

static void serve_rtu(void)
{
    struct end e = {posix_openpt(O_RDWR | O_NOCTTY), 1, 0};
    int slave;
    if (e.fd < 0 || grantpt(e.fd) < 0 || unlockpt(e.fd) < 0)
        fail("posix_openpt");
    /* Held open: a master whose tty nobody has open fails every read. */
    slave = open(ptsname(e.fd), O_RDWR | O_NOCTTY);
    if (slave < 0)
        fail("opening the tty");
    make_raw(slave);
    say(ptsname(e.fd));
    answer_modbus(&e);
    fail("pty");
}

/* ---- the client ---- */

static struct end open_end(const char *kind, const char *address)
{
    struct end e = {-1, is(kind, "rtu"), 0};
    if (e.tty) {
        e.fd = open(address, O_RDWR | O_NOCTTY);
        if (e.fd < 0)
            fail(address);
        make_raw(e.fd);
        tcflush(e.fd, TCIOFLUSH);
    } else {
        struct sockaddr_in to = parse_inet(address);
        e.fd = connected(AF_INET, SOCK_STREAM, (struct sockaddr *)&to, sizeof to);
    }
    return e;
}

/* So long no request is sent. */
static void keep_silence(uint64_t until)
{
    struct timespec t = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

static void ping(const struct end *e, int scpi, uint64_t silence, uint64_t *samples, size_t count)
{
    static uint16_t number;
    unsigned char request[ROOM], reply[ROOM];
    size_t size, due, got, i;
    if (scpi)
        memcpy(request, scpi_request, size = strlen(scpi_request)), due = strlen(reading);
    else
        size = framed(e->tty, read_request, sizeof read_request, request), due = read_reply(e->tty, reply);
    for (i = 0; i < count; i++) {
        uint64_t begin, end;
        if (!scpi && !e->tty)
            request[0] = (unsigned char)(++number >> 8), request[1] = (unsigned char)number;
        begin = now_ns();
        if (give(e, request, size) < 0)
            fail("sending");
        for (got = 0; got < due && !(scpi && got && reply[got - 1] == '\n');) {
            ssize_t n = take(e, reply + got, sizeof reply - got);
            if (n <= 0)
                fail("receiving");
            got += (size_t)n;
        }
        end = now_ns();
        if (got != due || (!scpi && reply[e->tty ? 1 : MBAP + 1] != 3)) {
            fprintf(stderr, "query_floor: a wrong reply of %zu bytes\n", got);
            exit(1);
        }
        samples[i] = end - begin;
        if (silence)
            keep_silence(end + silence);
    }
}

static int run_ping(const char *kind, const char *address, size_t count, uint64_t silence)
{
    size_t warm = count / 10 > 100 ? count / 10 : 100, room = count > warm ? count : warm, i;
    uint64_t *samples = malloc(room * sizeof *samples), begin;
    struct end e = open_end(kind, address);
    if (!samples)
        fail("memory for samples");
    for (i = 0; i < room; i++)
        samples[i] = 1; /* every page is there before the start */
    ping(&e, is(kind, "scpi"), silence, samples, warm);
    begin = now_ns();
    ping(&e, is(kind, "scpi"), silence, samples, count);
    report(samples, count, now_ns() - begin);
    free(samples);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3 || !(is(argv[2], "modbus") || is(argv[2], "rtu") || is(argv[2], "scpi")))
        usage();
    if (is(argv[1], "ping") && argc == 6 && atol(argv[4]) > 0 && atol(argv[5]) >= 0) {
        alarm(PING_SECONDS);
        return run_ping(argv[2], argv[3], (size_t)atol(argv[4]), (uint64_t)atol(argv[5]) * 1000u);
    }
    if (!is(argv[1], "serve") || argc != 3)
        usage();
    alarm(SERVE_SECONDS);
    if (is(argv[2], "rtu"))
        serve_rtu();
    else
        serve_tcp(is(argv[2], "scpi") ? answer_scpi : answer_modbus);
    return 0;
}
