// The RP2040's USB controller in device mode, packet by packet (datasheet 4.1.2.5 to 4.1.4). rp2040js's own takes a
// buffer away the moment that it is armed: no token, no NAK, no second buffer. What this firmware is about could not be
// seen there, so this one takes its place.
//
// It is strict. What the datasheet forbids (touching a buffer that is the controller's; AVAILABLE written together with
// the rest, 4.1.2.5.1; a 32-bit write where one half is the controller's) works here, but is listed in `violations`.

const USB_IRQ = 5;
const MEMORY_BUFFER_CONTROL = 0x80;
const EP0_BUFFER = 0x100;

const R = {
    ADDRESS: 0x00, MAIN_CTRL: 0x40, SOF_RD: 0x48, SIE_CTRL: 0x4c, SIE_STATUS: 0x50, BUFF_STATUS: 0x58,
    BUFF_CPU_SHOULD_HANDLE: 0x5c, ABORT: 0x60, ABORT_DONE: 0x64, EP_STALL_ARM: 0x68, MUXING: 0x74, POWER: 0x78,
    INTR: 0x8c, INTE: 0x90, INTF: 0x94, INTS: 0x98,
};
const STATUS_BUS_RESET = 1 << 19, STATUS_SETUP = 1 << 17, STATUS_SEQUENCE = 1 << 31;
const INT_BUFFERS = 1 << 4, INT_BUS_RESET = 1 << 12, INT_SETUP = 1 << 16;
const PULLUP = 1 << 16, EP0_INTERRUPTS = 1 << 29;
const EP_ENABLE = 1 << 31, EP_DOUBLE = 1 << 30, EP_INTERRUPT_EACH = 1 << 29;
const FULL = 0x8000, DATA1 = 0x2000, SELECT_FIRST = 0x1000, STALL = 0x0800, AVAILABLE = 0x0400, BYTES = 0x03ff;
// Time that AVAILABLE must come behind the rest: one cycle of the USB clock at least.
const APART_NANOS = 1e9 / 48e6;

export class Controller {
    violations = [];
    // Called when the device shows itself by its pull-up.
    onPullup = () => {};
    // Called when it has given a buffer to the controller.
    onArmed = () => {};
    #busy = 0;

    constructor(mcu) {
        this.mcu = mcu;
        this.registers = new Map(Object.values(R).map((offset) => [offset, 0]));
        this.control = new Uint32Array(32); // buffer control as last written by either side: endpoint * 2 + out
        this.written = new Float64Array(64); // when each half was written: (endpoint * 2 + out) * 2 + buffer
        this.turn = new Uint8Array(32); // the buffer that is used next
        this.done = Array.from({ length: 32 }, () => []); // buffers that are done and were not reported yet
        this.narrow = false;
        // 16-bit writes reach only their half; the emulator makes 32-bit ones of them.
        const write16 = mcu.writeUint16.bind(mcu);
        mcu.writeUint16 = (address, value) => {
            this.narrow = true;
            write16(address, value);
            this.narrow = false;
        };
        mcu.usbCtrl = this;
        mcu.peripherals[0x50110] = this;
    }

    // ---- the processor's side ----

    readUint32(offset) {
        switch (offset) {
            case R.INTR:
                return this.#raw();
            case R.INTS:
                return ((this.#raw() & this.#get(R.INTE)) | this.#get(R.INTF)) >>> 0;
            case R.BUFF_CPU_SHOULD_HANDLE:
                return this.done.reduce((bits, list, slot) => (list[0] ? bits | (1 << slot) : bits), 0) >>> 0;
            default:
                return this.#get(offset) >>> 0;
        }
    }

    writeUint32(offset, value) {
        this.writeUint32Atomic(offset, value, 0);
    }

    // kind: 0 as it is, 1 XOR, 2 set, 3 clear (2.1.2)
    writeUint32Atomic(offset, value, kind) {
        if (offset === R.SIE_STATUS || offset === R.ABORT_DONE) {
            this.registers.set(offset, this.#get(offset) & ~value);
        } else if (offset === R.BUFF_STATUS) {
            this.#clearBuffers(value);
        } else if (this.registers.has(offset)) {
            const before = this.#get(offset);
            const after = [value, before ^ value, before | value, before & ~value][kind];
            this.registers.set(offset, after);
            if (offset === R.ABORT) {
                this.#aborted();
            }
            if (offset === R.SIE_CTRL && after & ~before & PULLUP) {
                this.onPullup();
            }
        } else {
            this.#violation(`write to the unknown register 0x${offset.toString(16)}`);
        }
        this.#interrupt();
    }

    // The emulator calls it behind each write to the shared memory.
    DPRAMUpdated(offset, value) {
        if (offset < MEMORY_BUFFER_CONTROL || offset >= EP0_BUFFER) {
            return;
        }
        const slot = (offset - MEMORY_BUFFER_CONTROL) >> 2;
        const before = this.control[slot];
        const theirs = slot >= 2 && !(this.#get(R.ABORT) & (1 << slot));
        let armed = false;
        for (let buffer = 0; buffer < 2; buffer++) {
            const [was, is] = [(before >>> (16 * buffer)) & 0xffff, (value >>> (16 * buffer)) & 0xffff];
            if (theirs && was & AVAILABLE && (was !== is || !this.narrow)) {
                this.#violation(`${name(slot)} buffer ${buffer} written while it is the controller's`);
            }
            if (was === is) {
                continue;
            }
            const place = slot * 2 + buffer;
            const now = this.mcu.clock.nanos;
            if (is & AVAILABLE && !(was & AVAILABLE) && ((was ^ is) !== AVAILABLE || now - this.written[place] < APART_NANOS)) {
                this.#violation(`${name(slot)} buffer ${buffer}: AVAILABLE came with the rest`);
            }
            this.written[place] = now;
            armed ||= Boolean(is & ~was & AVAILABLE);
        }
        if (value & SELECT_FIRST) {
            this.turn[slot] = 0;
        }
        this.control[slot] = value;
        if (armed) {
            this.onArmed();
        }
    }

    // ---- the bus's side ----

    get pulledUp() {
        return Boolean(this.#get(R.SIE_CTRL) & PULLUP) && Boolean(this.#get(R.MAIN_CTRL) & 1);
    }

    busReset() {
        this.registers.set(R.SIE_STATUS, this.#get(R.SIE_STATUS) | STATUS_BUS_RESET);
        this.#interrupt();
    }

    // The endpoint whose buffer is on the wire now, as a bit. It cannot be aborted until that is over.
    set busy(bit) {
        this.#busy = bit;
        this.#aborted();
    }

    startOfFrame(number) {
        this.registers.set(R.SOF_RD, number & 0x7ff);
    }

    hears(address) {
        return this.pulledUp && (this.#get(R.ADDRESS) & 0x7f) === address;
    }

    // A SETUP packet: always taken; a stall of endpoint 0 is over (4.1.2.6.1).
    setup(bytes) {
        this.mcu.usbDPRAM.set(bytes, 0);
        this.registers.set(R.EP_STALL_ARM, 0);
        this.registers.set(R.SIE_STATUS, this.#get(R.SIE_STATUS) | STATUS_SETUP);
        this.#interrupt();
    }

    // What the device answers to a token: 'none', 'nak', 'stall', or a buffer that it is ready to send or to fill.
    token(endpoint, out) {
        const slot = endpoint * 2 + (out ? 1 : 0);
        const settings = this.#endpointControl(endpoint, out);
        if (!(settings & EP_ENABLE)) {
            return 'none';
        }
        const buffer = settings & EP_DOUBLE ? this.turn[slot] : 0;
        const half = (this.control[slot] >>> (16 * buffer)) & 0xffff;
        if (this.control[slot] & STALL && (endpoint > 0 || this.#get(R.EP_STALL_ARM) & (1 << slot))) {
            return 'stall';
        }
        if (this.#get(R.ABORT) & (1 << slot) || !(half & AVAILABLE) || Boolean(half & FULL) === out) {
            return 'nak';
        }
        const place = endpoint === 0 ? EP0_BUFFER : (settings & 0xffc0) + 64 * buffer;
        return { slot, buffer, place, settings, room: half & BYTES, data1: Boolean(half & DATA1) };
    }

    // IN: the bytes of a buffer that token() named.
    read(ready) {
        return Buffer.from(this.mcu.usbDPRAM.subarray(ready.place, ready.place + ready.room));
    }

    // The transaction is over: the host has acknowledged (IN), or its bytes have come (OUT).
    finish(ready, out, bytes) {
        if (out) {
            this.mcu.usbDPRAM.set(bytes.subarray(0, ready.room), ready.place);
        }
        const shift = 16 * ready.buffer;
        let half = (this.control[ready.slot] >>> shift) & 0xffff;
        half &= ~(AVAILABLE | (out ? BYTES : FULL) | (ready.buffer === 0 ? SELECT_FIRST : 0));
        if (out) {
            half |= FULL | Math.min(bytes.length, ready.room);
        }
        this.control[ready.slot] = (this.control[ready.slot] & ~(0xffff << shift)) | (half << shift);
        this.mcu.usbDPRAMView.setUint32(MEMORY_BUFFER_CONTROL + ready.slot * 4, this.control[ready.slot], true);
        if (ready.settings & EP_DOUBLE) {
            this.turn[ready.slot] = ready.buffer ^ 1;
        }
        if (ready.settings & EP_INTERRUPT_EACH) {
            this.done[ready.slot].push(ready.buffer);
            this.#tellBuffers();
        }
    }

    sequenceError() {
        this.registers.set(R.SIE_STATUS, this.#get(R.SIE_STATUS) | STATUS_SEQUENCE);
    }

    // ---- within ----

    #aborted() {
        this.registers.set(R.ABORT_DONE, this.#get(R.ABORT_DONE) | (this.#get(R.ABORT) & ~this.#busy));
    }

    #get(offset) {
        return this.registers.get(offset) ?? 0;
    }

    #endpointControl(endpoint, out) {
        if (endpoint === 0) {
            return EP_ENABLE | (this.#get(R.SIE_CTRL) & EP0_INTERRUPTS ? EP_INTERRUPT_EACH : 0);
        }
        return this.mcu.usbDPRAMView.getUint32(8 * endpoint + (out ? 4 : 0), true);
    }

    // Clearing a bit sets it at once again if the other buffer is done as well (4.1.4, BUFF_STATUS).
    #clearBuffers(bits) {
        for (let slot = 0; slot < 32; slot++) {
            if (bits & (1 << slot) && this.#get(R.BUFF_STATUS) & (1 << slot)) {
                this.done[slot].shift();
            }
        }
        this.#tellBuffers();
    }

    #tellBuffers() {
        let bits = 0;
        for (let slot = 0; slot < 32; slot++) {
            bits |= this.done[slot].length ? 1 << slot : 0;
        }
        this.registers.set(R.BUFF_STATUS, bits);
        this.#interrupt();
    }

    #raw() {
        const status = this.#get(R.SIE_STATUS);
        return (
            (this.#get(R.BUFF_STATUS) ? INT_BUFFERS : 0) |
            (status & STATUS_BUS_RESET ? INT_BUS_RESET : 0) |
            (status & STATUS_SETUP ? INT_SETUP : 0)
        );
    }

    #interrupt() {
        this.mcu.setInterrupt(USB_IRQ, ((this.#raw() & this.#get(R.INTE)) | this.#get(R.INTF)) !== 0);
    }

    #violation(text) {
        if (this.violations.length < 20) {
            this.violations.push(`${text} at ${Math.round(this.mcu.clock.nanos / 1000)} us`);
        }
    }
}

function name(slot) {
    return `endpoint ${slot >> 1} ${slot & 1 ? 'OUT' : 'IN'}`;
}
