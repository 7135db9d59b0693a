/* A full-speed USB host with one device, an Arduino's CDC-ACM: enumerates it, raises DTR while a program has the tty
 * open, and moves bulk packets at the pace of the bus. */
#include "banks.h"
#include "machine.h"
#include <avr_usb.h>
#include <stdio.h>
#include <string.h>

enum { PACKET = 64, MOST_CONFIGURATION = 256 };
/* USB 2.0, table 5-9: what a full-speed bulk transaction takes besides its data. */
enum { OVERHEAD = 13 };

/* Requests (USB 2.0, table 9-4; CDC PSTN 1.2, table 13). */
enum { SET_ADDRESS = 5, GET_DESCRIPTOR = 6, SET_CONFIGURATION = 9 };
enum { SET_LINE_CODING = 0x20, SET_CONTROL_LINE_STATE = 0x22 };
enum { DEVICE = 1 << 8, CONFIGURATION = 2 << 8, TYPE_ENDPOINT = 5, BULK = 2, DTR_AND_RTS = 3 };

static struct {
    bool attached, running, open, dtr;
    uint8_t in, out; /* numbers of the bulk endpoints */
    bool turn_of_in;
    uint8_t packet[PACKET]; /* the next to be sent */
    uint8_t bytes;
    avr_cycle_count_t look_again; /* at the tty */
    unsigned long long bytes_out, packets_out, naks_out, bytes_in, packets_in, naks_in, resets;
} host;

static avr_cycle_count_t bus_time(unsigned bytes) {
    return (avr_cycle_count_t)(OVERHEAD + bytes) * 8 * CLOCK_HZ / 12000000u;
}

/* What a program has written becomes the next packet. */
static void fetch(struct machine *machine, avr_cycle_count_t now) {
    bool to_be_closed = host.dtr && !host.open; /* attend() lowers DTR before anything else is taken */
    if (host.bytes || now < host.look_again || to_be_closed) return;
    int n = tty_take(&machine->tty, host.packet, machine->packet);
    host.open = n >= 0;
    if (n > 0)
        host.bytes = (uint8_t)n;
    else
        host.look_again = now + CYCLES_OF_US(25);
}

static avr_cycle_count_t send(struct machine *machine) {
    unsigned bytes = host.bytes;
    if (banks_out(machine->avr, host.out, host.packet, host.bytes)) {
        host.bytes_out += bytes;
        host.packets_out++;
        host.bytes = 0;
    } else {
        host.naks_out++;
    }
    return bus_time(bytes); /* the data go over the bus before NAK comes back (USB 2.0, 8.4.6.3) */
}

static avr_cycle_count_t receive(struct machine *machine) {
    uint8_t packet[PACKET];
    int n = banks_in(machine->avr, host.in, packet);
    if (n < 0) {
        host.naks_in++;
        return bus_time(0);
    }
    host.bytes_in += (unsigned)n;
    host.packets_in++;
    tty_give(&machine->tty, packet, (size_t)n);
    return bus_time((unsigned)n);
}

/* One transaction after another, OUT and IN in turn. */
static avr_cycle_count_t schedule(avr_t *avr, avr_cycle_count_t when, void *param) {
    struct machine *machine = param;
    (void)avr;
    if (!host.running) return 0;
    fetch(machine, when);
    /* A host whose reader is slow asks for no more: the device keeps what it has. */
    bool may_receive = host.dtr && tty_settle(&machine->tty);
    bool may_send = host.dtr && host.bytes;
    host.turn_of_in = may_receive && (!host.turn_of_in || !may_send);
    if (host.turn_of_in) return when + receive(machine);
    if (may_send) return when + send(machine);
    return when + CYCLES_OF_US(25);
}

static avr_cycle_count_t start_of_frame(avr_t *avr, avr_cycle_count_t when, void *param) {
    (void)param;
    banks_start_of_frame(avr);
    return when + CYCLES_OF_US(1000);
}

/* Does `step` until the device no longer answers NAK, for a second at most. */
static int patiently(struct machine *machine, uint32_t step, uint8_t *bytes, int n) {
    for (int i = 0; i < 10000; i++) {
        struct avr_io_usb stage = {0, (uint32_t)n, bytes};
        int result = avr_ioctl(machine->avr, step, &stage);
        if (result != AVR_IOCTL_USB_NAK) return result < 0 ? result : (int)stage.sz;
        if (!machine_run(machine, CYCLES_OF_US(100))) break;
    }
    return -1;
}

/* One control transfer; bulk transfers wait meanwhile. Returns its bytes, less than 0 if it failed. */
static int control(struct machine *machine, uint8_t type, uint8_t request, uint16_t value, uint8_t *data, uint16_t n) {
    uint8_t setup[8] = {type, request, (uint8_t)value, (uint8_t)(value >> 8), 0, 0, (uint8_t)n, (uint8_t)(n >> 8)};
    uint8_t packet[PACKET];
    int result, got = 0;
    if (patiently(machine, AVR_IOCTL_USB_SETUP, setup, sizeof setup) < 0) return -1;
    /* simavr's endpoint 0 shows one stage after another only if the firmware has time between them. */
    machine_run(machine, CYCLES_OF_US(300));
    if (!(type & 0x80)) {
        if (n && patiently(machine, AVR_IOCTL_USB_WRITE, data, n) < 0) return -1;
        machine_run(machine, CYCLES_OF_US(300));
        result = patiently(machine, AVR_IOCTL_USB_READ, packet, 0);
        machine_run(machine, CYCLES_OF_US(300));
        return result < 0 ? -1 : n;
    }
    do {
        result = patiently(machine, AVR_IOCTL_USB_READ, packet, 0);
        if (result < 0) return -1;
        if (result > n - got) result = n - got;
        memcpy(data + got, packet, (size_t)result);
        got += result;
        machine_run(machine, CYCLES_OF_US(300));
    } while (result == PACKET && got < n);
    patiently(machine, AVR_IOCTL_USB_WRITE, packet, 0);
    machine_run(machine, CYCLES_OF_US(300));
    return got;
}

static void find_endpoints(const uint8_t *configuration, int bytes) {
    host.in = host.out = 0;
    for (int i = 0; i + 3 < bytes && configuration[i]; i += configuration[i])
        if (configuration[i + 1] == TYPE_ENDPOINT && (configuration[i + 3] & 3) == BULK)
            *(configuration[i + 2] & 0x80 ? &host.in : &host.out) = configuration[i + 2] & 0x0F;
}

static bool enumerate(struct machine *machine) {
    uint8_t descriptor[MOST_CONFIGURATION];
    if (control(machine, 0x80, GET_DESCRIPTOR, DEVICE, descriptor, 18) != 18 ||
        control(machine, 0x00, SET_ADDRESS, 1, NULL, 0) < 0 ||
        control(machine, 0x80, GET_DESCRIPTOR, CONFIGURATION, descriptor, 9) != 9)
        return false;
    unsigned total = descriptor[2] | (unsigned)descriptor[3] << 8;
    if (total > sizeof descriptor) return false;
    find_endpoints(descriptor, control(machine, 0x80, GET_DESCRIPTOR, CONFIGURATION, descriptor, (uint16_t)total));
    uint8_t coding[7] = {0x00, 0xC2, 0x01, 0x00, 0, 0, 8}; /* 115200, 8 data bits, no parity, 1 stop bit */
    return host.in && host.out && control(machine, 0x00, SET_CONFIGURATION, 1, NULL, 0) >= 0 &&
           control(machine, 0x21, SET_LINE_CODING, 0, coding, sizeof coding) >= 0;
}

static void on_attach(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq;
    (void)param;
    host.attached = value;
}

static bool join(struct machine *machine) {
    avr_irq_t *attach = avr_io_getirq(machine->avr, AVR_IOCTL_USB_GETIRQ(), USB_IRQ_ATTACH);
    if (!attach) return false;
    avr_irq_register_notify(attach, on_attach, NULL);
    banks_join(machine->avr);
    return true;
}

static bool begin(struct machine *machine) {
    host.attached = host.running = host.dtr = false;
    host.bytes = 0;
    host.resets++;
    banks_forget();
    for (int ms = 0; !host.attached && ms < 2000; ms++)
        if (!machine_run(machine, CYCLES_OF_US(1000))) return false;
    if (!host.attached) {
        fprintf(stderr, "avrsim: the firmware does not attach itself to the bus\n");
        return false;
    }
    avr_cycle_timer_register(machine->avr, CYCLES_OF_US(1000), start_of_frame, NULL);
    if (!machine_run(machine, CYCLES_OF_US(100000))) /* contacts bounce (USB 2.0, 7.1.7.3) */
        return false;
    avr_ioctl(machine->avr, AVR_IOCTL_USB_RESET, NULL);
    if (!machine_run(machine, CYCLES_OF_US(20000))) return false;
    if (!enumerate(machine)) {
        fprintf(stderr, "avrsim: the device could not be enumerated\n");
        return false;
    }
    /* What a program has written meanwhile went to a device that was gone. */
    while (host.resets > 1 && tty_take(&machine->tty, host.packet, sizeof host.packet) > 0) continue;
    host.running = true;
    avr_cycle_timer_register(machine->avr, CYCLES_OF_US(1000), schedule, machine);
    return true;
}

static bool set_dtr(struct machine *machine, bool on) {
    host.running = false;
    if (control(machine, 0x21, SET_CONTROL_LINE_STATE, on ? DTR_AND_RTS : 0, NULL, 0) < 0) {
        fprintf(stderr, "avrsim: the device does not take DTR\n");
        return false;
    }
    host.dtr = on;
    host.running = true;
    avr_cycle_timer_register(machine->avr, CYCLES_OF_US(100), schedule, machine);
    return true;
}

static bool attend(struct machine *machine) {
    tty_look(&machine->tty);
    /* What was written before the tty was closed is sent first, as a closing tty waits for it. */
    bool wants_dtr = host.open || host.bytes;
    if (wants_dtr == host.dtr) return true;
    if (!wants_dtr) tty_forget(&machine->tty);
    return set_dtr(machine, wants_dtr);
}

static void tell(const struct machine *machine) {
    (void)machine;
    fprintf(stderr, "USB: enumerated %llu times; OUT %llu bytes in %llu packets, %llu NAKs", host.resets,
            host.bytes_out, host.packets_out, host.naks_out);
    fprintf(stderr, "; IN %llu bytes in %llu packets, %llu NAKs\n", host.bytes_in, host.packets_in, host.naks_in);
}

const struct wire usb_wire = {join, begin, attend, tell};
