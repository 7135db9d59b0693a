//! The matrix of programs: framing x transport x calls and depth x shape of the link x fault.

use super::{Calls, Program};
use crate::scenario::{Cell, Faults, MS, Protocols, Scenario, Shape, US};
use wiregauge_session::{Framing, LengthField};

const FRAMINGS: usize = 5;

/// What is called, and with how many requests outstanding.
const CALLS: [(Calls, u64); 9] = [
    (Calls::Exchange, 1),
    (Calls::ExchangeMany, 1),
    (Calls::ExchangeMany, 2),
    (Calls::ExchangeMany, 16),
    (Calls::ExchangeMany, 1024),
    (Calls::Pipeline, 1),
    (Calls::Pipeline, 2),
    (Calls::Pipeline, 16),
    (Calls::Pipeline, 1024),
];

/// Rooms, pieces, time on the way.
const SHAPES: [(u64, u64, u64); 4] = [
    (1 << 20, 1 << 20, 20 * US),
    (1, 1, 1),
    (7, 61, 3 * US),
    (512, 509, 300 * US),
];

const FAULTS: usize = 16;

/// How many programs the matrix has.
pub const PROGRAM_MATRIX: u64 = (FRAMINGS * 2 * CALLS.len() * SHAPES.len() * FAULTS) as u64;

impl Program {
    /// One of the matrix.
    pub fn of_matrix(index: u64) -> Program {
        let mut rest = index as usize;
        let mut choose = |count: usize| {
            let chosen = rest % count;
            rest /= count;
            chosen
        };
        let fault = choose(FAULTS);
        let (room, piece, delay_ns) = SHAPES[choose(SHAPES.len())];
        let (calls, depth) = CALLS[choose(CALLS.len())];
        let datagram = choose(2) == 1;
        let framing = framing(choose(FRAMINGS));
        // Bytes move one by one.
        let most = if piece == 1 && !datagram { 16 } else { 128 };
        let cell = Cell {
            out_bytes: 64,
            in_bytes: 64,
            depth: 1,
        };
        let mut scenario = Scenario {
            datagram,
            timeout_ns: 2 * MS,
            batch: (depth as usize / 8).max(1),
            shape: Shape {
                send_room: room,
                receive_room: room,
                piece_up: piece,
                piece_down: piece,
                piece_read: piece,
                delay_ns,
                // A foreign line that may overtake itself has no order.
                jitter_ns: if datagram && framing.is_some() {
                    0
                } else {
                    delay_ns / 3
                },
                connect_ns: 0,
            },
            ..Scenario::plain(index, Protocols::Exchange, cell)
        };
        let numbered = framing.is_none();
        scenario.faults = faults(fault, datagram, numbered);
        Program {
            scenario,
            framing,
            calls,
            requests: 10 + depth.min(most),
            depth,
            largest: 40,
            abandons: if fault == 13 { 10_000 } else { 0 },
            hurries: if fault == 14 { 10_000 } else { 0 },
            pauses_ns: 0,
            naps: if fault == 15 { 50_000 } else { 0 },
        }
    }
}

fn framing(number: usize) -> Option<Framing> {
    match number {
        0 => None,
        1 => Some(Framing::Raw),
        2 => Some(Framing::Fixed { bytes: 20 }),
        3 => Some(Framing::Terminator {
            end: b"\r\n".to_vec(),
        }),
        _ => Some(Framing::LengthPrefix(LengthField {
            bytes: 2,
            big_endian: true,
            counts_itself: false,
        })),
    }
}

fn faults(fault: usize, datagram: bool, numbered: bool) -> Faults {
    let (often, byte) = (60_000, 300);
    let mut faults = Faults {
        stall_ns: 3 * MS,
        oversleep_ns: 3 * MS,
        late_ns: 5 * MS,
        ..Faults::default()
    };
    match fault {
        1 => faults.idle_call = 300_000,
        2 => faults.break_link = often / 6,
        3 => faults.stall = often,
        4 => faults.oversleep = 300_000,
        5 => faults.drop_answer = often,
        6 if numbered => faults.double_answer = often,
        7 if numbered => faults.swap_answer = 2 * often,
        8 if numbered => faults.late_answer = often,
        9 => faults.silent_from = Some(MS),
        10 => faults.flip_down = byte,
        11 => faults.flip_up = byte,
        12 if datagram => faults.lose = often,
        12 => faults.cut_down = byte,
        6 if !datagram => faults.cut_up = byte,
        7 if !datagram => faults.insert_down = byte,
        8 => faults.restart_at = Some(MS),
        _ => {}
    }
    faults
}
