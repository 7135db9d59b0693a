/*
 * libmodbus as client: `libmodbus_client HOST:PORT|PATH COUNT SILENCE_US` reads 10 holding registers of unit 1 from
 * address 0 on and prints the time of each reading in ns. The library leaves the silence before a request on a
 * serial line to the program.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <modbus/modbus.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BAUD = 115200, REGISTERS = 10 };

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static modbus_t *open_device(char *place)
{
    char *colon = strrchr(place, ':');
    if (place[0] == '/')
        return modbus_new_rtu(place, BAUD, 'N', 8, 1);
    if (!colon)
        return NULL;
    *colon = 0;
    return modbus_new_tcp(place, atoi(colon + 1));
}

int main(int argc, char **argv)
{
    uint16_t values[REGISTERS];
    int count = argc == 4 ? atoi(argv[2]) : 0;
    uint64_t silence = argc == 4 ? strtoull(argv[3], NULL, 10) * 1000 : 0;
    uint64_t *took = malloc(sizeof *took * (size_t)(count > 0 ? count : 1));
    modbus_t *device = argc == 4 ? open_device(argv[1]) : NULL;
    if (!took || !device || count < 1)
        return 2;
    if (modbus_set_slave(device, 1) < 0 || modbus_connect(device) < 0) {
        fprintf(stderr, "libmodbus_client: connecting: %s\n", modbus_strerror(errno));
        return 1;
    }
    for (int i = 0; i < count; i++) {
        uint64_t begin = now_ns(), end;
        int got = modbus_read_registers(device, 0, REGISTERS, values);
        end = now_ns();
        if (got != REGISTERS) {
            fprintf(stderr, "libmodbus_client: reading: %s\n", modbus_strerror(errno));
            return 1;
        }
        took[i] = end - begin;
        if (silence) {
            struct timespec t = {(time_t)((end + silence) / 1000000000u), (long)((end + silence) % 1000000000u)};
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
        }
    }
    for (int i = 0; i < count; i++) printf("%llu\n", (unsigned long long)took[i]);
    modbus_close(device);
    modbus_free(device);
    return 0;
}
