/* The commands about stored runs; wiregauge_mex.c lists them. */

#ifndef WIREGAUGE_RUNS_H
#define WIREGAUGE_RUNS_H

#include "mex.h"

void runs_directory(int nlhs, mxArray *plhs[], const mxArray *prhs[]);
void runs_json(int nlhs, mxArray *plhs[], const mxArray *prhs[]);
void runs_samples(int nlhs, mxArray *plhs[], const mxArray *prhs[]);

/* Closes the run that a failed call may have left open. */
void runs_close(void);

#endif
