/* The least that a Windows program needs for an exchange over TCP: one send, one recv, two readings of the clock.
   floor.exe PORT BYTES COUNT: prints the median RTT in microseconds. The echo listens on 127.0.0.1. */
#include <winsock2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

static int by_size(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: floor.exe PORT BYTES COUNT\n");
        return 2;
    }
    int bytes = atoi(argv[2]), count = atoi(argv[3]);
    WSADATA data;
    WSAStartup(MAKEWORD(2, 2), &data);
    SOCKET link = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((u_short)atoi(argv[1]))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(link, (struct sockaddr *)&at, sizeof at) != 0) {
        fprintf(stderr, "floor.exe: cannot connect to port %s: error %d\n", argv[1], WSAGetLastError());
        return 3;
    }
    int one = 1;
    setsockopt(link, IPPROTO_TCP, TCP_NODELAY, (const char *)&one, sizeof one);
    char *request = calloc(1, bytes), *reply = malloc(bytes);
    int64_t *ticks = malloc(count * sizeof *ticks);
    LARGE_INTEGER begun, ended, frequency;
    QueryPerformanceFrequency(&frequency);
    for (int done = 0; done < count; done++) {
        QueryPerformanceCounter(&begun);
        if (send(link, request, bytes, 0) != bytes)
            return 3;
        for (int at_byte = 0; at_byte < bytes;) {
            int got = recv(link, reply + at_byte, bytes - at_byte, 0);
            if (got <= 0)
                return 3;
            at_byte += got;
        }
        QueryPerformanceCounter(&ended);
        ticks[done] = ended.QuadPart - begun.QuadPart;
    }
    qsort(ticks, count, sizeof *ticks, by_size);
    printf("%.3f\n", ticks[count / 2] * 1e6 / frequency.QuadPart);
    return 0;
}
