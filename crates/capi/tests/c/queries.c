/* The protocols of devices that know nothing of wiregauge, as they are meant to be used.
 *
 *     queries SCPI MODBUS
 */
#include "check.h"

enum { ROOM = 2048 };

static char reply[ROOM];
static size_t length;

static wg_device *opened(const char *address, wg_options *options)
{
    wg_device *device = NULL;

    IS(WG_OK, wg_options_timeout(options, UINT64_C(60000000000)));
    IS(WG_OK, wg_open(address, options, &device));
    return device;
}

/* What the instrument answers, as text. */
static const char *asked(wg_device *device, const char *query)
{
    wg_timing timing;

    IS(WG_OK, wg_exchange(device, query, strlen(query), WG_AS_SENT, reply, ROOM - 1, &length, &timing));
    HOLDS(timing.rtt_ns > 0);
    reply[length] = 0;
    return reply;
}

static void instrument(const char *address, wg_options *options)
{
    wg_device *device;
    size_t at, same = 0;

    IS(WG_OK, wg_options_scpi(options));
    device = opened(address, options);
    HOLDS(strncmp(asked(device, "*IDN?"), "wiregauge,", 10) == 0);
    HOLDS(strncmp(asked(device, "CURV? 1000"), "#41000", 6) == 0 && length == 1006);
    for (at = 0; at < 1000; at++)
        same += (unsigned char)reply[6 + at] == (unsigned char)at;
    HOLDS(same == 1000);
    /* A command without a reply, and a query in two calls. */
    IS(WG_OK, wg_write(device, "NOPE", 4));
    IS(WG_OK, wg_write(device, "SYST:ERR?", 9));
    IS(WG_OK, wg_read(device, WG_AS_SENT, reply, ROOM, &length, NULL));
    HOLDS(length == 23 && memcmp(reply, "-113,\"Undefined header\"", length) == 0);
    IS(WG_OK, wg_submit(device, "*IDN?", 5, WG_AS_SENT));
    IS(WG_ERROR_USAGE, wg_submit(device, "*IDN?", 5, WG_AS_SENT));
    HOLDS(strstr(wg_last_error(), "Query INTERRUPTED") != NULL);
    IS(WG_OK, wg_next_reply(device, reply, ROOM, &length, NULL));
    IS(WG_OK, wg_close(device));
    /* The same as text, where nothing is added. */
    IS(WG_OK, wg_options_text(options));
    IS(WG_OK, wg_options_serial_framing(options, NULL));
    device = opened(address, options);
    HOLDS(strcmp(asked(device, "*OPC?\n"), "1") == 0);
    IS(WG_OK, wg_close(device));
    IS(WG_OK, wg_options_text_until(options, "\n", 1));
    device = opened(address, options);
    HOLDS(strncmp(asked(device, "*IDN?\n"), "wiregauge,", 10) == 0);
    IS(WG_OK, wg_close(device));
    IS(WG_OK, wg_options_text_bytes(options, 2));
    device = opened(address, options);
    HOLDS(strcmp(asked(device, "*OPC?\n"), "1\n") == 0);
    IS(WG_OK, wg_close(device));
    IS(WG_OK, wg_options_text_idle(options, UINT64_C(50000000)));
    device = opened(address, options);
    HOLDS(strcmp(asked(device, "*OPC?\n"), "1\n") == 0);
    IS(WG_OK, wg_close(device));
}

static void registers(const char *address, wg_options *options)
{
    static const uint16_t three[3] = {7, 8, 65535};
    static const uint8_t coils[3] = {1, 0, 1}, read_one[6] = {1, 3, 0, 40, 0, 1};
    static const uint8_t frame[12] = {1, 2, 0, 0, 0, 6, 1, 3, 0, 40, 0, 1};
    uint16_t words[10];
    uint8_t bits[4];
    int32_t exception = -1;
    wg_timing timing = {0, 0, 0, 0};
    wg_device *device;

    IS(WG_OK, wg_options_modbus(options, 1));
    device = opened(address, options);
    IS(WG_OK, wg_read_registers(device, WG_TABLE_HOLDING, 39, words, 5, &timing));
    HOLDS(words[0] == 39 && words[4] == 43 && timing.rtt_ns > 0);
    IS(WG_OK, wg_write_registers(device, 40, three, 3, NULL));
    IS(WG_OK, wg_read_registers(device, WG_TABLE_HOLDING, 39, words, 5, NULL));
    HOLDS(words[1] == 7 && words[2] == 8 && words[3] == 65535 && words[4] == 43);
    IS(WG_OK, wg_write_coils(device, 3, coils, 3, NULL));
    IS(WG_OK, wg_read_bits(device, WG_TABLE_COIL, 3, bits, 3, NULL));
    HOLDS(memcmp(bits, coils, 3) == 0);
    IS(WG_OK, wg_read_bits(device, WG_TABLE_DISCRETE, 0, bits, 4, NULL));
    IS(WG_OK, wg_read_registers(device, WG_TABLE_INPUT, 0, words, 10, NULL));
    IS(WG_OK, wg_exchange(device, read_one, 6, WG_AS_SENT, reply, ROOM, &length, NULL));
    HOLDS(length == 5 && memcmp(reply, "\1\3\2\0\7", 5) == 0);
    IS(WG_ERROR_EXCEPTION, wg_read_registers(device, WG_TABLE_HOLDING, 9995, words, 10, NULL));
    HOLDS(strstr(wg_last_error(), "exception 2 (illegal data address)") != NULL);
    IS(WG_OK, wg_exception(device, &exception));
    HOLDS(exception == 2);
    IS(WG_ERROR_USAGE, wg_read_registers(device, WG_TABLE_HOLDING, 0, words, 0, NULL));
    IS(WG_OK, wg_exception(device, &exception));
    HOLDS(exception == 0);
    IS(WG_OK, wg_set_unit(device, 1));
    IS(WG_OK, wg_close(device));
    /* The same frames made by hand: their last byte of six says how many follow. */
    IS(WG_OK, wg_options_text_length(options, "u8@5"));
    device = opened(address, options);
    IS(WG_OK, wg_exchange(device, frame, 12, WG_AS_SENT, reply, ROOM, &length, NULL));
    HOLDS(length == 11 && memcmp(reply, "\1\2\0\0\0\5\1\3\2\0\50", 11) == 0);
    IS(WG_OK, wg_close(device));
}

int main(int argc, char **argv)
{
    wg_options *options = NULL;

    if (argc != 3)
        return 2;
    IS(WG_OK, wg_options_new(&options));
    instrument(argv[1], options);
    registers(argv[2], options);
    IS(WG_OK, wg_options_free(options));
    return result();
}
