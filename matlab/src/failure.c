/* Errors with identifiers; see failure.h. docs/matlab.md has the table. */

#include "failure.h"

#include "mex.h"
#include "wiregauge.h"

static const char *identifier(int32_t code) {
    switch (code) {
    case WG_ERROR_USAGE:
        return "wiregauge:usage";
    case WG_ERROR_PERMISSION:
        return "wiregauge:permission";
    case WG_ERROR_UNREACHABLE:
        return "wiregauge:unreachable";
    case WG_ERROR_NOT_FOUND:
        return "wiregauge:notFound";
    case WG_ERROR_BUSY:
        return "wiregauge:busy";
    case WG_ERROR_TIMEOUT:
        return "wiregauge:timeout";
    case WG_ERROR_PROTOCOL:
        return "wiregauge:protocol";
    case WG_ERROR_DISCONNECTED:
        return "wiregauge:disconnected";
    case WG_ERROR_IO:
        return "wiregauge:link";
    case WG_ERROR_INTERRUPTED:
        return "wiregauge:interrupted";
    case WG_ERROR_ARGUMENT:
        return "wiregauge:argument";
    case WG_ERROR_HANDLE:
        return "wiregauge:closed";
    case WG_ERROR_IN_USE:
        return "wiregauge:inUse";
    case WG_ERROR_FORKED:
        return "wiregauge:forked";
    case WG_ERROR_ROOM:
        return "wiregauge:tooLarge";
    case WG_ERROR_TOO_MANY:
        return "wiregauge:tooMany";
    case WG_ERROR_RUN:
        return "wiregauge:run";
    case WG_ERROR_BUG:
        return "wiregauge:bug";
    default:
        return "wiregauge:failed";
    }
}

void failure_check(int32_t code, const char *more) {
    if (code == WG_OK) {
        return;
    }
    if (code == WG_ERROR_HANDLE) {
        mexErrMsgIdAndTxt("wiregauge:closed", "the device is closed; wiregauge.open opens it again");
    }
    mexErrMsgIdAndTxt(identifier(code), "%s%s", wg_last_error(), more);
}
