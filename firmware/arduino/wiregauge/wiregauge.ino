/* The wiregauge responder for any Arduino with `Serial`: a UART (Uno), or the board's own USB (Leonardo, Teensy).
 *
 * Choose what it does here, or by -DMODE=MODE_ECHO: */
#define MODE_PROTOCOL 1 /* answers wiregauge: exchange, stream, messages */
#define MODE_ECHO 2     /* sends back what comes: wiregauge exchange --protocol echo */
#define MODE_COUNT 3    /* counts what comes, without any protocol, as P. Stoffregen's benchmark does */
#ifndef MODE
#define MODE MODE_PROTOCOL
#endif

/* Of a UART; USB takes no notice. A 16 MHz AVR makes 500000 and 1000000 exactly, 115200 2 % too fast. */
#ifndef BAUD
#define BAUD 115200
#endif

#include "port.h"

#if MODE == MODE_PROTOCOL

#include <wg_responder.h>

static uint64_t ticks(void) { return micros(); }

/* Where a message is kept while it is answered. Answers that wait, and so the depth, are WG_WAITING. */
static uint8_t message[128];
static wg_device device;
static wg_responder responder;

void setup() {
    port_begin(BAUD);
    device.name = PORT_NAME;
    /* Payloads are checked as they come and made as they go, so that no buffer bounds them: only the protocol does. */
    device.max_out = device.max_in = 16777216;
    device.tick_hz = 1000000;
    device.tick_bits = 32;
    device.bus = PORT_BUS;
    device.ticks = ticks;
    device.message = message;
    device.message_room = sizeof message;
    wg_begin(&responder, &device);
}

void loop() {
    static uint8_t came[PORT_BLOCK], answer[PORT_BLOCK];
    static size_t have, used;
    static uint32_t arrived;

    if (port_changed_hands()) {
        have = used = 0;
        wg_begin(&responder, &device);
    }
    if (used == have) {
        used = 0;
        have = port_take(came, sizeof came);
        if (have) arrived = micros();
    }
    /* Fewer are used when too many answers wait: the rest stays, and so the host is held back (USB), or the
     * core's ring of 64 bytes fills (UART), which it does not while the host keeps to max_outstanding. */
    if (used < have) used += wg_take(&responder, came + used, have - used, arrived);

    size_t room = wg_owes(&responder) ? port_room() : 0;
    if (room) {
        size_t n = wg_give(&responder, answer, room);
        if (n) port_give(answer, n);
    }
}

#elif MODE == MODE_ECHO

void setup() { port_begin(BAUD); }

void loop() {
    static uint8_t block[PORT_BLOCK];
    static size_t have, sent;

    if (port_changed_hands()) have = sent = 0;
    if (sent == have) {
        sent = 0;
        have = port_take(block, sizeof block);
    }
    size_t n = have - sent, room = port_room();
    if (n > room) n = room;
    if (n) {
        port_give(block + sent, n);
        sent += n;
    }
}

#elif MODE == MODE_COUNT

/* As in the published sketches (pjrc.com/teensy/benchmark_usb_serial_receive.html): pin 2 changes after every 500
 * bytes, so that a frequency counter there shows kB/s; pin 3 is high while there is nothing to do, so that its duty
 * cycle is the processor's free time. Besides, the count is sent over the port once nothing has come for a while. */
enum { PIN_RATE = 2, PIN_IDLE = 3, BYTES_A_CHANGE = 500 };
static const uint32_t QUIET_US = 300000;

static void tell(uint32_t bytes, uint32_t us) {
    Serial.print(F("received "));
    Serial.print(bytes);
    Serial.print(F(" B in "));
    Serial.print(us);
    Serial.println(F(" us"));
    port_push();
}

void setup() {
    port_begin(BAUD);
    pinMode(PIN_RATE, OUTPUT);
    pinMode(PIN_IDLE, OUTPUT);
    digitalWrite(PIN_IDLE, HIGH);
}

void loop() {
    static uint8_t block[PORT_BLOCK];
    static uint32_t bytes, first, last;
    static uint16_t since_change;
    static bool idle = true, level;

    size_t n = port_take(block, sizeof block);
    if (port_changed_hands()) bytes = 0;
    if (n == 0) {
        if (!idle) digitalWrite(PIN_IDLE, HIGH);
        idle = true;
        if (bytes && micros() - last >= QUIET_US) {
            tell(bytes, last - first);
            bytes = 0;
        }
        return;
    }
    last = micros();
    if (idle) digitalWrite(PIN_IDLE, LOW);
    idle = false;
    if (bytes == 0) {
        first = last;
        since_change = 0;
    }
    bytes += n;
    since_change += n;
    if (since_change >= BYTES_A_CHANGE) {
        since_change -= BYTES_A_CHANGE;
        level = !level;
        digitalWrite(PIN_RATE, level);
    }
}

#else
#error "MODE is MODE_PROTOCOL, MODE_ECHO or MODE_COUNT"
#endif
