//! What comes while no request is outstanding, or belongs to one of an earlier point, answers no later request.

use wiregauge_record::Limit;
use wiregauge_session::{Framing, LengthField};
use wiregauge_sim::{Calls, Cell, Faults, MS, Program, Protocols, Scenario, run};

/// Those that have no numbers, with bytes of request and reply.
const WITHOUT_NUMBERS: [(Protocols, u32, u32); 7] = [
    (Protocols::Lines, 8, 8),
    (Protocols::Text, 8, 8),
    (Protocols::Silence, 8, 8),
    (Protocols::Rtu, 8, 11),
    (Protocols::Echo, 1, 1),
    (Protocols::Echo, 2, 2),
    (Protocols::Echo, 3, 3),
];

const WITH_NUMBERS: [(Protocols, u32, u32); 5] = [
    (Protocols::Exchange, 16, 32),
    (Protocols::Exchange, 64, 300),
    (Protocols::Echo, 4, 4),
    (Protocols::Echo, 64, 64),
    (Protocols::Tcp, 12, 15),
];

/// Seeds for each kind of scenario.
const SEEDS: u64 = 40;

/// 22 exchanges, five a second, each of which is lost after 50 ms.
fn five_a_second(seed: u64, protocol: Protocols, out_bytes: u32, in_bytes: u32) -> Scenario {
    let cell = Cell {
        out_bytes,
        in_bytes,
        depth: 1,
    };
    Scenario {
        limit: Limit::Count(22),
        interval_ns: Some(200 * MS),
        timeout_ns: 50 * MS,
        silence_ns: 2 * MS,
        ..Scenario::plain(seed, protocol, cell)
    }
}

fn assert_right(scenario: &Scenario) {
    if let Err(fault) = run(scenario, false) {
        let _ = run(scenario, true);
        panic!("{} at {} ns: {scenario:#?}", fault.what, fault.at_ns);
    }
}

/// A device that takes 10 ms for each answer, and 150 ms more for every tenth.
fn stalls_every_tenth(scenario: &mut Scenario) {
    scenario.faults = Faults {
        service_ns: 10 * MS,
        stall_every: 10,
        stall_ns: 150 * MS,
        ..Faults::default()
    };
}

#[test]
fn a_reply_without_a_number_that_comes_late_at_rest_answers_no_later_exchange() {
    for (protocol, out_bytes, in_bytes) in WITHOUT_NUMBERS {
        let mut scenario = five_a_second(1, protocol, out_bytes, in_bytes);
        stalls_every_tenth(&mut scenario);
        assert_right(&scenario);
    }
}

#[test]
fn a_reply_that_comes_late_in_pieces_answers_no_later_exchange() {
    for seed in 0..SEEDS {
        for (protocol, out_bytes, in_bytes) in WITHOUT_NUMBERS {
            let mut scenario = five_a_second(seed, protocol, out_bytes, in_bytes);
            scenario.faults.late_answer = 200_000;
            scenario.faults.late_ns = 400 * MS;
            scenario.faults.pause = 300_000;
            scenario.faults.pause_ns = 40 * MS;
            assert_right(&scenario);
        }
    }
}

#[test]
fn a_message_that_nobody_asked_for_answers_no_exchange_that_begins_later() {
    for seed in 0..SEEDS {
        for (protocol, out_bytes, in_bytes) in WITHOUT_NUMBERS {
            let mut scenario = five_a_second(seed, protocol, out_bytes, in_bytes);
            scenario.faults.unasked = 300_000;
            scenario.faults.unasked_ns = 400 * MS;
            scenario.faults.pause_ns = 30 * MS;
            assert_right(&scenario);
        }
    }
}

#[test]
fn stragglers_of_one_point_answer_no_exchange_of_the_next() {
    for seed in 0..SEEDS {
        for (protocol, out_bytes, in_bytes) in WITHOUT_NUMBERS.into_iter().chain(WITH_NUMBERS) {
            let mut scenario = five_a_second(seed, protocol, out_bytes, in_bytes);
            scenario.limit = Limit::Count(3);
            scenario.interval_ns = [None, Some(20 * MS)][seed as usize % 2];
            scenario.cells = vec![scenario.cells[0]; 4];
            scenario.faults.late_answer = 300_000;
            scenario.faults.late_ns = 300 * MS;
            assert_right(&scenario);
        }
    }
}

#[test]
fn numbers_go_on_behind_the_end_of_16_and_32_bits() {
    for (protocol, out_bytes, in_bytes) in WITH_NUMBERS {
        for base in [0, (1 << 16) - 10, (1 << 32) - 10, 1 << 32, (7 << 32) - 10] {
            let mut scenario = five_a_second(base, protocol, out_bytes, in_bytes);
            scenario.base = base;
            scenario.cells[0].depth = 4;
            scenario.interval_ns = None;
            scenario.faults.late_answer = 200_000;
            scenario.faults.late_ns = 100 * MS;
            assert_right(&scenario);
        }
    }
}

#[test]
fn a_datagram_that_lost_its_end_is_never_right() {
    for seed in 0..SEEDS {
        for (protocol, out_bytes, in_bytes) in WITH_NUMBERS {
            let mut scenario = five_a_second(seed, protocol, out_bytes, in_bytes);
            scenario.datagram = true;
            scenario.faults.shorten = 300_000;
            assert_right(&scenario);
        }
    }
}

#[test]
fn frames_of_other_kinds_answer_no_exchange() {
    for seed in 0..SEEDS {
        let mut scenario = five_a_second(seed, Protocols::Exchange, 16, 300);
        scenario.datagram = seed % 2 == 0;
        scenario.interval_ns = [None, Some(20 * MS)][seed as usize / 2 % 2];
        scenario.cells[0].depth = 4;
        scenario.faults.unasked = 500_000;
        scenario.faults.unasked_ns = MS;
        assert_right(&scenario);
    }
}

#[test]
fn what_comes_while_a_request_waits_for_room_does_not_answer_it() {
    let mut scenario = five_a_second(1, Protocols::Lines, 8, 8);
    // The second request is ready while the first is outstanding, and the system takes it when that has ended.
    scenario.datagram = true;
    scenario.interval_ns = None;
    scenario.cells[0].depth = 2;
    scenario.shape.send_room = 1;
    scenario.shape.jitter_ns = 0;
    scenario.faults.double_answer = 1_000_000;
    assert_right(&scenario);
}

fn framings() -> [Framing; 4] {
    let length = LengthField {
        bytes: 2,
        big_endian: true,
        counts_itself: false,
    };
    let line = Framing::Terminator {
        end: b"\n".to_vec(),
    };
    [
        line,
        Framing::Raw,
        Framing::Fixed { bytes: 20 },
        Framing::LengthPrefix(length),
    ]
}

/// A program of one exchange after the other, each of which is lost after 50 ms.
fn program(seed: u64, framing: Framing, faults: Faults, pauses_ns: u64) -> Program {
    let mut scenario = five_a_second(seed, Protocols::Lines, 20, 20);
    scenario.faults = faults;
    Program {
        scenario,
        framing: Some(framing),
        calls: Calls::Exchange,
        requests: 9,
        depth: 1,
        largest: 20,
        abandons: 0,
        hurries: 0,
        naps: 0,
        pauses_ns,
    }
}

fn assert_program_is_right(program: &Program) {
    if let Err(fault) = program.run(false) {
        let _ = program.run(true);
        panic!("{} at {} ns: {program:#?}", fault.what, fault.at_ns);
    }
}

#[test]
fn a_reply_that_comes_in_the_pause_of_a_program_answers_no_later_query() {
    for framing in framings() {
        let faults = Faults {
            service_ns: MS,
            stall_every: 2,
            stall_ns: 150 * MS,
            ..Faults::default()
        };
        assert_program_is_right(&program(1, framing, faults, 200 * MS));
    }
}

#[test]
fn no_request_of_a_program_is_sent_within_a_message() {
    for seed in 0..SEEDS {
        for framing in framings() {
            let faults = Faults {
                late_answer: 300_000,
                late_ns: 200 * MS,
                pause: 1_000_000,
                pause_ns: 15 * MS,
                ..Faults::default()
            };
            assert_program_is_right(&program(seed, framing, faults, 10 * MS));
        }
    }
}
