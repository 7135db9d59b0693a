/* What the device says that it is. */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include <stddef.h>
#include <stdint.h>

enum { INTERFACE_CDC, INTERFACE_CDC_DATA, INTERFACE_VENDOR, INTERFACES };

/* The descriptor of this type (high byte) and index; NULL: there is none. Strings are made in a buffer, valid until
 * the next call. */
const void *descriptor(uint16_t type_and_index, size_t *bytes);

/* Microsoft OS 2.0 descriptors, by a vendor request of this number and index: Windows gives the vendor interface its
 * WinUSB driver, without an .inf file. */
#define MS_OS_VENDOR_CODE 0x20u
#define MS_OS_DESCRIPTOR_INDEX 7u
const void *ms_os_descriptor(size_t *bytes);

#endif
