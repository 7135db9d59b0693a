// The simulated board with its addresses: see firmware/sim/README.md, and firmware/rp2040/README.md for the rest.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Board } from './board.mjs';
import { Bridge } from './bridge.mjs';
import { Driver } from './driver.mjs';

const { values: asked } = parseArgs({
    options: {
        echo: { type: 'boolean', default: false },
        single: { type: 'boolean', default: false },
        ram: { type: 'boolean', default: false },
        'until-eof': { type: 'boolean', default: false },
        usbredir: { type: 'string' },
    },
});
const CDC_DATA = 10, VENDOR = 0xff; // classes
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const program = asked.echo ? 'echo' : asked.single ? 'single' : 'responder';
const uf2 = here(`../../build/rp2040/${program}${asked.ram ? '-ram' : ''}.uf2`);
if (!fs.existsSync(uf2)) {
    console.error(`sim/rp2040: ${program}.uf2 is not built: make -C firmware rp2040`);
    process.exit(2);
}

const board = new Board(uf2);
const { host, controller } = board;
const driver = new Driver(host);
const children = [];
let ended = false;

// What was seen on the bus, as one line of JSON; the tests read it.
function end(status) {
    if (!ended) {
        ended = true;
        const result = { pipes: host.counts, violations: controller.violations, errors: host.errors };
        fs.writeSync(2, `${JSON.stringify(result)}\n`);
    }
    for (const child of children) {
        child.kill();
    }
    process.exit(status);
}
for (const name of ['SIGTERM', 'SIGINT']) {
    process.on(name, () => end(0));
}
if (asked['until-eof']) {
    process.stdin.on('end', () => end(0)).resume();
}

// A pseudo-terminal for each function, the bulk endpoints too: its buffer is small, so that what a program has written is
// on the bus soon, and a program that writes is held off as soon as the bus is. `opened` and `closed` are what a driver
// would do then.
function serve(pair, { inBytes, inQueued, opened, closed }) {
    const child = spawn('python3', [here('terminal.py')], { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    const tell = (kind, bytes) => {
        const head = Buffer.from(`${kind}    `);
        head.writeUInt32LE(bytes.length, 1);
        return child.stdin.write(Buffer.concat([head, bytes]));
    };
    const bridge = new Bridge(host, pair, {
        inBytes,
        inQueued,
        write: (bytes) => tell('D', bytes),
        taken: (bytes) => {
            const number = Buffer.alloc(4);
            number.writeUInt32LE(bytes);
            tell('A', number);
        },
    });
    child.stdin.on('drain', () => bridge.drained());
    child.stdin.on('error', () => end(1));
    return new Promise((resolve) => {
        const messages = {
            P: (path) => {
                console.log(`serial://${path}`);
                resolve(bridge);
            },
            O: async () => {
                await opened().catch(() => {});
                bridge.begin();
            },
            C: async () => {
                bridge.end();
                await closed().catch(() => {});
            },
            D: (bytes) => bridge.take(bytes),
        };
        let held = Buffer.alloc(0);
        let turn = Promise.resolve();
        child.stdout.on('data', (bytes) => {
            held = Buffer.concat([held, bytes]);
            while (held.length >= 5 && held.length >= 5 + held.readUInt32LE(1)) {
                const length = held.readUInt32LE(1);
                const kind = String.fromCharCode(held[0]), body = held.subarray(5, 5 + length);
                held = held.subarray(5 + length);
                turn = turn.then(() => messages[kind](body));
            }
        });
    });
}

try {
    await board.start();
    board.failed = (error) => {
        console.error(error);
        end(1);
    };
    await driver.enumerate();
    if (asked.usbredir) {
        const { serveUsbredir } = await import('./usbredir.mjs');
        await serveUsbredir(host, driver, asked.usbredir);
    } else {
        await driver.examine();
        const data = driver.pair(CDC_DATA), bulk = driver.pair(VENDOR);
        const bridges = [
            // As Linux's cdc_acm: sixteen transfers of two packets.
            await serve(data, {
                inBytes: 128,
                inQueued: 16,
                opened: () => driver.lineState(true),
                closed: () => driver.lineState(false),
            }),
            await serve(bulk, {
                inBytes: 4096,
                inQueued: 2,
                opened: () => driver.setInterface(bulk.interface, 0),
                closed: async () => {},
            }),
        ];
        process.on('SIGUSR1', async () => {
            await driver.enumerate();
            bridges.forEach((bridge) => bridge.again());
        });
    }
    console.log('ready');
} catch (error) {
    console.error(error);
    end(1);
}
