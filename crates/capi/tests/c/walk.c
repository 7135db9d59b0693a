/* Every function as it is meant to be used, and what it must come to.
 *
 *     walk ADDRESS ECHO RUN
 *
 * ADDRESS speaks the wiregauge protocol and echoes messages, ECHO sends back whatever it gets.
 */
#include "check.h"
#include <stdlib.h>

enum { MOST = 4096, ROWS = 100, WIDE = 32 };

static unsigned char sent[MOST], came[MOST];

/* A request longer than the last one at each step, until the tenth. */
static size_t grow(void *user, uint64_t cycle, const uint8_t *reply, size_t reply_bytes, uint8_t *request, size_t room)
{
    int *steps = user;

    HOLDS(cycle == (uint64_t)*steps);
    HOLDS((reply == NULL) == (cycle == 0));
    HOLDS(reply == NULL || (reply_bytes == cycle && reply[0] == (uint8_t)(cycle - 1)));
    HOLDS(room >= 16);
    if (++*steps > 10)
        return WG_END;
    memset(request, (int)cycle, (size_t)cycle + 1);
    return (size_t)cycle + 1;
}

static void one_by_one(wg_device *device, int has_clock)
{
    size_t bytes = 0, size;
    wg_timing timing, before = {0, 0, 0, 0};

    for (size = 1; size <= 2000; size = 3 * size + 1) {
        memset(came, 0, sizeof came);
        IS(WG_OK, wg_exchange(device, sent, size, WG_AS_SENT, came, MOST, &bytes, &timing));
        HOLDS(bytes == size && memcmp(sent, came, size) == 0 && came[size] == 0);
        HOLDS(timing.rtt_ns > 0 && timing.start_ns >= before.start_ns + before.rtt_ns);
        HOLDS(has_clock == (timing.device_tx_ticks > 0));
        before = timing;
    }
    /* The reply where the request was. */
    memcpy(came, sent, 100);
    IS(WG_OK, wg_exchange(device, came, 100, WG_AS_SENT, came, MOST, &bytes, NULL));
    HOLDS(bytes == 100 && memcmp(sent, came, 100) == 0);
}

static void ahead(wg_device *device)
{
    size_t bytes = 0, outstanding = 9, n;

    for (n = 1; n <= 5; n++)
        IS(WG_OK, wg_submit(device, sent + n, 10 * n, WG_AS_SENT));
    IS(WG_OK, wg_outstanding(device, &outstanding));
    HOLDS(outstanding == 5);
    for (n = 1; n <= 5; n++) {
        IS(WG_OK, wg_next_reply(device, came, MOST, &bytes, NULL));
        HOLDS(bytes == 10 * n && memcmp(sent + n, came, bytes) == 0);
    }
    IS(WG_OK, wg_outstanding(device, &outstanding));
    HOLDS(outstanding == 0);
}

static void batches(wg_device *device)
{
    static unsigned char replies[ROWS][WIDE];
    static size_t lengths[ROWS], ends[ROWS];
    static wg_timing timings[ROWS];
    size_t answered = 0, row, end = 0;

    IS(WG_OK, wg_exchange_many(device, sent, ROWS, WIDE, replies, WIDE, lengths, timings, 4, &answered));
    HOLDS(answered == ROWS && memcmp(sent, replies, sizeof replies) == 0);
    for (row = 0; row < ROWS; row++) {
        HOLDS(lengths[row] == WIDE && timings[row].rtt_ns > 0);
        HOLDS(row == 0 || timings[row].start_ns >= timings[row - 1].start_ns);
    }
    memset(replies, 0, sizeof replies);
    IS(WG_OK, wg_exchange_many(device, sent, ROWS, WIDE, replies, WIDE, NULL, NULL, 1, NULL));
    HOLDS(memcmp(sent, replies, sizeof replies) == 0);
    IS(WG_OK, wg_exchange_many(device, NULL, 0, WIDE, NULL, WIDE, NULL, NULL, 1, &answered));
    HOLDS(answered == 0);

    for (row = 0; row < ROWS; row++)
        ends[row] = end += 1 + row % WIDE;
    IS(WG_OK, wg_exchange_packed(device, sent, ends, ROWS, replies, WIDE, lengths, timings, 4, &answered));
    HOLDS(answered == ROWS);
    for (row = 0, end = 0; row < ROWS; end = ends[row++])
        HOLDS(memcmp(replies[row], sent + end, ends[row] - end) == 0);
}

static void control(wg_device *device)
{
    wg_control_plan plan = {
        .struct_bytes = sizeof plan,
        .period_ns = 1000000,
        .largest_request = 16,
        .reply_bytes = WG_AS_SENT,
        .depth = 1,
        .give_up = 10,
    };
    wg_cycle cycles[20];
    size_t ran = 0, row;
    int steps = 0;

    memset(cycles, 0xff, sizeof cycles);
    IS(WG_OK, wg_control(device, &plan, grow, &steps, cycles, 20, &ran));
    HOLDS(ran == 10 && steps == 11);
    for (row = 0; row < ran; row++) {
        HOLDS(cycles[row].intended_ns == row * plan.period_ns);
        HOLDS(cycles[row].start_ns >= cycles[row].intended_ns && cycles[row].rtt_ns > 0);
        HOLDS(cycles[row].made_from == (row == 0 ? UINT64_MAX : row - 1));
        HOLDS(cycles[row].status != WG_CYCLE_LOST);
    }
    /* No room for more than three cycles. */
    steps = 0;
    IS(WG_OK, wg_control(device, &plan, grow, &steps, cycles, 3, &ran));
    HOLDS(ran == 3);
}

static void streams(wg_device *device)
{
    static unsigned char data[1 << 16];
    size_t bytes = 0;

    IS(WG_OK, wg_read_stream(device, data, sizeof data, 4096, 1, &bytes));
    HOLDS(bytes == sizeof data);
    IS(WG_OK, wg_write_stream(device, data, sizeof data, 4096, 1, &bytes));
    HOLDS(bytes == sizeof data);
}

static void about(wg_device *device, const char *address, int speaks)
{
    char text[4096];
    size_t length = 0;
    uint64_t number = 0;
    int32_t what;

    IS(WG_OK, wg_about_text(device, WG_ABOUT_ADDRESS, text, sizeof text, &length));
    HOLDS(strcmp(text, address) == 0 && length == strlen(address));
    IS(WG_OK, wg_about_text(device, WG_ABOUT_RESPONDER, text, sizeof text, NULL));
    HOLDS(strcmp(text, speaks ? "walked over" : "") == 0);
    IS(WG_OK, wg_about_text(device, WG_ABOUT_BUS, text, sizeof text, &length));
    IS(WG_OK, wg_about_text(device, WG_ABOUT_SETTINGS, text, sizeof text, &length));
    HOLDS(strstr(text, ": ") != NULL);
    for (what = WG_ABOUT_LARGEST_REQUEST; what <= WG_ABOUT_LARGEST_REPLY; what++) {
        IS(WG_OK, wg_about_number(device, what, &number));
        HOLDS(number >= MOST);
    }
    for (what = WG_ABOUT_TICK_HZ; what <= WG_ABOUT_ABILITIES; what++) {
        IS(WG_OK, wg_about_number(device, what, &number));
        HOLDS((number > 0) == speaks);
    }
    IS(WG_OK, wg_device_error(device, text, sizeof text, &length));
    HOLDS(text[0] == 0 && length == 0);
    IS(WG_ERROR_ARGUMENT, wg_outstanding(device, NULL));
    IS(WG_OK, wg_device_error(device, text, sizeof text, &length));
    HOLDS(strcmp(text, wg_last_error()) == 0 && length == strlen(text));
}

static void stored(const char *path)
{
    wg_run *run = NULL;
    size_t points = 0, rows = 0, read = 0, length = 0, row;
    uint64_t *rtt, *status;
    char text[4096], *json;

    IS(WG_OK, wg_run_open(path, &run));
    IS(WG_OK, wg_run_directory(run, text, sizeof text, &length));
    HOLDS(strcmp(text, path) == 0 && length == strlen(path));
    IS(WG_OK, wg_run_json(run, NULL, 0, &length));
    json = malloc(length + 1);
    IS(WG_OK, wg_run_json(run, json, length + 1, &length));
    HOLDS(json != NULL && strlen(json) == length && strstr(json, "\"kind\": \"exchange\"") != NULL);
    free(json);
    IS(WG_OK, wg_run_points(run, &points));
    HOLDS(points == 2);
    IS(WG_OK, wg_run_point_json(run, 1, NULL, 0, &length));
    json = malloc(length + 1);
    IS(WG_OK, wg_run_point_json(run, 1, json, length + 1, NULL));
    HOLDS(json != NULL && strlen(json) == length && strstr(json, "\"exchanges\":5000") != NULL);
    free(json);
    IS(WG_OK, wg_run_rows(run, 1, &rows));
    HOLDS(rows == 5000);
    rtt = malloc(rows * sizeof *rtt);
    status = malloc(rows * sizeof *status);
    IS(WG_OK, wg_run_column(run, 1, "rtt_ns", rtt, rows, &read));
    HOLDS(read == rows);
    IS(WG_OK, wg_run_column(run, 1, "status", status, rows, NULL));
    for (row = 0; row < rows && rtt != NULL && status != NULL; row++)
        HOLDS(rtt[row] >= 45000 && rtt[row] < 45000 + 4096 && status[row] == (row == 17 ? 1 : 0));
    free(rtt);
    free(status);
    IS(WG_OK, wg_run_close(run));
}

static void all_framings(const char *echo)
{
    wg_options *options = NULL;
    wg_device *device = NULL;
    int framing;

    IS(WG_OK, wg_options_new(&options));
    IS(WG_OK, wg_options_timeout(options, UINT64_C(20000000000)));
    IS(WG_OK, wg_options_wait(options, WG_WAIT_POLL));
    IS(WG_OK, wg_options_baud(options, 0));
    IS(WG_OK, wg_options_quick_ack(options, 1));
    for (framing = 0; framing < 5; framing++) {
        size_t bytes = 0;

        switch (framing) {
        case 0:
            IS(WG_OK, wg_options_raw(options));
            break;
        case 1:
            IS(WG_OK, wg_options_fixed(options, 10));
            break;
        case 2:
            IS(WG_OK, wg_options_terminator(options, "\r\n", 2));
            break;
        default:
            IS(WG_OK, wg_options_length_prefix(options, 2, framing == 3, framing == 4));
        }
        IS(WG_OK, wg_open(echo, options, &device));
        IS(WG_OK, wg_exchange(device, "*IDN?12345", 10, WG_AS_SENT, came, MOST, &bytes, NULL));
        HOLDS(bytes == 10 && memcmp(came, "*IDN?12345", 10) == 0);
        if (framing == 0) {
            one_by_one(device, 0);
            about(device, echo, 0);
        }
        IS(WG_OK, wg_close(device));
    }
    IS(WG_OK, wg_options_wiregauge(options));
    IS(WG_OK, wg_options_free(options));
}

int main(int argc, char **argv)
{
    wg_device *device = NULL;
    size_t n;

    if (argc != 4)
        return 2;
    for (n = 0; n < sizeof sent; n++)
        sent[n] = (unsigned char)(n * 7 + n / 251);
    IS(WG_OK, wg_open(argv[1], NULL, &device));
    if (device == NULL)
        return result();
    about(device, argv[1], 1);
    IS(WG_OK, wg_set_timeout(device, UINT64_C(20000000000)));
    one_by_one(device, 1);
    ahead(device);
    batches(device);
    control(device);
    streams(device);
    one_by_one(device, 1);
    IS(WG_OK, wg_close(device));
    all_framings(argv[2]);
    stored(argv[3]);
    return result();
}
