/* Arrays in and out, checked; see arrays.h. */

#include "arrays.h"

#include <stdio.h>
#include <string.h>

/* The largest whole number that a double, and so every caller, holds exactly. */
#define EXACT ((uint64_t)1 << 53)

void arrays_refuse(const char *what, const char *wanted, const mxArray *array) {
    const char *kind = mxGetClassName(array);
    mexErrMsgIdAndTxt("wiregauge:argument", "%s must be %s, not %s %s (%lu-by-%lu%s)", what, wanted, kind[0] == 'i' ? "an" : "a", kind,
                      (unsigned long)mxGetM(array), (unsigned long)mxGetN(array),
                      mxIsSparse(array) ? ", sparse" : (mxIsComplex(array) ? ", complex" : ""));
    for (;;) {
        /* mexErrMsgIdAndTxt does not return; not every mex.h says so. */
    }
}

arrays_bytes arrays_vector(const char *what, const mxArray *array) {
    arrays_bytes result = {NULL, mxGetNumberOfElements(array)};
    int flat = mxGetNumberOfDimensions(array) == 2 && (mxGetM(array) <= 1 || mxGetN(array) <= 1);

    if (flat && mxIsUint8(array) && !mxIsComplex(array) && !mxIsSparse(array)) {
        result.bytes = mxGetData(array);
        return result;
    }
    if (flat && mxIsChar(array) && mxGetM(array) <= 1) {
        const mxChar *text = mxGetChars(array);
        uint8_t *copy = mxMalloc(result.count + 1);
        size_t n;
        for (n = 0; n < result.count; n++) {
            /* mxChar has 16 bits in MATLAB and 8, of either sign, in Octave. */
            if (sizeof(mxChar) > 1 && (unsigned long)text[n] > 255) {
                arrays_refuse(what, "bytes: a character above 255 is not a byte", array);
            }
            copy[n] = (uint8_t)text[n];
        }
        result.bytes = copy;
        return result;
    }
    arrays_refuse(what, "a uint8 vector (convert with uint8) or a row of characters", array);
}

char *arrays_text(const char *what, const mxArray *array) {
    arrays_bytes text;
    char *copy;

    if (!mxIsChar(array) || mxGetM(array) != 1) {
        arrays_refuse(what, "text", array);
    }
    text = arrays_vector(what, array);
    if (memchr(text.bytes, 0, text.count) != NULL) {
        arrays_refuse(what, "text without NUL", array);
    }
    copy = mxMalloc(text.count + 1);
    memcpy(copy, text.bytes, text.count);
    copy[text.count] = 0;
    return copy;
}

uint64_t arrays_whole(const char *what, const mxArray *array, uint64_t least, uint64_t most) {
    double value;

    if (!(mxIsNumeric(array) || mxIsLogical(array)) || mxGetNumberOfElements(array) != 1 || mxIsComplex(array) || mxIsSparse(array)) {
        arrays_refuse(what, "one whole number", array);
    }
    if (mxGetClassID(array) == mxUINT64_CLASS) {
        /* The number of a device, which a double might not hold. */
        uint64_t wide;
        memcpy(&wide, mxGetData(array), sizeof wide);
        if (wide < least || wide > most) {
            mexErrMsgIdAndTxt("wiregauge:argument", "%s must be from %.0f to %.0f", what, (double)least, (double)most);
        }
        return wide;
    }
    value = mxGetScalar(array);
    /* Written so that NaN fails. */
    if (!(value >= (double)least && value <= (double)most && value <= (double)EXACT) || value != (double)(uint64_t)value) {
        char shown[32] = "NaN"; /* C writes nan, or -nan. */
        if (value == value) {
            snprintf(shown, sizeof shown, "%g", value);
        }
        mexErrMsgIdAndTxt("wiregauge:argument", "%s must be a whole number from %.0f to %.0f, not %s", what, (double)least, (double)most,
                          shown);
    }
    return (uint64_t)value;
}

const mxArray *arrays_field(const mxArray *fields, const char *name) {
    const mxArray *field = mxIsStruct(fields) && mxGetNumberOfElements(fields) == 1 ? mxGetField(fields, 0, name) : NULL;
    if (field == NULL) {
        mexErrMsgIdAndTxt("wiregauge:argument", "the options must be one struct with the field %s; use wiregauge.open", name);
    }
    return field;
}

uint64_t arrays_field_whole(const mxArray *fields, const char *name, uint64_t least, uint64_t most) {
    return arrays_whole(name, arrays_field(fields, name), least, most);
}

size_t arrays_asked(const mxArray *array) {
    if (mxIsEmpty(array)) {
        return WG_AS_SENT;
    }
    return (size_t)arrays_whole("replyBytes", array, 0, (uint64_t)1 << 31);
}

size_t arrays_product(size_t a, size_t b) {
    if (b != 0 && a > ((size_t)-1) / 2 / b) {
        mexErrMsgIdAndTxt("wiregauge:argument", "%.0f times %.0f bytes exceed the address space", (double)a, (double)b);
    }
    return a * b;
}

mxArray *arrays_column(const uint8_t *bytes, size_t count) {
    mxArray *array = mxCreateNumericMatrix(count, 1, mxUINT8_CLASS, mxREAL);
    if (count > 0) {
        memcpy(mxGetData(array), bytes, count);
    }
    return array;
}

mxArray *arrays_number(double value) { return mxCreateDoubleScalar(value); }

mxArray *arrays_timings(const wg_timing *timings, const size_t *lengths, size_t count) {
    static const char *names[] = {"start_ns", "rtt_ns", "device_rx_ticks", "device_tx_ticks", "bytes"};
    mxArray *result = mxCreateStructMatrix(1, 1, 5, names);
    uint64_t *columns[5];
    size_t n;
    int f;

    for (f = 0; f < 5; f++) {
        mxArray *column = mxCreateNumericMatrix(1, count, mxUINT64_CLASS, mxREAL);
        columns[f] = mxGetData(column);
        mxSetField(result, 0, names[f], column);
    }
    for (n = 0; n < count; n++) {
        columns[0][n] = timings[n].start_ns;
        columns[1][n] = timings[n].rtt_ns;
        columns[2][n] = timings[n].device_rx_ticks;
        columns[3][n] = timings[n].device_tx_ticks;
        columns[4][n] = (uint64_t)lengths[n];
    }
    return result;
}
