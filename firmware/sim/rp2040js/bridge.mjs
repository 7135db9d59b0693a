// Between a pair of bulk endpoints and a program on this computer: bytes from the program become OUT transfers, and what
// an IN transfer has brought is handed over when the transfer is over, not before, as any operating system does.

const OUT_QUEUED = 2;

export class Bridge {
    // `inBytes`, `inQueued`: size of an IN transfer, and how many are submitted at once. write() says whether the program
    // takes more for now; taken() hears how many of its bytes are on the bus, or given up.
    constructor(host, pair, { inBytes, inQueued, write, taken }) {
        Object.assign(this, { host, pair, inBytes, inQueued, write, taken });
        this.open = false;
        this.blocked = false;
        this.life = 0;
        this.under_way = 0;
        this.out = [];
        this.outQueued = 0;
        this.ahead = 0; // bytes of the program that are not on the bus yet
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
        this.taken(this.ahead);
        this.ahead = 0;
        this.host.cancel(this.pair.in, false);
        this.host.cancel(this.pair.out, true);
    }

    // The device was reset; the program knows nothing of that.
    again() {
        if (this.open) {
            this.end();
            this.begin();
        }
    }

    // Bytes from the program.
    take(bytes) {
        this.ahead += bytes.length;
        this.out.push(bytes);
        this.#speak();
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
                (bytes) => {
                    if (life === this.life) {
                        this.outQueued--;
                        this.ahead -= bytes;
                        this.taken(bytes);
                        this.#speak();
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
