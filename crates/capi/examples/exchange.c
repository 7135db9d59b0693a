/* One exchange, and then a batch with four requests outstanding; prints when each reply came.
 *
 *     ./exchange tcp://127.0.0.1:7700
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <wiregauge.h>

enum { REQUESTS = 12, REQUEST_BYTES = 16, REPLY_BYTES = 64, DEPTH = 4 };

/* Says what went wrong. A failed call leaves a code and a text: what was being done, and what to try. */
static int failed(int32_t code)
{
    fprintf(stderr, "exchange: %s\n%s\n", wg_error_name(code), wg_last_error());
    return 3;
}

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static int talk(wg_device *device)
{
    static unsigned char requests[REQUESTS][REQUEST_BYTES], replies[REQUESTS][REPLY_BYTES];
    wg_timing timing, timings[REQUESTS];
    size_t reply_bytes, lengths[REQUESTS], answered = 0, row;
    char name[64];
    int32_t code;

    code = wg_about_text(device, WG_ABOUT_RESPONDER, name, sizeof name, NULL);
    if (code != WG_OK)
        return failed(code);
    printf("%s\n", name);

    code = wg_exchange(device, "how are you?", 12, WG_AS_SENT, replies[0], REPLY_BYTES, &reply_bytes,
                       &timing);
    if (code != WG_OK)
        return failed(code);
    printf("one exchange: %zu bytes after %.3f ms\n\n", reply_bytes, ms(timing.rtt_ns));

    for (row = 0; row < REQUESTS; row++)
        memset(requests[row], (int)row, REQUEST_BYTES);
    code = wg_exchange_many(device, requests, REQUESTS, REQUEST_BYTES, replies, REPLY_BYTES, lengths,
                            timings, DEPTH, &answered);
    if (code != WG_OK)
        fprintf(stderr, "%zu of %d requests were answered\n", answered, REQUESTS);
    printf("request   start ms     RTT ms   bytes\n");
    for (row = 0; row < answered; row++)
        printf("%7zu %10.3f %10.3f %7zu\n", row, ms(timings[row].start_ns - timings[0].start_ns),
               ms(timings[row].rtt_ns), lengths[row]);
    return code == WG_OK ? 0 : failed(code);
}

int main(int argc, char **argv)
{
    wg_device *device = NULL;
    int32_t code;
    int status;

    if (argc != 2) {
        fprintf(stderr, "usage: exchange ADDRESS\n");
        return 2;
    }
    code = wg_open(argv[1], NULL, &device);
    if (code != WG_OK)
        return failed(code);
    status = talk(device);
    code = wg_close(device);
    return status == 0 && code != WG_OK ? failed(code) : status;
}
