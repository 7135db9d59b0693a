/* Every function with what must not be given to it: each says so with a code, and none crashes.
 *
 *     bad_input ADDRESS RUN
 */
#include "check.h"

enum { ROOM = 64 };

static unsigned char bytes[ROOM], replies[4 * ROOM];
static size_t ends[4] = {1, 2, 3, 4}, length, lengths[4];
static wg_timing timing, timings[4];
static wg_cycle cycles[4];
static wg_control_plan plan = {
    .struct_bytes = sizeof plan,
    .largest_request = ROOM,
    .reply_bytes = WG_AS_SENT,
    .depth = 1,
};
static char text[ROOM];
static uint64_t number;
static uint16_t words[4];
static int32_t exception;

static size_t echo(void *user, uint64_t cycle, const uint8_t *reply, size_t reply_bytes, uint8_t *request, size_t room)
{
    (void)user, (void)cycle, (void)reply, (void)reply_bytes;
    memset(request, 1, room < 4 ? room : 4);
    return 4;
}

static size_t boast(void *user, uint64_t cycle, const uint8_t *reply, size_t reply_bytes, uint8_t *request, size_t room)
{
    (void)user, (void)cycle, (void)reply, (void)reply_bytes, (void)request;
    return room + 1;
}

/* Every function that takes a device, each with nothing else that could be wrong. */
static void all_refuse_device(wg_device *device, int32_t code)
{
    IS(code, wg_device_error(device, text, ROOM, &length));
    IS(code, wg_about_text(device, WG_ABOUT_ADDRESS, text, ROOM, &length));
    IS(code, wg_about_number(device, WG_ABOUT_TICK_HZ, &number));
    IS(code, wg_exchange(device, bytes, 4, WG_AS_SENT, replies, ROOM, &length, &timing));
    IS(code, wg_exchange_many(device, bytes, 4, 4, replies, ROOM, lengths, timings, 2, &length));
    IS(code, wg_exchange_packed(device, bytes, ends, 4, replies, ROOM, lengths, timings, 2, &length));
    IS(code, wg_submit(device, bytes, 4, WG_AS_SENT));
    IS(code, wg_next_reply(device, replies, ROOM, &length, &timing));
    IS(code, wg_outstanding(device, &length));
    IS(code, wg_write(device, bytes, 4));
    IS(code, wg_read(device, WG_AS_SENT, replies, ROOM, &length, &timing));
    IS(code, wg_read_registers(device, WG_TABLE_HOLDING, 0, words, 4, &timing));
    IS(code, wg_read_bits(device, WG_TABLE_COIL, 0, bytes, 4, &timing));
    IS(code, wg_write_registers(device, 0, words, 4, &timing));
    IS(code, wg_write_coils(device, 0, bytes, 4, &timing));
    IS(code, wg_set_unit(device, 1));
    IS(code, wg_exception(device, &exception));
    IS(code, wg_set_timeout(device, UINT64_C(5000000000)));
    IS(code, wg_control(device, &plan, echo, NULL, cycles, 4, &length));
    IS(code, wg_read_stream(device, replies, 4, 4, 1, &length));
    IS(code, wg_write_stream(device, bytes, 4, 4, 1, &length));
    if (device != NULL) {
        IS(code, wg_close(device));
        IS(WG_ERROR_HANDLE, wg_interrupt(device));
    }
}

static void all_refuse_options(wg_options *options, int32_t code)
{
    IS(code, wg_options_timeout(options, 1000000));
    IS(code, wg_options_wait(options, WG_WAIT_SPIN));
    IS(code, wg_options_wiregauge(options));
    IS(code, wg_options_raw(options));
    IS(code, wg_options_fixed(options, 4));
    IS(code, wg_options_terminator(options, "\n", 1));
    IS(code, wg_options_length_prefix(options, 4, 0, 0));
    IS(code, wg_options_text(options));
    IS(code, wg_options_text_until(options, "\n", 1));
    IS(code, wg_options_text_bytes(options, 4));
    IS(code, wg_options_text_length(options, "u8"));
    IS(code, wg_options_text_idle(options, 1000000));
    IS(code, wg_options_scpi(options));
    IS(code, wg_options_modbus(options, 1));
    IS(code, wg_options_serial_framing(options, "8E1"));
    IS(code, wg_options_baud(options, 115200));
    IS(code, wg_options_quick_ack(options, 1));
    if (options != NULL)
        IS(code, wg_options_free(options));
}

static void all_refuse_run(wg_run *run, int32_t code)
{
    IS(code, wg_run_directory(run, text, ROOM, &length));
    IS(code, wg_run_json(run, text, ROOM, &length));
    IS(code, wg_run_points(run, &length));
    IS(code, wg_run_point_json(run, 0, text, ROOM, &length));
    IS(code, wg_run_rows(run, 0, &length));
    IS(code, wg_run_column(run, 0, "rtt_ns", &number, 1, &length));
    if (run != NULL)
        IS(code, wg_run_close(run));
}

static void options_that_make_no_sense(wg_options *options)
{
    IS(WG_ERROR_ARGUMENT, wg_options_new(NULL));
    IS(WG_ERROR_ARGUMENT, wg_options_timeout(options, 0));
    IS(WG_ERROR_ARGUMENT, wg_options_timeout(options, UINT64_MAX));
    IS(WG_ERROR_ARGUMENT, wg_options_wait(options, 3));
    IS(WG_ERROR_ARGUMENT, wg_options_wait(options, -1));
    IS(WG_ERROR_ARGUMENT, wg_options_fixed(options, 0));
    IS(WG_ERROR_ARGUMENT, wg_options_terminator(options, NULL, 1));
    IS(WG_ERROR_ARGUMENT, wg_options_terminator(options, "", 0));
    IS(WG_ERROR_ARGUMENT, wg_options_terminator(options, "123456789", 9));
    IS(WG_ERROR_ARGUMENT, wg_options_terminator(options, bytes, SIZE_MAX));
    IS(WG_ERROR_ARGUMENT, wg_options_length_prefix(options, 3, 0, 0));
    IS(WG_ERROR_ARGUMENT, wg_options_length_prefix(options, -1, 0, 0));
    IS(WG_ERROR_ARGUMENT, wg_options_text_until(options, NULL, 1));
    IS(WG_ERROR_ARGUMENT, wg_options_text_until(options, "", 0));
    IS(WG_ERROR_ARGUMENT, wg_options_text_bytes(options, 0));
    IS(WG_ERROR_ARGUMENT, wg_options_text_length(options, NULL));
    IS(WG_ERROR_ARGUMENT, wg_options_text_length(options, "u16"));
    IS(WG_ERROR_ARGUMENT, wg_options_text_length(options, "\xff"));
    IS(WG_ERROR_ARGUMENT, wg_options_text_idle(options, 0));
    IS(WG_ERROR_ARGUMENT, wg_options_serial_framing(options, "\xff"));
    /* None of them has changed anything. */
    IS(WG_OK, wg_options_timeout(options, UINT64_C(5000000000)));
}

static void addresses_that_are_none(wg_options *options)
{
    wg_device *device = (wg_device *)(void *)bytes;

    IS(WG_ERROR_ARGUMENT, wg_open(NULL, NULL, &device));
    HOLDS(device == NULL);
    IS(WG_ERROR_ARGUMENT, wg_open("null://", NULL, NULL));
    IS(WG_ERROR_ARGUMENT, wg_open("tcp://\xff:1", NULL, &device));
    IS(WG_ERROR_USAGE, wg_open("", NULL, &device));
    IS(WG_ERROR_USAGE, wg_open("carrier-pigeon://roof", NULL, &device));
    HOLDS(strstr(wg_last_error(), "carrier-pigeon") != NULL && strstr(wg_last_error(), "hint: ") != NULL);
    IS(WG_ERROR_UNREACHABLE, wg_open("tcp://127.0.0.1:1", options, &device));
    IS(WG_ERROR_NOT_FOUND, wg_open("serial:///dev/no-such-tty", options, &device));
    IS(WG_ERROR_HANDLE, wg_open("tcp://127.0.0.1:1", (wg_options *)(void *)bytes, &device));
    HOLDS(device == NULL);
}

/* Calls of protocols that this device does not speak. */
static void other_protocols(wg_device *device)
{
    IS(WG_ERROR_USAGE, wg_write(device, bytes, 4));
    IS(WG_ERROR_ARGUMENT, wg_write(device, NULL, 4));
    IS(WG_ERROR_USAGE, wg_read(device, WG_AS_SENT, replies, ROOM, &length, &timing));
    IS(WG_ERROR_ARGUMENT, wg_read(device, WG_AS_SENT, NULL, ROOM, &length, &timing));
    IS(WG_ERROR_USAGE, wg_read_registers(device, WG_TABLE_HOLDING, 0, words, 4, NULL));
    HOLDS(strstr(wg_last_error(), "not opened for Modbus") != NULL);
    IS(WG_ERROR_ARGUMENT, wg_read_registers(device, 4, 0, words, 4, NULL));
    IS(WG_ERROR_ARGUMENT, wg_read_registers(device, WG_TABLE_INPUT, 0, NULL, 4, NULL));
    IS(WG_ERROR_USAGE, wg_read_bits(device, WG_TABLE_COIL, 0, bytes, 4, NULL));
    IS(WG_ERROR_ARGUMENT, wg_read_bits(device, -1, 0, bytes, 4, NULL));
    IS(WG_ERROR_USAGE, wg_write_registers(device, 0, words, 4, NULL));
    IS(WG_ERROR_ARGUMENT, wg_write_registers(device, 0, NULL, 4, NULL));
    IS(WG_ERROR_USAGE, wg_write_coils(device, 0, bytes, 4, NULL));
    IS(WG_ERROR_ARGUMENT, wg_write_coils(device, 0, NULL, 4, NULL));
    IS(WG_ERROR_USAGE, wg_set_unit(device, 0));
    IS(WG_ERROR_ARGUMENT, wg_exception(device, NULL));
    IS(WG_OK, wg_exception(device, &exception));
    HOLDS(exception == 0);
}

static void sizes_that_make_no_sense(wg_device *device)
{
    size_t *odd = (size_t *)(void *)(replies + 1);

    IS(WG_ERROR_ARGUMENT, wg_exchange(device, NULL, 4, WG_AS_SENT, replies, ROOM, &length, &timing));
    IS(WG_ERROR_ARGUMENT, wg_exchange(device, bytes, SIZE_MAX, WG_AS_SENT, replies, ROOM, &length, &timing));
    IS(WG_ERROR_ARGUMENT, wg_exchange(device, bytes, 4, WG_AS_SENT, NULL, ROOM, &length, &timing));
    IS(WG_ERROR_ARGUMENT, wg_exchange(device, bytes, 4, WG_AS_SENT, replies, ROOM, odd, &timing));
    IS(WG_ERROR_USAGE, wg_exchange(device, bytes, 4, SIZE_MAX - 1, replies, ROOM, &length, &timing));
    IS(WG_ERROR_ROOM, wg_exchange(device, bytes, 4, WG_AS_SENT, NULL, 0, &length, &timing));
    HOLDS(length == 4);
    IS(WG_ERROR_ROOM, wg_exchange(device, bytes, 4, WG_AS_SENT, replies, 3, &length, NULL));
    IS(WG_OK, wg_exchange(device, bytes, 4, WG_AS_SENT, replies, ROOM, NULL, NULL));

    IS(WG_ERROR_ARGUMENT, wg_submit(device, NULL, 4, WG_AS_SENT));
    IS(WG_ERROR_USAGE, wg_submit(device, bytes, 4, SIZE_MAX - 1));
    IS(WG_ERROR_USAGE, wg_next_reply(device, replies, ROOM, &length, &timing));
    IS(WG_ERROR_ARGUMENT, wg_next_reply(device, NULL, ROOM, &length, &timing));
    IS(WG_ERROR_ARGUMENT, wg_outstanding(device, NULL));
    IS(WG_ERROR_ARGUMENT, wg_set_timeout(device, 9999));
    IS(WG_ERROR_ARGUMENT, wg_set_timeout(device, UINT64_MAX));

    IS(WG_ERROR_ARGUMENT, wg_exchange_many(device, NULL, 4, 4, replies, ROOM, NULL, NULL, 1, NULL));
    IS(WG_ERROR_ARGUMENT, wg_exchange_many(device, bytes, 4, 4, NULL, ROOM, NULL, NULL, 1, NULL));
    IS(WG_ERROR_ARGUMENT, wg_exchange_many(device, bytes, SIZE_MAX / 2, 4, replies, ROOM, NULL, NULL, 1, NULL));
    IS(WG_ERROR_ARGUMENT, wg_exchange_many(device, bytes, 4, 4, replies, SIZE_MAX / 2, NULL, NULL, 1, NULL));
    IS(WG_ERROR_ARGUMENT, wg_exchange_many(device, bytes, SIZE_MAX / 16, 0, replies, 0, NULL, NULL, 1, NULL));
    IS(WG_ERROR_ARGUMENT, wg_exchange_many(device, replies, 4, 4, replies + 8, 4, NULL, NULL, 1, NULL));
    IS(WG_ERROR_ARGUMENT, wg_exchange_many(device, bytes, 4, 4, replies, ROOM, odd, NULL, 1, NULL));
    IS(WG_ERROR_USAGE, wg_exchange_many(device, bytes, 4, 4, replies, ROOM, NULL, NULL, 0, &length));
    HOLDS(length == 0);
    IS(WG_OK, wg_exchange_many(device, bytes, 4, 4, replies, ROOM, NULL, NULL, UINT32_MAX, &length));
    HOLDS(length == 4);

    IS(WG_ERROR_ARGUMENT, wg_exchange_packed(device, bytes, NULL, 4, replies, ROOM, NULL, NULL, 1, NULL));
    ends[1] = 9;
    IS(WG_ERROR_ARGUMENT, wg_exchange_packed(device, bytes, ends, 4, replies, ROOM, NULL, NULL, 1, NULL));
    ends[1] = 2;
    IS(WG_ERROR_ARGUMENT, wg_exchange_packed(device, NULL, ends, 4, replies, ROOM, NULL, NULL, 1, NULL));
    IS(WG_ERROR_ARGUMENT, wg_exchange_packed(device, bytes, ends, 4, replies, ROOM, ends, NULL, 1, NULL));
    IS(WG_ERROR_ARGUMENT, wg_exchange_packed(device, bytes, ends, SIZE_MAX, replies, 1, NULL, NULL, 1, NULL));

    IS(WG_ERROR_ARGUMENT, wg_read_stream(device, NULL, 4, 4, 1, &length));
    IS(WG_ERROR_USAGE, wg_read_stream(device, replies, 4, 0, 1, &length));
    IS(WG_ERROR_USAGE, wg_read_stream(device, replies, 4, 4, 0, &length));
    IS(WG_ERROR_USAGE, wg_read_stream(device, replies, 4, SIZE_MAX, SIZE_MAX, &length));
    IS(WG_ERROR_ARGUMENT, wg_write_stream(device, NULL, 4, 4, 1, &length));
    IS(WG_ERROR_USAGE, wg_write_stream(device, bytes, 4, 0, 1, &length));
    IS(WG_ERROR_USAGE, wg_write_stream(device, bytes, 4, 4, 0, &length));
    IS(WG_ERROR_USAGE, wg_write_stream(device, bytes, 4, SIZE_MAX, SIZE_MAX, &length));
}

static void loops_that_make_no_sense(wg_device *device)
{
    struct {
        wg_control_plan known;
        uint64_t unknown;
    } later = {plan, 1};
    wg_control_plan other;

    later.known.struct_bytes = sizeof later;

    IS(WG_ERROR_ARGUMENT, wg_control(device, NULL, echo, NULL, cycles, 4, &length));
    IS(WG_ERROR_ARGUMENT, wg_control(device, &plan, NULL, NULL, cycles, 4, &length));
    IS(WG_ERROR_ARGUMENT, wg_control(device, &plan, echo, NULL, NULL, 4, &length));
    IS(WG_ERROR_ARGUMENT, wg_control(device, &plan, echo, NULL, cycles, 0, &length));
    IS(WG_ERROR_ARGUMENT, wg_control(device, &plan, echo, NULL, cycles, SIZE_MAX, &length));
    IS(WG_ERROR_ARGUMENT, wg_control(device, &plan, boast, NULL, cycles, 4, &length));
    IS(WG_ERROR_ARGUMENT, wg_control(device, &later.known, echo, NULL, cycles, 4, &length));
    later.unknown = 0;
    IS(WG_OK, wg_control(device, &later.known, echo, NULL, cycles, 4, &length));
    HOLDS(length == 4);
    other = plan;
    other.struct_bytes = 0;
    IS(WG_ERROR_ARGUMENT, wg_control(device, &other, echo, NULL, cycles, 4, &length));
    other.struct_bytes = SIZE_MAX;
    IS(WG_ERROR_ARGUMENT, wg_control(device, &other, echo, NULL, cycles, 4, &length));
    other = plan;
    other.priority = 100;
    IS(WG_ERROR_ARGUMENT, wg_control(device, &other, echo, NULL, cycles, 4, &length));
    other = plan;
    other.depth = 0;
    IS(WG_ERROR_USAGE, wg_control(device, &other, echo, NULL, cycles, 4, &length));
    other = plan;
    other.largest_request = SIZE_MAX;
    IS(WG_ERROR_USAGE, wg_control(device, &other, echo, NULL, cycles, 4, &length));
    other = plan;
    other.reply_bytes = SIZE_MAX - 1;
    IS(WG_ERROR_USAGE, wg_control(device, &other, echo, NULL, cycles, 4, &length));
    other = plan;
    other.depth = UINT32_MAX;
    IS(WG_ERROR_USAGE, wg_control(device, &other, echo, NULL, cycles, 4, &length));
    other = plan;
    other.pin = 1;
    other.cpu = UINT32_MAX;
    HOLDS(wg_control(device, &other, echo, NULL, cycles, 4, &length) != WG_OK);
    other = plan;
    other.reserved = 1;
    IS(WG_ERROR_ARGUMENT, wg_control(device, &other, echo, NULL, cycles, 4, &length));
    IS(WG_OK, wg_control(device, &plan, echo, NULL, cycles, 4, NULL));
}

static void questions_that_make_no_sense(wg_device *device, wg_run *run)
{
    size_t points = 0;

    IS(WG_ERROR_ARGUMENT, wg_device_error(device, NULL, ROOM, &length));
    IS(WG_ERROR_ARGUMENT, wg_device_error(device, NULL, 0, NULL));
    IS(WG_ERROR_ARGUMENT, wg_about_text(device, 0, text, ROOM, &length));
    IS(WG_ERROR_ARGUMENT, wg_about_text(device, WG_ABOUT_TICK_HZ, text, ROOM, &length));
    IS(WG_ERROR_ARGUMENT, wg_about_text(device, WG_ABOUT_ADDRESS, NULL, ROOM, &length));
    IS(WG_ERROR_ROOM, wg_about_text(device, WG_ABOUT_ADDRESS, text, 4, &length));
    HOLDS(strcmp(text, "tcp") == 0 && length > 4);
    IS(WG_OK, wg_about_text(device, WG_ABOUT_ADDRESS, NULL, 0, &length));
    IS(WG_ERROR_ARGUMENT, wg_about_number(device, -1, &number));
    IS(WG_ERROR_ARGUMENT, wg_about_number(device, WG_ABOUT_ADDRESS, &number));
    IS(WG_ERROR_ARGUMENT, wg_about_number(device, WG_ABOUT_TICK_HZ, NULL));

    IS(WG_ERROR_ARGUMENT, wg_run_points(run, NULL));
    IS(WG_OK, wg_run_points(run, &points));
    IS(WG_ERROR_ARGUMENT, wg_run_rows(run, 0, NULL));
    IS(WG_ERROR_RUN, wg_run_rows(run, points, &length));
    IS(WG_ERROR_RUN, wg_run_rows(run, SIZE_MAX, &length));
    IS(WG_ERROR_RUN, wg_run_point_json(run, points, text, ROOM, &length));
    IS(WG_ERROR_ROOM, wg_run_point_json(run, 0, text, ROOM, &length));
    IS(WG_ERROR_ROOM, wg_run_json(run, text, 1, &length));
    IS(WG_ERROR_ROOM, wg_run_directory(run, text, 1, &length));
    HOLDS(text[0] == 0 && length > 1);
    IS(WG_ERROR_RUN, wg_run_column(run, 0, "no_such", &number, 1, &length));
    IS(WG_ERROR_RUN, wg_run_column(run, points, "rtt_ns", &number, 1, &length));
    IS(WG_ERROR_ARGUMENT, wg_run_column(run, 0, NULL, &number, 1, &length));
    IS(WG_ERROR_ARGUMENT, wg_run_column(run, 0, "rtt_ns", NULL, 1, &length));
    IS(WG_ERROR_ARGUMENT, wg_run_column(run, 0, "rtt_ns", &number, SIZE_MAX, &length));
    IS(WG_ERROR_ROOM, wg_run_column(run, 0, "rtt_ns", &number, 1, &length));
    HOLDS(length == 1);
    IS(WG_ERROR_ROOM, wg_run_column(run, 0, "rtt_ns", NULL, 0, &length));
}

int main(int argc, char **argv)
{
    wg_options *options = NULL;
    wg_device *device = NULL;
    wg_run *run = NULL;

    if (argc != 3)
        return 2;
    HOLDS(wg_version()[0] != 0 && wg_abi_version() == WG_ABI_VERSION);
    HOLDS(strcmp(wg_error_name(WG_ERROR_TIMEOUT), "WG_ERROR_TIMEOUT") == 0);
    HOLDS(strcmp(wg_error_name(-1), "unknown") == 0 && strcmp(wg_error_name(INT32_MAX), "unknown") == 0);
    HOLDS(wg_last_error()[0] == 0);

    IS(WG_OK, wg_options_new(&options));
    options_that_make_no_sense(options);
    addresses_that_are_none(options);
    IS(WG_OK, wg_open(argv[1], options, &device));
    if (device == NULL)
        return result();
    IS(WG_ERROR_ARGUMENT, wg_run_open(NULL, &run));
    IS(WG_ERROR_ARGUMENT, wg_run_open(argv[2], NULL));
    IS(WG_ERROR_RUN, wg_run_open("/no/such/run", &run));
    IS(WG_OK, wg_run_open(argv[2], &run));
    other_protocols(device);
    sizes_that_make_no_sense(device);
    loops_that_make_no_sense(device);
    questions_that_make_no_sense(device, run);

    /* Of another kind, a pointer to something else, a small number. */
    all_refuse_device((wg_device *)(void *)run, WG_ERROR_HANDLE);
    all_refuse_device((wg_device *)(void *)bytes, WG_ERROR_HANDLE);
    all_refuse_device((wg_device *)(uintptr_t)7, WG_ERROR_HANDLE);
    all_refuse_options((wg_options *)(void *)device, WG_ERROR_HANDLE);
    all_refuse_run((wg_run *)(void *)options, WG_ERROR_HANDLE);
    all_refuse_device(NULL, WG_ERROR_ARGUMENT);
    all_refuse_options(NULL, WG_ERROR_ARGUMENT);
    all_refuse_run(NULL, WG_ERROR_ARGUMENT);

    /* The device is none the worse for any of it. */
    IS(WG_OK, wg_exchange(device, bytes, 4, WG_AS_SENT, replies, ROOM, &length, &timing));

    /* Closed, and closed again; NULL is left alone. */
    IS(WG_OK, wg_close(device));
    IS(WG_OK, wg_options_free(options));
    IS(WG_OK, wg_run_close(run));
    all_refuse_device(device, WG_ERROR_HANDLE);
    all_refuse_options(options, WG_ERROR_HANDLE);
    all_refuse_run(run, WG_ERROR_HANDLE);
    IS(WG_OK, wg_close(NULL));
    IS(WG_OK, wg_options_free(NULL));
    IS(WG_OK, wg_run_close(NULL));
    IS(WG_ERROR_HANDLE, wg_interrupt(NULL));
    return result();
}
