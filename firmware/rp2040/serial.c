/* Reads the flash chip's unique number: command 0x4B, 4 bytes nothing, 8 bytes number, as all chips on boards of this
 * family know (Winbond W25Q16JV, 8.2.22). */
#include "serial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clocks.h"
#include "registers.h"

#define READ_UNIQUE_ID 0x4B
enum { COMMAND = 5, ID = 8 };

char serial_number[17] = "0000000000000000";

/* The boot ROM's functions, found by two letters (datasheet 2.8.3). */
typedef void (*rom_function)(void);
typedef void *(*rom_lookup)(const uint16_t *table, uint32_t code);

static const uint8_t *rom(uint32_t address) {
    __asm volatile("" : "+r"(address)); /* 0 is a good address here; the compiler shall not think otherwise */
    return (const uint8_t *)address;
}

static rom_function rom_find(char first, char second) {
    const uint16_t *pointers = (const uint16_t *)rom(0x14);
    rom_lookup lookup = (rom_lookup)(uintptr_t)pointers[2];
    return (rom_function)lookup((const uint16_t *)rom(pointers[0]), (uint32_t)second << 8 | (uint8_t)first);
}

static void select_chip(bool selected) {
    uint32_t control = REGISTER(QSPI_SS_CTRL) & ~QSPI_SS_FORCE;
    REGISTER(QSPI_SS_CTRL) = control | (selected ? QSPI_SS_LOW : QSPI_SS_HIGH);
}

/* Sends a byte and gives the one that came meanwhile; what never comes is 0. */
static uint8_t exchange(uint8_t byte) {
    REGISTER(SSI_DATA) = byte;
    for (unsigned tries = 0; tries < 10000u; tries++) {
        if (REGISTER(SSI_STATUS) & SSI_CAME) {
            return (uint8_t)REGISTER(SSI_DATA);
        }
    }
    return 0;
}

void serial_read(void) {
    const uint8_t *magic = rom(0x10);
    if (magic[0] != 'M' || magic[1] != 'u' || magic[2] != 1) {
        return; /* not this family's boot ROM: a simulator without one */
    }
    unreset(RESET_IO_QSPI | RESET_PADS_QSPI);
    rom_find('I', 'F')(); /* connect_internal_flash */
    rom_find('E', 'X')(); /* flash_exit_xip: plain SPI, a byte at a time */
    select_chip(true);
    uint8_t id[ID];
    exchange(READ_UNIQUE_ID);
    for (int i = 1; i < COMMAND; i++) {
        exchange(0);
    }
    for (int i = 0; i < ID; i++) {
        id[i] = exchange(0);
    }
    select_chip(false);
    for (int i = 0; i < ID; i++) {
        static const char digits[] = "0123456789ABCDEF";
        serial_number[2 * i] = digits[id[i] >> 4];
        serial_number[2 * i + 1] = digits[id[i] & 15];
    }
}
