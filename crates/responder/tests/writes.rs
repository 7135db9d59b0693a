//! Writes of a few bytes on Stoffregen's board and hosts: what the model predicts for each size, beside the figure
//! that was published of 1 B. A table of docs/models.md is made here.

use crate::models::hold_table;
use crate::virtual_host::{Work, run};
use std::fmt::Write;
use wiregauge_responder::bus::{Direction, Profile, Writes};

const SIZES: [u64; 8] = [1, 2, 3, 4, 8, 16, 32, 64];

/// kB/s of writes of so many bytes, of a program that is always faster than its system.
fn bytes_s(name: &str, bytes: u64) -> f64 {
    let profile = Profile::find(name).expect("a profile");
    let (transfer, queue) = match profile.bus.host.writes {
        Writes::Each(most) => (bytes, most as usize),
        Writes::Gathered => (4096, 1),
        Writes::AsGiven => panic!("{name} states how writes are handed on"),
    };
    let work = Work::stream(Direction::Out, transfer, queue);
    let seen = run(profile.bus, profile.device, 1, work, 1000);
    transfer as f64 / seen[0].period_ns() * 1e6
}

const HOSTS: [(&str, f64); 3] = [
    ("stoffregen-linux", 53.0),
    ("stoffregen-windows", 4.0),
    ("stoffregen-mac", 860.0),
];

#[test]
fn the_tables_of_small_writes_are_those_of_the_model() {
    let mut text = String::from(
        "| write, B | Linux: published | model, kB/s | Windows: published | model, kB/s | Mac OS X: published | model, kB/s |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for bytes in SIZES {
        write!(text, "| {bytes} |").expect("a string takes it");
        for (name, published) in HOSTS {
            let published = match bytes {
                1 => format!("{published}"),
                _ => "-".into(),
            };
            write!(text, " {published} | {:.1} |", bytes_s(name, bytes))
                .expect("a string takes it");
        }
        text.push('\n');
    }
    hold_table("writes", &text);
}

#[test]
fn a_host_that_makes_a_packet_of_each_write_gains_with_its_size_and_one_that_gathers_does_not() {
    for (name, most) in [("stoffregen-linux", 16.0), ("stoffregen-windows", 64.0)] {
        let rates = SIZES.map(|bytes| bytes_s(name, bytes));
        assert!(rates.is_sorted(), "{name}: {rates:?}");
        let gain = rates[7] / rates[0];
        // Linux: the bytes themselves become what takes the time. Windows: each write waits its two microframes.
        assert!((0.9 * most..=1.1 * most).contains(&gain), "{name}: {gain}");
    }
    let gathered = bytes_s("stoffregen-mac", 1) / bytes_s("stoffregen-linux", 1);
    assert!((16.0..17.0).contains(&gathered), "{gathered}");
}
