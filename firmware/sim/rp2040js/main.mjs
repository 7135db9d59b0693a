// The simulated board with its addresses: see firmware/sim/README.md, and firmware/rp2040/README.md for the rest.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
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
        const told = { pipes: host.counts, violations: controller.violations, errors: host.errors };
        fs.writeSync(2, `${JSON.stringify(told)}\n`);
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

// One client at a time, as only one program can claim an interface.
function serveTcp(pair) {
    let client = null;
    const bridge = new Bridge(host, pair, {
        inBytes: 4096,
        inQueued: 2,
        write: (bytes) => client.write(bytes),
        pause: () => client?.pause(),
        resume: () => client?.resume(),
    });
    const server = net.createServer({ noDelay: true }, async (socket) => {
        socket.on('error', () => {});
        if (client) {
            socket.destroy();
            return;
        }
        client = socket;
        socket.on('close', () => {
            bridge.end();
            client = null;
        });
        socket.pause();
        await driver.setInterface(pair.interface, 0);
        if (client !== socket) {
            return;
        }
        bridge.begin();
        socket.on('data', (bytes) => bridge.take(bytes));
        socket.on('drain', () => bridge.drained());
        socket.resume();
    });
    return new Promise((resolve) => {
        server.listen(0, '127.0.0.1', () => {
            console.log(`tcp://127.0.0.1:${server.address().port}`);
            resolve(bridge);
        });
    });
}

function serveTty(pair) {
    const child = spawn('python3', [here('terminal.py')], { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    const frame = (bytes) => {
        const head = Buffer.from([0x44, 0, 0, 0, 0]);
        head.writeUInt32LE(bytes.length, 1);
        return Buffer.concat([head, bytes]);
    };
    // As Linux's cdc_acm: sixteen transfers of two packets.
    const bridge = new Bridge(host, pair, {
        inBytes: 128,
        inQueued: 16,
        write: (bytes) => child.stdin.write(frame(bytes)),
        pause: () => child.stdout.pause(),
        resume: () => child.stdout.resume(),
    });
    child.stdin.on('drain', () => bridge.drained());
    child.stdin.on('error', () => end(1));
    let held = Buffer.alloc(0);
    return new Promise((resolve) => {
        const messages = {
            P: (path) => {
                console.log(`serial://${path}`);
                resolve(bridge);
            },
            O: () => {
                driver.lineState(true).catch(() => {});
                bridge.begin();
            },
            C: () => {
                bridge.end();
                driver.lineState(false).catch(() => {});
            },
            D: (bytes) => bridge.take(bytes),
        };
        child.stdout.on('data', (bytes) => {
            held = Buffer.concat([held, bytes]);
            while (held.length >= 5 && held.length >= 5 + held.readUInt32LE(1)) {
                const length = held.readUInt32LE(1);
                messages[String.fromCharCode(held[0])](held.subarray(5, 5 + length));
                held = held.subarray(5 + length);
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
        const bridges = [await serveTcp(driver.pair(0xff)), await serveTty(driver.pair(10))];
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
