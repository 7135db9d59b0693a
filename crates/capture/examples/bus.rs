//! Writes a capture of a modelled bus to standard output: `bus host|device|bus SEED > FILE.pcapng`. What was counted while it was
//! made goes to standard error, as a line of JSON. verify/bus_captures.py compares it with what tshark counts.

#[path = "../tests/made.rs"]
mod made;

use made::{Limit, bus};
use std::io::Write;

fn main() -> std::io::Result<()> {
    let mut words = std::env::args().skip(1);
    let limit = match words.next().as_deref() {
        Some("host") => Limit::Host,
        Some("device") => Limit::Device,
        Some("bus") => Limit::Bus,
        _ => {
            eprintln!("usage: bus host|device|bus SEED > FILE.pcapng");
            std::process::exit(2);
        }
    };
    let seed = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
    let made = bus(limit, seed);
    let truth = &made.truth;
    eprintln!(
        "{{\"speed\": \"{:?}\", \"device\": {}, \"endpoint\": {}, \"max_packet\": {}, \"packets\": {}, \"naks\": {}, \"bytes\": {}}}",
        made.speed,
        made.address,
        made.endpoint,
        made.max_packet,
        truth.all_packets,
        truth.naks,
        truth.bytes
    );
    std::io::stdout().write_all(&made.file)
}
