/* Memory of the stand-in: which there is, which the host registered. */
#include "standin.h"

#include <stdlib.h>
#include <string.h>

enum { REGIONS = 256 };

static struct {
    char *at;
    size_t bytes;
    int kind;
} regions[REGIONS];

static int add_region(void *at, size_t bytes, int kind) {
    for (int i = 0; i < REGIONS; i++) {
        if (!regions[i].kind) {
            regions[i].at = at;
            regions[i].bytes = bytes;
            regions[i].kind = kind;
            return 1;
        }
    }
    return 0;
}

static int drop_region(const void *at, int kind) {
    for (int i = 0; i < REGIONS; i++) {
        if (regions[i].kind == kind && regions[i].at == at) {
            regions[i].kind = 0;
            return 1;
        }
    }
    return 0;
}

int is_known(const void *at, size_t bytes, int kind) {
    for (int i = 0; i < REGIONS; i++) {
        if (!regions[i].kind || (kind && regions[i].kind != kind))
            continue;
        const char *from = regions[i].at, *to = from + regions[i].bytes;
        if ((const char *)at >= from && (const char *)at + bytes <= to)
            return 1;
    }
    return 0;
}

int left_of(int kind) {
    int left = 0;
    for (int i = 0; i < REGIONS; i++)
        left += regions[i].kind == kind;
    return left;
}

EXPORT Result cuMemAlloc_v2(Address *at, size_t bytes) {
    BEGIN;
    NOT_UNDER_A_KERNEL;
    /* What nobody cleared is not zero. */
    void *memory = bytes ? malloc(bytes) : NULL;
    if (!memory || !add_region(memory, bytes, DEVICE_MEMORY))
        return OUT_OF_MEMORY;
    memset(memory, 0xa5, bytes);
    *at = (Address)(uintptr_t)memory;
    return SUCCESS;
}

EXPORT Result cuMemFree_v2(Address at) {
    BEGIN;
    NOT_UNDER_A_KERNEL;
    void *memory = (void *)(uintptr_t)at;
    if (!drop_region(memory, DEVICE_MEMORY))
        return INVALID_VALUE;
    free(memory);
    return SUCCESS;
}

EXPORT Result cuMemHostAlloc(void **at, size_t bytes, unsigned flags) {
    BEGIN;
    NOT_UNDER_A_KERNEL;
    (void)flags;
    if (posix_memalign(at, 4096, bytes) || !add_region(*at, bytes, HOST_MEMORY))
        return OUT_OF_MEMORY;
    memset(*at, 0xa5, bytes);
    return SUCCESS;
}

EXPORT Result cuMemFreeHost(void *at) {
    BEGIN;
    NOT_UNDER_A_KERNEL;
    if (!drop_region(at, HOST_MEMORY))
        return INVALID_VALUE;
    free(at);
    return SUCCESS;
}

/* Whole pages are registered: neighbours on one page are in each other's way. */
static int shares_a_page(uintptr_t from, uintptr_t to) {
    const uintptr_t page = 4096;
    from -= from % page;
    to += (page - to % page) % page;
    for (int i = 0; i < REGIONS; i++) {
        if (regions[i].kind != REGISTERED)
            continue;
        uintptr_t begin = (uintptr_t)regions[i].at, end = begin + regions[i].bytes;
        begin -= begin % page;
        end += (page - end % page) % page;
        if (from < end && begin < to)
            return 1;
    }
    return 0;
}

EXPORT Result cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags) {
    BEGIN;
    NOT_UNDER_A_KERNEL;
    (void)flags;
    if (!at || !bytes)
        return INVALID_VALUE;
    if (shares_a_page((uintptr_t)at, (uintptr_t)at + bytes))
        return ALREADY_REGISTERED;
    return add_region(at, bytes, REGISTERED) ? SUCCESS : OUT_OF_MEMORY;
}

EXPORT Result cuMemHostUnregister(void *at) {
    BEGIN;
    NOT_UNDER_A_KERNEL;
    return drop_region(at, REGISTERED) ? SUCCESS : NOT_REGISTERED;
}

EXPORT Result cuMemHostGetDevicePointer_v2(Address *device, void *host, unsigned flags) {
    BEGIN;
    (void)flags;
    if (!is_known(host, 1, REGISTERED) && !is_known(host, 1, HOST_MEMORY))
        return INVALID_VALUE;
    *device = (Address)(uintptr_t)host;
    return SUCCESS;
}
