//! The device's streams in virtual time: an always busy host in front of it, and every byte counted
//! at both ends.

use super::{Device, DeviceConfig, FaultRate, Faults, Model, Pull};
use wiregauge_link::host::Clock;
use wiregauge_link::limits::Bus;
use wiregauge_wire as wire;
use wiregauge_wire::{
    Kind, Request, Response, Status, StreamChecker, StreamOrder, StreamReport, Taken, Verb,
};

pub(super) const MS: u64 = 1_000_000;

pub(super) fn device(model: Model, faults: Faults) -> Device {
    let config = DeviceConfig {
        model,
        faults,
        seed: 5,
        ..DeviceConfig::default()
    };
    Device::new(config, Clock::start())
}

pub(super) fn on(bus: Bus) -> Model {
    Model {
        bus: Some(bus),
        ..Model::default()
    }
}

/// An order of a stream that stops after so many bytes; with 0, of one without an end.
fn order(kind: Kind, sequence: u32, verb: Verb, transfer_bytes: u32, stop_after: u64) -> Vec<u8> {
    let request = Request {
        kind,
        sequence,
        out_payload: wire::STREAM_ORDER as u32,
        in_bytes: match verb {
            Verb::Start => 32,
            Verb::End => 104,
        },
    };
    let order = StreamOrder {
        verb,
        transfer_bytes,
        stop_after,
    };
    let mut header = [0; 16];
    request.encode(&mut header);
    [&header[..], &order.encode()].concat()
}

pub(super) fn start(kind: Kind, sequence: u32, transfer_bytes: u32) -> Vec<u8> {
    order(kind, sequence, Verb::Start, transfer_bytes, 0)
}

pub(super) fn end(kind: Kind, sequence: u32) -> Vec<u8> {
    order(kind, sequence, Verb::End, 0, 0)
}

/// A host that has data for the device whenever it takes some, and takes all that it sends.
struct Host {
    device: Device,
    now: u64,
    /// Bytes of requests and data that the device has not taken.
    waiting: Vec<u8>,
    /// Data that follows; `None` without an OUT stream.
    position: Option<u64>,
    checker: StreamChecker,
    answers: Vec<(Response, Vec<u8>)>,
    /// What an answer still lacks.
    payload: usize,
    /// Every arrival: when, and how many bytes.
    arrivals: Vec<(u64, usize)>,
    /// So much later than due the responder's machine wakes it.
    late_ns: u64,
}

impl Host {
    fn new(model: Model, faults: Faults) -> Host {
        Host {
            device: device(model, faults),
            now: 0,
            waiting: Vec::new(),
            position: None,
            checker: StreamChecker::new(),
            answers: Vec::new(),
            payload: 0,
            arrivals: Vec::new(),
            late_ns: 0,
        }
    }

    fn say(&mut self, frame: &[u8]) {
        self.waiting.extend_from_slice(frame);
    }

    fn hear(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.payload > 0 {
                let (more, rest) = bytes.split_at(bytes.len().min(self.payload));
                self.payload -= more.len();
                self.answers.last_mut().unwrap().1.extend(more);
                bytes = rest;
                continue;
            }
            let Taken::Frame { header, used } = self.checker.take::<Response>(bytes) else {
                return;
            };
            self.payload = header.in_payload as usize;
            self.answers.push((header, Vec::new()));
            bytes = &bytes[used..];
        }
    }

    /// Lets virtual time pass, from one event to the next.
    fn run(&mut self, until: u64) {
        let mut ready = Vec::new();
        while self.now < until && !self.device.is_gone() {
            let now = self.now;
            if let (Some(position), true) = (&mut self.position, self.waiting.len() < 64 << 10) {
                let mut data = vec![0; 64 << 10];
                wire::fill_stream(*position, &mut data);
                *position += data.len() as u64;
                self.waiting.extend(data);
            }
            let used = self.device.take_stream(&self.waiting, now, &mut ready);
            self.waiting.drain(..used);
            while let Some(answer) = self.device.pop_due(now) {
                ready.extend(answer);
            }
            let mut at = until;
            if let Some(room) = self.device.source_bytes()
                && let Pull::NextAt(next) = self.device.pull(now, room, &mut ready)
            {
                at = at.min(next);
            }
            if !ready.is_empty() {
                self.arrivals.push((now, ready.len()));
                let bytes = std::mem::take(&mut ready);
                self.hear(&bytes);
            }
            let full = self.device.full_until_ns();
            let due = [
                self.device.next_due_ns(),
                Some(full).filter(|full| *full > 0),
            ];
            at = due.into_iter().flatten().fold(at, u64::min);
            // A device without a model is as fast as this host, which takes its time for a turn.
            self.now = at.max(now + 1_000) + self.late_ns;
        }
    }

    fn report(&mut self, kind: Kind) -> StreamReport {
        self.position = None;
        let sequence = self.answers.len() as u32 + 1000;
        self.say(&end(kind, sequence));
        for _ in 0..1000 {
            self.run(self.now + MS);
            let answer = self
                .answers
                .iter()
                .find(|(header, _)| header.sequence == sequence);
            if let Some((header, payload)) = answer
                && self.payload == 0
            {
                assert_eq!((header.kind, header.status), (kind, Status::Ok));
                return StreamReport::decode(payload).unwrap();
            }
        }
        panic!("no report");
    }
}

#[test]
fn a_source_fills_the_bus_and_never_exceeds_it() {
    for (bus, transfer) in [
        (Bus::FullSpeed, 4096),
        (Bus::FullSpeed, 65_536),
        (Bus::HighSpeed, 65_536),
        (Bus::HighSpeed, 512),
    ] {
        let mut host = Host::new(on(bus), Faults::default());
        host.say(&start(Kind::Source, 1, transfer));
        host.run(1000 * MS);
        let (name, mut sum) = (format!("{bus:?} {transfer} B"), 0);
        for (at, bytes) in &host.arrivals {
            sum += *bytes as u64;
            let most = bus.bytes_per_second() as f64 * *at as f64 / 1e9;
            assert!(sum as f64 <= most + 32.0, "{name}: {sum} > {most}");
        }
        let least = 0.95 * bus.bytes_per_second() as f64;
        assert!(sum as f64 > least, "{name}: {sum}");
        let counts = host.checker.counts();
        assert_eq!(counts.right(), counts.received);
        assert_eq!(counts.lost, 0);
    }
}

#[test]
fn a_sink_is_filled_as_fast_as_the_bus_and_no_faster() {
    for (bus, transfer) in [
        (Bus::FullSpeed, 65_536),
        (Bus::HighSpeed, 65_536),
        (Bus::FullSpeed, 64),
    ] {
        let mut host = Host::new(on(bus), Faults::default());
        host.say(&start(Kind::Sink, 1, transfer));
        host.position = Some(0);
        for tenth in 1..=10 {
            host.run(tenth * 100 * MS);
            let taken = host.position.unwrap() - host.waiting.len() as u64;
            // It plans two frames ahead, and then one more piece.
            let ahead = (3 * bus.packets_per_frame() + 1) * bus.packet_bytes();
            let most = bus.bytes_per_second() * tenth / 10;
            let name = format!("{bus:?} {transfer} B: {taken} of {most}");
            assert!(taken <= most + ahead, "{name}");
            assert!(taken as f64 > 0.95 * most as f64, "{name}");
        }
        host.waiting.clear();
        let report = host.report(Kind::Sink);
        assert_eq!(report.counts().right(), report.bytes);
        let span = (report.last_ticks - report.first_ticks) as f64 / 1e9;
        let rate = report.bytes as f64 / span;
        assert!(rate < 1.01 * bus.bytes_per_second() as f64, "{rate}");
    }
}

#[test]
fn both_directions_share_the_bus() {
    for bus in [Bus::FullSpeed, Bus::HighSpeed] {
        let mut host = Host::new(on(bus), Faults::default());
        host.say(&start(Kind::Source, 1, 16_384));
        host.run(MS);
        host.say(&start(Kind::Sink, 2, 16_384));
        host.position = Some(0);
        host.run(1000 * MS);
        let came = host.checker.counts().received;
        let went = host.position.unwrap() - host.waiting.len() as u64;
        let limit = bus.bytes_per_second();
        let both = came + went;
        assert!(both <= limit + (3 * bus.packets_per_frame() + 1) * bus.packet_bytes());
        let name = format!("{bus:?}: {came} + {went}");
        assert!(both as f64 > 0.95 * limit as f64, "{name}");
        assert!(came.min(went) as f64 > 0.3 * limit as f64, "{name}");
    }
}

#[test]
fn the_same_seed_gives_the_same_stream_to_the_bit_and_nanosecond() {
    let run = |seed| {
        let model = Model {
            service_ns: 100_000,
            jitter_ns: 300_000,
            bus: Some(Bus::FullSpeed),
            usb: None,
        };
        let faults = Faults {
            lose_byte: Some(FaultRate::Chance(0.1)),
            duplicate: Some(FaultRate::Chance(0.1)),
            stall: Some((FaultRate::Chance(0.02), 5 * MS)),
            ..Faults::default()
        };
        let mut host = Host::new(model, faults);
        host.device = {
            let mut config = host.device.config().clone();
            config.seed = seed;
            Device::new(config, Clock::start())
        };
        host.say(&start(Kind::Source, 1, 700));
        host.run(2 * MS);
        host.say(&start(Kind::Sink, 2, 900));
        host.position = Some(0);
        host.run(300 * MS);
        let sunk = host.report(Kind::Sink);
        let sourced = host.report(Kind::Source);
        (host.arrivals, host.checker.finish(), sunk, sourced)
    };
    let one = run(7);
    assert!(one.1.lost > 0 && one.1.duplicated > 0, "{:?}", one.1);
    assert!(one.3.transfers > 50, "{:?}", one.3);
    assert_eq!(one, run(7));
    assert_ne!(one, run(8));
}

#[test]
fn a_sink_is_as_fast_as_its_model_and_no_faster_though_its_machine_wakes_it_late() {
    // USB 2.0, table 5-9: packets of 1, 4, 8 and 64 B in a frame.
    let on_bus = [(1, 107_000), (4, 352_000), (8, 568_000), (64, 1_216_000)];
    let on_bus = on_bus.map(|(transfer, most)| (on(Bus::FullSpeed), transfer, most));
    let computing = Model {
        service_ns: 10_000,
        ..Model::default()
    };
    for (model, transfer, most) in on_bus.into_iter().chain([(computing, 8, 800_000)]) {
        for late_ns in [0, 100_000, 3 * MS] {
            let mut host = Host::new(model, Faults::default());
            host.late_ns = late_ns;
            host.say(&start(Kind::Sink, 1, transfer));
            host.position = Some(0);
            host.run(1000 * MS);
            let taken = host.position.unwrap() - host.waiting.len() as u64;
            // It plans two frames ahead, and the last look was late.
            let ahead = most * (3 * MS + late_ns) / 1_000_000_000;
            assert!(taken <= most + ahead, "{transfer} B, {late_ns}: {taken}");
            let holds = taken as f64 > 0.97 * most as f64;
            assert!(holds, "{transfer} B, {late_ns}: {taken} of {most}");
        }
    }
}

#[test]
fn a_source_on_a_bus_reports_no_more_than_the_bus_carries_however_few_its_transfers() {
    for transfer in [64, 1000, 40_000] {
        for transfers in 1..5 {
            let mut host = Host::new(on(Bus::FullSpeed), Faults::default());
            let stop_after = transfers * u64::from(transfer);
            host.say(&order(Kind::Source, 1, Verb::Start, transfer, stop_after));
            host.run(500 * MS);
            let report = host.report(Kind::Source);
            let elapsed_ns = report.last_ticks - report.first_ticks;
            let most = Bus::FullSpeed.bytes_per_second() as f64 * elapsed_ns as f64 / 1e9;
            // A frame at the beginning or the end may be cut, and a full one is.
            let cut = Bus::FullSpeed.packets_per_frame() * Bus::FullSpeed.packet_bytes();
            let holds = stop_after as f64 <= most + cut as f64;
            assert!(holds, "{transfers} of {transfer} B: {report:?}");
        }
    }
}

#[test]
fn a_source_that_computes_while_the_wire_is_busy_is_as_slow_as_the_slower_of_both() {
    for (service_ns, most) in [(MS, 1_000_000), (MS / 10, 1_216_000)] {
        let model = Model {
            service_ns,
            ..on(Bus::FullSpeed)
        };
        let mut host = Host::new(model, Faults::default());
        host.say(&start(Kind::Source, 1, 1000));
        host.run(1000 * MS);
        let came = host.checker.counts().received;
        assert!(came <= most, "{came}");
        // 1000 B are 16 packets, the last of them short.
        assert!(came as f64 > 0.93 * most as f64, "{came} of {most}");
    }
}

#[test]
fn a_stall_holds_up_a_source_and_a_disconnect_ends_it() {
    let faults = Faults {
        stall: Some((FaultRate::Every(10), 50 * MS)),
        ..Faults::default()
    };
    let mut host = Host::new(on(Bus::HighSpeed), faults);
    host.say(&start(Kind::Source, 1, 512));
    host.run(1000 * MS);
    let sent = host.checker.counts().received / 512;
    assert!((150..=200).contains(&sent), "{sent}");

    let faults = Faults {
        disconnect_after: Some(30),
        ..Faults::default()
    };
    for kind in [Kind::Source, Kind::Sink] {
        let mut host = Host::new(Model::default(), faults);
        host.say(&start(kind, 1, 100));
        host.run(MS);
        host.position = Some(0);
        host.run(100 * MS);
        assert!(host.device.is_gone());
        if kind == Kind::Source {
            assert_eq!(host.checker.counts().received, 3000);
        }
    }
}

#[test]
fn an_end_whose_order_lost_a_byte_is_said_again_and_heard() {
    let mut host = Host::new(Model::default(), Faults::default());
    let mut data = vec![0; 500];
    wire::fill_stream(0, &mut data);
    host.say(&start(Kind::Sink, 1, 100));
    host.say(&data);
    let broken = end(Kind::Sink, 2);
    host.say(&broken[..31]);
    // The first byte of the next one is taken for the lost one.
    host.say(&end(Kind::Sink, 3));
    let report = host.report(Kind::Sink);
    assert_eq!((report.counts().right(), report.lost), (500, 0));
    assert!(report.stray <= 16);
}
