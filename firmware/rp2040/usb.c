/* The USB controller and endpoint 0 (USB 2.0, chapter 9). Everything happens in the interrupt, so that nothing needs a
 * lock and no packet waits for a main loop. */
#include "usb.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "clocks.h"
#include "descriptors.h"
#include "pipe.h"
#include "registers.h"

#define EP0_PACKET 64u
#define NOTIFICATION_ENDPOINT 1u
#define NOTIFICATION_BUFFER 0x380u /* behind those of pipe.c */
#define INTERRUPT 3u

/* Requests: USB 2.0 table 9-4, PSTN 1.2 table 13. */
enum {
    GET_STATUS = 0,
    CLEAR_FEATURE = 1,
    SET_FEATURE = 3,
    SET_ADDRESS = 5,
    GET_DESCRIPTOR = 6,
    GET_CONFIGURATION = 8,
    SET_CONFIGURATION = 9,
    GET_INTERFACE = 10,
    SET_INTERFACE = 11,
    SET_LINE_CODING = 0x20,
    GET_LINE_CODING = 0x21,
    SET_CONTROL_LINE_STATE = 0x22,
    SEND_BREAK = 0x23,
};
enum { TO_HOST = 0x80, TYPE = 0x60, STANDARD = 0x00, CLASS = 0x20, VENDOR = 0x40, RECIPIENT = 0x1F };
enum { OF_DEVICE = 0, OF_INTERFACE = 1, OF_ENDPOINT = 2 };
#define DATA_TERMINAL_READY 1u

typedef struct {
    uint8_t type, request;
    uint16_t value, index, length;
} setup_packet;

static struct {
    const uint8_t *in; /* of the data stage, what remains to be sent */
    size_t in_bytes;
    bool in_more;        /* a packet must follow, if only one of no bytes */
    bool takes;          /* a data stage OUT is under way: a line coding */
    bool data1;          /* toggle of the next IN packet */
    uint8_t new_address; /* taken when the status stage is over (9.4.6); 0: none */
    uint8_t configuration;
    bool terminal_ready;
} state;

/* 115200 8N1. It is kept for the host, which may ask; there is no UART behind it. */
static uint8_t line_coding[7] = {0x00, 0xC2, 0x01, 0x00, 0, 0, 8};
static uint8_t answer[2]; /* of the small requests */

/* As in pipe.c: AVAILABLE follows the rest. */
static void arm(bool out, uint32_t control) {
    REGISTER(BUFFER_CONTROL(0, out)) = control;
    __asm volatile("nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop" ::: "memory");
    REGISTER(BUFFER_CONTROL(0, out)) = control | BUFFER_AVAILABLE;
}

static void send_packet(void) {
    volatile uint8_t *to = (volatile uint8_t *)(USB_MEMORY + EP0_BUFFER);
    size_t bytes = state.in_bytes < EP0_PACKET ? state.in_bytes : EP0_PACKET;
    for (size_t i = 0; i < bytes; i++) {
        to[i] = state.in[i];
    }
    state.in += bytes;
    state.in_bytes -= bytes;
    state.in_more = state.in_more && bytes == EP0_PACKET;
    arm(false, BUFFER_FULL | (state.data1 ? BUFFER_DATA1 : 0u) | bytes);
    state.data1 = !state.data1;
}

/* Data stage IN, and at once the buffer for the status stage: a host may break off early (8.5.3.2). */
static void reply(const void *data, size_t bytes, size_t asked) {
    state.in = data;
    state.in_more = bytes < asked; /* a short answer ends with a packet that is not full (5.5.3) */
    state.in_bytes = bytes < asked ? bytes : asked;
    arm(true, BUFFER_DATA1);
    send_packet();
}

static void acknowledge(void) {
    state.in_bytes = 0;
    state.in_more = false;
    send_packet();
}

/* Until the next SETUP, which the controller always takes. */
static void refuse(void) {
    REGISTER(USB_EP_STALL_ARM) = 3;
    REGISTER(BUFFER_CONTROL(0, false)) = BUFFER_STALL;
    REGISTER(BUFFER_CONTROL(0, true)) = BUFFER_STALL;
}

static void configure(uint8_t configuration) {
    state.configuration = configuration;
    if (configuration == 0) {
        pipes_end();
        REGISTER(EP_CONTROL(NOTIFICATION_ENDPOINT, false)) = 0;
        return;
    }
    /* Its endpoint is there because CDC wants it; nothing is ever notified. */
    REGISTER(EP_CONTROL(NOTIFICATION_ENDPOINT, false)) = EP_ENABLE | EP_TYPE(INTERRUPT) | NOTIFICATION_BUFFER;
    REGISTER(BUFFER_CONTROL(NOTIFICATION_ENDPOINT, false)) = 0;
    pipes_begin();
}

static bool get_descriptor(const setup_packet *setup) {
    size_t bytes;
    const void *found = descriptor(setup->value, &bytes);
    if (found) {
        reply(found, bytes, setup->length);
    }
    return found;
}

/* GET_STATUS, CLEAR_FEATURE and SET_FEATURE of an endpoint. */
static bool endpoint_request(const setup_packet *setup) {
    unsigned endpoint = setup->index & 0x0Fu;
    bool out = !(setup->index & 0x80u);
    bool pipe = state.configuration != 0 && pipe_exists(endpoint);
    bool known = pipe || endpoint == 0 || (endpoint == NOTIFICATION_ENDPOINT && !out && state.configuration != 0);
    if (!known) {
        return false;
    }
    if (setup->request == GET_STATUS) {
        answer[0] = pipe && pipe_halted(endpoint, out);
        answer[1] = 0;
        reply(answer, 2, setup->length);
        return true;
    }
    if (setup->value != 0) { /* the only feature of an endpoint is its halt */
        return false;
    }
    if (pipe && setup->request == SET_FEATURE) {
        pipe_halt(endpoint, out);
    } else if (pipe) {
        pipe_unhalt(endpoint, out);
        pipes_serve(3u << 2u * endpoint);
    }
    acknowledge();
    return true;
}

static bool interface_request(const setup_packet *setup) {
    bool known = state.configuration != 0 && setup->index < INTERFACES;
    if (known && setup->request == SET_INTERFACE && setup->value == 0) {
        /* Also of a setting that is selected already: toggles begin anew (9.1.1.5). */
        if (setup->index != INTERFACE_CDC) {
            pipe_begin(setup->index == INTERFACE_VENDOR ? PIPE_VENDOR : PIPE_CDC);
        }
        acknowledge();
        return true;
    }
    if (known && (setup->request == GET_INTERFACE || setup->request == GET_STATUS)) {
        answer[0] = answer[1] = 0;
        reply(answer, setup->request == GET_STATUS ? 2 : 1, setup->length);
        return true;
    }
    return false;
}

static bool device_request(const setup_packet *setup) {
    switch (setup->request) {
    case GET_STATUS:
        answer[0] = answer[1] = 0; /* powered by the bus, wakes nobody */
        reply(answer, 2, setup->length);
        return true;
    case SET_ADDRESS:
        state.new_address = setup->value & 0x7Fu;
        acknowledge();
        return true;
    case GET_DESCRIPTOR:
        return get_descriptor(setup);
    case GET_CONFIGURATION:
        reply(&state.configuration, 1, setup->length);
        return true;
    case SET_CONFIGURATION:
        if (setup->value > 1) {
            return false;
        }
        configure((uint8_t)setup->value);
        acknowledge();
        return true;
    default:
        return false;
    }
}

static bool cdc_request(const setup_packet *setup) {
    switch (setup->request) {
    case SET_LINE_CODING:
        if (setup->length != sizeof line_coding) {
            return false;
        }
        state.takes = true;
        arm(true, BUFFER_DATA1 | EP0_PACKET);
        return true;
    case GET_LINE_CODING:
        reply(line_coding, sizeof line_coding, setup->length);
        return true;
    case SET_CONTROL_LINE_STATE: {
        bool ready = setup->value & DATA_TERMINAL_READY;
        /* A program that closes the port drops DTR: what was meant for it must not reach the next one. */
        if (state.terminal_ready && !ready && state.configuration != 0) {
            pipe_drop(PIPE_CDC);
        }
        state.terminal_ready = ready;
        acknowledge();
        return true;
    }
    case SEND_BREAK:
        acknowledge();
        return true;
    default:
        return false;
    }
}

static bool vendor_request(const setup_packet *setup) {
    if (setup->request == MS_OS_VENDOR_CODE && setup->index == MS_OS_DESCRIPTOR_INDEX && setup->type & TO_HOST) {
        size_t bytes;
        const void *found = ms_os_descriptor(&bytes);
        reply(found, bytes, setup->length);
        return true;
    }
    return false;
}

static void take_setup(void) {
    setup_packet setup;
    volatile uint32_t *words = (volatile uint32_t *)USB_MEMORY;
    uint32_t packet[2] = {words[0], words[1]};
    memcpy(&setup, packet, sizeof setup); /* both are little-endian */
    /* What was under way is over (5.5.5). The packet behind SETUP is DATA1 (8.5.3). */
    REGISTER(BUFFER_CONTROL(0, false)) = 0;
    REGISTER(BUFFER_CONTROL(0, true)) = 0;
    state.takes = false;
    state.in_bytes = 0;
    state.in_more = false;
    state.new_address = 0;
    state.data1 = true;

    bool done = false;
    unsigned recipient = setup.type & RECIPIENT;
    switch (setup.type & TYPE) {
    case STANDARD:
        done = recipient == OF_DEVICE      ? device_request(&setup)
               : recipient == OF_INTERFACE ? interface_request(&setup)
               : recipient == OF_ENDPOINT  ? endpoint_request(&setup)
                                           : false;
        break;
    case CLASS:
        done = recipient == OF_INTERFACE && setup.index == INTERFACE_CDC && cdc_request(&setup);
        break;
    case VENDOR:
        done = vendor_request(&setup);
        break;
    default:
        break;
    }
    if (!done) {
        refuse();
    }
}

static void serve_endpoint_0(bool in, bool out) {
    if (in) {
        if (state.new_address) {
            REGISTER(USB_ADDRESS) = state.new_address;
            state.new_address = 0;
        } else if (state.in_bytes || state.in_more) {
            send_packet();
        }
    }
    if (out && state.takes) {
        const volatile uint8_t *from = (const volatile uint8_t *)(USB_MEMORY + EP0_BUFFER);
        for (size_t i = 0; i < sizeof line_coding; i++) {
            line_coding[i] = from[i];
        }
        state.takes = false;
        acknowledge();
    }
}

static void reset(void) {
    REGISTER(USB_ADDRESS) = 0;
    REGISTER(BUFFER_CONTROL(0, false)) = 0;
    REGISTER(BUFFER_CONTROL(0, true)) = 0;
    memset(&state, 0, sizeof state);
    configure(0);
}

void usb_interrupt(void) {
    bool more;
    do {
        uint32_t why = REGISTER(USB_INTS);
        uint32_t buffers = 0;
        if (why & USB_INT_BUFFERS) {
            buffers = REGISTER(USB_BUFF_STATUS);
            /* Before the buffers are looked at: one that is done meanwhile sets it again (4.1.4). */
            REGISTER(USB_BUFF_STATUS) = buffers;
            serve_endpoint_0(buffers & 1u, buffers & 2u);
        }
        more = pipes_serve(buffers);
        /* After the buffers: what is over was over before a SETUP came. */
        if (why & USB_INT_SETUP) {
            REGISTER(USB_SIE_STATUS) = USB_STATUS_SETUP;
            take_setup();
        }
        if (why & USB_INT_BUS_RESET) {
            REGISTER(USB_SIE_STATUS) = USB_STATUS_BUS_RESET;
            reset();
            more = false;
        }
    } while (more);
}

void usb_begin(void) {
    SET_BITS(RESETS_RESET) = RESET_USBCTRL; /* the boot ROM may have used it */
    unreset(RESET_USBCTRL);
    for (uint32_t at = 0; at < 0x400u; at += 4u) {
        REGISTER(USB_MEMORY + at) = 0;
    }
    REGISTER(USB_MUXING) = USB_MUXING_TO_PHY | USB_MUXING_SOFTCON;
    /* The device lives on the bus's power, so it is there. */
    REGISTER(USB_POWER) = USB_POWER_VBUS_SEEN | USB_POWER_OVERRIDE;
    REGISTER(USB_MAIN_CTRL) = USB_MAIN_ENABLE;
    REGISTER(USB_SIE_CTRL) = USB_SIE_EP0_INTERRUPTS;
    REGISTER(USB_INTE) = USB_INT_BUFFERS | USB_INT_BUS_RESET | USB_INT_SETUP;
    REGISTER(NVIC_ENABLE) = 1u << USB_IRQ;
    SET_BITS(USB_SIE_CTRL) = USB_SIE_PULLUP;
}
