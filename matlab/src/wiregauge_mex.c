/* The gateway between M-code and the C ABI: wiregauge_mex('command', ...). The package +wiregauge calls it and has the
 * documentation; what a command takes is checked here and behind, so that no argument can crash the program.
 *
 * Only functions of the C Matrix and MEX API are used that both MATLAB and Octave document. */

#include <string.h>

#include "arrays.h"
#include "devices.h"
#include "mex.h"
#include "runs.h"
#include "wiregauge.h"

typedef void (*command)(int nlhs, mxArray *plhs[], const mxArray *prhs[]);

static void version(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    (void)nlhs;
    (void)prhs;
    plhs[0] = mxCreateString(wg_version());
}

static const struct {
    const char *name;
    command run;
    int takes;
    int returns;
} commands[] = {
    {"exchange", devices_exchange, 3, 2},
    {"exchangeMany", devices_exchange_many, 4, 2},
    {"write", devices_write, 2, 0},
    {"read", devices_read, 2, 2},
    {"submit", devices_submit, 3, 0},
    {"nextReply", devices_next_reply, 1, 2},
    {"outstanding", devices_outstanding, 1, 1},
    {"readStream", devices_read_stream, 4, 1},
    {"writeStream", devices_write_stream, 4, 1},
    {"setTimeout", devices_set_timeout, 2, 0},
    {"open", devices_open, 2, 1},
    {"close", devices_close, 1, 0},
    {"about", devices_about, 1, 1},
    {"runDirectory", runs_directory, 1, 1},
    {"runJson", runs_json, 1, 1},
    {"runSamples", runs_samples, 2, 1},
    {"version", version, 0, 1},
};

static void at_exit(void) {
    devices_close_all();
    runs_close();
}

void mexFunction(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]) {
    static int prepared;
    char name[16] = "";
    size_t n;

    if (!prepared) {
        if (wg_abi_version() != WG_ABI_VERSION) {
            mexErrMsgIdAndTxt("wiregauge:missing", "this MEX file was built for another library: build it again");
        }
        /* The library may leave a thread behind (USB), which must not lose its code: `clear mex` leaves this file. */
        mexLock();
        mexAtExit(at_exit);
        prepared = 1;
    }
    if (nrhs < 1 || !mxIsChar(prhs[0]) || mxGetString(prhs[0], name, sizeof name) != 0) {
        mexErrMsgIdAndTxt("wiregauge:argument", "wiregauge_mex('command', ...): use the package wiregauge instead");
    }
    for (n = 0; n < sizeof commands / sizeof *commands; n++) {
        if (strcmp(name, commands[n].name) == 0) {
            if (nrhs - 1 != commands[n].takes || nlhs > (commands[n].returns > 0 ? commands[n].returns : 0)) {
                mexErrMsgIdAndTxt("wiregauge:argument", "wiregauge_mex('%s', ...) takes %d arguments and returns %d", name,
                                  commands[n].takes, commands[n].returns);
            }
            commands[n].run(nlhs, plhs, prhs + 1);
            return;
        }
    }
    mexErrMsgIdAndTxt("wiregauge:argument", "unknown command '%s'", name);
}
