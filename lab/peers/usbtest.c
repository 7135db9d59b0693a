/* Has the kernel's driver usbtest time bulk transfers with a device that it is bound to, as its own testusb does.
 *
 *     usbtest DEVICE INTERFACE in|out BYTES QUEUE COUNT
 *
 * DEVICE is a usbfs node. Prints one line of JSON. The numbers of tests are those of drivers/usb/misc/usbtest.c: 1 and 2
 * wait for each transfer, 27 and 28 keep several of them queued.
 */
#include <fcntl.h>
#include <linux/types.h>
#include <linux/usbdevice_fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

struct usbtest_param {
    __u32 test_num;
    __u32 iterations;
    __u32 length;
    __u32 vary;
    __u32 sglen;
    __s64 duration_sec;
    __s64 duration_usec;
};

#define USBTEST_REQUEST _IOWR('U', 100, struct usbtest_param)

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: usbtest DEVICE INTERFACE in|out BYTES QUEUE COUNT\n");
        return 2;
    }
    int is_in = strcmp(argv[3], "in") == 0;
    unsigned bytes = (unsigned)atoi(argv[4]), queue = (unsigned)atoi(argv[5]), count = (unsigned)atoi(argv[6]);
    struct usbtest_param test = {
        .test_num = (queue > 1 ? 27u : 1u) + (unsigned)is_in,
        .iterations = queue > 1 ? count / queue : count,
        .length = bytes,
        .sglen = queue > 1 ? queue : 0,
    };
    struct usbdevfs_ioctl request = {.ifno = atoi(argv[2]), .ioctl_code = (int)USBTEST_REQUEST, .data = &test};
    int device = open(argv[1], O_RDWR);
    if (device < 0) {
        perror(argv[1]);
        return 1;
    }
    if (ioctl(device, USBDEVFS_IOCTL, &request) < 0) {
        perror("usbtest");
        return 1;
    }
    double seconds = (double)test.duration_sec + 1e-6 * (double)test.duration_usec;
    double transfers = (double)test.iterations * (queue > 1 ? queue : 1);
    printf("{\"direction\":\"%s\",\"transfer_bytes\":%u,\"queue\":%u,\"transfers\":%.0f,\"seconds\":%.6f}\n",
           argv[3], bytes, queue, transfers, seconds);
    return 0;
}
