/* The serial number in the USB strings: that of the flash chip, which differs from board to board. */
#ifndef SERIAL_H
#define SERIAL_H

/* 16 hexadecimal digits. Zeros where the chip cannot be asked. */
extern char serial_number[17];

/* Asks the chip; the flash cannot be read as memory afterwards. Nothing here does so: all runs from RAM. */
void serial_read(void);

#endif
