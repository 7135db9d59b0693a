// Carries the device into a virtual machine: QEMU's `usb-redir` connects, and the guest's own USB stack drives the
// firmware. Protocol: usbredir 0.7 (docs/usb-redirection-protocol.md of spice/usbredir). Transfers are the guest's,
// packets are made here: what QEMU hands over is a whole URB.

import fs from 'node:fs';
import net from 'node:net';
import { Cancelled, Stalled } from './host.mjs';

const T = {
    HELLO: 0, DEVICE_CONNECT: 1, RESET: 3, INTERFACE_INFO: 4, EP_INFO: 5, SET_CONFIGURATION: 6, GET_CONFIGURATION: 7,
    CONFIGURATION_STATUS: 8, SET_ALT_SETTING: 9, GET_ALT_SETTING: 10, ALT_SETTING_STATUS: 11,
    START_INTERRUPT_RECEIVING: 15, STOP_INTERRUPT_RECEIVING: 16, INTERRUPT_RECEIVING_STATUS: 17,
    CANCEL_DATA_PACKET: 21, CONTROL_PACKET: 100, BULK_PACKET: 101,
};
const OK = 0, CANCELLED = 1, IO_ERROR = 3, STALL = 4;
const FULL_SPEED = 1, NOT_THERE = 255;
// Abilities by bit: version in DEVICE_CONNECT, packet sizes in EP_INFO, 64-bit ids, 32-bit lengths of bulk packets.
const ABILITIES = (1 << 1) | (1 << 4) | (1 << 5) | (1 << 6);
const CLEAR_FEATURE = 1, TO_ENDPOINT = 0x02;

class Redirection {
    constructor(host, driver, socket) {
        Object.assign(this, { host, driver, socket, held: Buffer.alloc(0), wideIds: false, wideLengths: false });
        this.configuration = 1;
        // Everything but bulk is done in the order of its coming: a reset takes its time.
        this.turn = Promise.resolve();
        const hello = Buffer.alloc(68);
        hello.write('wiregauge rp2040');
        hello.writeUInt32LE(ABILITIES, 64);
        this.#send(T.HELLO, 0n, hello);
        socket.on('data', (bytes) => this.#take(bytes));
    }

    #send(type, id, body) {
        const head = Buffer.alloc(this.wideIds ? 16 : 12);
        head.writeUInt32LE(type, 0);
        head.writeUInt32LE(body.length, 4);
        if (this.wideIds) {
            head.writeBigUInt64LE(id, 8);
        } else {
            head.writeUInt32LE(Number(id), 8);
        }
        if (!this.socket.destroyed) {
            this.socket.write(Buffer.concat([head, body]));
        }
    }

    #take(bytes) {
        this.held = Buffer.concat([this.held, bytes]);
        for (;;) {
            const size = this.wideIds ? 16 : 12;
            if (this.held.length < size || this.held.length < size + this.held.readUInt32LE(4)) {
                return;
            }
            const type = this.held.readUInt32LE(0), length = this.held.readUInt32LE(4);
            const id = this.wideIds ? this.held.readBigUInt64LE(8) : BigInt(this.held.readUInt32LE(8));
            const body = this.held.subarray(size, size + length);
            this.held = this.held.subarray(size + length);
            if (type === T.HELLO) {
                this.#hello(body);
            } else if (type === T.BULK_PACKET) {
                this.#bulk(id, body);
            } else if (type === T.CANCEL_DATA_PACKET) {
                this.host.cancelTagged(id);
            } else {
                this.turn = this.turn.then(() => this.#other(type, id, body)).catch((error) => {
                    console.error(error);
                    this.socket.destroy();
                });
            }
        }
    }

    #hello(body) {
        const both = (body.length >= 68 ? body.readUInt32LE(64) : 0) & ABILITIES;
        this.wideIds = Boolean(both & (1 << 5));
        this.wideLengths = Boolean(both & (1 << 6));
        this.#describe();
        const { vendor, product, release, triple } = this.driver.device;
        const connect = Buffer.from([FULL_SPEED, ...triple, 0, 0, 0, 0, 0, 0]);
        connect.writeUInt16LE(vendor, 4);
        connect.writeUInt16LE(product, 6);
        connect.writeUInt16LE(release, 8);
        this.#send(T.DEVICE_CONNECT, 0n, connect);
    }

    async #other(type, id, body) {
        switch (type) {
            case T.RESET:
                return this.driver.reset();
            case T.SET_CONFIGURATION:
                this.configuration = body[0];
                await this.driver.configure(body[0]);
                this.#describe();
                return this.#send(T.CONFIGURATION_STATUS, id, Buffer.from([OK, body[0]]));
            case T.GET_CONFIGURATION:
                return this.#send(T.CONFIGURATION_STATUS, id, Buffer.from([OK, this.configuration]));
            case T.SET_ALT_SETTING: {
                const status = await this.driver.setInterface(body[0], body[1]).then(() => OK, () => STALL);
                this.#describe();
                return this.#send(T.ALT_SETTING_STATUS, id, Buffer.from([status, body[0], body[1]]));
            }
            case T.GET_ALT_SETTING:
                return this.#send(T.ALT_SETTING_STATUS, id, Buffer.from([OK, body[0], 0]));
            case T.START_INTERRUPT_RECEIVING:
            case T.STOP_INTERRUPT_RECEIVING:
                // The endpoint is there because CDC wants one; the firmware never notifies, so it is not polled.
                return this.#send(T.INTERRUPT_RECEIVING_STATUS, id, Buffer.from([OK, body[0]]));
            case T.CONTROL_PACKET:
                return this.#control(id, body);
        }
    }

    async #control(id, body) {
        const [endpoint, request, requestType] = body;
        const value = body.readUInt16LE(4), index = body.readUInt16LE(6), length = body.readUInt16LE(8);
        const input = Boolean(requestType & 0x80);
        const answer = Buffer.from(body.subarray(0, 10));
        let data = Buffer.alloc(0);
        try {
            const given = input ? length : Buffer.from(body.subarray(10));
            const got = await this.host.control(requestType, request, value, index, given);
            answer[3] = OK;
            if (input) {
                data = got;
                answer.writeUInt16LE(data.length, 8);
            } else if (requestType === TO_ENDPOINT && request === CLEAR_FEATURE) {
                this.host.clearToggle(index & 15, !(index & 0x80));
            }
        } catch (error) {
            answer[3] = statusOf(error);
            answer.writeUInt16LE(0, 8);
        }
        answer[0] = endpoint;
        this.#send(T.CONTROL_PACKET, id, Buffer.concat([answer, data]));
    }

    #bulk(id, body) {
        const endpoint = body[0], size = this.wideLengths ? 10 : 8;
        const length = body.readUInt16LE(2) | (this.wideLengths ? body.readUInt16LE(8) << 16 : 0);
        const tell = (status, bytes, data) => {
            const head = Buffer.alloc(size);
            head[0] = endpoint;
            head[1] = status;
            head.writeUInt16LE(bytes & 0xffff, 2);
            if (this.wideLengths) {
                head.writeUInt16LE(bytes >>> 16, 8);
            }
            this.#send(T.BULK_PACKET, id, Buffer.concat([head, data]));
        };
        const none = Buffer.alloc(0);
        if (endpoint & 0x80) {
            this.host.bulkIn(endpoint & 15, length, id).then(
                (data) => tell(OK, data.length, data),
                (error) => tell(statusOf(error), error.got?.length ?? 0, error.got ?? none),
            );
        } else {
            this.host.bulkOut(endpoint & 15, Buffer.from(body.subarray(size)), id).then(
                (bytes) => tell(OK, bytes, none),
                (error) => tell(statusOf(error), error.sent ?? 0, none),
            );
        }
    }

    // Interfaces and endpoints, as arrays of 32: endpoint numbers OUT, then IN.
    #describe() {
        const { interfaces } = this.driver.device;
        const info = Buffer.alloc(4 + 4 * 32);
        info.writeUInt32LE(interfaces.length, 0);
        const endpoints = Buffer.alloc(32 * 5);
        endpoints.fill(NOT_THERE, 0, 32);
        for (const place of [0, 16]) {
            endpoints[place] = 0;
            endpoints.writeUInt16LE(64, 96 + 2 * place);
        }
        interfaces.forEach((one, at) => {
            [one.number, one.class, one.sub, one.protocol].forEach((byte, row) => {
                info[4 + 32 * row + at] = byte;
            });
            for (const { address, type, interval, packet } of one.endpoints) {
                const place = (address & 15) + (address & 0x80 ? 16 : 0);
                endpoints[place] = type;
                endpoints[32 + place] = interval;
                endpoints[64 + place] = one.number;
                endpoints.writeUInt16LE(packet, 96 + 2 * place);
            }
        });
        this.#send(T.INTERFACE_INFO, 0n, info);
        this.#send(T.EP_INFO, 0n, endpoints);
    }
}

function statusOf(error) {
    return error instanceof Stalled ? STALL : error instanceof Cancelled ? CANCELLED : IO_ERROR;
}

// Waits on a Unix socket; one machine at a time.
export function serveUsbredir(host, driver, path) {
    fs.rmSync(path, { force: true });
    process.umask(0o077);
    const server = net.createServer((socket) => {
        socket.on('error', () => {});
        new Redirection(host, driver, socket);
    });
    server.maxConnections = 1;
    return new Promise((resolve) => server.listen(path, resolve));
}
