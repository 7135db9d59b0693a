/* Devices: open, exchange, close. A device's number is its wg_device, which the library holds to be one itself; the
 * table here knows what is open, so that all can be closed when the MEX file goes. */

#include "devices.h"

#include <stdio.h>
#include <string.h>

#include "arrays.h"
#include "failure.h"
#include "interrupt.h"
#include "wiregauge.h"

/* As many as the library opens. */
#define MOST_DEVICES 1024
/* Room for a reply whose framing tells its size, in a batch whose caller does not say how much is needed. */
#define ROOM_BY_DEFAULT 4096

static struct {
    wg_device *device;
    /* Replies tell their size themselves: what is asked for is not looked at. */
    int tells_size;
    /* The size of every reply with the framing 'fixed', else 0. */
    size_t fixed_size;
    size_t largest_reply;
} table[MOST_DEVICES];

/* Where replies of unknown size are put before they are copied. Grows, and is kept. */
static uint8_t *buffer;
static size_t buffer_bytes;

/* The place of an open device in the table. */
static size_t place_of(const mxArray *number) {
    uint64_t value;
    size_t n;

    if (mxGetClassID(number) != mxUINT64_CLASS) {
        arrays_refuse("the device", "the number that 'open' returned", number);
    }
    value = arrays_whole("the device", number, 0, UINT64_MAX);
    for (n = 0; n < MOST_DEVICES; n++) {
        if (table[n].device != NULL && (uint64_t)(uintptr_t)table[n].device == value) {
            return n;
        }
    }
    failure_check(WG_ERROR_HANDLE, "");
    return 0;
}

/* The size that the caller asked for. Where the reply tells its own, another one cannot be had: a message is whole. */
static size_t size_for(size_t place, const mxArray *asked) {
    size_t bytes = arrays_asked(asked);

    if (bytes == WG_AS_SENT || !table[place].tells_size || bytes == table[place].fixed_size) {
        return bytes;
    }
    if (table[place].fixed_size > 0) {
        mexErrMsgIdAndTxt("wiregauge:argument", "every reply has the %.0f bytes of ReplyBytes, not %.0f: omit the number of bytes",
                          (double)table[place].fixed_size, (double)bytes);
    }
    mexErrMsgIdAndTxt("wiregauge:argument",
                      "a reply is a whole message, whose size is not chosen: omit the number of bytes, or open the device with 'Framing', "
                      "'raw' to read %.0f bytes", (double)bytes);
    return bytes;
}

static uint8_t *room_for(size_t bytes) {
    if (bytes > buffer_bytes) {
        uint8_t *larger = mxMalloc(bytes);
        mexMakeMemoryPersistent(larger);
        mxFree(buffer);
        buffer = larger;
        buffer_bytes = bytes;
    }
    return buffer;
}

static int32_t set_framing(wg_options *options, const mxArray *given, int *tells_size, size_t *fixed_size) {
    char *protocol = arrays_text("Protocol", arrays_field(given, "Protocol"));
    char *framing = arrays_text("Framing", arrays_field(given, "Framing"));
    int is_wiregauge = strcmp(protocol, "wiregauge") == 0;
    *tells_size = 1;
    *fixed_size = 0;
    if (!is_wiregauge && strcmp(framing, "wiregauge") != 0) {
        mexErrMsgIdAndTxt("wiregauge:argument", "Framing and Protocol '%s' exclude each other", protocol);
    }
    if (strcmp(protocol, "scpi") == 0) {
        return wg_options_scpi(options);
    }
    if (strcmp(protocol, "text") == 0) {
        arrays_bytes end = arrays_vector("Terminator", arrays_field(given, "Terminator"));
        return wg_options_text_until(options, end.bytes, end.count);
    }
    if (!is_wiregauge) {
        mexErrMsgIdAndTxt("wiregauge:argument", "Protocol must be 'wiregauge', 'text' or 'scpi', not '%s'", protocol);
    }
    if (strcmp(framing, "wiregauge") == 0) {
        *tells_size = 0;
        return wg_options_wiregauge(options);
    }
    if (strcmp(framing, "raw") == 0) {
        *tells_size = 0;
        return wg_options_raw(options);
    }
    if (strcmp(framing, "fixed") == 0) {
        *fixed_size = (size_t)arrays_field_whole(given, "ReplyBytes", 1, (uint64_t)1 << 31);
        return wg_options_fixed(options, *fixed_size);
    }
    if (strcmp(framing, "terminator") == 0) {
        arrays_bytes end = arrays_vector("Terminator", arrays_field(given, "Terminator"));
        return wg_options_terminator(options, end.bytes, end.count);
    }
    if (strcmp(framing, "length") == 0) {
        return wg_options_length_prefix(options, (int32_t)arrays_field_whole(given, "LengthBytes", 1, 4),
                                        (int32_t)arrays_field_whole(given, "BigEndian", 0, 1),
                                        (int32_t)arrays_field_whole(given, "CountsItself", 0, 1));
    }
    mexErrMsgIdAndTxt("wiregauge:argument", "Framing must be 'wiregauge', 'raw', 'terminator', 'fixed' or 'length', not '%s'", framing);
    return WG_ERROR_ARGUMENT;
}

static int32_t wait_of(const mxArray *given) {
    char *wait = arrays_text("Wait", arrays_field(given, "Wait"));
    if (strcmp(wait, "block") == 0) {
        return WG_WAIT_BLOCK;
    }
    if (strcmp(wait, "poll") == 0) {
        return WG_WAIT_POLL;
    }
    if (strcmp(wait, "spin") == 0) {
        return WG_WAIT_SPIN;
    }
    mexErrMsgIdAndTxt("wiregauge:argument", "Wait must be 'block', 'poll' or 'spin', not '%s'", wait);
    return WG_WAIT_BLOCK;
}

/* A timeout in seconds, as nanoseconds. */
static uint64_t timeout_of(const mxArray *timeout) {
    double seconds = mxIsDouble(timeout) && mxGetNumberOfElements(timeout) == 1 ? mxGetScalar(timeout) : -1;
    if (!(seconds > 0 && seconds <= 86400)) {
        mexErrMsgIdAndTxt("wiregauge:argument", "Timeout must be a number of seconds above 0, at most 86400");
    }
    return (uint64_t)(seconds * 1e9);
}

/* setTimeout, number, seconds */
void devices_set_timeout(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    (void)nlhs;
    (void)plhs;
    failure_check(wg_set_timeout(table[place_of(prhs[0])].device, timeout_of(prhs[1])), "");
}

/* open, address, options -> number */
void devices_open(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    /* Kept from call to call: an error in between leaves the function, and options would be lost with each. */
    static wg_options *options;
    char *address = arrays_text("the address", prhs[0]);
    const mxArray *given = prhs[1];
    uint64_t timeout = timeout_of(arrays_field(given, "Timeout"));
    uint64_t largest = 0;
    wg_device *device = NULL;
    size_t fixed_size;
    int tells_size;
    int32_t code;
    size_t place = 0;

    (void)nlhs;
    while (place < MOST_DEVICES && table[place].device != NULL) {
        place++;
    }
    if (place == MOST_DEVICES) {
        mexErrMsgIdAndTxt("wiregauge:tooMany", "%d devices are open; close some", MOST_DEVICES);
    }
    if (options == NULL) {
        failure_check(wg_options_new(&options), "");
    }
    failure_check(wg_options_timeout(options, timeout), "");
    failure_check(wg_options_wait(options, wait_of(given)), "");
    failure_check(wg_options_baud(options, (uint32_t)arrays_field_whole(given, "Baud", 0, UINT32_MAX)), "");
    failure_check(wg_options_quick_ack(options, (int32_t)arrays_field_whole(given, "QuickAck", 0, 1)), "");
    failure_check(set_framing(options, given, &tells_size, &fixed_size), "");
    failure_check(wg_open(address, options, &device), "");
    code = wg_about_number(device, WG_ABOUT_LARGEST_REPLY, &largest);
    if (code != WG_OK) {
        wg_close(device);
        failure_check(code, "");
    }
    table[place].device = device;
    table[place].tells_size = tells_size;
    table[place].fixed_size = fixed_size;
    table[place].largest_reply = (size_t)largest;
    plhs[0] = mxCreateNumericMatrix(1, 1, mxUINT64_CLASS, mxREAL);
    *(uint64_t *)mxGetData(plhs[0]) = (uint64_t)(uintptr_t)device;
}

/* close, number */
void devices_close(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    size_t place = place_of(prhs[0]);
    wg_device *device = table[place].device;

    (void)nlhs;
    (void)plhs;
    table[place].device = NULL;
    failure_check(wg_close(device), "");
}

void devices_close_all(void) {
    size_t n;
    for (n = 0; n < MOST_DEVICES; n++) {
        if (table[n].device != NULL) {
            wg_close(table[n].device);
            table[n].device = NULL;
        }
    }
    mxFree(buffer);
    buffer = NULL;
    buffer_bytes = 0;
}

/* exchange, number, request, replyBytes -> reply, timing */
void devices_exchange(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    size_t place = place_of(prhs[0]);
    arrays_bytes request = arrays_vector("the request", prhs[1]);
    size_t asked = size_for(place, prhs[2]);
    size_t room = asked == WG_AS_SENT ? request.count : asked;
    size_t came = 0;
    wg_timing timing;
    int32_t code;

    if (table[place].tells_size) {
        uint8_t *reply = room_for(table[place].largest_reply);
        interrupt_begin(table[place].device);
        code = wg_exchange(table[place].device, request.bytes, request.count, asked, reply, table[place].largest_reply, &came, &timing);
        interrupt_end();
        failure_check(code, "");
        plhs[0] = arrays_column(reply, came);
    } else {
        /* Straight into the array that is returned. */
        mxArray *reply = mxCreateNumericMatrix(room, 1, mxUINT8_CLASS, mxREAL);
        interrupt_begin(table[place].device);
        code = wg_exchange(table[place].device, request.bytes, request.count, asked, mxGetData(reply), room, &came, &timing);
        interrupt_end();
        failure_check(code, "");
        plhs[0] = reply;
        if (came < room) {
            plhs[0] = arrays_column(mxGetData(reply), came);
            mxDestroyArray(reply);
        }
    }
    if (nlhs > 1) {
        plhs[1] = arrays_timings(&timing, &came, 1);
    }
}

/* The requests of a batch, one behind the other, and where each ends. */
typedef struct {
    const uint8_t *bytes;
    const size_t *ends;
    size_t count;
    size_t longest;
} batch;

static batch batch_of(const mxArray *requests) {
    batch result = {NULL, NULL, 0, 0};
    size_t *ends;
    size_t n;

    if (mxIsCell(requests)) {
        arrays_bytes one;
        uint8_t *bytes;
        size_t all = 0;
        result.count = mxGetNumberOfElements(requests);
        ends = mxMalloc(arrays_product(result.count + 1, sizeof *ends));
        for (n = 0; n < result.count; n++) {
            const mxArray *cell = mxGetCell(requests, n);
            if (cell == NULL) {
                arrays_refuse("a request", "no empty cell", requests);
            }
            one = arrays_vector("a request", cell);
            all += one.count;
            ends[n] = all;
            result.longest = one.count > result.longest ? one.count : result.longest;
        }
        bytes = mxMalloc(all + 1);
        for (n = 0; n < result.count; n++) {
            one = arrays_vector("a request", mxGetCell(requests, n));
            if (one.count > 0) {
                memcpy(bytes + ends[n] - one.count, one.bytes, one.count);
            }
        }
        result.bytes = bytes;
    } else {
        if (!mxIsUint8(requests) || mxIsComplex(requests) || mxIsSparse(requests) || mxGetNumberOfDimensions(requests) != 2) {
            arrays_refuse("the requests", "a uint8 matrix, a request in each column, or a cell array of uint8 vectors", requests);
        }
        result.count = mxGetN(requests);
        result.longest = mxGetM(requests);
        result.bytes = mxGetData(requests);
        ends = mxMalloc(arrays_product(result.count + 1, sizeof *ends));
        for (n = 0; n < result.count; n++) {
            ends[n] = (n + 1) * result.longest;
        }
    }
    result.ends = ends;
    return result;
}

/* The first `rows` rows of a matrix of bytes that has `stride` rows. */
static mxArray *shortened(mxArray *matrix, size_t rows, size_t stride, size_t count) {
    mxArray *result = mxCreateNumericMatrix(rows, count, mxUINT8_CLASS, mxREAL);
    const uint8_t *from = mxGetData(matrix);
    uint8_t *to = mxGetData(result);
    size_t n;
    for (n = 0; rows > 0 && n < count; n++) {
        memcpy(to + n * rows, from + n * stride, rows);
    }
    mxDestroyArray(matrix);
    return result;
}

/* exchangeMany, number, requests, replyBytes, depth -> replies, timing */
void devices_exchange_many(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    size_t place = place_of(prhs[0]);
    batch requests = batch_of(prhs[1]);
    size_t asked = arrays_asked(prhs[2]);
    uint32_t depth = (uint32_t)arrays_whole("depth", prhs[3], 1, 65535);
    size_t row = asked;
    size_t longest = 0, answered = 0, n;
    size_t *lengths = mxCalloc(requests.count + 1, sizeof *lengths);
    wg_timing *timings = mxCalloc(requests.count + 1, sizeof *timings);
    mxArray *replies;
    int32_t code;
    char more[64] = "";

    if (asked == WG_AS_SENT) {
        row = table[place].tells_size ? ROOM_BY_DEFAULT : requests.longest;
    }
    arrays_product(row, requests.count);
    replies = mxCreateNumericMatrix(row, requests.count, mxUINT8_CLASS, mxREAL);
    if (requests.count > 0) {
        interrupt_begin(table[place].device);
        code = wg_exchange_packed(table[place].device, requests.bytes, requests.ends, requests.count, mxGetData(replies), row, lengths,
                                  timings, depth, &answered);
        interrupt_end();
        snprintf(more, sizeof more, " (%.0f of %.0f requests were answered)", (double)answered, (double)requests.count);
        failure_check(code, more);
    }
    for (n = 0; n < requests.count; n++) {
        longest = lengths[n] > longest ? lengths[n] : longest;
    }
    plhs[0] = requests.count > 0 && longest < row ? shortened(replies, longest, row, requests.count) : replies;
    if (nlhs > 1) {
        plhs[1] = arrays_timings(timings, lengths, requests.count);
    }
}

/* write, number, request */
void devices_write(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    size_t place = place_of(prhs[0]);
    arrays_bytes request = arrays_vector("the data", prhs[1]);
    int32_t code;

    (void)nlhs;
    (void)plhs;
    interrupt_begin(table[place].device);
    code = wg_write(table[place].device, request.bytes, request.count);
    interrupt_end();
    failure_check(code, "");
}

/* read, number, replyBytes -> reply, timing */
void devices_read(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    size_t place = place_of(prhs[0]);
    size_t asked = size_for(place, prhs[1]);
    size_t room = table[place].tells_size || asked == WG_AS_SENT ? table[place].largest_reply : asked;
    uint8_t *reply = room_for(room);
    size_t came = 0;
    wg_timing timing;
    int32_t code;

    interrupt_begin(table[place].device);
    code = wg_read(table[place].device, asked, reply, room, &came, &timing);
    interrupt_end();
    failure_check(code, "");
    plhs[0] = arrays_column(reply, came);
    if (nlhs > 1) {
        plhs[1] = arrays_timings(&timing, &came, 1);
    }
}

/* submit, number, request, replyBytes */
void devices_submit(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    size_t place = place_of(prhs[0]);
    arrays_bytes request = arrays_vector("the request", prhs[1]);
    size_t asked = size_for(place, prhs[2]);
    int32_t code;

    (void)nlhs;
    (void)plhs;
    interrupt_begin(table[place].device);
    code = wg_submit(table[place].device, request.bytes, request.count, asked);
    interrupt_end();
    failure_check(code, "");
}

/* nextReply, number -> reply, timing */
void devices_next_reply(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    size_t place = place_of(prhs[0]);
    size_t room = table[place].largest_reply;
    uint8_t *reply = room_for(room);
    size_t came = 0;
    wg_timing timing;
    int32_t code;

    interrupt_begin(table[place].device);
    code = wg_next_reply(table[place].device, reply, room, &came, &timing);
    interrupt_end();
    failure_check(code, "");
    plhs[0] = arrays_column(reply, came);
    if (nlhs > 1) {
        plhs[1] = arrays_timings(&timing, &came, 1);
    }
}

/* outstanding, number -> count */
void devices_outstanding(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    size_t place = place_of(prhs[0]);
    size_t count = 0;

    (void)nlhs;
    failure_check(wg_outstanding(table[place].device, &count), "");
    plhs[0] = arrays_number((double)count);
}

/* readStream, number, bytes, transferBytes, queue -> data */
void devices_read_stream(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    size_t place = place_of(prhs[0]);
    size_t bytes = (size_t)arrays_whole("bytes", prhs[1], 1, (uint64_t)1 << 40);
    size_t transfer = (size_t)arrays_whole("transferBytes", prhs[2], 1, (uint64_t)1 << 31);
    size_t queue = (size_t)arrays_whole("queue", prhs[3], 1, 1024);
    mxArray *data = mxCreateNumericMatrix(bytes, 1, mxUINT8_CLASS, mxREAL);
    size_t came = 0;
    int32_t code;
    char more[48];

    (void)nlhs;
    interrupt_begin(table[place].device);
    code = wg_read_stream(table[place].device, mxGetData(data), bytes, transfer, queue, &came);
    interrupt_end();
    snprintf(more, sizeof more, " (%.0f bytes received)", (double)came);
    failure_check(code, more);
    plhs[0] = came < bytes ? shortened(data, came, bytes, 1) : data;
}

/* writeStream, number, data, transferBytes, queue -> taken */
void devices_write_stream(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    size_t place = place_of(prhs[0]);
    arrays_bytes data = arrays_vector("the data", prhs[1]);
    size_t transfer = (size_t)arrays_whole("transferBytes", prhs[2], 1, (uint64_t)1 << 31);
    size_t queue = (size_t)arrays_whole("queue", prhs[3], 1, 1024);
    size_t taken = 0;
    int32_t code;
    char more[48];

    (void)nlhs;
    interrupt_begin(table[place].device);
    code = wg_write_stream(table[place].device, data.bytes, data.count, transfer, queue, &taken);
    interrupt_end();
    snprintf(more, sizeof more, " (%.0f bytes sent)", (double)taken);
    failure_check(code, more);
    plhs[0] = arrays_number((double)taken);
}

static void text_field(mxArray *result, const char *name, wg_device *device, int32_t what) {
    size_t length = 0;
    char *text;
    failure_check(wg_about_text(device, what, NULL, 0, &length), "");
    text = mxCalloc(length + 1, 1);
    failure_check(wg_about_text(device, what, text, length + 1, &length), "");
    mxSetField(result, 0, name, mxCreateString(text));
}

static void number_field(mxArray *result, const char *name, wg_device *device, int32_t what) {
    uint64_t number = 0;
    failure_check(wg_about_number(device, what, &number), "");
    mxSetField(result, 0, name, arrays_number((double)number));
}

/* about, number -> struct */
void devices_about(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    static const char *names[] = {"address", "responder", "bus", "settings", "largest_request", "largest_reply", "tick_hz", "tick_bits", "abilities"};
    wg_device *device = table[place_of(prhs[0])].device;

    (void)nlhs;
    plhs[0] = mxCreateStructMatrix(1, 1, 9, names);
    text_field(plhs[0], "address", device, WG_ABOUT_ADDRESS);
    text_field(plhs[0], "responder", device, WG_ABOUT_RESPONDER);
    text_field(plhs[0], "bus", device, WG_ABOUT_BUS);
    text_field(plhs[0], "settings", device, WG_ABOUT_SETTINGS);
    number_field(plhs[0], "largest_request", device, WG_ABOUT_LARGEST_REQUEST);
    number_field(plhs[0], "largest_reply", device, WG_ABOUT_LARGEST_REPLY);
    number_field(plhs[0], "tick_hz", device, WG_ABOUT_TICK_HZ);
    number_field(plhs[0], "tick_bits", device, WG_ABOUT_TICK_BITS);
    number_field(plhs[0], "abilities", device, WG_ABOUT_ABILITIES);
}
