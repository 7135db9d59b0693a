/* What simavr 1.6 leaves out of the ATmega32U4's USB, put between it and the processor (datasheet 7766J, chapters 21
 * and 22):
 *
 * - an endpoint with two banks: the processor fills or empties one while the bus has the other (22.2.1);
 * - RWAL, which must read 0 once a bank was handed to the bus (22.18.2): simavr lets the processor write on;
 * - the start of frame, on which Arduino's core sends what was written (21.13.1, SOFI). */
#include "banks.h"
#include <avr_usb.h>
#include <sim_interrupts.h>
#include <string.h>

/* Addresses in data memory (datasheet, chapter 31). */
enum { UDINT = 0xE1, UDIEN = 0xE2, UEINTX = 0xE8, UENUM = 0xE9, UECFG0X = 0xEC, UECFG1X = 0xED };
enum { SOFI = 1 << 2, FIFOCON = 1 << 7, RWAL = 1 << 5, EPDIR = 1 << 0, EPBK0 = 1 << 2 };
enum { USB_GENERAL_VECTOR = 10, ENDPOINTS = 5, PACKET = 64 };

static struct endpoint {
    bool in, twice;
    bool handed_over;  /* simavr's bank belongs to the bus (IN) or to the processor (OUT) */
    bool other_filled; /* the second bank holds a packet: for the bus (IN) or for the processor (OUT) */
    uint8_t other[PACKET], other_bytes;
} endpoints[ENDPOINTS];

/* What simavr had in their place. */
static struct {
    avr_io_read_t read;
    avr_io_write_t write;
    void *read_param, *write_param;
} under[256];

static struct endpoint *chosen(avr_t *avr) { return &endpoints[avr->data[UENUM] % ENDPOINTS]; }

static uint8_t number(const struct endpoint *endpoint) { return (uint8_t)(endpoint - endpoints); }

/* IN: while the second bank is empty, the bank that the processor has handed over goes there, and the processor
 * finds an empty one. */
static void swap_in(avr_t *avr, struct endpoint *endpoint) {
    if (!endpoint->handed_over || !endpoint->twice || endpoint->other_filled) return;
    struct avr_io_usb bank = {number(endpoint), 0, endpoint->other};
    if (avr_ioctl(avr, AVR_IOCTL_USB_READ, &bank) < 0) return;
    endpoint->other_bytes = (uint8_t)bank.sz;
    endpoint->other_filled = true;
    endpoint->handed_over = false;
}

/* OUT: gives the processor a packet in the bank that it has emptied. */
static bool fill_out(avr_t *avr, struct endpoint *endpoint, const uint8_t *packet, uint8_t bytes) {
    uint8_t copy[PACKET];
    memcpy(copy, packet, bytes);
    struct avr_io_usb bank = {number(endpoint), bytes, copy};
    if (avr_ioctl(avr, AVR_IOCTL_USB_WRITE, &bank) < 0) return false;
    endpoint->handed_over = true;
    return true;
}

static void write_ueintx(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param) {
    (void)param;
    struct endpoint *endpoint = chosen(avr);
    under[UEINTX].write(avr, address, value, under[UEINTX].write_param);
    if (number(endpoint) == 0 || (value & FIFOCON)) return;
    if (endpoint->in) {
        endpoint->handed_over = true;
        swap_in(avr, endpoint);
    } else {
        endpoint->handed_over = false;
        if (endpoint->other_filled) {
            endpoint->other_filled = false;
            fill_out(avr, endpoint, endpoint->other, endpoint->other_bytes);
        }
    }
}

static uint8_t read_ueintx(avr_t *avr, avr_io_addr_t address, void *param) {
    (void)param;
    const struct endpoint *endpoint = chosen(avr);
    uint8_t value = under[UEINTX].read(avr, address, under[UEINTX].read_param);
    return endpoint->in && endpoint->handed_over ? value & (uint8_t)~RWAL : value;
}

static void write_config(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param) {
    (void)param;
    struct endpoint *endpoint = chosen(avr);
    if (address == UECFG0X) {
        endpoint->in = value & EPDIR;
    } else {
        endpoint->twice = value & EPBK0;
        endpoint->handed_over = endpoint->other_filled = false;
    }
    under[address].write(avr, address, value, under[address].write_param);
}

static void put_between(avr_t *avr, uint8_t address, avr_io_read_t read, avr_io_write_t write) {
    /* Not avr_register_io_read: simavr refuses a second reader. */
    int io = AVR_DATA_TO_IO(address);
    under[address].read = avr->io[io].r.c;
    under[address].read_param = avr->io[io].r.param;
    under[address].write = avr->io[io].w.c;
    under[address].write_param = avr->io[io].w.param;
    if (read) avr->io[io].r.c = read;
    if (write) avr->io[io].w.c = write;
}

void banks_join(avr_t *avr) {
    put_between(avr, UEINTX, read_ueintx, write_ueintx);
    put_between(avr, UECFG0X, NULL, write_config);
    put_between(avr, UECFG1X, NULL, write_config);
}

void banks_forget(void) { memset(endpoints, 0, sizeof endpoints); }

bool banks_out(avr_t *avr, uint8_t number, const uint8_t *packet, uint8_t bytes) {
    struct endpoint *endpoint = &endpoints[number];
    if (!endpoint->handed_over) return fill_out(avr, endpoint, packet, bytes);
    if (!endpoint->twice || endpoint->other_filled) return false;
    memcpy(endpoint->other, packet, bytes);
    endpoint->other_bytes = bytes;
    endpoint->other_filled = true;
    return true;
}

int banks_in(avr_t *avr, uint8_t number, uint8_t *packet) {
    struct endpoint *endpoint = &endpoints[number];
    if (endpoint->other_filled) {
        memcpy(packet, endpoint->other, endpoint->other_bytes);
        int bytes = endpoint->other_bytes;
        endpoint->other_filled = false;
        swap_in(avr, endpoint);
        return bytes;
    }
    if (!endpoint->handed_over) return -1;
    struct avr_io_usb bank = {number, 0, packet};
    if (avr_ioctl(avr, AVR_IOCTL_USB_READ, &bank) < 0) return -1;
    endpoint->handed_over = false;
    return (int)bank.sz;
}

void banks_start_of_frame(avr_t *avr) {
    avr->data[UDINT] |= SOFI;
    if (!(avr->data[UDIEN] & SOFI)) return;
    for (int i = 0; i < avr->interrupts.vector_count; i++)
        if (avr->interrupts.vector[i]->vector == USB_GENERAL_VECTOR)
            avr_raise_interrupt(avr, avr->interrupts.vector[i]);
}
