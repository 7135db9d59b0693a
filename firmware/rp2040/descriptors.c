/* Descriptors: USB 2.0, 9.5; CDC 1.2, 5.2.3; PSTN 1.2, 5.3; interface association (IAD) ECN; Microsoft OS 2.0. */
#include "descriptors.h"

#include <string.h>

#include "function.h"
#include "pipe.h"
#include "serial.h"

/* pid.codes' first test pair: for your own bench, not for anything that is handed on (https://pid.codes/1209/0001). */
#ifndef USB_VENDOR
#define USB_VENDOR 0x1209
#endif
#ifndef USB_PRODUCT
#define USB_PRODUCT 0x0001
#endif

#define U16(value) (uint8_t)((value) & 0xFF), (uint8_t)((value) >> 8 & 0xFF)
#define U32(value) U16(value), U16((uint32_t)(value) >> 16)
#define BULK_ENDPOINT(address) 7, 5, (address), 2, U16(PACKET), 0
#define IN 0x80

enum { DEVICE = 1, CONFIGURATION = 2, STRING = 3, BOS = 15 };
enum { LANGUAGE, MANUFACTURER, PRODUCT, SERIAL, STRINGS };

/* One descriptor a line, as in the tables of the standards. */
/* clang-format off */
static const uint8_t device[18] = {
    18, DEVICE, U16(0x0210), /* 2.1: has a BOS */
    0xEF, 2, 1,              /* class: see the interface associations */
    64, U16(USB_VENDOR), U16(USB_PRODUCT), U16(0x0100), MANUFACTURER, PRODUCT, SERIAL, 1,
};

static const uint8_t configuration[] = {
    9, CONFIGURATION, U16(9 + 8 + 9 + 19 + 7 + 9 + 2 * 7 + 9 + 2 * 7), INTERFACES, 1, 0, 0x80, 50, /* 100 mA */
    /* Serial port: two interfaces that belong together. */
    8, 11, INTERFACE_CDC, 2, 2, 2, 0, 0,
    9, 4, INTERFACE_CDC, 0, 1, 2, 2, 0, 0,
    5, 0x24, 0, U16(0x0110),                     /* CDC 1.1 */
    5, 0x24, 1, 0, INTERFACE_CDC_DATA,           /* no call management */
    4, 0x24, 2, 2,                               /* line coding and line state */
    5, 0x24, 6, INTERFACE_CDC, INTERFACE_CDC_DATA, /* union */
    7, 5, IN | 1, 3, U16(8), 255,
    9, 4, INTERFACE_CDC_DATA, 0, 2, 10, 0, 0, 0,
    BULK_ENDPOINT(PIPE_CDC),
    BULK_ENDPOINT(IN | PIPE_CDC),
    /* Bulk endpoints without a class. */
    9, 4, INTERFACE_VENDOR, 0, 2, 0xFF, 0, 0, 0,
    BULK_ENDPOINT(PIPE_VENDOR),
    BULK_ENDPOINT(IN | PIPE_VENDOR),
};
_Static_assert(sizeof configuration == 98, "wTotalLength");

/* As in crates/responder/src/ms_os.rs: firmware/host compares the bytes. {5D3F1F3E-6C0B-4C52-9E0A-7A3D2B8F41C6}, generated for
 * wiregauge: by it programs for Windows find the interface. */
#define W(c) (c), 0

enum {
    MS_OS_FUNCTION = 8 + 20 + 132,
    MS_OS_CONFIGURATION = 8 + MS_OS_FUNCTION,
    MS_OS_ALL = 10 + MS_OS_CONFIGURATION,
};
#define WINDOWS_8_1 0x06030000u

static const uint8_t bos[] = {
    5, BOS, U16(5 + 28), 1,
    28, 16, 5, 0, /* a platform's capability: Microsoft OS 2.0, D8DD60DF-4589-4CC7-9CD2-659D9E648A9F */
    0xDF, 0x60, 0xDD, 0xD8, 0x89, 0x45, 0xC7, 0x4C, 0x9C, 0xD2, 0x65, 0x9D, 0x9E, 0x64, 0x8A, 0x9F,
    U32(WINDOWS_8_1), U16(MS_OS_ALL), MS_OS_VENDOR_CODE, 0,
};
_Static_assert(sizeof bos == 33, "wTotalLength");

static const uint8_t ms_os[] = {
    U16(10), U16(0), U32(WINDOWS_8_1), U16(MS_OS_ALL),        /* set */
    U16(8), U16(1), 0, 0, U16(MS_OS_CONFIGURATION),           /* of the first configuration */
    U16(8), U16(2), INTERFACE_VENDOR, 0, U16(MS_OS_FUNCTION), /* of the vendor interface */
    U16(20), U16(3), 'W', 'I', 'N', 'U', 'S', 'B', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    U16(132), U16(4), U16(7), U16(42), /* registry: strings */
    W('D'), W('e'), W('v'), W('i'), W('c'), W('e'), W('I'), W('n'), W('t'), W('e'), W('r'), W('f'), W('a'), W('c'),
    W('e'), W('G'), W('U'), W('I'), W('D'), W('s'), W(0),
    U16(80),
    W('{'), W('5'), W('D'), W('3'), W('F'), W('1'), W('F'), W('3'), W('E'), W('-'), W('6'), W('C'), W('0'), W('B'),
    W('-'), W('4'), W('C'), W('5'), W('2'), W('-'), W('9'), W('E'), W('0'), W('A'), W('-'), W('7'), W('A'), W('3'),
    W('D'), W('2'), W('B'), W('8'), W('F'), W('4'), W('1'), W('C'), W('6'), W('}'), W(0), W(0),
};
_Static_assert(sizeof ms_os == MS_OS_ALL, "wTotalLength");

const void *ms_os_descriptor(size_t *bytes) {
    *bytes = sizeof ms_os;
    return ms_os;
}

/* A string descriptor of ASCII text and more of it. */
static const void *string_of(const char *text, const char *more, size_t *bytes) {
    static uint8_t made[2 + 2 * 40];
    size_t at = 2;
    for (; *text && at < sizeof made; text++) {
        made[at++] = (uint8_t)*text;
        made[at++] = 0;
    }
    for (; *more && at < sizeof made; more++) {
        made[at++] = (uint8_t)*more;
        made[at++] = 0;
    }
    made[0] = (uint8_t)at;
    made[1] = STRING;
    *bytes = at;
    return made;
}

const void *descriptor(uint16_t type_and_index, size_t *bytes) {
    static const uint8_t languages[4] = {4, STRING, U16(0x0409)};
    unsigned index = type_and_index & 0xFFu;
    switch (type_and_index >> 8) {
    case DEVICE:
        *bytes = sizeof device;
        return device;
    case CONFIGURATION:
        *bytes = sizeof configuration;
        return index == 0 ? configuration : NULL;
    case BOS:
        *bytes = sizeof bos;
        return bos;
    case STRING:
        switch (index) {
        case LANGUAGE:
            *bytes = sizeof languages;
            return languages;
        case MANUFACTURER:
            return string_of("wiregauge", "", bytes);
        case PRODUCT:
            return string_of("RP2040 ", function_name, bytes);
        case SERIAL:
            return string_of(serial_number, "", bytes);
        default:
            return NULL;
        }
    default: /* no device qualifier: full speed is all it can do (9.6.2) */
        return NULL;
    }
}
