//! The virtual devices and their bus, in virtual time: transfers of the host in, finished ones out
//! with the time when the host learns of it. No socket and no clock here.

use super::adapter::Adapter;
use super::adapter_pair::{AdapterPair, Pipes};
use super::control::{Answer, Control, Effect};
use super::descriptors::{Identity, Placed};
use super::interfaces::Carries;
use super::isochronous::Isochronous;
use super::usbip::{self, Command, Submit};
use crate::bus::{
    BusTiming, Carried, DeviceTiming, Direction, NakRetry, PipeId, PipeSpec, Step, Traffic,
};
use crate::device::{Device, DeviceConfig};
use crate::gadget::Function;
use crate::hid::report;
use crate::pair::Pair;
use crate::trace::{self, Counter, DeviceCounter, Recorder, Trace, address_of};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use wiregauge_link::host::Clock;
use wiregauge_link::limits::Bus;

/// Devices on one bus.
pub struct Machine {
    traffic: Traffic,
    nodes: Vec<Node>,
    pipes: HashMap<PipeId, Place>,
    /// Transfers that are over, until the host learns of them: time, order, device, number.
    ends: BinaryHeap<Reverse<(u64, u64, usize, u32)>>,
    order: u64,
    clock: Clock,
    recorder: Recorder,
}

/// Where an endpoint that carries frames belongs.
#[derive(Clone, Copy)]
struct Place {
    node: usize,
    pair: usize,
}

struct Node {
    identity: Identity,
    config: DeviceConfig,
    control: Control,
    endpoints: HashMap<(u8, bool), PipeId>,
    /// Each with the number of its function.
    pairs: Vec<(usize, Pair)>,
    /// An adapter has no other function and none of the pairs.
    adapter: Option<AdapterPair>,
    /// So has a device with isochronous endpoints.
    isochronous: Option<Isochronous>,
    transfers: HashMap<u32, Transfer>,
    /// USB/IP answers to be sent.
    answers: Vec<u8>,
}

struct Transfer {
    pipe: PipeId,
    direction: Direction,
    /// What goes OUT, or what came IN so far.
    data: Vec<u8>,
    carried: usize,
}

impl Machine {
    /// A bus with nothing on it; `clock` is the one that all times are of.
    pub fn new(speed: Bus, bus: BusTiming, clock: Clock) -> Machine {
        Machine {
            traffic: Traffic::new(bus),
            nodes: Vec::new(),
            pipes: HashMap::new(),
            ends: BinaryHeap::new(),
            order: 0,
            clock,
            recorder: Recorder::new(Counter::new(speed, &bus)),
        }
    }

    /// Has every packet written from now on.
    pub fn trace(&mut self, trace: Trace) {
        self.recorder.begin(trace);
    }

    /// True if a trace was begun whose file takes no more.
    pub fn is_trace_broken(&self) -> bool {
        self.recorder.is_broken()
    }

    /// Hands over to the trace what is certain by now.
    pub fn trace_until(&mut self, now_ns: u64) {
        let nodes = &self.nodes;
        self.recorder.until(now_ns, &self.traffic, |node, key| {
            let transfer = nodes[node].transfers.get(&(key as u32));
            transfer.map_or(&[], |transfer| &transfer.data[transfer.carried..])
        });
    }

    /// Plugs a device in; returns its number.
    pub fn add(&mut self, identity: Identity, config: DeviceConfig, timing: DeviceTiming) -> usize {
        let number = self.nodes.len();
        let mut endpoints = HashMap::new();
        let mut pairs = Vec::new();
        let mut isochronous = None;
        for placed in identity.endpoints() {
            if placed.endpoint.carries == Carries::Packets {
                isochronous = Some(Isochronous::new(
                    placed.number,
                    identity.packet_bytes(placed.endpoint, identity.speed),
                    identity.interval_ns(placed.endpoint),
                    config.faults,
                    config.seed,
                ));
                continue;
            }
            let (endpoint, direction) = (placed.endpoint, placed.endpoint.direction);
            let pipe = self.traffic.add(PipeSpec {
                direction,
                packet_bytes: u64::from(identity.packet_bytes(endpoint, identity.speed)),
                device: timing,
                interval_ns: identity.interval_ns(endpoint),
            });
            let is_in = direction == Direction::In;
            endpoints.insert((placed.number, is_in), pipe);
            let side = if is_in {
                timing.to_host
            } else {
                timing.from_host
            };
            let traced = trace::Endpoint {
                address: address_of(number),
                number: placed.number,
                is_in,
                interval_ns: identity.interval_ns(endpoint),
                by_frame: side.nak_retry == NakRetry::NextFrame,
            };
            self.recorder.plug(pipe, number, traced);
        }
        let mut adapter = None;
        let carries = |placed: &Placed, direction, what| {
            placed.endpoint.direction == direction && placed.endpoint.carries == what
        };
        for placed in identity.endpoints() {
            if !carries(&placed, Direction::Out, Carries::Frames) {
                continue;
            }
            let in_of = |what| {
                let mut all = identity.endpoints();
                let found = all.find(|other| {
                    other.function == placed.function && carries(other, Direction::In, what)
                });
                found.map(|found| endpoints[&(found.number, true)])
            };
            let out = endpoints[&(placed.number, false)];
            let to_host = in_of(Carries::Frames).expect("a function that takes frames sends some");
            let notices = in_of(Carries::Notices);
            let place = Place {
                node: number,
                pair: pairs.len(),
            };
            for pipe in [Some(out), Some(to_host), notices].into_iter().flatten() {
                self.pipes.insert(pipe, place);
            }
            self.traffic.pair(out, to_host);
            let function = identity.functions[placed.function];
            if let Some(made) = Adapter::of(function) {
                let pipes = Pipes {
                    out,
                    to_host,
                    notices,
                };
                let device = Device::new(config.clone(), self.clock);
                adapter = Some(AdapterPair::new(pipes, made, device));
                continue;
            }
            let report_bytes = (function == Function::Hid).then_some(identity.report_bytes);
            let counter = self.recorder.device_counter(out, to_host);
            let device = device_of(&config, report_bytes, self.clock, identity.speed, counter);
            let pair = Pair::new(out, to_host, device, config.protocol, report_bytes);
            pairs.push((placed.function, pair));
        }
        self.nodes.push(Node {
            identity,
            config,
            control: Control::default(),
            endpoints,
            pairs,
            adapter,
            isochronous,
            transfers: HashMap::new(),
            answers: Vec::new(),
        });
        number
    }

    /// Does what the host commands at this time, which must not lie before the last one.
    pub fn command(&mut self, node: usize, command: Command<'_>, now_ns: u64) {
        match command {
            Command::Submit(submit) if submit.endpoint == 0 => {
                self.control(node, &submit, now_ns);
            }
            Command::Submit(submit) => self.submit(node, &submit, now_ns),
            Command::Unlink { sequence, target } => self.unlink(node, sequence, target),
        }
    }

    /// What is to be sent to the host of this device now; whoever sends it removes it.
    pub fn answers(&mut self, node: usize) -> &mut Vec<u8> {
        &mut self.nodes[node].answers
    }

    /// True if the device has unplugged itself and the host has learnt of everything that it sent.
    pub fn is_gone(&self, number: usize) -> bool {
        let mut pairs = self.nodes[number].pairs.iter();
        let adapter = self.nodes[number].adapter.as_ref();
        let left =
            pairs.any(|(_, pair)| pair.is_gone()) || adapter.is_some_and(AdapterPair::is_gone);
        let mut ends = self.ends.iter();
        left && !ends.any(|Reverse((_, _, node, _))| *node == number)
    }

    /// Lets the time pass until `now_ns`; answers due by then can be sent.
    pub fn advance(&mut self, now_ns: u64) {
        loop {
            let due = self.next_due_ns();
            let until = due.map_or(now_ns, |due| due.min(now_ns));
            match self.traffic.step(until) {
                Step::Carried(packet) => self.carried(&packet),
                Step::Idle(_) if due.is_some_and(|due| due <= now_ns) => self.wake(until),
                Step::Idle(_) => break,
            }
        }
        while let Some(Reverse((told_ns, _, node, sequence))) = self.ends.peek().copied()
            && told_ns <= now_ns
        {
            self.ends.pop();
            // One that was taken back meanwhile has been answered.
            self.tell(node, sequence, 0);
        }
        for node in &mut self.nodes {
            if let Some(isochronous) = &mut node.isochronous {
                isochronous.advance(now_ns, &mut node.answers);
            }
        }
        if self.recorder.is_due(now_ns) {
            self.trace_until(now_ns);
        }
    }

    /// When [`Machine::advance`] is to be called next, if nothing happens before.
    pub fn next_ns(&mut self) -> Option<u64> {
        let packet = match self.traffic.step(0) {
            // It carries what begins before it only.
            Step::Idle(next) => next.map(|begin| begin + 1),
            Step::Carried(_) => None,
        };
        let printed = self.ends.peek().map(|Reverse((printed, ..))| *printed);
        let isochronous = self
            .nodes
            .iter()
            .filter_map(|node| node.isochronous.as_ref());
        let packets = isochronous.filter_map(Isochronous::next_ns).min();
        [packet, printed, packets, self.next_due_ns()]
            .into_iter()
            .flatten()
            .min()
    }

    fn next_due_ns(&self) -> Option<u64> {
        let pairs = self.nodes.iter().flat_map(|node| &node.pairs);
        let pairs = pairs.filter_map(|(_, pair)| pair.next_due_ns());
        let adapters = self.nodes.iter().filter_map(|node| node.adapter.as_ref());
        let adapters = adapters.filter_map(AdapterPair::next_due_ns);
        pairs.chain(adapters).min()
    }

    fn control(&mut self, number: usize, submit: &Submit<'_>, now_ns: u64) {
        let node = &mut self.nodes[number];
        let adapter = node.adapter.as_mut();
        let answer = adapter
            .and_then(|it| it.answer(submit.setup, submit.data, now_ns, &mut self.traffic))
            .unwrap_or_else(|| {
                let control = &mut node.control;
                control.answer(&node.identity, submit.setup, submit.data)
            });
        let (to, sequence) = (&mut node.answers, submit.sequence);
        if let Answer::Data(bytes) = &answer {
            let bytes = &bytes[..bytes.len().min(submit.length)];
            usbip::put_done(to, sequence, 0, bytes.len(), bytes);
        } else if answer == Answer::Stall {
            usbip::put_done(to, sequence, usbip::STALLED, 0, &[]);
        } else {
            usbip::put_done(to, sequence, 0, submit.data.len(), &[]);
        }
        self.trace_control(number, submit, &answer, now_ns);
        if let Answer::Done(effect) = answer {
            self.take_effect(number, effect, now_ns);
        }
    }

    fn trace_control(&self, number: usize, submit: &Submit<'_>, answer: &Answer, at_ns: u64) {
        let data = match answer {
            Answer::Data(bytes) => &bytes[..bytes.len().min(submit.length)],
            Answer::Done(_) | Answer::Stall => submit.data,
        };
        let request = trace::Request {
            at_ns,
            setup: submit.setup,
            data,
            stalls: *answer == Answer::Stall,
        };
        self.recorder.control(number, request, |endpoint| {
            let side = u8::from(endpoint.is_in) << 7;
            match answer {
                Answer::Done(Effect::ResetAll) => true,
                Answer::Done(Effect::ClearHalt(address)) => *address == side | endpoint.number,
                _ => false,
            }
        });
    }

    fn take_effect(&mut self, number: usize, effect: Effect, now_ns: u64) {
        let node = &mut self.nodes[number];
        let halted = match effect {
            Effect::ClearHalt(address) if address & 0x80 != 0 => {
                node.endpoints.get(&(address & 0xf, true)).copied()
            }
            _ => None,
        };
        for (place, pair) in &mut node.pairs {
            let reset = match effect {
                Effect::None => false,
                Effect::ResetAll => true,
                Effect::Reset(function) => *place == function,
                Effect::ClearHalt(_) => halted == Some(pair.to_host()),
            };
            if reset {
                let speed = node.identity.speed;
                let counter = self.recorder.device_counter(pair.out(), pair.to_host());
                let report = pair.report_bytes();
                let device = device_of(&node.config, report, self.clock, speed, counter);
                pair.reset(device, &mut self.traffic);
            }
        }
        if let (Some(isochronous), Effect::Reset(_) | Effect::ResetAll) =
            (&mut node.isochronous, effect)
        {
            isochronous.reset();
        }
        if let Some(adapter) = &mut node.adapter {
            let reset = match effect {
                Effect::None => false,
                Effect::ResetAll | Effect::Reset(_) => true,
                Effect::ClearHalt(_) => halted == Some(adapter.to_host()),
            };
            if reset {
                let device = Device::new(node.config.clone(), self.clock);
                adapter.reset(device, now_ns, &mut self.traffic);
            }
        }
    }

    fn submit(&mut self, number: usize, submit: &Submit<'_>, now_ns: u64) {
        let node = &mut self.nodes[number];
        let isochronous = node.isochronous.as_mut();
        if isochronous.is_some_and(|it| it.submit(submit, now_ns)) {
            return;
        }
        let is_in = submit.direction == Direction::In;
        let Some(&pipe) = node.endpoints.get(&(submit.endpoint, is_in)) else {
            usbip::put_done(&mut node.answers, submit.sequence, usbip::STALLED, 0, &[]);
            return;
        };
        node.transfers.insert(
            submit.sequence,
            Transfer {
                pipe,
                direction: submit.direction,
                data: submit.data.to_vec(),
                carried: 0,
            },
        );
        let (key, length) = (u64::from(submit.sequence), submit.length as u64);
        self.traffic.submit(pipe, key, length, submit.close, now_ns);
    }

    fn unlink(&mut self, number: usize, sequence: u32, target: u32) {
        let node = &mut self.nodes[number];
        let isochronous = node.isochronous.as_mut();
        if isochronous.is_some_and(|it| it.cancel(target)) {
            usbip::put_unlinked(&mut node.answers, sequence, usbip::TAKEN_BACK);
            return;
        }
        let pending = node.transfers.get(&target).map(|transfer| transfer.pipe);
        let cancelled = pending.and_then(|pipe| self.traffic.cancel(pipe, u64::from(target)));
        match cancelled {
            Some(0) => {
                node.transfers.remove(&target);
                usbip::put_unlinked(&mut node.answers, sequence, usbip::TAKEN_BACK);
            }
            // Report what was carried, or it would be lost.
            Some(_) => {
                self.tell(number, target, usbip::TAKEN_BACK);
                usbip::put_unlinked(&mut self.nodes[number].answers, sequence, 0);
            }
            None => {
                self.tell(number, target, 0);
                usbip::put_unlinked(&mut self.nodes[number].answers, sequence, 0);
            }
        }
    }

    /// Tells the host that a transfer is over, unless it knows.
    fn tell(&mut self, number: usize, sequence: u32, status: i32) {
        let node = &mut self.nodes[number];
        let Some(transfer) = node.transfers.remove(&sequence) else {
            return;
        };
        let data = match transfer.direction {
            Direction::In => &transfer.data[..],
            Direction::Out => &[],
        };
        usbip::put_done(&mut node.answers, sequence, status, transfer.carried, data);
    }

    fn carried(&mut self, packet: &Carried) {
        let Some(&place) = self.pipes.get(&packet.pipe) else {
            return;
        };
        let node = &mut self.nodes[place.node];
        let sequence = packet.key as u32;
        let Some(transfer) = node.transfers.get_mut(&sequence) else {
            return;
        };
        let from = transfer.carried;
        transfer.carried += packet.bytes as usize;
        let (traffic, is_out) = (&mut self.traffic, transfer.direction == Direction::Out);
        let sent = transfer.data.get(from..transfer.carried).filter(|_| is_out);
        if let Some(sent) = sent {
            self.recorder.carried(packet, sent);
        }
        let pair = node.pairs.get_mut(place.pair).map(|(_, pair)| pair);
        match (sent, &mut node.adapter, pair) {
            (Some(sent), Some(adapter), _) => adapter.receive(sent, packet, traffic),
            (None, Some(adapter), _) => adapter.send_packet(packet, &mut transfer.data, traffic),
            (Some(sent), None, Some(pair)) => pair.receive(sent, packet, traffic),
            (None, None, Some(pair)) => pair.send_packet(packet, &mut transfer.data, traffic),
            (_, None, None) => {}
        }
        if !is_out {
            let payload = transfer.data.get(from..transfer.carried);
            self.recorder.carried(packet, payload.unwrap_or_default());
        }
        if let Some(told_ns) = packet.told_ns {
            self.order += 1;
            self.ends
                .push(Reverse((told_ns, self.order, place.node, sequence)));
        }
    }

    /// What was due at this time happens.
    fn wake(&mut self, now_ns: u64) {
        for node in &mut self.nodes {
            for (_, pair) in &mut node.pairs {
                pair.wake(now_ns, &mut self.traffic);
            }
            if let Some(adapter) = &mut node.adapter {
                adapter.wake(now_ns, &mut self.traffic);
            }
        }
    }
}

/// The device behind a pair of endpoints; behind reports, its frames must fit in them.
fn device_of(
    config: &DeviceConfig,
    report_bytes: Option<u16>,
    clock: Clock,
    bus: Bus,
    counter: Option<DeviceCounter>,
) -> Device {
    let config = match report_bytes {
        Some(bytes) => report::fitted(config, bytes),
        None => config.clone(),
    };
    // A report has no room for the counts.
    let counter = counter.filter(|_| report_bytes.is_none());
    Device::on_bus(config, clock, bus).counted_by(counter)
}
