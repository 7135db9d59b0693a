//! What bytes of a stream are and what became of them, by code that neither the engine nor the protocol's crate has.

/// Bytes of an order.
pub const ORDER: usize = 32;
/// Bytes of an answer's header.
pub const HEADER: usize = 32;
/// Right bytes in a row after which a fault is distinguished from the one before it.
const CERTAIN: u64 = 16;

/// The byte of a stream at a place.
pub fn pattern(position: u64) -> u8 {
    let word = ((position / 4) as u32).wrapping_mul(0x9E37_79B1);
    word.to_le_bytes()[(position % 4) as usize]
}

/// Where a byte comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nowhere.
    Noise,
    /// This place of a stream.
    Data(u64),
    /// The order of this number, and the place in it.
    Order(u32, u8),
    /// The answer of this number, and the place in it.
    Answer(u32, u8),
}

/// A byte on its way.
#[derive(Clone, Copy, Debug)]
pub struct StreamByte {
    /// What is received.
    pub value: u8,
    /// Where it comes from, which only the simulator sees.
    pub origin: Origin,
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"))
}

/// What an order says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderTruth {
    /// It is of the stream to the host.
    pub is_source: bool,
    /// It ends the stream.
    pub ends: bool,
    /// Its number.
    pub sequence: u32,
    /// Bytes of a transfer.
    pub transfer_bytes: u32,
}

impl OrderTruth {
    /// Reads one that arrived whole.
    pub fn read(bytes: &[u8]) -> Option<OrderTruth> {
        let is_order = bytes.len() == ORDER && bytes[0] == 0xA7 && matches!(bytes[1], 0x12 | 0x13);
        is_order.then(|| OrderTruth {
            is_source: bytes[1] == 0x13,
            ends: bytes[16] == 2,
            sequence: number(bytes, 4),
            transfer_bytes: number(bytes, 20),
        })
    }
}

/// What an answer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerTruth {
    /// 2: SINK, 3: SOURCE.
    pub kind: u8,
    /// Number of its order.
    pub sequence: u32,
    /// 0: OK.
    pub status: u8,
    /// The nine numbers of a report.
    pub report: Vec<u64>,
}

impl AnswerTruth {
    /// Bytes of an answer whose header begins so; `None` if it is none.
    pub fn size(header: &[u8]) -> Option<usize> {
        let is_header = header.len() >= HEADER && header[0] == 0x7A && header[1] >> 4 == 1;
        let payload = is_header.then(|| number(header, 8))?;
        matches!(payload, 0 | 72).then_some(HEADER + payload as usize)
    }

    /// Reads a whole one.
    pub fn read(bytes: &[u8]) -> AnswerTruth {
        let longs = bytes[HEADER..].chunks_exact(8);
        AnswerTruth {
            kind: bytes[1] & 0x0F,
            sequence: number(bytes, 4),
            status: bytes[12],
            report: longs
                .map(|long| u64::from_le_bytes(long.try_into().expect("8 bytes")))
                .collect(),
        }
    }
}

/// What became of the bytes of a stream (docs/protocol.md, Telling what happened).
#[derive(Clone, Debug)]
pub struct Counts {
    /// Received, lost, duplicated, corrupted, stray.
    pub numbers: [u64; 5],
    /// Two faults were too near to each other to be distinguished.
    pub ambiguous: bool,
    next: u64,
    reached: u64,
    /// Right bytes since the last fault.
    run: u64,
    /// The byte before, if it was noise.
    noise: Option<u8>,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts {
            numbers: [0; 5],
            ambiguous: false,
            next: 0,
            reached: 0,
            run: CERTAIN,
            noise: None,
        }
    }
}

impl Counts {
    /// Counts the next byte that arrives.
    pub fn add(&mut self, byte: StreamByte) {
        let [received, lost, duplicated, corrupted, stray] = &mut self.numbers;
        *received += 1;
        let Origin::Data(at) = byte.origin else {
            *stray += 1;
            self.ambiguous |= byte.value == pattern(self.next);
            self.noise = Some(byte.value);
            self.fault();
            return;
        };
        let noise = self.noise.take();
        self.ambiguous |= at > 0 && noise == Some(pattern(at.max(1) - 1));
        let is_right = byte.value == pattern(at);
        match at < self.reached {
            true => *duplicated += 1,
            false => {
                *lost += at - self.reached;
                *corrupted += u64::from(!is_right);
            }
        }
        if at != self.next {
            self.ambiguous |= byte.value == pattern(self.next);
            self.fault();
        }
        self.next = at + 1;
        self.reached = self.reached.max(self.next);
        match is_right {
            true => self.run += 1,
            false => self.fault(),
        }
    }

    fn fault(&mut self) {
        self.ambiguous |= self.run < CERTAIN;
        self.run = 0;
    }

    /// Whether all faults can be distinguished from each other, and the last one from the end.
    pub fn is_certain(&self) -> bool {
        !self.ambiguous && self.run >= CERTAIN
    }
}

/// What arrives at a device: orders, and the bytes of a sink.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    begun: Vec<StreamByte>,
    started: Option<u32>,
    sink: Option<Counts>,
    /// What the last sink took.
    pub last: Counts,
}

impl Arrivals {
    /// Takes the next byte; the order that is whole with it.
    pub fn take(&mut self, byte: StreamByte, most_bytes: u32) -> Option<OrderTruth> {
        let continues = match (byte.origin, self.begun.first().map(|first| first.origin)) {
            (Origin::Order(_, 0), None) => true,
            (Origin::Order(number, at), Some(Origin::Order(first, _))) => {
                number == first && usize::from(at) == self.begun.len()
            }
            _ => false,
        };
        if !continues {
            self.flush();
            if let Origin::Order(_, 0) = byte.origin {
                self.begun.push(byte);
            } else if let Some(sink) = &mut self.sink {
                sink.add(byte);
            }
            return None;
        }
        self.begun.push(byte);
        if self.begun.len() < ORDER {
            return None;
        }
        let values: Vec<u8> = self.begun.drain(..).map(|byte| byte.value).collect();
        let order = OrderTruth::read(&values)?;
        if !order.is_source {
            self.obey(&order, most_bytes);
        }
        Some(order)
    }

    /// The rest of an order does not come: what came of it is stream.
    pub fn flush(&mut self) {
        for byte in self.begun.drain(..) {
            if let Some(sink) = &mut self.sink {
                sink.add(byte);
            }
        }
    }

    fn obey(&mut self, order: &OrderTruth, most_bytes: u32) {
        if order.ends {
            if let Some(sink) = self.sink.take() {
                self.last = sink;
            }
        } else if order.transfer_bytes <= most_bytes && self.started != Some(order.sequence) {
            self.started = Some(order.sequence);
            self.last = Counts::default();
            self.sink = Some(Counts::default());
        }
    }

    /// True while a sink flows.
    pub fn flows(&self) -> bool {
        self.sink.is_some()
    }
}
