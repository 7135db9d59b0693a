// Between a pair of bulk endpoints and a program on this computer: bytes from the program become OUT transfers, and what
// an IN transfer has brought is handed over when the transfer is over, not before, as any operating system does.

const OUT_BYTES = 4096, OUT_QUEUED = 2;

export class Bridge {
    // `inBytes`, `inQueued`: size of an IN transfer, and how many are submitted at once.
    constructor(host, pair, { inBytes, inQueued, write, pause, resume }) {
        Object.assign(this, { host, pair, inBytes, inQueued, write, pause, resume });
        this.open = false;
        this.blocked = false;
        this.life = 0;
        this.under_way = 0;
        this.out = [];
        this.outQueued = 0;
    }

    begin() {
        this.open = true;
        this.blocked = false;
        this.life++;
        this.under_way = 0;
        this.#listen();
    }

    // What is under way is given up.
    end() {
        this.open = false;
        this.life++;
        this.out = [];
        this.outQueued = 0;
        this.host.cancel(this.pair.in, false);
        this.host.cancel(this.pair.out, true);
    }

    // The device was reset; the program knows nothing of that.
    again() {
        if (this.open) {
            this.end();
            this.begin();
            this.resume();
        }
    }

    // Bytes from the program.
    take(bytes) {
        for (let at = 0; at < bytes.length; at += OUT_BYTES) {
            this.out.push(bytes.subarray(at, at + OUT_BYTES));
        }
        this.#speak();
        if (this.out.length > OUT_QUEUED) {
            this.pause();
        }
    }

    // The program takes bytes again.
    drained() {
        this.blocked = false;
        this.#listen();
    }

    #speak() {
        const life = this.life;
        while (this.outQueued < OUT_QUEUED && this.out.length) {
            this.outQueued++;
            this.host.bulkOut(this.pair.out, this.out.shift()).then(
                () => {
                    if (life === this.life) {
                        this.outQueued--;
                        this.#speak();
                        if (this.out.length <= OUT_QUEUED) {
                            this.resume();
                        }
                    }
                },
                () => {},
            );
        }
    }

    #listen() {
        const life = this.life;
        while (this.open && !this.blocked && this.under_way < this.inQueued) {
            this.under_way++;
            this.host.bulkIn(this.pair.in, this.inBytes).then(
                (bytes) => {
                    if (life === this.life) {
                        this.under_way--;
                        if (bytes.length && !this.write(bytes)) {
                            this.blocked = true;
                        }
                        this.#listen();
                    }
                },
                () => {},
            );
        }
    }
}
