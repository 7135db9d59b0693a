/* A responder on USB for boards with an RP2040: a serial port (CDC-ACM) and a pair of bulk endpoints, at once. */
#include "clocks.h"
#include "serial.h"
#include "usb.h"

int main(void) {
    clocks_begin();
    serial_read();
    usb_begin();
    for (;;) {
        __asm volatile("wfi");
    }
}
