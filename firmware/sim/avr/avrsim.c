/* avrsim: runs the firmware of an AVR board in real time, and puts its serial port on a pseudo-terminal.
 *
 *     avrsim BOARD FIRMWARE.elf [--packet N] [--reset-after S] [--reset-on-open] [--until-eof] [--verbose]
 *
 * Prints the port's address and `ready`. SIGUSR1 resets the board. The firmware is the one that is flashed: nothing
 * of it is known here but its processor. */
#include "machine.h"
#include "pace.h"
#include <avr_ioport.h>
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sim_elf.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static const struct board boards[] = {
    {"uno", "atmega328p", &uart_wire, 2, 3},
    {"leonardo", "atmega32u4", &usb_wire, 1, 0},
};

enum { SLICE_US = 50 };

static volatile sig_atomic_t wants_end, wants_reset;
static struct pace pace;
static bool until_eof;

/* What an instrument at the pins would show. */
static struct {
    unsigned long changes_of_2;
    bool level_of_2, level_of_3;
    avr_cycle_count_t fell, low; /* pin 3: when, and for how long in all, since it was first high */
} pins;

static void on_signal(int number) {
    if (number == SIGUSR1)
        wants_reset = 1;
    else
        wants_end = 1;
}

static bool input_has_ended(void) {
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    char byte;
    return poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

/* simavr sleeps here by itself when the firmware does; the pace is kept elsewhere. */
static void on_sleep(avr_t *avr, avr_cycle_count_t cycles) {
    (void)avr;
    (void)cycles;
}

bool machine_run(struct machine *machine, avr_cycle_count_t cycles) {
    static avr_cycle_count_t slice_ends, look_at_input;
    avr_t *avr = machine->avr;
    avr_cycle_count_t end = avr->cycle + cycles;
    /* simavr returns after every instruction unless it knows how long it may go on; a reset makes it forget. */
    avr->run_cycle_limit = CYCLES_OF_US(SLICE_US);
    while (avr->cycle < end) {
        int state = avr_run(avr);
        if (state == cpu_Done || state == cpu_Crashed) {
            fprintf(stderr, "avrsim: the processor stopped at 0x%04x\n", (unsigned)avr->pc);
            return false;
        }
        if (avr->cycle < slice_ends) continue;
        slice_ends = avr->cycle + CYCLES_OF_US(SLICE_US);
        pace_wait(&pace, avr->cycle);
        if (until_eof && avr->cycle >= look_at_input) {
            look_at_input = avr->cycle + CYCLES_OF_US(20000);
            wants_end |= input_has_ended();
        }
        if (wants_end) return false;
    }
    return true;
}

static void on_pin_2(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq;
    (void)param;
    pins.changes_of_2 += !!value != pins.level_of_2;
    pins.level_of_2 = value;
}

static void on_pin_3(struct avr_irq_t *irq, uint32_t value, void *param) {
    const struct machine *machine = param;
    (void)irq;
    if (pins.level_of_3 && !value)
        pins.fell = machine->avr->cycle;
    else if (!pins.level_of_3 && value && pins.fell)
        pins.low += machine->avr->cycle - pins.fell;
    pins.level_of_3 = value;
}

static bool make(struct machine *machine, const char *path) {
    elf_firmware_t firmware;
    memset(&firmware, 0, sizeof firmware);
    if (elf_read_firmware(path, &firmware) != 0) {
        fprintf(stderr, "avrsim: %s cannot be read as firmware\n", path);
        return false;
    }
    machine->avr = avr_make_mcu_by_name(machine->board->mcu);
    if (!machine->avr) {
        fprintf(stderr, "avrsim: this simavr has no %s\n", machine->board->mcu);
        return false;
    }
    avr_init(machine->avr);
    firmware.frequency = CLOCK_HZ;
    snprintf(firmware.mmcu, sizeof firmware.mmcu, "%s", machine->board->mcu);
    avr_load_firmware(machine->avr, &firmware);
    machine->avr->log = LOG_ERROR;
    machine->avr->sleep = on_sleep;
    uint32_t port = AVR_IOCTL_IOPORT_GETIRQ('D');
    avr_irq_register_notify(avr_io_getirq(machine->avr, port, machine->board->pin_2), on_pin_2, machine);
    avr_irq_register_notify(avr_io_getirq(machine->avr, port, machine->board->pin_3), on_pin_3, machine);
    if (!machine->board->wire->join(machine)) {
        fprintf(stderr, "avrsim: this simavr's %s has no serial port\n", machine->board->mcu);
        return false;
    }
    return true;
}

static void tell(const struct machine *machine, int64_t began_ns) {
    struct timespec cpu;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    double simulated = (double)machine->avr->cycle / CLOCK_HZ, busy = (double)cpu.tv_sec + 1e-9 * (double)cpu.tv_nsec;
    fprintf(stderr, "%s: %.2f s simulated in %.2f s (%.2f s behind), with %.2f s of processor time\n",
            machine->board->name, simulated, 1e-9 * (double)(wall_ns() - began_ns), 1e-9 * (double)pace.behind_ns,
            busy);
    machine->board->wire->tell(machine);
    fprintf(stderr, "pins: 2 changed %lu times, 3 was low for %llu cycles\n", pins.changes_of_2,
            (unsigned long long)pins.low);
}

static int usage(void) {
    fprintf(stderr, "usage: avrsim uno|leonardo FIRMWARE.elf [--packet N] [--reset-after S] [--reset-on-open] "
                    "[--until-eof] [--verbose]\n");
    return 2;
}

int main(int argc, char **argv) {
    static const struct option known[] = {
        {"packet", required_argument, NULL, 'p'},  {"reset-after", required_argument, NULL, 'r'},
        {"reset-on-open", no_argument, NULL, 'o'}, {"until-eof", no_argument, NULL, 'e'},
        {"verbose", no_argument, NULL, 'v'},       {NULL, 0, NULL, 0},
    };
    struct machine machine = {.packet = 64};
    double reset_after = 0;
    bool verbose = false;
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (option == 'p')
            machine.packet = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'r')
            reset_after = strtod(optarg, NULL);
        else if (option == 'o')
            machine.reset_on_open = true;
        else if (option == 'e')
            until_eof = true;
        else if (option == 'v')
            verbose = true;
        else
            return usage();
    }
    if (argc - optind != 2 || machine.packet < 1 || machine.packet > 64) return usage();
    for (size_t i = 0; i < sizeof boards / sizeof *boards; i++)
        if (strcmp(boards[i].name, argv[optind]) == 0) machine.board = &boards[i];
    if (!machine.board) return usage();

    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    prctl(PR_SET_TIMERSLACK, 1000UL); /* sleeps of 50 us would end up to 50 us late */

    /* simavr prints to stdout as it likes, where addresses belong. */
    FILE *addresses = fdopen(dup(STDOUT_FILENO), "w");
    if (!addresses || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || !tty_make(&machine.tty)) {
        fprintf(stderr, "avrsim: no pseudo-terminal: %s\n", strerror(errno));
        return 1;
    }
    if (!make(&machine, argv[optind + 1])) return 1;
    int64_t began = wall_ns();
    pace_begin(&pace, machine.avr->cycle);
    const struct wire *wire = machine.board->wire;
    if (!wire->begin(&machine)) return wants_end ? 0 : 1;
    fprintf(addresses, "serial://%s\nready\n", machine.tty.name);
    fflush(addresses);

    bool well = true;
    while (well) {
        well = machine_run(&machine, CYCLES_OF_US(SLICE_US)) && wire->attend(&machine);
        if (reset_after > 0 && (double)(wall_ns() - began) > reset_after * 1e9) {
            reset_after = 0;
            wants_reset = 1;
        }
        if (well && (wants_reset || machine.wants_reset)) {
            wants_reset = machine.wants_reset = 0;
            avr_reset(machine.avr);
            well = wire->begin(&machine);
        }
    }
    if (verbose) tell(&machine, began);
    return wants_end ? 0 : 1;
}
