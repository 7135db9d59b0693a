// A USB host at full speed: frames, tokens, data toggles, transfers. Time is the simulated processor's; each packet
// takes as long as it does on a wire of 12 Mbit/s (USB 2.0, 5.8.4 and 8.4; bit stuffing left out, as in table 5-9).

const BIT_NANOS = 1e9 / 12e6;
const FRAME_NANOS = 1e6;
export const PACKET = 64;
// Bits of a token (sync, PID, address and endpoint, end), of what is around data, of a handshake, and of the gap
// between two packets; together the 13 bytes of overhead of table 5-9.
const TOKEN = 35, AROUND_DATA = 35, HANDSHAKE = 19, GAP = 7.5;
const SETUP_STAGE = 0, DATA_STAGE = 1, STATUS_STAGE = 2;

export class Stalled extends Error {}
export class Gone extends Error {}
export class Cancelled extends Error {}

// Transfers of one endpoint, in turn, and the data toggle that is expected.
class Pipe {
    constructor(endpoint, out) {
        Object.assign(this, { endpoint, out, queue: [], data1: false, refused: false });
        // `within`: tokens behind a full packet, where the device must have more, if only a packet of no bytes.
        this.count = {
            data: 0, empty: 0, nak: 0, bytes: 0, wrong_toggle: 0, within_data: 0, within_nak: 0, most_a_frame: 0,
        };
        this.full = false;
        this.naks = 0;
        this.frame = 0;
        this.in_frame = 0; // full packets in it
    }

    // A packet of so many bytes, or null: NAK.
    report(packetBytes, frame) {
        if (packetBytes === null) {
            this.count.nak++;
            this.naks += this.full ? 1 : 0;
            return;
        }
        this.count.data++;
        this.count.empty += packetBytes === 0 ? 1 : 0;
        this.count.bytes += packetBytes;
        if (this.full) {
            this.count.within_data++;
            this.count.within_nak += this.naks;
        }
        this.naks = 0;
        this.full = packetBytes === PACKET;
        this.in_frame = (frame === this.frame ? this.in_frame : 0) + (this.full ? 1 : 0);
        this.frame = frame;
        this.count.most_a_frame = Math.max(this.count.most_a_frame, this.in_frame);
    }
}

export class Host {
    address = 0;
    errors = [];

    // onWork() is called before anything is begun, so that a simulation that slept brings its clock up.
    constructor(mcu, controller, onWork) {
        Object.assign(this, { mcu, controller, clock: mcu.clock, onWork });
        controller.onArmed = () => this.armed();
        this.alarm = this.clock.createAlarm(() => this.#due());
        this.pipes = new Map();
        this.controls = [];
        this.turn = 0;
        this.frame = -1;
        this.armings = 0;
        this.next = null; // what happens at the alarm
        this.parked = true;
    }

    // ---- what a driver asks for; each promise is settled when the transfer is over ----

    // Resolves to the bytes (IN), or to how many (OUT).
    control(type, request, value, index, data) {
        const input = Boolean(type & 0x80);
        const length = input ? data : data?.length ?? 0;
        const setup = Buffer.alloc(8);
        setup.writeUInt8(type, 0);
        setup.writeUInt8(request, 1);
        setup.writeUInt16LE(value, 2);
        setup.writeUInt16LE(index, 4);
        setup.writeUInt16LE(length, 6);
        return new Promise((resolve, reject) => {
            const bytes = input ? Buffer.alloc(0) : (data ?? Buffer.alloc(0));
            this.controls.push({ setup, input, length, bytes, at: 0, data1: true, stage: SETUP_STAGE, resolve, reject });
            this.work();
        });
    }

    // Over when `length` bytes have come, or a packet that is not full.
    bulkIn(endpoint, length, tag) {
        return this.#submit(endpoint, false, { length, parts: [], got: 0, tag });
    }

    bulkOut(endpoint, data, tag) {
        return this.#submit(endpoint, true, { data, at: 0, tag });
    }

    // Transfers of an endpoint that are not over fail.
    cancel(endpoint, out) {
        for (const transfer of this.#pipe(endpoint, out).queue.splice(0)) {
            transfer.reject(new Cancelled('cancelled'));
        }
    }

    // The one that was submitted with this tag; IN: what it has got so far is in the error.
    cancelTagged(tag) {
        for (const { queue } of this.pipes.values()) {
            const place = queue.findIndex((transfer) => transfer.tag === tag);
            if (place >= 0) {
                const [transfer] = queue.splice(place, 1);
                const got = Buffer.concat(transfer.parts ?? []);
                transfer.reject(Object.assign(new Cancelled('cancelled'), { got, sent: transfer.at ?? 0 }));
            }
        }
    }

    clearToggle(endpoint, out) {
        Object.assign(this.#pipe(endpoint, out), { data1: false, full: false });
    }

    // SE0 for 10 ms (7.1.7.5), after which the device has address 0 and nothing is configured.
    async reset() {
        for (const pipe of this.pipes.values()) {
            this.cancel(pipe.endpoint, pipe.out);
            this.clearToggle(pipe.endpoint, pipe.out);
        }
        for (const transfer of this.controls.splice(0)) {
            transfer.reject(new Cancelled('bus reset'));
        }
        // Whatever is on the wire now is cut off.
        this.alarm.cancel();
        this.next = null;
        this.controller.busy = 0;
        this.parked = true;
        this.address = 0;
        this.controller.busReset();
        await this.pause(10e6);
    }

    // Lets simulated time go by.
    pause(nanos) {
        return new Promise((resolve) => {
            this.onWork();
            this.clock.createAlarm(() => resolve()).schedule(nanos);
        });
    }

    get counts() {
        const named = (pipe) => [`${pipe.out ? 'out' : 'in'}${pipe.endpoint}`, pipe.count];
        return Object.fromEntries([...this.pipes.values()].map(named));
    }

    // ---- the bus ----

    // The device has given a buffer to its controller: what was refused before may not be now.
    armed() {
        this.armings++;
        for (const pipe of this.pipes.values()) {
            pipe.refused = false;
        }
    }

    // There is something to do; if the bus sleeps, it goes on at once.
    work() {
        this.onWork();
        this.armed();
        if (this.parked) {
            this.parked = false;
            this.#then(0, () => this.#choose());
        }
    }

    #pipe(endpoint, out) {
        const key = endpoint * 2 + (out ? 1 : 0);
        if (!this.pipes.has(key)) {
            this.pipes.set(key, new Pipe(endpoint, out));
        }
        return this.pipes.get(key);
    }

    #submit(endpoint, out, transfer) {
        return new Promise((resolve, reject) => {
            this.#pipe(endpoint, out).queue.push({ ...transfer, resolve, reject });
            this.work();
        });
    }

    #then(nanos, action) {
        this.next = action;
        this.alarm.schedule(nanos);
    }

    #due() {
        const action = this.next;
        this.next = null;
        action();
    }

    // The next transaction, endpoints in turn. If all were refused (NAK) and the processor sleeps, nothing can change
    // until a program or a timer does something: the bus sleeps as well, and does not burn the time of the machine that
    // simulates it.
    #choose() {
        const waiting = [...this.pipes.values()].filter((pipe) => pipe.queue.length);
        if (this.controls.length) {
            waiting.push('control');
        }
        const refused = waiting.every((pipe) => pipe !== 'control' && pipe.refused);
        const asleep = !waiting.length || (this.mcu.core.waiting && refused);
        if (asleep) {
            this.parked = true;
            return;
        }
        this.turn = (this.turn + 1) % waiting.length;
        const pipe = waiting[this.turn];
        const [begin, bits] = pipe === 'control' ? this.#controlTransaction() : this.#bulkTransaction(pipe);
        // A transaction that does not fit into the frame is not begun (11.3.2), and frames begin with an SOF.
        const now = this.clock.nanos;
        const frame = Math.floor(now / FRAME_NANOS);
        const first = frame * FRAME_NANOS + (TOKEN + GAP) * BIT_NANOS;
        let wait = Math.max(0, first - now);
        if (now + bits * BIT_NANOS > (frame + 1) * FRAME_NANOS) {
            wait = first + FRAME_NANOS - now;
        }
        const number = Math.floor((now + wait) / FRAME_NANOS);
        if (number !== this.frame) {
            this.frame = number;
            this.controller.startOfFrame(number);
        }
        if (wait > 0) {
            // Somebody may have something more urgent by then.
            this.turn--;
            this.#then(wait, () => this.#choose());
            return;
        }
        begin();
    }

    // Token and data of one transaction; `after` hears what the device answered.
    #out(endpoint, bytes, data1, after) {
        const sent = TOKEN + GAP + AROUND_DATA + 8 * bytes.length + GAP + HANDSHAKE + GAP;
        this.#then((TOKEN + GAP) * BIT_NANOS, () => {
            const ready = this.#token(endpoint, true);
            this.controller.busy = typeof ready === 'object' ? 1 << ready.slot : 0;
            this.#then((sent - TOKEN - GAP) * BIT_NANOS, () => {
                this.controller.busy = 0;
                if (typeof ready === 'object' && ready.data1 === data1) {
                    this.controller.finish(ready, true, bytes);
                } else if (typeof ready === 'object') {
                    this.controller.sequenceError(); // acknowledged and dropped, 8.6.3
                    this.errors.push(`OUT ${endpoint}: toggle`);
                }
                after(typeof ready === 'object' ? 'ack' : ready);
                this.#choose();
            });
        });
    }

    #in(endpoint, after) {
        this.#then((TOKEN + GAP) * BIT_NANOS, () => {
            const ready = this.#token(endpoint, false);
            if (typeof ready === 'string') {
                this.#then((HANDSHAKE + GAP) * BIT_NANOS, () => {
                    after(ready);
                    this.#choose();
                });
                return;
            }
            const bytes = this.controller.read(ready);
            this.controller.busy = 1 << ready.slot;
            this.#then((AROUND_DATA + 8 * bytes.length + GAP + HANDSHAKE + GAP) * BIT_NANOS, () => {
                this.controller.busy = 0;
                this.controller.finish(ready, false);
                after(bytes, ready.data1);
                this.#choose();
            });
        });
    }

    #token(endpoint, out) {
        this.armingsAtToken = this.armings;
        return this.controller.hears(this.address) ? this.controller.token(endpoint, out) : 'none';
    }

    #bulkTransaction(pipe) {
        const most = TOKEN + AROUND_DATA + HANDSHAKE + 3 * GAP + 8 * PACKET;
        return [() => (pipe.out ? this.#bulkOut(pipe) : this.#bulkIn(pipe)), most];
    }

    #bulkIn(pipe) {
        const transfer = pipe.queue[0];
        this.#in(pipe.endpoint, (answer, data1) => {
            pipe.refused = answer === 'nak' && this.armingsAtToken === this.armings;
            if (answer === 'nak') {
                pipe.report(null, this.frame);
            } else if (typeof answer === 'string') {
                this.#failed(pipe, answer);
            } else if (data1 !== pipe.data1) {
                pipe.count.wrong_toggle++; // the same packet again, as a host must think (8.6.4)
            } else {
                pipe.data1 = !pipe.data1;
                pipe.report(answer.length, this.frame);
                if (pipe.queue[0] !== transfer) {
                    return; // cancelled meanwhile: its bytes are lost, as on a real host
                }
                transfer.parts.push(answer);
                transfer.got += answer.length;
                if (answer.length < PACKET || transfer.got >= transfer.length) {
                    pipe.queue.shift();
                    transfer.resolve(Buffer.concat(transfer.parts));
                }
            }
        });
    }

    #bulkOut(pipe) {
        const transfer = pipe.queue[0];
        const bytes = transfer.data.subarray(transfer.at, transfer.at + PACKET);
        this.#out(pipe.endpoint, bytes, pipe.data1, (answer) => {
            pipe.refused = answer === 'nak' && this.armingsAtToken === this.armings;
            if (answer === 'nak') {
                pipe.report(null, this.frame);
            } else if (answer !== 'ack') {
                this.#failed(pipe, answer);
            } else {
                pipe.data1 = !pipe.data1;
                pipe.report(bytes.length, this.frame);
                if (pipe.queue[0] !== transfer) {
                    return;
                }
                transfer.at += bytes.length;
                if (transfer.at >= transfer.data.length) {
                    pipe.queue.shift();
                    transfer.resolve(transfer.at);
                }
            }
        });
    }

    #failed(pipe, answer) {
        const transfer = pipe.queue.shift();
        transfer?.reject(answer === 'stall' ? new Stalled('stalled') : new Gone('no answer'));
    }

    #controlTransaction() {
        const transfer = this.controls[0];
        const over = (settle) => {
            if (this.controls[0] === transfer) {
                this.controls.shift();
                settle();
            }
        };
        const settled = (answer) => {
            if (answer === 'stall') {
                over(() => transfer.reject(new Stalled('stalled')));
            } else if (answer === 'none') {
                over(() => transfer.reject(new Gone('no answer')));
            }
            return typeof answer === 'string' && answer !== 'ack';
        };
        const most = TOKEN + AROUND_DATA + HANDSHAKE + 3 * GAP + 8 * PACKET;
        if (transfer.stage === SETUP_STAGE) {
            return [() => this.#setup(transfer, settled), TOKEN + AROUND_DATA + 64 + HANDSHAKE + 3 * GAP];
        }
        const status = transfer.stage === STATUS_STAGE;
        if (transfer.input !== status) {
            const got = (answer, data1) => {
                if (settled(answer)) {
                    return;
                }
                if (data1 !== (status || transfer.data1)) {
                    this.errors.push('IN 0: toggle');
                }
                if (status) {
                    over(() => transfer.resolve(transfer.at));
                    return;
                }
                transfer.data1 = !transfer.data1;
                transfer.bytes = Buffer.concat([transfer.bytes, answer]);
                if (answer.length < PACKET || transfer.bytes.length >= transfer.length) {
                    transfer.stage = STATUS_STAGE;
                }
            };
            return [() => this.#in(0, got), most];
        }
        const bytes = status ? Buffer.alloc(0) : transfer.bytes.subarray(transfer.at, transfer.at + PACKET);
        const sent = (answer) => {
            if (settled(answer)) {
                return;
            }
            if (status) {
                over(() => transfer.resolve(transfer.bytes));
                return;
            }
            transfer.data1 = !transfer.data1;
            transfer.at += bytes.length;
            if (transfer.at >= transfer.length) {
                transfer.stage = STATUS_STAGE;
            }
        };
        return [() => this.#out(0, bytes, status || transfer.data1, sent), most];
    }

    #setup(transfer, settled) {
        this.#then((TOKEN + AROUND_DATA + 64 + HANDSHAKE + 3 * GAP) * BIT_NANOS, () => {
            if (this.controller.hears(this.address)) {
                this.controller.setup(transfer.setup);
                transfer.stage = transfer.length ? DATA_STAGE : STATUS_STAGE;
            } else {
                settled('none');
            }
            this.#choose();
        });
    }
}
