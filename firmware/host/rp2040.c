/* The descriptors of the RP2040 (firmware/rp2040) for a test, with what they take from the rest of its firmware. */
#include "descriptors.h"
#include "function.h"
#include "serial.h"

const char function_name[] = "responder";
char serial_number[17] = "0123456789ABCDEF";

uint8_t rp2040_vendor_interface(void) { return INTERFACE_VENDOR; }
