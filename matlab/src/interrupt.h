/* Ctrl-C while a call waits. MATLAB and Octave look for it between statements only, and a call that waits for a
 * device may take as long as its timeout.
 *
 * interrupt_begin and interrupt_end stand around such a call: in between, Ctrl-C (SIGINT) ends it within 100 ms, and is
 * then handed on to whom it was meant for. In MATLAB's desktop Ctrl-C is no signal, so it is seen after the call;
 * there is no documented way to ask for it. */

#ifndef WIREGAUGE_INTERRUPT_H
#define WIREGAUGE_INTERRUPT_H

#include "wiregauge.h"

void interrupt_begin(wg_device *device);
void interrupt_end(void);

#endif
