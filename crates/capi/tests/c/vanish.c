/* A device that goes away: each call says so, and no signal ends the program.
 *
 *     vanish ADDRESS
 *
 * ADDRESS hangs up after a hundred exchanges.
 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <signal.h>

int main(int argc, char **argv)
{
    static unsigned char data[1 << 20];
    wg_device *device = NULL;
    size_t bytes = 0;
    int32_t code = WG_OK;
    int n;

    if (argc != 2)
        return 2;
    signal(SIGPIPE, SIG_DFL);
    IS(WG_OK, wg_open(argv[1], NULL, &device));
    IS(WG_OK, wg_set_timeout(device, UINT64_C(5000000000)));
    for (n = 0; n < 200 && code == WG_OK; n++)
        code = wg_exchange(device, data, 8, WG_AS_SENT, data, 8, &bytes, NULL);
    IS(WG_ERROR_DISCONNECTED, code);
    HOLDS(n > 50 && n <= 101);
    for (n = 0; n < 20; n++) {
        HOLDS(wg_exchange(device, data, 8, WG_AS_SENT, data, 8, &bytes, NULL) != WG_OK);
        HOLDS(wg_submit(device, data, 8, WG_AS_SENT) != WG_OK || wg_next_reply(device, data, 8, NULL, NULL) != WG_OK);
        HOLDS(wg_write_stream(device, data, sizeof data, 4096, 1, &bytes) != WG_OK);
        HOLDS(wg_read_stream(device, data, sizeof data, 4096, 1, &bytes) != WG_OK);
    }
    IS(WG_OK, wg_close(device));
    return result();
}
