//! What happens in a simulated stream: the point, the link, and what goes wrong.

use crate::random::Random;
use crate::scenario::{MS, US};
use wiregauge_record::Direction;

const S: u64 = 1_000 * MS;

/// What goes wrong. Chances are parts in a million.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamFaults {
    /// A datagram is lost.
    pub lose: u32,
    /// A datagram arrives twice.
    pub duplicate: u32,
    /// A bit of a byte changes on its way to the device.
    pub flip_up: u32,
    /// ... to the host.
    pub flip_down: u32,
    /// A byte is lost on its way to the device.
    pub cut_up: u32,
    /// ... to the host.
    pub cut_down: u32,
    /// Nothing of this hits orders and answers.
    pub spares_frames: bool,
    /// An order is lost as a whole.
    pub drop_order: u32,
    /// An answer is lost as a whole.
    pub drop_answer: u32,
    /// An answer of another kind with the number of an order comes.
    pub forge: u32,
    /// The device neither takes nor gives anything for a while.
    pub stall: u32,
    /// How long.
    pub stall_ns: u64,
    /// A transfer ends in a stall of the endpoint.
    pub stall_transfer: u32,
    /// The host wakes up late by this at most.
    pub oversleep_ns: u64,
    /// The device forgets everything.
    pub reset_at: Option<u64>,
    /// The device neither takes nor gives anything any more.
    pub silent_from: Option<u64>,
    /// What the device sends is lost.
    pub mute_from: Option<u64>,
    /// A byte that belongs to nothing comes so often.
    pub chatter_every: Option<u64>,
    /// The system reports an error of the link.
    pub break_at: Option<u64>,
    /// The user wants an end.
    pub stop_at: Option<u64>,
}

/// A simulated stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streaming {
    /// Of all chance in it.
    pub seed: u64,
    /// Which streams flow.
    pub direction: Direction,
    /// Each transfer is one message.
    pub datagram: bool,
    /// The receiver compares every byte.
    pub check: bool,
    /// Bytes of a transfer.
    pub transfer_bytes: u32,
    /// Transfers pending at once.
    pub queue: usize,
    /// The timeout.
    pub timeout_ns: u64,
    /// How long the stream lasts.
    pub lasts_ns: u64,
    /// A program's stream: it ends after so many bytes instead.
    pub bytes: Option<u64>,
    /// Number of the first order.
    pub sequence: u32,
    /// Bytes, or datagrams, that the system holds on their way to the device, and to the host.
    pub room: (usize, usize),
    /// Bytes that move at once at most.
    pub piece: usize,
    /// Time between two moves.
    pub step_ns: u64,
    /// How long a datagram is under way, and how much longer at most.
    pub delay_ns: (u64, u64),
    /// What goes wrong.
    pub faults: StreamFaults,
}

impl Streaming {
    /// One in which nothing goes wrong.
    pub fn plain(seed: u64, direction: Direction, datagram: bool) -> Streaming {
        Streaming {
            seed,
            direction,
            datagram,
            check: true,
            transfer_bytes: 100,
            queue: 1,
            timeout_ns: S,
            lasts_ns: 50 * MS,
            bytes: None,
            sequence: 1,
            room: if datagram { (2, 8) } else { (200, 500) },
            piece: 200,
            step_ns: MS,
            delay_ns: (100 * US, 0),
            faults: StreamFaults::default(),
        }
    }

    /// What this seed stands for.
    pub fn random(seed: u64) -> Streaming {
        let mut random = Random::new(seed ^ 0x0057_2EA3);
        let random = &mut random;
        let directions = [Direction::In, Direction::Out, Direction::Both];
        let datagram = random.chance(400_000);
        let mut streaming = Streaming::plain(seed, random.pick(&directions), datagram);
        streaming.check = random.chance(700_000);
        streaming.transfer_bytes = match random.below(40) {
            0 => 5000,
            1 => random.pick(&[1, 2, 7]),
            _ => random.pick(&[16, 61, 64, 100, 333, 512, 1000]),
        };
        streaming.queue = random.pick(&[1, 1, 2, 3, 8]);
        streaming.timeout_ns = random.pick(&[150 * MS, 300 * MS, S, 5 * S]);
        streaming.lasts_ns = random.pick(&[0, MS, 50 * MS, 50 * MS, 300 * MS, S, 5 * S, 13 * S]);
        streaming.sequence = random.pick(&[0, 7, u32::MAX, u32::MAX - 1, u32::MAX - 2]);
        streaming.room = match datagram {
            true => (random.pick(&[1, 3, 20]), random.pick(&[4, 20, 1000])),
            false => (
                random.pick(&[1, 31, 200, 3000]),
                random.pick(&[1, 31, 200, 3000]),
            ),
        };
        streaming.piece = random.pick(&[1, 7, 33, 200, 1000]);
        // A bounded number of moves, whatever the duration.
        let moves = random.between(10, 150);
        streaming.step_ns = (streaming.lasts_ns / moves).max(20 * US);
        streaming.delay_ns = (
            random.pick(&[0, 50 * US, 2 * MS]),
            random.pick(&[0, 0, US, 3 * streaming.step_ns]),
        );
        if streaming.direction != Direction::Both && random.chance(300_000) {
            let most = u64::from(streaming.transfer_bytes) * 30;
            streaming.bytes = Some(random.below(most.min(streaming.piece as u64 * 100)));
            streaming.check = false;
            streaming.lasts_ns = u64::MAX;
        }
        streaming.faults = streaming.random_faults(random);
        if streaming.faults != StreamFaults::default() {
            // An order that is lost is missed late, and a source goes on until then.
            let backlog = match (datagram, streaming.direction) {
                (false, Direction::Both) => 30 * S,
                _ => 0,
            };
            let late = streaming.timeout_ns + backlog;
            streaming.step_ns = streaming.step_ns.max(late / 2_000);
        }
        streaming
    }

    fn random_faults(&self, random: &mut Random) -> StreamFaults {
        let mut faults = StreamFaults {
            spares_frames: random.chance(700_000),
            stall_ns: random.pick(&[MS, 50 * MS, self.timeout_ns + self.timeout_ns / 3]),
            ..StreamFaults::default()
        };
        let lasts = self.lasts_ns.min(S);
        for _ in 0..random.pick(&[0, 1, 1, 2, 3]) {
            let often = random.pick(&[10_000, 100_000, 500_000]);
            let of_bytes = random.pick(&[200, 2_000, 20_000]);
            let some_time = random.below(lasts + lasts / 3 + 10 * MS);
            match random.below(20) {
                0 if self.datagram => faults.lose = often,
                1 if self.datagram => faults.duplicate = often,
                2 => faults.flip_up = of_bytes,
                3 => faults.flip_down = of_bytes,
                4 => faults.cut_up = of_bytes,
                5 => faults.cut_down = of_bytes,
                6 => faults.drop_order = often,
                7 => faults.drop_answer = often,
                8 => faults.forge = often,
                9 | 10 => faults.stall = often / 10,
                11 => faults.stall_transfer = often / 10,
                12 | 13 => faults.oversleep_ns = random.pick(&[MS, 60 * MS]),
                14 => faults.reset_at = Some(some_time),
                15 => faults.silent_from = Some(some_time),
                16 => faults.mute_from = Some(some_time),
                17 => faults.chatter_every = Some(random.pick(&[5 * MS, 90 * MS])),
                18 => faults.break_at = Some(some_time),
                _ => faults.stop_at = Some(some_time),
            }
        }
        faults
    }

    /// Scenarios with one thing less.
    pub(super) fn smaller(&self) -> Vec<Streaming> {
        let none = StreamFaults {
            spares_frames: true,
            ..StreamFaults::default()
        };
        let mut all = Vec::new();
        let mut with = |change: &dyn Fn(&mut Streaming)| {
            let mut changed = self.clone();
            change(&mut changed);
            all.push(changed);
        };
        with(&|s| s.faults = none);
        for fault in FAULTS {
            with(&|s| fault(&mut s.faults));
        }
        with(&|s| s.queue = 1);
        with(&|s| s.sequence = 7);
        with(&|s| s.piece = 1000);
        with(&|s| s.room = (3000, 3000));
        with(&|s| s.delay_ns = (0, 0));
        with(&|s| s.bytes = s.bytes.map(|bytes| bytes / 2));
        if self.direction == Direction::Both {
            with(&|s| s.direction = Direction::In);
            with(&|s| s.direction = Direction::Out);
        }
        if self.bytes.is_none() {
            with(&|s| s.lasts_ns /= 2);
        }
        all
    }
}

const FAULTS: [fn(&mut StreamFaults); 19] = [
    |faults| faults.lose = 0,
    |faults| faults.duplicate = 0,
    |faults| faults.flip_up = 0,
    |faults| faults.flip_down = 0,
    |faults| faults.cut_up = 0,
    |faults| faults.cut_down = 0,
    |faults| faults.spares_frames = true,
    |faults| faults.drop_order = 0,
    |faults| faults.drop_answer = 0,
    |faults| faults.forge = 0,
    |faults| faults.stall = 0,
    |faults| faults.stall_transfer = 0,
    |faults| faults.oversleep_ns = 0,
    |faults| faults.reset_at = None,
    |faults| faults.silent_from = None,
    |faults| faults.mute_from = None,
    |faults| faults.chatter_every = None,
    |faults| faults.break_at = None,
    |faults| faults.stop_at = None,
];
