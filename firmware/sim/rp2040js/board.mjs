// The board: an RP2040 with what a UF2 file brings, its time, and the USB host that it hangs on.

import fs from 'node:fs';
import { Controller } from './controller.mjs';
import { Host } from './host.mjs';
import { crc32 } from './crc32.mjs';

const { ConsoleLogger, LogLevel, Simulator } = await import(
    new URL('../../build/parts/rp2040js/node_modules/rp2040js/dist/esm/index.js', import.meta.url)
);

const RAM = 0x2000_0000, FLASH = 0x1000_0000;
const SECOND_STAGE = 0x2004_1f00, STAGE_BYTES = 256; // where the boot ROM puts it, datasheet 2.8.1.3
// Simulated time is not let ahead of the clock on the wall, nor does it catch up when it was too slow.
const AHEAD_NANOS = 1e6, SLICE_MS = 2;

// Where a UF2 file puts what: [address, bytes] of each block.
function* blocks(file) {
    for (let at = 0; at + 512 <= file.length; at += 512) {
        const word = (offset) => file.readUInt32LE(at + offset);
        if (word(0) !== 0x0a32_4655 || word(4) !== 0x9e5d_5157 || word(508) !== 0x0ab1_6f30 || word(28) !== 0xe48b_ff56) {
            throw new Error('this is no UF2 file for the RP2040');
        }
        yield [word(12), file.subarray(at + 32, at + 32 + word(16))];
    }
}

export class Board {
    constructor(uf2) {
        const { clock, rp2040 } = new Simulator();
        Object.assign(this, { clock, mcu: rp2040, running: false });
        // Revision B2, as all boards of the last years have. The emulator says B1, which cannot abort (RP2040-E2).
        const info = this.mcu.peripherals[0x40000];
        const read = info.readUint32.bind(info);
        info.readUint32 = (offset) => (offset === 0 ? 0x2000_2927 : read(offset));
        this.mcu.logger = new ConsoleLogger(LogLevel.Error);
        this.controller = new Controller(this.mcu);
        this.host = new Host(this.mcu, this.controller, () => this.#go());
        this.#load(fs.readFileSync(uf2));
    }

    // What the boot ROM does; it is not part of the emulator.
    #load(file) {
        let first = Infinity;
        for (const [address, bytes] of blocks(file)) {
            first = Math.min(first, address);
            const memory = address < RAM ? this.mcu.flash : this.mcu.sram;
            memory.set(bytes, address - (address < RAM ? FLASH : RAM));
        }
        let entry = first;
        if (first === FLASH) {
            const stage = this.mcu.flash.subarray(0, STAGE_BYTES);
            if (crc32(stage.subarray(0, STAGE_BYTES - 4)) !== Buffer.from(stage).readUInt32LE(STAGE_BYTES - 4)) {
                throw new Error('the boot ROM would not start this: the checksum of the second stage is wrong');
            }
            this.mcu.sram.set(stage, SECOND_STAGE - RAM);
            entry = SECOND_STAGE;
        }
        this.mcu.core.SP = SECOND_STAGE;
        this.mcu.core.PC = entry;
    }

    // Starts the processor; resolves when the device shows itself on the bus.
    start() {
        return new Promise((resolve, reject) => {
            this.failed = reject;
            this.controller.onPullup = resolve;
            this.#go();
        });
    }

    #go() {
        if (this.running) {
            return;
        }
        this.running = true;
        const now = performance.now();
        // While nothing happened time went by too.
        if (this.slept) {
            this.clock.tick((now - this.slept) * 1e6);
        }
        this.#anchor(now);
        setImmediate(() => this.#slice());
    }

    #anchor(now) {
        this.begun = now;
        this.begunNanos = this.clock.nanos;
    }

    // How far simulated time is ahead of real time.
    #ahead(now) {
        return this.clock.nanos - this.begunNanos - (now - this.begun) * 1e6;
    }

    #slice() {
        const until = performance.now() + SLICE_MS;
        let now = 0;
        try {
            do {
                const most = this.clock.nanos + AHEAD_NANOS;
                for (let i = 0; i < 1000 && this.clock.nanos < most; i++) {
                    if (!this.mcu.core.waiting) {
                        this.clock.tick(this.mcu.core.executeInstruction() * (1e9 / this.mcu.clkSys));
                    } else if (this.clock.nextAlarm) {
                        this.clock.tick(this.clock.nanosToNextAlarm);
                    } else {
                        // Asleep, and nothing on the bus.
                        this.running = false;
                        this.slept = performance.now();
                        return;
                    }
                }
                now = performance.now();
            } while (now < until && this.#ahead(now) < AHEAD_NANOS);
        } catch (error) {
            this.failed(error);
            throw error;
        }
        const ahead = this.#ahead(now);
        if (ahead >= AHEAD_NANOS) {
            setTimeout(() => this.#slice(), ahead / 1e6);
        } else {
            setImmediate(() => this.#slice());
        }
        if (ahead < -AHEAD_NANOS) {
            this.#anchor(now);
        }
    }
}
