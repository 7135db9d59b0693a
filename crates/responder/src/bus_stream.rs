//! Serves one peer over a byte stream as a device on a modelled USB bus with its host: what the peer writes becomes
//! transfers OUT, and the peer receives what comes IN when that host's program would have it.

use super::bus::{Carried, Direction, NakRetry, PipeId, PipeSpec, Step, Traffic, UsbModel, Writes};
use super::device::{Device, DeviceConfig};
use super::model::{LATE_NS, Model};
use super::pair::Pair;
use super::trace::{self, Counter, Recorder, Trace};
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wiregauge_link::Link;
use wiregauge_link::host::{self, Clock};

/// Bytes read at once.
const READ: usize = 64 << 10;

/// How long a wait lasts at most before the stop flag is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// How long it waits at first for a peer that takes nothing.
const RETRY: Duration = Duration::from_millis(1);

/// How long it waits while the bus has no room for more of the peer's data.
const FULL: Duration = Duration::from_micros(200);

/// Transfers IN that the host keeps queued, of two packets each, as Linux' cdc-acm does.
const QUEUED_IN: usize = 16;

/// Bytes that the peer has not taken, after which the host queues no more transfers IN.
const UNREAD: usize = 64 << 10;

/// Largest transfer OUT of what the peer writes in one go.
const LARGEST: usize = 4096;

/// A transfer OUT on its way.
struct Outgoing {
    data: Vec<u8>,
    carried: usize,
}

/// One device on a bus of its own.
struct UsbDevice {
    traffic: Traffic,
    pair: Pair,
    out: PipeId,
    to_host: PipeId,
    writes: Writes,
    /// Bytes OUT that the bus can carry while this program is not woken.
    room: usize,
    transfer_in: u64,
    key: u64,
    /// Written by the peer and not handed to the host controller.
    written: VecDeque<u8>,
    /// Bytes of the transfer of a stream that the last piece ended in.
    come: usize,
    outgoing: VecDeque<Outgoing>,
    /// When the host learns that a transfer OUT is done.
    out_ends: VecDeque<u64>,
    /// What the transfer IN holds that is being carried.
    incoming: Vec<u8>,
    queued_in: usize,
    /// Finished transfers IN, and when the peer receives them.
    in_ends: VecDeque<(u64, Vec<u8>)>,
    unread: usize,
    recorder: Recorder,
}

impl UsbDevice {
    fn new(config: &DeviceConfig, usb: UsbModel, clock: Clock, trace: Option<Trace>) -> UsbDevice {
        let mut traffic = Traffic::new(usb.bus);
        let spec = |direction| PipeSpec {
            direction,
            packet_bytes: usb.bus.packet_bytes,
            device: usb.device,
            interval_ns: 0,
        };
        let (out, to_host) = (
            traffic.add(spec(Direction::Out)),
            traffic.add(spec(Direction::In)),
        );
        traffic.pair(out, to_host);
        let config = DeviceConfig {
            model: Model {
                bus: None,
                usb: None,
                ..config.model
            },
            ..config.clone()
        };
        let protocol = config.protocol;
        let mut recorder = Recorder::new(Counter::new(usb.speed, &usb.bus));
        plug(&mut recorder, [out, to_host], &usb);
        let counter = recorder.device_counter(out, to_host);
        let device = Device::on_bus(config, clock, usb.speed).counted_by(counter);
        let mut new = UsbDevice {
            traffic,
            pair: Pair::new(out, to_host, device, protocol, None),
            out,
            to_host,
            writes: usb.bus.host.writes,
            room: (usb.bus.quota_bytes * LATE_NS.div_ceil(usb.bus.frame_ns)) as usize,
            transfer_in: 2 * usb.bus.packet_bytes,
            key: 0,
            written: VecDeque::new(),
            come: 0,
            outgoing: VecDeque::new(),
            out_ends: VecDeque::new(),
            incoming: Vec::new(),
            queued_in: 0,
            in_ends: VecDeque::new(),
            unread: 0,
            recorder,
        };
        if let Some(trace) = trace {
            new.recorder.begin(trace);
        }
        new.queue_in(0);
        new
    }

    fn record_until(&mut self, now_ns: u64) {
        let outgoing = &self.outgoing;
        self.recorder.until(now_ns, &self.traffic, |_, _| {
            outgoing.front().map_or(&[], |one| &one.data[one.carried..])
        });
    }

    /// The peer has written this.
    fn write(&mut self, bytes: &[u8], now_ns: u64) {
        self.written.extend(bytes);
        self.hand_over(now_ns);
    }

    /// True if the peer may write more.
    fn has_room(&self) -> bool {
        let on_its_way: usize = self.outgoing.iter().map(|one| one.data.len()).sum();
        self.written.len() + on_its_way < self.room
    }

    /// Lets the time pass until `now_ns`.
    fn advance(&mut self, now_ns: u64) {
        loop {
            let out_end = self.out_ends.front().copied();
            let due = [self.pair.next_due_ns(), out_end];
            let due = due.into_iter().flatten().min();
            let until = due.map_or(now_ns, |due| due.min(now_ns));
            match self.traffic.step(until) {
                Step::Carried(packet) => self.carried(&packet),
                Step::Idle(_) if due.is_some_and(|due| due <= now_ns) => {
                    if out_end.is_some_and(|end| end <= until) {
                        self.out_ends.pop_front();
                        self.hand_over(until);
                    }
                    self.pair.wake(until, &mut self.traffic);
                }
                Step::Idle(_) => break,
            }
        }
        if self.recorder.is_due(now_ns) {
            self.record_until(now_ns);
        }
    }

    /// Moves what the peer has by now.
    fn take_due(&mut self, now_ns: u64, into: &mut Vec<u8>) {
        while let Some((at, _)) = self.in_ends.front()
            && *at <= now_ns
            && let Some((_, data)) = self.in_ends.pop_front()
        {
            self.unread -= data.len();
            into.extend_from_slice(&data);
        }
        self.queue_in(now_ns);
    }

    /// When [`UsbDevice::advance`] or [`UsbDevice::take_due`] has something to do next.
    fn next_ns(&mut self) -> Option<u64> {
        let packet = match self.traffic.step(0) {
            // It carries what begins before it only.
            Step::Idle(next) => next.map(|begin| begin + 1),
            Step::Carried(_) => None,
        };
        let (out_end, in_end) = (self.out_ends.front(), self.in_ends.front());
        let ends = [out_end.copied(), in_end.map(|(at, _)| *at)];
        let own = [packet, self.pair.next_due_ns()];
        own.into_iter().chain(ends).flatten().min()
    }

    /// True if the device has disconnected itself, and the peer has all that it sent.
    fn is_gone(&self) -> bool {
        self.pair.is_gone() && self.in_ends.is_empty()
    }

    /// Makes transfers OUT of what was written, as many as the host lets wait.
    fn hand_over(&mut self, now_ns: u64) {
        let most = match self.writes {
            Writes::Each(most) => most.max(1) as usize,
            Writes::Gathered => 1,
            Writes::AsGiven => usize::MAX,
        };
        while !self.written.is_empty() && self.outgoing.len() + self.out_ends.len() < most {
            let sink = self.pair.sink_bytes();
            let largest = match (sink, self.writes) {
                (Some(bytes), Writes::Each(_) | Writes::AsGiven) => bytes - self.come % bytes,
                _ => LARGEST,
            };
            let length = largest.min(self.written.len());
            self.come = sink.map_or(0, |bytes| (self.come + length) % bytes);
            let data: Vec<u8> = self.written.drain(..length).collect();
            self.key += 1;
            // The transfers of a stream have a known size: nothing needs to end them.
            let close = sink.is_none();
            self.traffic
                .submit(self.out, self.key, length as u64, close, now_ns);
            self.outgoing.push_back(Outgoing { data, carried: 0 });
        }
    }

    fn queue_in(&mut self, now_ns: u64) {
        while self.queued_in < QUEUED_IN && self.unread < UNREAD {
            self.key += 1;
            self.queued_in += 1;
            self.traffic
                .submit(self.to_host, self.key, self.transfer_in, false, now_ns);
        }
    }

    fn carried(&mut self, packet: &Carried) {
        let (pair, traffic) = (&mut self.pair, &mut self.traffic);
        if packet.pipe == self.out {
            let Some(front) = self.outgoing.front_mut() else {
                return;
            };
            let from = front.carried;
            front.carried += packet.bytes as usize;
            self.recorder
                .carried(packet, &front.data[from..front.carried]);
            pair.receive(&front.data[from..front.carried], packet, traffic);
            if let Some(told_ns) = packet.told_ns {
                self.outgoing.pop_front();
                self.out_ends.push_back(told_ns);
            }
        } else {
            let from = self.incoming.len();
            pair.send_packet(packet, &mut self.incoming, traffic);
            self.recorder.carried(packet, &self.incoming[from..]);
            if let Some(told_ns) = packet.told_ns {
                let data = std::mem::take(&mut self.incoming);
                self.unread += data.len();
                self.queued_in -= 1;
                self.in_ends.push_back((told_ns, data));
                self.queue_in(packet.end_ns);
            }
        }
    }
}

/// Adds the endpoints of the device.
fn plug(recorder: &mut Recorder, [out, to_host]: [PipeId; 2], usb: &UsbModel) {
    let sides = [
        (out, false, usb.device.from_host),
        (to_host, true, usb.device.to_host),
    ];
    for (pipe, is_in, side) in sides {
        let endpoint = trace::Endpoint {
            address: trace::address_of(0),
            number: 1,
            is_in,
            interval_ns: 0,
            by_frame: side.nak_retry == NakRetry::NextFrame,
        };
        recorder.plug(pipe, 0, endpoint);
    }
}

/// Serves until the peer leaves, the device disconnects itself, or the stop flag is raised.
pub(super) fn serve(
    link: &mut dyn Link,
    config: &DeviceConfig,
    usb: UsbModel,
    clock: Clock,
    trace: Option<Trace>,
    stop: &AtomicBool,
) -> io::Result<()> {
    host::use_precise_timers();
    let mut device = UsbDevice::new(config, usb, clock, trace);
    let served = run(link, &mut device, clock, stop);
    device.record_until(clock.now());
    served
}

fn run(
    link: &mut dyn Link,
    device: &mut UsbDevice,
    clock: Clock,
    stop: &AtomicBool,
) -> io::Result<()> {
    let mut ready: Vec<u8> = Vec::new();
    let mut sent = 0;
    let mut buffer = vec![0; READ];
    let mut nudge = RETRY;
    while !stop.load(Ordering::Relaxed) && !device.recorder.is_broken() {
        let now = clock.now();
        device.advance(now);
        if sent == ready.len() {
            ready.clear();
            sent = 0;
            device.take_due(now, &mut ready);
        }
        if sent < ready.len() {
            let taken = link.send(&ready[sent..])?;
            sent += taken;
            nudge = match taken {
                0 => (2 * nudge).min(LOOK),
                _ => RETRY,
            };
        }
        let is_sent = sent == ready.len();
        if is_sent && device.is_gone() {
            return Ok(());
        }
        let has_room = device.has_room();
        if has_room {
            let received = link.receive(&mut buffer)?;
            if received > 0 {
                device.write(&buffer[..received], clock.now());
                continue;
            }
        }
        let next = device.next_ns();
        let left = next.map_or(LOOK, |at| {
            Duration::from_nanos(at.saturating_sub(clock.now())).min(LOOK)
        });
        match (is_sent, has_room) {
            _ if left.is_zero() => {}
            (true, true) => link.wait(false, left)?,
            (false, true) => link.wait(true, left.min(nudge))?,
            (_, false) => std::thread::sleep(left.min(FULL)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Faults;
    use crate::bus::Profile;
    use crate::streams_tests::{self, start};
    use wiregauge_link::limits::Bus;
    use wiregauge_wire as wire;
    use wiregauge_wire::{Kind, Request, Status};

    const MS: u64 = 1_000_000;

    fn usb_device(usb: UsbModel) -> UsbDevice {
        let template = streams_tests::device(Model::default(), Faults::default());
        UsbDevice::new(template.config(), usb, Clock::start(), None)
    }

    /// The peer receives something, and when.
    fn next_data(device: &mut UsbDevice) -> (u64, Vec<u8>) {
        let mut data = Vec::new();
        loop {
            let at = device.next_ns().expect("something is to come");
            device.advance(at);
            device.take_due(at, &mut data);
            if !data.is_empty() {
                return (at, data);
            }
        }
    }

    fn request(sequence: u32, in_bytes: u32) -> Vec<u8> {
        let request = Request {
            kind: Kind::Exchange,
            sequence,
            out_payload: 0,
            in_bytes,
        };
        let mut header = vec![0; wire::REQUEST_HEADER];
        request.encode((&mut header[..]).try_into().unwrap());
        header
    }

    /// Mean RTT in ms of exchanges in virtual time, by a peer that writes as soon as it has an answer.
    fn mean_rtt(usb: UsbModel, depth: u32, in_bytes: u32, count: u32) -> f64 {
        let mut device = usb_device(usb);
        let mut written = VecDeque::new();
        for sequence in 0..depth {
            device.write(&request(sequence, in_bytes), 0);
            written.push_back(0);
        }
        let (mut sum, mut done, mut received) = (0, 0, Vec::new());
        while done < count {
            let (at, data) = next_data(&mut device);
            received.extend(data);
            while received.len() >= in_bytes as usize && done < count {
                let response = wire::Response::decode(&received).unwrap();
                assert_eq!((response.sequence, response.status), (done, Status::Ok));
                received.drain(..in_bytes as usize);
                sum += at - written.pop_front().unwrap();
                device.write(&request(done + depth, in_bytes), at);
                written.push_back(at);
                done += 1;
            }
        }
        sum as f64 / f64::from(count) / MS as f64
    }

    #[test]
    fn a_byte_stream_has_the_round_trips_of_the_tables() {
        let usb = Profile::find("at91sam3u-ehci").unwrap().usb();
        // docs/models.md, column "model".
        for (depth, in_bytes, table) in [(1, 48, 6.74), (2, 48, 5.73), (4, 2000, 9.68)] {
            let mean = mean_rtt(usb, depth, in_bytes, 3_000);
            assert!(
                (mean / table - 1.0).abs() < 0.08,
                "depth {depth}, {in_bytes} B: {mean} against {table} ms"
            );
        }
    }

    #[test]
    fn without_a_host_a_small_exchange_takes_two_frames() {
        assert_eq!(mean_rtt(UsbModel::of(Bus::FullSpeed), 1, 48, 100), 2.0);
    }

    #[test]
    fn a_host_that_waits_for_each_write_carries_one_byte_in_two_microframes() {
        let mut device = usb_device(Profile::find("stoffregen-windows").unwrap().usb());
        device.write(&start(Kind::Sink, 1, 1), 0);
        let (begin, _) = next_data(&mut device);
        let mut data = vec![0; 400];
        wire::fill_stream(0, &mut data);
        device.write(&data, begin);
        let mut now = begin;
        while !device.written.is_empty() {
            now = device.next_ns().unwrap();
            device.advance(now);
        }
        let bytes_per_ms = 400.0 / ((now - begin) as f64 / MS as f64);
        assert!((3.9..4.1).contains(&bytes_per_ms), "{bytes_per_ms}");
    }

    /// The answer to an END of a SOURCE that asks for so many bytes, after so long a stream, in virtual time.
    fn report_of_a_source(usb: UsbModel, lasts_ns: u64, in_bytes: u32) -> Vec<u8> {
        let mut device = usb_device(usb);
        device.write(&start(Kind::Source, 1, 512), 0);
        let mut now = 0;
        let mut data = Vec::new();
        while now < lasts_ns {
            now = device.next_ns().expect("something is to come");
            device.advance(now);
            device.take_due(now, &mut data);
        }
        let mut order = streams_tests::end(Kind::Source, 2);
        let mut header = Request::decode(&order).unwrap();
        header.in_bytes = in_bytes;
        header.encode((&mut order[..wire::REQUEST_HEADER]).try_into().unwrap());
        device.write(&order, now);
        data.clear();
        loop {
            data.extend(next_data(&mut device).1);
            let found = (0..data.len()).find_map(|at| {
                let header = wire::Response::decode(&data[at..]).ok()?;
                let end = at + wire::RESPONSE_HEADER + header.in_payload as usize;
                (header.sequence == 2 && end <= data.len()).then(|| data[at..end].to_vec())
            });
            if let Some(answer) = found {
                return answer[wire::RESPONSE_HEADER..].to_vec();
            }
        }
    }

    #[test]
    fn the_report_of_a_stream_has_its_packets_and_naks_if_the_host_asks() {
        let mut usb = UsbModel::of(Bus::FullSpeed);
        usb.device.transfer_ns = 500_000;
        let payload = report_of_a_source(usb, 200 * MS, 160);
        assert_eq!(payload.len(), wire::STREAM_REPORT + wire::BUS_COUNTS);
        let report = wire::StreamReport::decode(&payload).unwrap();
        let counts = wire::BusCounts::decode(&payload[wire::STREAM_REPORT..]).unwrap();
        // The answer to START, and what was sent, of which up to 4096 B and a transfer wait in the device at END.
        let waits = 1 + report.bytes / 64 - counts.packets;
        assert!(waits <= (4096 + 512) / 64, "{counts:?} {report:?}");
        let wire_ns = usb.bus.wire_ns(64);
        assert!(counts.packets_ns.abs_diff(counts.packets * wire_ns) < 2 * wire_ns);
        // Transfers of eight packets, each after 0.5 ms in which the device answers NAK.
        let a_transfer = counts.naks as f64 / (counts.packets as f64 / 8.0);
        // A token and a NAK take 6 us, and the host asks again after 10 us.
        assert!((25.0..40.0).contains(&a_transfer), "{a_transfer}");
        let not_ready = counts.not_ready_ns as f64 / (counts.packets as f64 / 8.0);
        assert!((480_000.0..=520_000.0).contains(&not_ready), "{not_ready}");
        let busy_ns = counts.packets_ns + counts.naks_ns;
        assert!((195 * MS..205 * MS).contains(&counts.elapsed_ns));
        let holds = busy_ns < counts.elapsed_ns && counts.others_ns < MS;
        assert!(holds, "{counts:?}");
    }

    #[test]
    fn a_host_that_does_not_ask_gets_the_report_of_before() {
        let usb = UsbModel::of(Bus::FullSpeed);
        for in_bytes in [0, 104, 159] {
            let payload = report_of_a_source(usb, 20 * MS, in_bytes);
            assert_eq!(payload.len(), wire::STREAM_REPORT, "{in_bytes}");
        }
    }

    #[test]
    fn a_peer_that_does_not_read_is_not_read_from_for_ever() {
        let mut device = usb_device(UsbModel::of(Bus::FullSpeed));
        let mut sequence = 0;
        while device.has_room() {
            device.write(&request(sequence, 60_000), 0);
            device.advance(u64::from(sequence) * MS);
            sequence += 1;
            assert!(sequence < 100_000, "it takes requests without end");
        }
        assert!(device.unread < UNREAD + 60_000, "{}", device.unread);
    }
}
