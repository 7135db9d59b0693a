/* The two lines of a UART, a byte at a time at the baud rate that the firmware has set.
 *
 * simavr 1.6 counts a parity bit that is not there, keeps bytes that a real receiver would lose, and lets a byte out
 * when it begins; so the lines are here. */
#include "machine.h"
#include <avr_uart.h>
#include <stdio.h>
#include <string.h>

/* Addresses in data memory (ATmega48A/PA/88A/PA/168A/PA/328/P datasheet DS40002061B, chapter 36). */
enum { UCSR0A = 0xC0, UCSR0B = 0xC1, UBRR0L = 0xC4, UBRR0H = 0xC5, U2X = 1 << 1, RXEN = 1 << 4 };
/* Start, 8 data, stop: what Serial.begin(baud) sets. */
enum { BITS = 10 };
/* Two in the receive buffer and one in the shift register; one more is lost (20.8.4, Data OverRun). */
enum { RECEIVER = 3 };
enum { CHUNK = 64, SENT = 64 };

DEFINE_FIFO(uint16_t, uart_fifo);

static struct {
    avr_uart_t *uart;
    avr_irq_t *input;
    bool open, was_open;
    /* Host to device. */
    uint8_t out[CHUNK];
    int out_from, out_to;
    /* Device to host: bytes that are on the line, and when each will have arrived. */
    struct {
        uint8_t byte;
        avr_cycle_count_t due;
    } sent[SENT];
    unsigned sent_from, sent_to;
    avr_cycle_count_t line_free;
    unsigned long long bytes_out, bytes_in, overruns, unread;
} line;

static avr_cycle_count_t cycles_of_byte(avr_t *avr) {
    /* A host does not notice that a board was reset, and goes on at the same rate. */
    static avr_cycle_count_t cycles = CLOCK_HZ / 115200 * BITS;
    unsigned divisor = (avr->data[UBRR0L] | (avr->data[UBRR0H] & 0x0F) << 8) + 1u;
    if (avr->data[UCSR0B] & RXEN) cycles = (avr_cycle_count_t)divisor * (avr->data[UCSR0A] & U2X ? 8 : 16) * BITS;
    line.uart->cycles_per_byte = cycles;
    return cycles;
}

static unsigned unread_bytes(void) { return uart_fifo_get_read_size(&line.uart->input); }

/* Every byte time: the next byte begins on the line to the device. */
static avr_cycle_count_t send_to_device(avr_t *avr, avr_cycle_count_t when, void *param) {
    struct machine *machine = param;
    avr_cycle_count_t byte = cycles_of_byte(avr);
    bool to_be_closed = line.was_open && !line.open; /* attend() sees to it before anything else is taken */
    if (line.out_from == line.out_to && !to_be_closed) {
        int n = tty_take(&machine->tty, line.out, sizeof line.out);
        line.open = n >= 0;
        line.out_from = 0;
        line.out_to = n > 0 ? n : 0;
    }
    if (line.out_from == line.out_to) return when + (byte > CYCLES_OF_US(25) ? byte : CYCLES_OF_US(25));
    uint8_t next = line.out[line.out_from++];
    line.bytes_out++;
    if (unread_bytes() >= RECEIVER)
        line.overruns++;
    else
        avr_raise_irq(line.input, next);
    return when + byte;
}

/* Bytes that have arrived at the host. */
static avr_cycle_count_t arrive(avr_t *avr, avr_cycle_count_t when, void *param) {
    struct machine *machine = param;
    (void)when;
    while (line.sent_from != line.sent_to) {
        unsigned i = line.sent_from % SENT;
        if (line.sent[i].due > avr->cycle) return line.sent[i].due;
        line.bytes_in++;
        /* Nobody waits for a UART: what its reader leaves no room for is lost. */
        if (line.open && tty_give(&machine->tty, &line.sent[i].byte, 1) == 0) line.unread++;
        line.sent_from++;
    }
    return 0;
}

static void on_byte(struct avr_irq_t *irq, uint32_t value, void *param) {
    struct machine *machine = param;
    avr_t *avr = machine->avr;
    (void)irq;
    avr_cycle_count_t begins = line.line_free > avr->cycle ? line.line_free : avr->cycle;
    line.line_free = begins + cycles_of_byte(avr);
    if (line.sent_to - line.sent_from == SENT) return; /* firmware that writes without looking at UDRE */
    unsigned i = line.sent_to++ % SENT;
    line.sent[i].byte = (uint8_t)value;
    line.sent[i].due = line.line_free;
    if (line.sent_to - line.sent_from == 1) avr_cycle_timer_register(avr, line.line_free - avr->cycle, arrive, machine);
}

static bool join(struct machine *machine) {
    avr_t *avr = machine->avr;
    for (avr_io_t *io = avr->io_port; io; io = io->next)
        if (io->kind && strcmp(io->kind, "uart") == 0 && ((avr_uart_t *)io)->name == '0') line.uart = (avr_uart_t *)io;
    if (!line.uart) return false;
    uint32_t no_flags = 0; /* no copy to the terminal, no naps of its own */
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &no_flags);
    line.input = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), on_byte, machine);
    return true;
}

static bool begin(struct machine *machine) {
    line.sent_from = line.sent_to = 0;
    line.line_free = 0;
    avr_cycle_timer_register(machine->avr, cycles_of_byte(machine->avr), send_to_device, machine);
    /* Until the sketch has opened its port. */
    return machine_run(machine, CYCLES_OF_US(10000));
}

static bool attend(struct machine *machine) {
    tty_look(&machine->tty);
    tty_settle(&machine->tty);
    if (line.open == line.was_open) return true;
    line.was_open = line.open;
    if (!line.open)
        tty_forget(&machine->tty);
    else if (machine->reset_on_open)
        machine->wants_reset = 1;
    return true;
}

static void tell(const struct machine *machine) {
    (void)machine;
    fprintf(stderr, "UART: %llu bytes out (%llu overran the receiver), %llu bytes in (%llu not read in time)\n",
            line.bytes_out, line.overruns, line.bytes_in, line.unread);
}

const struct wire uart_wire = {join, begin, attend, tell};
