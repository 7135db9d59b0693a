/* Loads a MEX file as MATLAB and Octave do and calls it once: mex_host.exe FILE.mexw64 [COMMAND]. It has what the command `version` and
   a wrong call use of their API; every other function ends the program. It is no MATLAB: it shows that Windows loads the file with the
   C library in it, and calls it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "mex.h"

/* Arrays are texts here. */
bool mxIsChar(const mxArray *array) { return array != NULL; }

int mxGetString(const mxArray *array, char *buffer, mwSize bytes) {
    if (strlen(array) >= (size_t)bytes) {
        return 1;
    }
    strcpy(buffer, array);
    return 0;
}

mxArray *mxCreateString(const char *text) { return _strdup(text); }

void mxFree(void *memory) { free(memory); }

void mexLock(void) {}

static void (*at_exit)(void);

int mexAtExit(void (*call)(void)) {
    at_exit = call;
    return 0;
}

void mexErrMsgIdAndTxt(const char *id, const char *format, ...) {
    va_list words;
    printf("%s: ", id);
    va_start(words, format);
    vprintf(format, words);
    va_end(words);
    printf("\n");
    exit(1);
}

void unexpected(void) {
    fprintf(stderr, "mex_host: it called a function that is not here\n");
    exit(4);
}

int main(int count, char **words) {
    typedef void function(int, mxArray *[], int, const mxArray *[]);
    mxArray *returned[1] = {NULL};
    const mxArray *given[1] = {count > 2 ? words[2] : NULL};
    HMODULE file = count > 1 ? LoadLibraryA(words[1]) : NULL;
    function *mex;

    if (file == NULL) {
        fprintf(stderr, "mex_host: Windows does not load it: error %lu\n", GetLastError());
        return 3;
    }
    mex = (function *)(void *)GetProcAddress(file, "mexFunction");
    if (mex == NULL) {
        fprintf(stderr, "mex_host: it has no mexFunction\n");
        return 3;
    }
    mex(1, returned, given[0] == NULL ? 0 : 1, given);
    printf("%s\n", (const char *)returned[0]);
    if (at_exit != NULL) {
        at_exit();
    }
    return 0;
}
