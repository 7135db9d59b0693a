//! One scenario: what is measured, over which link, with which faults. Everything that happens in it follows
//! from this and from its seed.

use crate::random::Random;
use wiregauge_record::{
    Connect, HostPlan, Limit, LinkOptions, Plan, Point, Protocol, Schedule, Wait,
};

/// One microsecond.
pub const US: u64 = 1_000;
/// One millisecond.
pub const MS: u64 = 1_000_000;

/// What both ends say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocols {
    /// EXCHANGE frames of docs/protocol.md.
    Exchange,
    /// Bytes come back.
    Echo,
    /// Lines of text.
    Lines,
    /// Queries in turn; a line ends a reply, and those to every second query are not the expected ones.
    Text,
    /// The same queries; silence ends a reply.
    Silence,
    /// Modbus over TCP; every second query is answered with an exception.
    Tcp,
    /// The same on a serial line.
    Rtu,
}

/// Which device answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Devices {
    /// The simulator's own.
    Plain,
    /// It answers with random bytes, with frames of forged lengths and numbers, and without being asked.
    Hostile,
    /// It sends some MiB without being asked.
    Flooding,
}

/// Bytes that may come without an answer: 4 MiB, and sixteen answers to each request that may be outstanding.
pub fn most_unanswered(answer_bytes: u64, depth: u64) -> u64 {
    (4 << 20) + 16 * answer_bytes * depth
}

/// One point of the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Bytes of a request.
    pub out_bytes: u32,
    /// Bytes of an answer.
    pub in_bytes: u32,
    /// Requests outstanding.
    pub depth: u32,
}

/// The way between host and device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes that the system takes of the host before the device takes them (datagrams: messages).
    pub send_room: u64,
    /// Bytes that wait for the host to receive them (datagrams: messages).
    pub receive_room: u64,
    /// Bytes that move to the device at once, at most.
    pub piece_up: u64,
    /// Bytes that move to the host at once, at most.
    pub piece_down: u64,
    /// Bytes that one receive call gives, at most.
    pub piece_read: u64,
    /// Shortest time of a piece on its way.
    pub delay_ns: u64,
    /// And up to so much more.
    pub jitter_ns: u64,
    /// Time to open the link, at most.
    pub connect_ns: u64,
}

/// What goes wrong; chances are in parts per million.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A datagram is lost.
    pub lose: u32,
    /// A datagram comes twice.
    pub duplicate: u32,
    /// A bit of a byte to the device changes.
    pub flip_up: u32,
    /// A bit of a byte to the host changes.
    pub flip_down: u32,
    /// A byte to the device is lost.
    pub cut_up: u32,
    /// A byte to the host is lost.
    pub cut_down: u32,
    /// A byte to the device is added.
    pub insert_up: u32,
    /// A byte to the host is added.
    pub insert_down: u32,
    /// A call does nothing (EAGAIN, EINTR).
    pub idle_call: u32,
    /// A connect is refused.
    pub refuse: u32,
    /// The link breaks while a piece moves.
    pub break_link: u32,
    /// The device does nothing for a while.
    pub stall: u32,
    /// Length of that while.
    pub stall_ns: u64,
    /// The host wakes up late.
    pub oversleep: u32,
    /// By so much at most.
    pub oversleep_ns: u64,
    /// The device drops an answer.
    pub drop_answer: u32,
    /// The device answers twice.
    pub double_answer: u32,
    /// The device holds an answer back until later ones have gone out.
    pub swap_answer: u32,
    /// The device holds an answer back for a time.
    pub late_answer: u32,
    /// That time at most.
    pub late_ns: u64,
    /// An answer comes in pieces (byte streams).
    pub pause: u32,
    /// Time between two pieces at most.
    pub pause_ns: u64,
    /// The device sends a message that nobody asked for, some time after an answer (and perhaps before the first).
    pub unasked: u32,
    /// That time at most.
    pub unasked_ns: u64,
    /// A datagram loses its end.
    pub shorten: u32,
    /// The device works so long on each answer, on one after the other.
    pub service_ns: u64,
    /// Every Nth answer takes `stall_ns` more; 0: none does.
    pub stall_every: u64,
    /// The device sends this many bytes behind each answer, always the same.
    pub surplus: u32,
    /// The device starts anew and forgets everything; at this time.
    pub restart_at: Option<u64>,
    /// The device never answers again from this time on.
    pub silent_from: Option<u64>,
    /// The device takes nothing any more from this time on.
    pub blocked_from: Option<u64>,
    /// The user asks to stop at this time.
    pub stop_at: Option<u64>,
}

/// One scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Where all chance in it comes from.
    pub seed: u64,
    /// What both ends say.
    pub protocol: Protocols,
    /// Who answers.
    pub device: Devices,
    /// Messages that arrive whole or not at all.
    pub datagram: bool,
    /// A link for each exchange.
    pub connect_each: bool,
    /// Points measured one after the other over the same link.
    pub cells: Vec<Cell>,
    /// Number on the wire of the first exchange of the first point.
    pub base: u64,
    /// When a point is over.
    pub limit: Limit,
    /// Time from start to start.
    pub interval_ns: Option<u64>,
    /// Exchanges before the measured ones.
    pub warmup: u64,
    /// When an exchange is lost.
    pub timeout_ns: u64,
    /// Losses in a row at which the link has failed.
    pub give_up: u32,
    /// Requests in one send.
    pub batch: usize,
    /// A trial chooses that instead, in which each slot times so many exchanges for each request outstanding.
    pub trial: Option<u64>,
    /// Silence that ends a reply, or that comes before each request.
    pub silence_ns: u64,
    /// The link.
    pub shape: Shape,
    /// What goes wrong.
    pub faults: Faults,
}

impl Scenario {
    /// One point, as fast as possible, over a good link.
    pub fn plain(seed: u64, protocol: Protocols, cell: Cell) -> Scenario {
        Scenario {
            seed,
            protocol,
            device: Devices::Plain,
            datagram: false,
            connect_each: false,
            cells: vec![cell],
            base: 1_000,
            limit: Limit::Count(20),
            interval_ns: None,
            warmup: 0,
            timeout_ns: 50 * MS,
            give_up: 10,
            batch: 8,
            trial: None,
            silence_ns: 0,
            shape: Shape {
                send_room: 1 << 16,
                receive_room: 1 << 16,
                piece_up: 1 << 16,
                piece_down: 1 << 16,
                piece_read: 1 << 20,
                delay_ns: 10 * US,
                jitter_ns: 10 * US,
                connect_ns: 100 * US,
            },
            faults: Faults::default(),
        }
    }

    /// What this seed stands for.
    pub fn random(seed: u64) -> Scenario {
        let mut random = Random::new(seed);
        let random = &mut random;
        let protocol = random.pick(&[
            Protocols::Exchange,
            Protocols::Exchange,
            Protocols::Echo,
            Protocols::Echo,
            Protocols::Lines,
        ]);
        let connect_each = random.chance(200_000);
        let cell = cell(random, protocol, connect_each);
        let mut scenario = Scenario::plain(seed, protocol, cell);
        scenario.datagram = random.chance(350_000);
        scenario.connect_each = connect_each;
        scenario.base = base(random);
        for _ in 0..random.pick(&[0, 0, 0, 0, 0, 0, 1, 2]) {
            let cell = self::cell(random, protocol, connect_each);
            scenario.cells.push(cell);
        }
        scenario.timeout_ns = random.pick(&[MS, 5 * MS, 20 * MS, 100 * MS, 1000 * MS]);
        scenario.give_up = random.pick(&[1, 2, 3, 10, 100]);
        let deepest = scenario.deepest();
        scenario.batch = random.pick(&[1, 2, 8, deepest.max(1) as usize]);
        scenario.shape = shape(random, &scenario);
        // Most are short, so that more of them are run; a bounded number of bytes, so that each ends soon.
        let (longest, budget, turns) = match random.chance(30_000) {
            true => (300, 200_000, 1_000),
            false => (16, 4_000, 20),
        };
        let bytes = scenario.largest() * scenario.pieces_of(scenario.largest());
        let most = (budget / bytes.max(1)).clamp(2, longest);
        scenario.limit = match random.chance(250_000) {
            true => Limit::DurationNs(random.between(1, 40) * scenario.shape.delay_ns.max(10 * US)),
            false => Limit::Count(random.between(1, most) + deepest.min(most)),
        };
        if matches!(scenario.limit, Limit::DurationNs(_)) {
            if deepest > 16 {
                // All are made ready at once, so that all must move.
                let (shape, size) = (&mut scenario.shape, scenario.cells[0].out_bytes.into());
                shape.send_room = shape.send_room.max(size);
                shape.receive_room = shape.receive_room.max(size);
                shape.piece_up = shape.piece_up.max(size);
                shape.piece_down = shape.piece_down.max(size);
                shape.piece_read = shape.piece_read.max(size);
            }
            // Where nothing takes time, a duration is never over.
            scenario.shape.delay_ns = scenario.shape.delay_ns.max(US);
        }
        scenario.warmup = random.pick(&[0, 0, 1, 3, 10]);
        if random.chance(350_000) {
            scenario.interval_ns =
                Some(random.pick(&[1, 7 * US, 50 * US, 300 * US, 3 * MS, 40 * MS, 200 * MS]));
        }
        if protocol == Protocols::Exchange && scenario.datagram && random.chance(100_000) {
            // So long that the proof of address would expire.
            scenario.interval_ns = Some(random.pick(&[29, 31, 61, 100]) * 1_000 * MS);
            scenario.limit = Limit::Count(random.between(1, 10));
        }
        if let (Limit::DurationNs(duration), None) = (scenario.limit, scenario.interval_ns) {
            let turn = 2 * scenario.shape.delay_ns;
            scenario.limit = Limit::DurationNs(duration.min(turn * (1 + turns / deepest)));
        }
        if let (Limit::DurationNs(duration), Some(every)) = (scenario.limit, scenario.interval_ns) {
            let most = every.saturating_mul(most);
            scenario.limit = Limit::DurationNs(duration.min(most).max(every));
        }
        if random.chance(30_000) {
            scenario.device = Devices::Hostile;
            // It never stops: neither may the scenario take for ever.
            scenario.give_up = scenario.give_up.min(10);
            scenario.shape.receive_room = scenario.shape.receive_room.max(64);
            scenario.shape.piece_down = scenario.shape.piece_down.max(64);
            scenario.interval_ns = scenario.interval_ns.map(|every| every.min(3 * MS));
        }
        scenario.faults = faults(random, &scenario);
        let is_hostile = scenario.device == Devices::Hostile;
        if protocol == Protocols::Exchange
            && scenario.datagram
            && (is_hostile || random.chance(150_000))
        {
            // The address must be proved while exchanges are under way and datagrams get lost. UNPROVEN is not
            // larger than the request.
            for cell in &mut scenario.cells {
                (cell.out_bytes, cell.in_bytes) = (64, cell.in_bytes.max(300));
            }
            scenario.faults.restart_at = Some(random.below(20 * scenario.shape.delay_ns + 10 * US));
            scenario.faults.lose = random.pick(&[20_000, 300_000, 500_000]);
            scenario.faults.idle_call = random.pick(&[0, 500_000]);
            let breaks = if connect_each { 200_000 } else { 10_000 };
            scenario.faults.break_link = random.pick(&[0, breaks]);
        }
        let once = !scenario.datagram && !connect_each && scenario.interval_ns.is_none();
        if once && deepest * bytes < 2_000 && random.chance(300_000) {
            scenario.trial = Some(random.pick(&[1, 2]));
        }
        if protocol == Protocols::Lines && matches!(scenario.limit, Limit::DurationNs(_)) {
            // What comes twice is taken for the next answer, and is sent twice again: time would stand still.
            scenario.faults.duplicate = 0;
            scenario.faults.double_answer = 0;
        }
        if protocol == Protocols::Echo && scenario.faults.double_answer > 0 {
            // The beginning of a second echo would be taken for what stands behind each.
            scenario.faults.pause = 0;
        }
        if random.chance(3_000) {
            scenario.flood(random);
        }
        if scenario.can_have_surplus() && random.chance(250_000) {
            scenario.faults.surplus = random.pick(&[1, 2, 2, 3, 15, 16, 17]);
            // Behind 2^32 exchanges any 4 bytes look like an echo to an earlier point.
            scenario.base = 1_000;
        }
        scenario
    }

    /// True if its device knows where an echo ends, so that it can send something behind it.
    pub fn can_have_surplus(&self) -> bool {
        self.protocol == Protocols::Echo && !self.datagram && self.cells.len() == 1
    }

    /// A device that sends some MiB, over a link that lets them pass soon.
    fn flood(&mut self, random: &mut Random) {
        self.device = Devices::Flooding;
        self.cells.truncate(1);
        let cell = &mut self.cells[0];
        cell.depth = cell.depth.min(16);
        if self.protocol == Protocols::Exchange {
            cell.in_bytes = random.pick(&[cell.in_bytes, 1500]);
        }
        self.limit = Limit::Count(random.between(1, 30));
        self.timeout_ns = random.pick(&[200 * MS, 1000 * MS]);
        self.interval_ns = random.pick(&[None, Some(100 * US), Some(3 * MS)]);
        self.shape = Shape {
            receive_room: random.pick(&[1 << 16, 1 << 20]),
            piece_down: random.pick(&[1 << 16, 1 << 20]),
            piece_read: random.pick(&[30_000, 1 << 16, 1 << 20]),
            delay_ns: random.pick(&[US, US, 50 * US]),
            jitter_ns: US,
            ..Scenario::plain(0, self.protocol, self.cells[0]).shape
        };
        self.faults = Faults {
            silent_from: random.pick(&[None, Some(0)]),
            ..Faults::default()
        };
    }

    /// The largest depth.
    pub fn deepest(&self) -> u64 {
        let depths = self.cells.iter().map(|cell| u64::from(cell.depth));
        depths.max().unwrap_or(1)
    }

    /// Bytes of the largest message.
    pub fn largest(&self) -> u64 {
        let sizes = self
            .cells
            .iter()
            .map(|cell| cell.out_bytes.max(cell.in_bytes));
        u64::from(sizes.max().unwrap_or(1))
    }

    fn pieces_of(&self, bytes: u64) -> u64 {
        let smallest = self.shape.piece_up.min(self.shape.piece_down);
        let smallest = smallest
            .min(self.shape.piece_read)
            .min(self.shape.send_room);
        let smallest = smallest.min(self.shape.receive_room);
        match self.datagram {
            true => 1,
            false => (bytes / smallest.max(1) / 16).max(1),
        }
    }

    /// The plan that the engine gets.
    pub fn plan(&self) -> Plan {
        Plan {
            address: "sim".into(),
            more_links: Vec::new(),
            protocol: match self.protocol {
                Protocols::Exchange => Protocol::Wiregauge,
                _ => Protocol::Echo,
            },
            queries: None,
            connect: match self.connect_each {
                true => Connect::Each,
                false => Connect::Once,
            },
            points: (0..self.cells.len())
                .map(|index| self.point(index))
                .collect(),
            limit: self.limit,
            warmup: self.warmup,
            schedule: match self.interval_ns {
                Some(every) => Schedule::EveryNs(every),
                None => Schedule::AsFastAsPossible,
            },
            timeout_ns: self.timeout_ns,
            give_up: self.give_up,
            wait: Wait::Block,
            below_ns: Vec::new(),
            keep_data: false,
            batch: None,
            calibrate: false,
            host: HostPlan::default(),
            link: LinkOptions::default(),
        }
    }

    /// One point of that plan.
    pub fn point(&self, index: usize) -> Point {
        let cell = self.cells[index];
        Point {
            index: index as u32,
            out_bytes: cell.out_bytes,
            in_bytes: cell.in_bytes,
            depth: cell.depth,
            link: 0,
            together: false,
        }
    }
}

/// The first number on the wire: usual ones, and those near the end of 16 and of 32 bits and beyond.
fn base(random: &mut Random) -> u64 {
    let near = random.below(40);
    random.pick(&[
        0,
        near,
        1_000,
        (1 << 16) - near,
        (1 << 32) - near,
        (1 << 32) + near,
        (7 << 32) - near,
    ])
}

fn cell(random: &mut Random, protocol: Protocols, connect_each: bool) -> Cell {
    let depth = match connect_each {
        true => 1,
        false => random.pick(&[1, 1, 2, 3, 16, 100, 1024]),
    };
    let (out_bytes, in_bytes) = match protocol {
        Protocols::Exchange => (
            random.pick(&[16, 17, 64, 300, 1500]),
            random.pick(&[32, 33, 48, 300, 1500]),
        ),
        Protocols::Echo => {
            let bytes = random.pick(&[1, 2, 3, 4, 5, 8, 64, 251, 1500]);
            (bytes, bytes)
        }
        _ => {
            let bytes = random.pick(&[2, 8, 20, 300]);
            (bytes, bytes)
        }
    };
    Cell {
        out_bytes,
        in_bytes,
        depth,
    }
}

fn shape(random: &mut Random, scenario: &Scenario) -> Shape {
    let largest = scenario.largest();
    // Single bytes only where messages are short, or the scenario takes for ever.
    let sizes = match largest {
        0..64 => [1, 2, 7, 64, 1 << 20],
        64..400 => [7, 61, 64, 512, 1 << 20],
        _ => [61, 512, 513, 4096, 1 << 20],
    };
    let rooms = match scenario.datagram {
        true => [1, 2, 16, 1 << 10, 1 << 20],
        false => sizes,
    };
    Shape {
        send_room: random.pick(&rooms),
        receive_room: random.pick(&rooms),
        piece_up: random.pick(&sizes),
        piece_down: random.pick(&sizes),
        piece_read: random.pick(&sizes),
        delay_ns: random.pick(&[0, 100, US, 50 * US, MS]),
        jitter_ns: random.pick(&[0, 0, US, 20 * US, MS]),
        connect_ns: random.pick(&[0, US, 200 * US]),
    }
}

/// No fault, one, or a few at once.
fn faults(random: &mut Random, scenario: &Scenario) -> Faults {
    // So that an answer comes when the line has long been quiet behind its timeout.
    let long = 3 * scenario.timeout_ns + 100 * MS;
    let mut faults = Faults {
        stall_ns: random.pick(&[US, MS, 2 * scenario.timeout_ns]),
        oversleep_ns: random.pick(&[1, 100, US, MS]),
        late_ns: random.pick(&[US, MS, 2 * scenario.timeout_ns, long]),
        pause_ns: random.pick(&[US, MS, scenario.timeout_ns, long]),
        unasked_ns: random.pick(&[10 * US, MS, scenario.timeout_ns, long]),
        ..Faults::default()
    };
    let count = random.pick(&[0, 1, 1, 2, 3]);
    for _ in 0..count {
        let often = random.pick(&[2_000, 20_000, 100_000, 500_000]);
        let of_bytes = (often / scenario.largest() as u32).max(20);
        let whole_run = scenario.timeout_ns * 3;
        match random.below(24) {
            0 => faults.flip_up = of_bytes,
            1 => faults.flip_down = of_bytes,
            2 => faults.idle_call = often,
            3 => faults.break_link = often / 10,
            4 => faults.stall = often,
            5 => faults.oversleep = often,
            6 => faults.drop_answer = often,
            7 => faults.double_answer = often,
            8 => faults.swap_answer = often,
            9 => faults.late_answer = often,
            10 => faults.restart_at = Some(random.below(whole_run)),
            11 => faults.silent_from = Some(random.below(whole_run)),
            12 => faults.blocked_from = Some(random.below(whole_run)),
            13 => faults.stop_at = Some(random.below(whole_run)),
            14 if scenario.connect_each => faults.refuse = often,
            14 | 16 if !scenario.datagram => faults.cut_down = of_bytes,
            15 if !scenario.datagram => faults.insert_down = of_bytes,
            14..16 if !scenario.datagram => faults.cut_up = of_bytes,
            17 if !scenario.datagram => faults.insert_up = of_bytes,
            14..17 => faults.lose = often,
            17..19 if scenario.datagram => faults.duplicate = often,
            19 if scenario.datagram => faults.shorten = often,
            19..22 if !scenario.datagram => faults.pause = often,
            22 => {
                faults.service_ns = random.pick(&[US, MS, scenario.timeout_ns / 2]);
                faults.stall_every = random.pick(&[0, 2, 5]);
            }
            _ => faults.unasked = often,
        }
    }
    faults
}
