/* How a block of bytes is taken from and given to `Serial`, as fast as each Arduino core allows, and without ever
 * waiting: a responder that waits to send cannot take what comes meanwhile. */
#ifndef PORT_H
#define PORT_H

#include <Arduino.h>

/* One full-speed packet. */
static const size_t PORT_BLOCK = 64;

#if defined(CORE_TEENSY)
#define PORT_NATIVE_USB 1
#elif defined(USBCON) && defined(__AVR__)
#define PORT_NATIVE_USB 1
#define PORT_ARDUINO_32U4 1 /* Arduino's own core: Leonardo, Micro, Pro Micro */
#else
#define PORT_NATIVE_USB 0
#endif

/* Values of WG_BUS_...: what the board itself is sure of. */
#if defined(__IMXRT1062__)
#define PORT_BUS (usb_high_speed ? 3 : 2)
extern "C" volatile uint8_t usb_high_speed; /* Teensy 4 */
#elif PORT_NATIVE_USB || defined(ARDUINO_ARCH_RP2040)
#define PORT_BUS 2
#else
#define PORT_BUS 0
#endif

#if defined(ARDUINO_AVR_UNO)
#define PORT_NAME "Arduino Uno"
#elif defined(ARDUINO_AVR_LEONARDO)
#define PORT_NAME "Arduino Leonardo"
#elif defined(ARDUINO_TEENSY2)
#define PORT_NAME "Teensy 2.0"
#elif defined(ARDUINO_TEENSY40)
#define PORT_NAME "Teensy 4.0"
#elif defined(ARDUINO_TEENSY41)
#define PORT_NAME "Teensy 4.1"
#elif defined(ARDUINO_BOARD)
#define PORT_NAME ARDUINO_BOARD /* ESP32's core names its boards */
#else
#define PORT_NAME "Arduino"
#endif

static inline void port_begin(uint32_t baud) { Serial.begin(baud); }

/* Takes what has come, at most `room`; 0 if nothing has. */
static inline size_t port_take(uint8_t *to, size_t room) {
#if defined(PORT_ARDUINO_32U4)
    /* Serial.readBytes() costs a call, two locks and a look at millis() for every byte in this core; this empties
     * a packet at once. */
    int n = USB_Recv(CDC_RX, to, (int)room);
    return n > 0 ? (size_t)n : 0;
#elif defined(__AVR__) && !defined(CORE_TEENSY)
    /* The interrupt has put single bytes into a ring, and this core has nothing better to take them out with. One
     * look at how many there are, and no look at millis() for each, as readBytes() has. */
    size_t n = (size_t)Serial.available();
    if (n > room) n = room;
    for (size_t i = 0; i < n; i++) to[i] = (uint8_t)Serial.read();
    return n;
#else
    int n = Serial.available();
    if (n <= 0) return 0;
    return Serial.readBytes((char *)to, (size_t)n < room ? (size_t)n : room);
#endif
}

/* How many bytes port_give() takes without waiting, at most PORT_BLOCK. */
static inline size_t port_room(void) {
    int room = Serial.availableForWrite();
#if defined(PORT_ARDUINO_32U4)
    /* A write that fills the packet makes this core send an empty packet behind it, wait until the host has taken
     * both, and after 250 ms give up and lose data. One byte less never waits. */
    room--;
#endif
    if (room <= 0) return 0;
    return (size_t)room < PORT_BLOCK ? (size_t)room : PORT_BLOCK;
}

/* Has what was given sent now, rather than with the next packet or start of frame. */
static inline void port_push(void) {
#if defined(CORE_TEENSY)
    Serial.send_now();
#elif defined(PORT_ARDUINO_32U4) || defined(ARDUINO_ARCH_RP2040)
    Serial.flush();
#endif
    /* Elsewhere it goes by itself, and flush() would wait until it has gone. */
}

/* Gives at most port_room() bytes. */
static inline void port_give(const uint8_t *bytes, size_t n) {
    Serial.write(bytes, n);
    port_push();
}

/* True once after another program may have opened the port (DTR was raised), where the board can tell. */
static inline bool port_changed_hands(void) {
#if PORT_NATIVE_USB
    static bool was;
    bool is = Serial.dtr();
    bool raised = is && !was;
    was = is;
    return raised;
#else
    return false;
#endif
}

#endif
