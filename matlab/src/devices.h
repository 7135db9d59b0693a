/* The commands about devices; wiregauge_mex.c lists them. Each takes what follows the command's name. */

#ifndef WIREGAUGE_DEVICES_H
#define WIREGAUGE_DEVICES_H

#include "mex.h"

void devices_open(int nlhs, mxArray *plhs[], const mxArray *prhs[]);
void devices_close(int nlhs, mxArray *plhs[], const mxArray *prhs[]);
void devices_exchange(int nlhs, mxArray *plhs[], const mxArray *prhs[]);
void devices_exchange_many(int nlhs, mxArray *plhs[], const mxArray *prhs[]);
void devices_write(int nlhs, mxArray *plhs[], const mxArray *prhs[]);
void devices_read(int nlhs, mxArray *plhs[], const mxArray *prhs[]);
void devices_submit(int nlhs, mxArray *plhs[], const mxArray *prhs[]);
void devices_next_reply(int nlhs, mxArray *plhs[], const mxArray *prhs[]);
void devices_outstanding(int nlhs, mxArray *plhs[], const mxArray *prhs[]);
void devices_read_stream(int nlhs, mxArray *plhs[], const mxArray *prhs[]);
void devices_write_stream(int nlhs, mxArray *plhs[], const mxArray *prhs[]);
void devices_set_timeout(int nlhs, mxArray *plhs[], const mxArray *prhs[]);
void devices_about(int nlhs, mxArray *plhs[], const mxArray *prhs[]);

/* Closes all that is open. */
void devices_close_all(void);

#endif
