//! The matrix: every protocol and size x transport x connect x schedule x depth x shape of the link x fault.

use crate::random::Random;
use crate::scenario::{Cell, Devices, Faults, MS, Protocols, Scenario, Shape, US};
use wiregauge_record::Limit;

const PROTOCOLS: [(Protocols, u32, u32); 7] = [
    (Protocols::Exchange, 17, 300),
    (Protocols::Echo, 1, 1),
    (Protocols::Echo, 3, 3),
    (Protocols::Echo, 4, 4),
    (Protocols::Echo, 64, 64),
    (Protocols::Echo, 1500, 1500),
    (Protocols::Lines, 12, 12),
];

/// Depth, and whether each exchange has a link of its own.
const DEPTHS: [(u32, bool); 5] = [
    (1, true),
    (1, false),
    (2, false),
    (16, false),
    (1024, false),
];

/// Interval, duration, warm-up.
const SCHEDULES: [(Option<u64>, Option<u64>, u64); 5] = [
    (None, None, 0),
    (Some(100 * US), None, 0),
    (None, Some(100 * US), 0),
    (Some(30 * US), Some(MS), 3),
    // Proofs of address are renewed more than once between two exchanges.
    (Some(91_000 * MS), None, 0),
];

/// Rooms, pieces, time on the way.
const SHAPES: [(u64, u64, u64); 4] = [
    (1 << 20, 1 << 20, 20 * US),
    (1, 1, 1),
    (7, 61, 3 * US),
    (512, 509, 300 * US),
];

const FAULTS: usize = 22;

/// Bytes or messages that move in one scenario, about.
const MOVES: u64 = 800;

/// How many scenarios the matrix has.
pub const MATRIX: u64 =
    (PROTOCOLS.len() * 2 * DEPTHS.len() * SCHEDULES.len() * SHAPES.len() * FAULTS) as u64;

/// One of them.
pub fn matrix(index: u64) -> Scenario {
    let mut rest = index as usize;
    let mut choose = |count: usize| {
        let chosen = rest % count;
        rest /= count;
        chosen
    };
    let fault = choose(FAULTS);
    let (mut room, mut piece, delay_ns) = SHAPES[choose(SHAPES.len())];
    let (interval_ns, duration, warmup) = SCHEDULES[choose(SCHEDULES.len())];
    let (depth, connect_each) = DEPTHS[choose(DEPTHS.len())];
    let datagram = choose(2) == 1;
    let (protocol, out_bytes, in_bytes) = PROTOCOLS[choose(PROTOCOLS.len())];
    let cell = Cell {
        out_bytes,
        in_bytes,
        depth,
    };
    let size = u64::from(out_bytes.max(in_bytes));
    if duration.is_some() && depth > 16 && !datagram {
        // All of them are made ready at once, so that all must move.
        (room, piece) = (room.max(size / 2), piece.max(2 * size));
    }
    let moves = if datagram { 1 } else { (size / piece).max(1) };
    let most = (MOVES / moves).clamp(2, 40 + u64::from(depth.min(128)));
    let timeout_ns = 2 * MS;
    let timed = duration.map(|duration| duration.min(most * interval_ns.unwrap_or(30 * US)));
    let mut scenario = Scenario {
        connect_each,
        datagram,
        limit: timed.map_or(Limit::Count(most), Limit::DurationNs),
        interval_ns,
        warmup,
        timeout_ns,
        give_up: 3,
        batch: (depth as usize / 8).max(1),
        shape: Shape {
            send_room: room,
            receive_room: room,
            piece_up: piece,
            piece_down: piece,
            piece_read: piece,
            delay_ns: delay_ns.max(u64::from(duration.is_some()) * US),
            jitter_ns: delay_ns / 3,
            connect_ns: 10 * US,
        },
        ..Scenario::plain(index, protocol, cell)
    };
    set_fault(&mut scenario, fault);
    scenario
}

fn set_fault(scenario: &mut Scenario, fault: usize) {
    let mut random = Random::new(scenario.seed);
    let at = Some(random.below(3 * MS));
    let byte = (100_000 / scenario.largest() as u32).max(100);
    let often = 60_000;
    let (datagram, protocol) = (scenario.datagram, scenario.protocol);
    scenario.faults = Faults {
        stall_ns: 3 * MS,
        oversleep_ns: 500 * US,
        late_ns: 5 * MS,
        ..Faults::default()
    };
    let faults = &mut scenario.faults;
    match fault {
        0 => {}
        1 => faults.flip_up = byte,
        2 => faults.flip_down = byte,
        3 => faults.idle_call = 300_000,
        4 => faults.break_link = often / 6,
        5 => faults.stall = often,
        6 => faults.oversleep = 300_000,
        7 => faults.drop_answer = often,
        8 if protocol != Protocols::Lines => faults.double_answer = often,
        9 => faults.swap_answer = 2 * often,
        10 => faults.late_answer = often,
        11 => {
            faults.restart_at = at;
            // UNPROVEN is not larger than the request.
            let cell = &mut scenario.cells[0];
            if datagram && protocol == Protocols::Exchange {
                cell.out_bytes = 64;
            }
        }
        12 => faults.silent_from = at,
        13 => faults.blocked_from = at,
        14 => faults.stop_at = at,
        15 if scenario.connect_each => faults.refuse = 3 * often,
        15 | 16 if !datagram => faults.cut_down = byte,
        15 | 16 => faults.lose = often,
        17 if !datagram => faults.cut_up = byte,
        18 if !datagram => faults.insert_down = byte,
        19 if !datagram => faults.insert_up = byte,
        17..20 if protocol != Protocols::Lines => faults.duplicate = often,
        20 if scenario.can_have_surplus() => scenario.faults.surplus = 2,
        _ => {
            scenario.device = Devices::Hostile;
            // It can interfere with a proof of address, too.
            if datagram && protocol == Protocols::Exchange {
                scenario.faults.restart_at = Some(50 * US);
                scenario.cells[0].out_bytes = 64;
            }
            scenario.interval_ns = scenario.interval_ns.map(|every| every.min(MS));
        }
    }
}
