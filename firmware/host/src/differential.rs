//! The same bytes to the firmware and to the responder of `wiregauge serve`: the same bytes must come back. Where the
//! protocol leaves a device the choice, it is named here.

use crate::{Responder, Settings, TICKS, waiting};
use wiregauge_link::host::Clock;
use wiregauge_link::limits::Bus;
use wiregauge_record::Protocol;
use wiregauge_responder::{Device, DeviceConfig, Faults, Model};
use wiregauge_wire as wire;
use wiregauge_wire::{Kind, Response};

/// Largest frame in either direction.
pub const MAX_FRAME: u32 = 2048;

/// What completes every frame that has begun, and begins none.
pub const FLUSH: usize = MAX_FRAME as usize + 64;

/// A damaged order may ask for a stream without an end. Behind so many bytes nobody listens any more.
const HEARD: usize = 1 << 15;

/// When the firmware is asked for what it has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Giving {
    /// After each byte, all of it: a source is then asked at the same moments as the other.
    Always,
    /// When it takes no more, and at the end: its back-pressure is put to the test. Not with sources, whose data
    /// depends on when they are asked.
    WhenFull,
}

/// Both responders of the same device.
pub fn settings() -> Settings {
    Settings {
        name: "both",
        max_out: MAX_FRAME,
        max_in: MAX_FRAME,
        max_transfer: MAX_FRAME,
        message_room: MAX_FRAME,
        ..Settings::default()
    }
}

fn reference() -> Device {
    let config = DeviceConfig {
        protocol: Protocol::Wiregauge,
        name: "both".into(),
        max_frame: MAX_FRAME,
        model: Model::default(),
        modbus: wiregauge_record::ModbusLine::Tcp,
        faults: Faults::default(),
        seed: 1,
        plant: None,
    };
    // A device on a bus gets the time, so that its ticks can be predicted.
    Device::on_bus(config, Clock::start(), Bus::FullSpeed)
}

/// What the responder in Rust sends to a host that says `stream` in pieces of these sizes, which go round.
pub fn of_rust(stream: &[u8], pieces: &[usize]) -> Vec<u8> {
    let mut device = reference();
    let mut said = Vec::new();
    let mut held = Vec::new();
    let mut ready = Vec::new();
    let mut pieces = pieces.iter().cycle();
    let mut rest = stream;
    while !rest.is_empty() {
        let piece = *pieces.next().unwrap_or(&1);
        let (came, later) = rest.split_at(piece.clamp(1, rest.len()));
        rest = later;
        held.extend(came);
        let used = device.take_stream(&held, TICKS, &mut ready);
        held.drain(..used);
        let _ = device.pull(TICKS, HEARD, &mut ready);
        said.append(&mut ready);
        if said.len() > HEARD {
            break;
        }
    }
    said.truncate(HEARD);
    said
}

/// What the firmware sends to a host that says `stream` in pieces of these sizes, and takes as much at a time as
/// `rooms` say; both lists go round.
pub fn of_firmware(stream: &[u8], pieces: &[usize], rooms: &[usize], giving: Giving) -> Vec<u8> {
    let mut responder = Responder::new(&settings());
    let mut said = Vec::new();
    let mut pieces = pieces.iter().cycle();
    let mut rooms = rooms.iter().cycle();
    let mut rest = stream;
    while !rest.is_empty() && said.len() <= HEARD {
        let most = match giving {
            Giving::Always => 1,
            Giving::WhenFull => *pieces.next().unwrap_or(&1),
        };
        let piece = &rest[..rest.len().min(most.max(1))];
        let used = responder.take(piece, TICKS);
        rest = &rest[used..];
        if giving == Giving::Always || used < piece.len() {
            let mut given = give(&mut responder, *rooms.next().unwrap_or(&64), &mut said);
            assert!(
                used > 0 || given > 0,
                "it neither takes nor gives: a deadlock"
            );
            while giving == Giving::Always && given > 0 && said.len() <= HEARD {
                given = give(&mut responder, *rooms.next().unwrap_or(&64), &mut said);
            }
        }
    }
    while said.len() <= HEARD && give(&mut responder, *rooms.next().unwrap_or(&64), &mut said) > 0 {
    }
    said.truncate(HEARD);
    said
}

fn give(responder: &mut Responder, room: usize, said: &mut Vec<u8>) -> usize {
    let owed = responder.owes();
    let given = responder.give(room.max(1), said);
    assert_eq!(given > 0, owed, "wg_owes() does not tell what is owed");
    given
}

/// Panics unless both said the same, but for what a device may choose.
pub fn assert_same(rust: &[u8], firmware: &[u8]) {
    let differs = rust.iter().zip(firmware).enumerate();
    for (at, (one, other)) in differs.filter(|(_, (one, other))| one != other) {
        assert!(
            is_free(rust, at) && is_free(firmware, at),
            "byte {at}: {one:#04x} of Rust, {other:#04x} of the firmware\n{}\n{}",
            around(rust, at),
            around(firmware, at)
        );
    }
    let common = rust.len().min(firmware.len());
    assert_eq!(
        rust.len(),
        firmware.len(),
        "one says more behind byte {common}: {} / {}",
        around(rust, common),
        around(firmware, common)
    );
}

fn around(said: &[u8], at: usize) -> String {
    let (from, to) = (at.saturating_sub(40), said.len().min(at + 16));
    let hex = said[from..to].iter().map(|byte| format!("{byte:02x}"));
    hex.collect::<Vec<_>>().join(" ")
}

/// Whether a device may say there what it likes: how many answers may wait in it, the token on a stream (which nobody
/// looks at), and how many reads carried a stream (which depends on how it was cut).
fn is_free(said: &[u8], at: usize) -> bool {
    let of = |kind, field: std::ops::Range<usize>| {
        field.rev().any(|field| {
            at.checked_sub(wire::RESPONSE_HEADER + field)
                .and_then(|begin| Response::decode(&said[begin..]).ok())
                .is_some_and(|header| header.kind == kind && header.in_payload > 0)
        })
    };
    of(Kind::Hello, 16..20) || of(Kind::Hello, 64..72) || of(Kind::Sink, 40..48)
}

/// Answers that may wait in the firmware: HELLO tells.
pub fn max_outstanding() -> usize {
    waiting()
}
