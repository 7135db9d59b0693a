/* The device of the stand-in: what it is, its context, its errors; and what tests wish of it. */
#include "standin.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int retained, current, initialised;

/* Calls so far of the name that is to fail. */
static int calls;

int fails(const char *name, Result *code) {
    const char *wish = getenv("STANDIN_FAIL");
    const char *colon = wish ? strchr(wish, ':') : NULL;
    if (!colon || strlen(name) != (size_t)(colon - wish) || strncmp(wish, name, strlen(name)) != 0)
        return 0;
    const char *at = strchr(colon, '@');
    *code = atoi(colon + 1);
    return ++calls >= (at ? atoi(at + 1) : 1);
}

void note(const char *format, ...) {
    const char *path = getenv("STANDIN_LOG");
    FILE *log = path ? fopen(path, "a") : NULL;
    if (!log)
        return;
    va_list words;
    va_start(words, format);
    vfprintf(log, format, words);
    va_end(words);
    fputc('\n', log);
    fclose(log);
}

int has_context(void) { return current; }

static int devices(void) {
    const char *wish = getenv("STANDIN_DEVICES");
    return wish ? atoi(wish) : 1;
}

/* Calls that need no context. */
#define BEGIN_ALONE                                                                                \
    do {                                                                                           \
        Result code;                                                                               \
        if (fails(__func__, &code))                                                                \
            return code;                                                                           \
    } while (0)

EXPORT Result cuInit(unsigned flags) {
    BEGIN_ALONE;
    initialised = flags == 0;
    return devices() ? SUCCESS : NO_DEVICE;
}

EXPORT Result cuDriverGetVersion(int *version) {
    *version = 12080;
    return SUCCESS;
}

EXPORT Result cuDeviceGetCount(int *count) {
    BEGIN_ALONE;
    *count = devices();
    return initialised ? SUCCESS : 3;
}

EXPORT Result cuDeviceGet(int *device, int number) {
    BEGIN_ALONE;
    *device = number;
    return number < devices() ? SUCCESS : INVALID_DEVICE;
}

EXPORT Result cuDeviceGetName(char *name, int bytes, int device) {
    snprintf(name, (size_t)bytes, "software stand-in %d (no GPU)", device);
    return SUCCESS;
}

EXPORT Result cuDeviceGetPCIBusId(char *name, int bytes, int device) {
    snprintf(name, (size_t)bytes, "FFFF:00:%02X.0", device);
    return SUCCESS;
}

EXPORT Result cuDeviceGetAttribute(int *value, int which, int device) {
    BEGIN_ALONE;
    (void)device;
    switch (which) {
    case 1: *value = THREADS_MOST; break;
    case 16: *value = MULTIPROCESSORS; break;
    case 17: *value = getenv("STANDIN_DISPLAY") != NULL; break;
    case 19: *value = 1; break;
    case 75: *value = 0; break;
    case 76: *value = 0; break;
    case 95: *value = 1; break;
    default: return INVALID_VALUE;
    }
    return SUCCESS;
}

EXPORT Result cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
    BEGIN_ALONE;
    (void)device;
    (void)flags;
    return SUCCESS;
}

EXPORT Result cuDevicePrimaryCtxRetain(void **context, int device) {
    BEGIN_ALONE;
    (void)device;
    retained++;
    *context = &retained;
    return SUCCESS;
}

EXPORT Result cuDevicePrimaryCtxRelease_v2(int device) {
    BEGIN_ALONE;
    (void)device;
    retained--;
    note("left: %d contexts, %d kernels, %d streams, %d memories, %d host memories, %d registered", retained,
         kernel_runs(), streams_left(), left_of(DEVICE_MEMORY), left_of(HOST_MEMORY), left_of(REGISTERED));
    return SUCCESS;
}

EXPORT Result cuCtxSetCurrent(void *context) {
    BEGIN_ALONE;
    current = context != NULL;
    return SUCCESS;
}

static const struct {
    Result code;
    const char *name, *text;
} errors[] = {
    {SUCCESS, "CUDA_SUCCESS", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "part or all of the requested memory \
range is already mapped"},
};

static Result words(Result code, const char **text, int name) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].code == code) {
            *text = name ? errors[i].name : errors[i].text;
            return SUCCESS;
        }
    }
    *text = NULL;
    return INVALID_VALUE;
}

EXPORT Result cuGetErrorName(Result code, const char **text) { return words(code, text, 1); }
EXPORT Result cuGetErrorString(Result code, const char **text) { return words(code, text, 0); }
