/* Stored runs: their JSON, and columns of their samples as doubles, a million rows in a moment. */

#include "runs.h"

#include <string.h>

#include "arrays.h"
#include "failure.h"
#include "wiregauge.h"

/* Closed at the next call at the latest: an error leaves the function in between. */
static wg_run *opened;

void runs_close(void) {
    wg_run_close(opened);
    opened = NULL;
}

static void open_run(const mxArray *name) {
    char *text = arrays_text("the run", name);
    runs_close();
    failure_check(wg_run_open(text, &opened), "");
}

/* A text of the run of this name. */
static mxArray *text_of(const mxArray *name, int32_t (*get)(wg_run *, char *, size_t, size_t *)) {
    size_t length = 0;
    char *text;

    open_run(name);
    failure_check(get(opened, NULL, 0, &length), "");
    text = mxCalloc(length + 1, 1);
    failure_check(get(opened, text, length + 1, &length), "");
    runs_close();
    return mxCreateString(text);
}

/* runDirectory, name -> text */
void runs_directory(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    (void)nlhs;
    plhs[0] = text_of(prhs[0], wg_run_directory);
}

/* runJson, name -> text */
void runs_json(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    (void)nlhs;
    plhs[0] = text_of(prhs[0], wg_run_json);
}

/* A column as doubles. The numbers are written where the doubles will be: both have 8 bytes. */
static mxArray *column_of(size_t point, const char *name, size_t rows) {
    mxArray *column = mxCreateDoubleMatrix(rows, 1, mxREAL);
    unsigned char *place = mxGetData(column);
    size_t came = 0, n;

    if (rows > 0) {
        failure_check(wg_run_column(opened, point, name, mxGetData(column), rows, &came), "");
    }
    for (n = 0; n < rows; n++) {
        uint64_t number = 0;
        double value;
        if (n < came) {
            memcpy(&number, place + 8 * n, 8);
        }
        value = (double)number;
        memcpy(place + 8 * n, &value, 8);
    }
    return column;
}

/* runSamples, name, cell of column names -> struct array, an element for each point */
void runs_samples(int nlhs, mxArray *plhs[], const mxArray *prhs[]) {
    const mxArray *wanted = prhs[1];
    size_t count = mxIsCell(wanted) ? mxGetNumberOfElements(wanted) : 0;
    size_t points = 0, point, n;
    const char **names;

    (void)nlhs;
    if (count == 0 || count > 64) {
        arrays_refuse("the columns", "a cell array of up to 64 names", wanted);
    }
    names = mxMalloc(count * sizeof *names);
    for (n = 0; n < count; n++) {
        const mxArray *name = mxGetCell(wanted, n);
        names[n] = arrays_text("a column", name == NULL ? wanted : name);
    }
    open_run(prhs[0]);
    failure_check(wg_run_points(opened, &points), "");
    plhs[0] = mxCreateStructMatrix(1, points, (int)count, names);
    for (point = 0; point < points; point++) {
        size_t rows = 0;
        failure_check(wg_run_rows(opened, point, &rows), "");
        for (n = 0; n < count; n++) {
            mxSetField(plhs[0], point, names[n], column_of(point, names[n], rows));
        }
    }
    runs_close();
}
