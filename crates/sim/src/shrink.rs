//! Makes a failing scenario smaller while it still fails.

use crate::scenario::{Cell, Devices, Faults, Scenario, Shape};
use wiregauge_record::Limit;

/// Scenarios that are tried at most.
const TRIES: usize = 2_000;

/// The smallest scenario found that still fails.
pub fn shrink(scenario: &Scenario, fails: impl Fn(&Scenario) -> bool) -> Scenario {
    let mut smallest = scenario.clone();
    let mut tries = 0;
    loop {
        let smaller = smaller(&smallest).into_iter().find(|smaller| {
            tries += 1;
            tries <= TRIES && *smaller != smallest && fails(smaller)
        });
        match smaller {
            Some(smaller) => smallest = smaller,
            None => return smallest,
        }
    }
}

/// Scenarios with one thing less.
fn smaller(of: &Scenario) -> Vec<Scenario> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Scenario)| {
        let mut changed = of.clone();
        change(&mut changed);
        all.push(changed);
    };
    for index in 0..of.cells.len() {
        if of.cells.len() > 1 {
            with(&|scenario| {
                scenario.cells.remove(index);
            });
        }
    }
    for fault in FAULTS {
        with(&|scenario| fault(&mut scenario.faults));
    }
    with(&|scenario| scenario.device = Devices::Plain);
    with(&|scenario| scenario.base = 1_000);
    with(&|scenario| scenario.warmup = 0);
    with(&|scenario| scenario.interval_ns = None);
    with(&|scenario| scenario.batch = 1);
    with(&|scenario| scenario.trial = None);
    match of.limit {
        Limit::Count(count) => {
            for fewer in [1, count / 8, count / 2, count.saturating_sub(1)] {
                with(&|scenario| scenario.limit = Limit::Count(fewer.max(1)));
            }
        }
        Limit::DurationNs(duration) => {
            with(&|scenario| scenario.limit = Limit::Count(1));
            with(&|scenario| scenario.limit = Limit::DurationNs((duration / 2).max(1)));
        }
    }
    for index in 0..of.cells.len() {
        let depth = of.cells[index].depth;
        for less in [1, 2, depth / 2, depth - 1] {
            let depth = less.clamp(1, depth);
            with(&|scenario| {
                scenario.cells[index] = Cell {
                    depth,
                    ..scenario.cells[index]
                }
            });
        }
    }
    for simpler in SHAPES {
        with(&|scenario| simpler(&mut scenario.shape));
    }
    all
}

const FAULTS: [fn(&mut Faults); 28] = [
    |faults| faults.lose = 0,
    |faults| faults.duplicate = 0,
    |faults| faults.flip_up = 0,
    |faults| faults.flip_down = 0,
    |faults| faults.cut_up = 0,
    |faults| faults.cut_down = 0,
    |faults| faults.insert_up = 0,
    |faults| faults.insert_down = 0,
    |faults| faults.idle_call = 0,
    |faults| faults.refuse = 0,
    |faults| faults.break_link = 0,
    |faults| faults.stall = 0,
    |faults| faults.oversleep = 0,
    |faults| faults.oversleep_ns = 1,
    |faults| faults.drop_answer = 0,
    |faults| faults.double_answer = 0,
    |faults| faults.swap_answer = 0,
    |faults| faults.late_answer = 0,
    |faults| faults.surplus = 0,
    |faults| faults.pause = 0,
    |faults| faults.unasked = 0,
    |faults| faults.shorten = 0,
    |faults| faults.service_ns = 0,
    |faults| faults.stall_every = 0,
    |faults| faults.restart_at = None,
    |faults| faults.silent_from = None,
    |faults| faults.blocked_from = None,
    |faults| faults.stop_at = None,
];

const SHAPES: [fn(&mut Shape); 6] = [
    |shape| shape.jitter_ns = 0,
    |shape| shape.connect_ns = 0,
    |shape| (shape.send_room, shape.receive_room) = (1 << 20, 1 << 20),
    |shape| shape.piece_up = 1 << 20,
    |shape| shape.piece_down = 1 << 20,
    |shape| shape.piece_read = 1 << 20,
];
