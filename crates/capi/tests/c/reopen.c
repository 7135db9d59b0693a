/* Opens and closes a device many times: descriptors and memory stay as they are.
 *
 *     reopen ADDRESS TIMES
 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <dirent.h>
#include <stdlib.h>

static long descriptors(void)
{
    long count = 0;
    DIR *folder = opendir("/proc/self/fd");

    while (folder != NULL && readdir(folder) != NULL)
        count++;
    if (folder != NULL)
        closedir(folder);
    return count;
}

static long resident_kb(void)
{
    char line[256];
    long kb = 0;
    FILE *file = fopen("/proc/self/status", "r");

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmRSS: %ld kB", &kb) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return kb;
}

static void open_and_close(const char *address, long times)
{
    unsigned char byte = 1;
    wg_device *device;

    while (times-- > 0) {
        IS(WG_OK, wg_open(address, NULL, &device));
        IS(WG_OK, wg_exchange(device, &byte, 1, WG_AS_SENT, &byte, 1, NULL, NULL));
        IS(WG_OK, wg_close(device));
    }
}

int main(int argc, char **argv)
{
    long times, descriptors_before, kb_before, grown;

    if (argc != 3)
        return 2;
    times = atol(argv[2]);
    open_and_close(argv[1], 100);
    descriptors_before = descriptors();
    kb_before = resident_kb();
    open_and_close(argv[1], times);
    grown = resident_kb() - kb_before;
    printf("%ld times: %ld descriptors before, %ld after; memory %ld kB before, %+ld kB after\n", times,
           descriptors_before, descriptors(), kb_before, grown);
    HOLDS(descriptors() == descriptors_before);
    HOLDS(kb_before > 0 && grown < 1024);
    return result();
}
