// What a host's operating system does with the device: enumerates it, reads and checks what it says of itself,
// configures it.

const TO_HOST = 0x80, CLASS_INTERFACE = 0x21, ENDPOINT = 0x02, INTERFACE = 0x01;
const GET_STATUS = 0, CLEAR_FEATURE = 1, SET_FEATURE = 3, SET_ADDRESS = 5, GET_DESCRIPTOR = 6;
const GET_CONFIGURATION = 8, SET_CONFIGURATION = 9, SET_INTERFACE = 11;
const SET_LINE_CODING = 0x20, GET_LINE_CODING = 0x21, SET_CONTROL_LINE_STATE = 0x22;
const DEVICE = 1, CONFIGURATION = 2, STRING = 3, BOS = 15;
const ADDRESS = 5;

export class Driver {
    constructor(host) {
        this.host = host;
    }

    // To a device with an address that is not configured.
    async reset() {
        const { host } = this;
        await host.reset();
        const begin = await this.#descriptor(DEVICE, 0, 8);
        hold(begin.length === 8 && begin[7] === 64, 'endpoint 0 has packets of 64 bytes');
        await host.control(0, SET_ADDRESS, ADDRESS, 0);
        await host.pause(2e6); // 9.2.6.3
        host.address = ADDRESS;
    }

    // After a reset: to a configured device. Returns what the device is.
    async enumerate() {
        const { host } = this;
        await this.reset();
        const device = await this.#descriptor(DEVICE, 0, 18);
        hold(device.length === 18, 'the device descriptor has 18 bytes');
        const head = await this.#descriptor(CONFIGURATION, 0, 9);
        const configuration = await this.#descriptor(CONFIGURATION, 0, head.readUInt16LE(2));
        hold(configuration.length === head.readUInt16LE(2), 'wTotalLength is the length of the configuration');
        const bosHead = await this.#descriptor(BOS, 0, 5);
        const bos = await this.#descriptor(BOS, 0, bosHead.readUInt16LE(2));
        hold(bos.length === bosHead.readUInt16LE(2), 'wTotalLength is the length of the BOS');
        const strings = [];
        for (const index of [device[14], device[15], device[16]]) {
            strings.push((await this.#descriptor(STRING, index, 255)).subarray(2).toString('utf16le'));
        }
        await this.configure(configuration[5]);
        this.device = {
            vendor: device.readUInt16LE(8),
            product: device.readUInt16LE(10),
            release: device.readUInt16LE(12),
            triple: [device[4], device[5], device[6]],
            strings,
            configuration,
            bos,
            interfaces: parse(configuration),
        };
        return this.device;
    }

    async configure(value) {
        await this.host.control(0, SET_CONFIGURATION, value, 0);
        this.#anew();
    }

    // The bulk endpoint numbers of the first interface of a class.
    pair(wanted) {
        const found = this.device.interfaces.find((one) => one.class === wanted && one.endpoints.length === 2);
        hold(found, `there is an interface of class ${wanted} with two endpoints`);
        const number = (input) => found.endpoints.find((one) => Boolean(one.address & 0x80) === input).address & 15;
        return { interface: found.number, in: number(true), out: number(false) };
    }

    // As a tty driver does at the first opening and the last closing.
    async lineState(ready) {
        await this.host.control(CLASS_INTERFACE, SET_CONTROL_LINE_STATE, ready ? 3 : 0, 0);
    }

    // Also of the setting that is selected: toggles and the function behind them begin anew.
    async setInterface(number, setting) {
        await this.host.control(INTERFACE, SET_INTERFACE, setting, number);
        for (const { address } of this.device.interfaces.find((one) => one.number === number).endpoints) {
            this.host.clearToggle(address & 15, !(address & 0x80));
        }
    }

    // Walks through the rest of what a host may ask, and holds the answers. Ends configured.
    async examine() {
        const { host } = this;
        const pair = this.pair(0xff);
        const status = async (type, index) => (await host.control(TO_HOST | type, GET_STATUS, 0, index, 2)).readUInt16LE(0);
        const refused = async (what, promise) => {
            const stalled = await promise.then(() => false, (error) => error.constructor.name === 'Stalled');
            hold(stalled, `${what} is refused by a stall`);
        };
        await refused('a device qualifier', this.#descriptor(6, 0, 10));
        await refused('a string that is not there', this.#descriptor(STRING, 77, 255));
        await refused('configuration 2', host.control(0, SET_CONFIGURATION, 2, 0));
        await refused('setting 1 of an interface', host.control(INTERFACE, SET_INTERFACE, 1, pair.interface));
        await refused('an endpoint that is not there', host.control(TO_HOST | ENDPOINT, GET_STATUS, 0, 0x87, 2));
        const coding = Buffer.from([0x80, 0x25, 0, 0, 1, 2, 7]);
        await host.control(CLASS_INTERFACE, SET_LINE_CODING, 0, 0, coding);
        const back = await host.control(TO_HOST | CLASS_INTERFACE, GET_LINE_CODING, 0, 0, 7);
        hold(coding.equals(back), 'the line coding is kept');
        hold((await status(0, 0)) === 0, 'the device lives on the bus');
        for (const endpoint of [pair.out, 0x80 | pair.in]) {
            await host.control(ENDPOINT, SET_FEATURE, 0, endpoint);
            hold((await status(ENDPOINT, endpoint)) === 1, 'a halted endpoint says so');
            const transfer = endpoint & 0x80 ? host.bulkIn(pair.in, 64) : host.bulkOut(pair.out, Buffer.alloc(3));
            await refused('a transfer of a halted endpoint', transfer);
            await host.control(ENDPOINT, CLEAR_FEATURE, 0, endpoint);
            hold((await status(ENDPOINT, endpoint)) === 0, 'its halt can be cleared');
        }
        this.#clear(pair);
        const asked = async () => (await host.control(TO_HOST, GET_CONFIGURATION, 0, 0, 1))[0];
        await host.control(0, SET_CONFIGURATION, 0, 0);
        hold((await asked()) === 0, 'configuration 0 is none');
        for (let times = 0; times < 2; times++) {
            await host.control(0, SET_CONFIGURATION, 1, 0);
            hold((await asked()) === 1, 'it can be configured again, and twice');
        }
        this.#anew();
        await this.#examineMicrosoftOs(refused);
    }

    // What Windows asks for to bind WinUSB; firmware/host holds the bytes against those of `wiregauge serve`.
    async #examineMicrosoftOs(refused) {
        const { host } = this;
        const bos = this.device.bos;
        hold(bos.readUInt16LE(2) === 5 + 28 && bos[6] === 16 && bos[7] === 5, 'the BOS has the platform capability alone');
        const bytes = bos.readUInt16LE(5 + 24), vendorCode = bos[5 + 26];
        const ask = (length, index = 7, code = vendorCode) => host.control(0xc0, code, 0, index, length);
        const whole = await ask(0xffff);
        hold(whole.length === bytes, 'the BOS names the length of the Microsoft OS 2.0 descriptors');
        hold(whole.readUInt16LE(8) === bytes && whole.includes('WINUSB'), 'the Microsoft OS 2.0 descriptors are whole');
        for (const length of [0, 1, 10, 63, 64, 65, 128, bytes - 1, bytes, bytes + 1, 4096]) {
            const answer = await ask(length);
            const expected = whole.subarray(0, length);
            hold(answer.equals(expected), `of the Microsoft OS 2.0 descriptors come the ${length} bytes that are asked for`);
        }
        for (const index of [0, 4, 5, 6, 8, 0x0107, 0x0700, 0xffff]) {
            await refused(`Microsoft OS index ${index}`, ask(64, index));
        }
        await refused('a vendor request that is not there', ask(64, 7, vendorCode + 1));
        await refused('a vendor request OUT', host.control(0x40, vendorCode, 0, 7, Buffer.alloc(8)));
    }

    #descriptor(kind, index, length) {
        return this.host.control(TO_HOST, GET_DESCRIPTOR, (kind << 8) | index, kind === STRING ? 0x0409 : 0, length);
    }

    #clear(pair) {
        this.host.clearToggle(pair.in, false);
        this.host.clearToggle(pair.out, true);
    }

    #anew() {
        for (const pipe of this.host.pipes.values()) {
            this.host.clearToggle(pipe.endpoint, pipe.out);
        }
    }
}

function hold(truth, what) {
    if (!truth) {
        throw new Error(`it does not hold that ${what}`);
    }
}

// Interfaces and endpoints of a configuration descriptor.
function parse(bytes) {
    const interfaces = [];
    for (let at = 0; at < bytes.length; at += bytes[at]) {
        hold(bytes[at] >= 2 && at + bytes[at] <= bytes.length, 'descriptors fill the configuration exactly');
        if (bytes[at + 1] === 4) {
            const [number, , , kind, sub, protocol] = bytes.subarray(at + 2, at + 8);
            interfaces.push({ number, class: kind, sub, protocol, endpoints: [] });
        } else if (bytes[at + 1] === 5) {
            interfaces.at(-1).endpoints.push({
                address: bytes[at + 2],
                type: bytes[at + 3] & 3,
                packet: bytes.readUInt16LE(at + 4),
                interval: bytes[at + 6],
            });
        }
    }
    hold(interfaces.length === bytes[4], 'bNumInterfaces is the number of interfaces');
    return interfaces;
}
