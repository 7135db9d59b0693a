//! The virtual devices and their bus, in virtual time: transfers of the host in, finished ones out
//! with the time when the host learns of it. No socket and no clock here.

use super::control::{Answer, Control, Effect};
use super::descriptors::{Carries, Identity};
use super::traced::{Traced, address_of};
use super::usbip::{self, Command, Submit};
use crate::bus::{
    BusTiming, Carried, DeviceTiming, Direction, NakRetry, PipeId, PipeSpec, Step, Traffic,
};
use crate::device::{Device, DeviceConfig, Trust};
use crate::gadget::Function;
use crate::hid::report;
use crate::streams::Pull;
use crate::trace::{self, Trace};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use wiregauge_link::LinkError;
use wiregauge_link::host::Clock;
use wiregauge_link::limits::Bus;
use wiregauge_record::Protocol;
use wiregauge_wire as wire;

/// Bytes that a stream to the host is made ahead of the bus, or two transfers if these are more.
const AHEAD: usize = 4096;

/// Devices on one bus.
pub struct Machine {
    traffic: Traffic,
    nodes: Vec<Node>,
    pipes: HashMap<PipeId, Place>,
    /// Transfers that are over, until the host learns of them: time, order, device, number.
    ends: BinaryHeap<Reverse<(u64, u64, usize, u32)>>,
    order: u64,
    clock: Clock,
    ready: Vec<u8>,
    traced: Traced,
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
    pairs: Vec<Pair>,
    transfers: HashMap<u32, Transfer>,
    /// USB/IP answers to be sent.
    answers: Vec<u8>,
}

/// An OUT and an IN endpoint with a responder between them.
struct Pair {
    function: usize,
    out: PipeId,
    to_host: PipeId,
    device: Device,
    /// Bytes of a report, of a HID function: each transfer OUT is a request then.
    report_bytes: Option<u16>,
    /// Requests that are not complete or not wanted yet.
    input: Vec<u8>,
    /// Transfers to the host; the first may be sent in part.
    sending: VecDeque<Vec<u8>>,
    sent: usize,
    queued: usize,
    /// When its source has the next data, or its sink takes some again.
    wake_ns: Option<u64>,
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
    pub fn new(bus: BusTiming, clock: Clock) -> Machine {
        Machine {
            traffic: Traffic::new(bus),
            nodes: Vec::new(),
            pipes: HashMap::new(),
            ends: BinaryHeap::new(),
            order: 0,
            clock,
            ready: Vec::new(),
            traced: Traced::default(),
        }
    }

    /// Has every packet written from now on.
    pub fn trace(&mut self, trace: Trace) {
        self.traced.begin(trace);
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// What the system says of its file.
    pub fn finish_trace(&mut self, now_ns: u64) -> Result<(), LinkError> {
        self.trace_until(now_ns);
        self.traced.finish()
    }

    fn trace_until(&mut self, now_ns: u64) {
        let nodes = &self.nodes;
        self.traced.until(now_ns, &self.traffic, |node, key| {
            let transfer = nodes[node].transfers.get(&(key as u32));
            transfer.map_or(&[], |transfer| &transfer.data[transfer.carried..])
        });
    }

    /// Plugs a device in; returns its number.
    pub fn add(&mut self, identity: Identity, config: DeviceConfig, timing: DeviceTiming) -> usize {
        let number = self.nodes.len();
        let mut endpoints = HashMap::new();
        let mut pairs = Vec::new();
        for placed in identity.endpoints() {
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
            self.traced.plug(pipe, number, traced);
        }
        for placed in identity.endpoints() {
            if placed.endpoint.carries != Carries::Frames
                || placed.endpoint.direction == Direction::In
            {
                continue;
            }
            let out = endpoints[&(placed.number, false)];
            let to_host = endpoints[&(placed.number, true)];
            let place = Place {
                node: number,
                pair: pairs.len(),
            };
            self.pipes.insert(out, place);
            self.pipes.insert(to_host, place);
            let is_hid = identity.functions[placed.function] == Function::Hid;
            let report_bytes = is_hid.then_some(identity.report_bytes);
            pairs.push(Pair {
                function: placed.function,
                out,
                to_host,
                device: device_of(&config, report_bytes, self.clock, identity.speed),
                report_bytes,
                input: Vec::new(),
                sending: VecDeque::new(),
                sent: 0,
                queued: 0,
                wake_ns: None,
            });
        }
        self.nodes.push(Node {
            identity,
            config,
            control: Control::default(),
            endpoints,
            pairs,
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
        let left = pairs.any(|pair| pair.device.is_gone() && pair.sending.is_empty());
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
        if self.traced.is_due(now_ns) {
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
        [packet, printed, self.next_due_ns()]
            .into_iter()
            .flatten()
            .min()
    }

    fn next_due_ns(&self) -> Option<u64> {
        let pairs = self.nodes.iter().flat_map(|node| &node.pairs);
        let due = pairs.filter_map(|pair| {
            let own = [pair.device.next_due_ns(), pair.wake_ns];
            own.into_iter().flatten().min()
        });
        due.min()
    }

    fn control(&mut self, number: usize, submit: &Submit<'_>, now_ns: u64) {
        let node = &mut self.nodes[number];
        let answer = node
            .control
            .answer(&node.identity, submit.setup, submit.data);
        let (to, sequence) = (&mut node.answers, submit.sequence);
        if let Answer::Data(bytes) = &answer {
            let bytes = &bytes[..bytes.len().min(submit.length)];
            usbip::put_done(to, sequence, 0, bytes.len(), bytes);
        } else if answer == Answer::Stall {
            usbip::put_done(to, sequence, usbip::STALLED, 0, &[]);
        } else {
            usbip::put_done(to, sequence, 0, submit.data.len(), &[]);
        }
        self.traced.control(number, submit, &answer, now_ns);
        if let Answer::Done(effect) = answer {
            self.take_effect(number, effect);
        }
    }

    fn take_effect(&mut self, number: usize, effect: Effect) {
        let node = &mut self.nodes[number];
        let halted = match effect {
            Effect::ClearHalt(address) if address & 0x80 != 0 => {
                node.endpoints.get(&(address & 0xf, true)).copied()
            }
            _ => None,
        };
        for pair in &mut node.pairs {
            let reset = match effect {
                Effect::None => false,
                Effect::ResetAll => true,
                Effect::Reset(function) => pair.function == function,
                Effect::ClearHalt(_) => halted == Some(pair.to_host),
            };
            if reset {
                let speed = node.identity.speed;
                pair.device = device_of(&node.config, pair.report_bytes, self.clock, speed);
                pair.input.clear();
                pair.sending.clear();
                (pair.sent, pair.queued, pair.wake_ns) = (0, 0, None);
                self.traffic.withdraw(pair.to_host);
                self.traffic.hold(pair.out, false);
            }
        }
    }

    fn submit(&mut self, number: usize, submit: &Submit<'_>, now_ns: u64) {
        let node = &mut self.nodes[number];
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
        let pair = &mut node.pairs[place.pair];
        let sequence = packet.key as u32;
        let bytes = packet.bytes as usize;
        let Some(transfer) = node.transfers.get_mut(&sequence) else {
            return;
        };
        match transfer.direction {
            Direction::Out => {
                let from = transfer.carried;
                pair.input
                    .extend_from_slice(&transfer.data[from..from + bytes]);
            }
            Direction::In => pair.send_packet(bytes, &mut transfer.data),
        }
        let payload = transfer
            .data
            .get(transfer.carried..transfer.carried + bytes);
        self.traced.carried(packet, payload.unwrap_or_default());
        transfer.carried += bytes;
        if packet.told_ns.is_some() && transfer.direction == Direction::Out {
            let protocol = node.config.protocol;
            pair.take_report(protocol, packet.taken_ns, &mut self.traffic);
        }
        if let Some(told_ns) = packet.told_ns {
            self.order += 1;
            self.ends
                .push(Reverse((told_ns, self.order, place.node, sequence)));
        }
        self.think(place, packet.taken_ns);
    }

    /// Lets a responder take what arrived and make what it has to send, as far as it wants.
    fn think(&mut self, place: Place, at_ns: u64) {
        let node = &mut self.nodes[place.node];
        let pair = &mut node.pairs[place.pair];
        let is_stream = pair.report_bytes.is_none();
        if is_stream && !pair.input.is_empty() && pair.device.has_room(pair.queued) {
            self.ready.clear();
            let used = pair.device.take_stream(&pair.input, at_ns, &mut self.ready);
            pair.input.drain(..used);
            let mut rest = &self.ready[..];
            while !rest.is_empty() {
                let length = first_frame(rest, node.config.protocol);
                let (frame, after) = rest.split_at(length);
                pair.offer(frame.to_vec(), true, at_ns, &mut self.traffic);
                rest = after;
            }
        }
        let full_until_ns = pair.device.full_until_ns();
        let full = full_until_ns > at_ns && !pair.input.is_empty();
        let held = full || !pair.device.has_room(pair.queued);
        self.traffic.hold(pair.out, held);
        let source_ns = pair.source(at_ns, &mut self.traffic);
        pair.wake_ns = [full.then_some(full_until_ns), source_ns]
            .into_iter()
            .flatten()
            .min();
    }

    /// What was due at this time happens.
    fn wake(&mut self, now_ns: u64) {
        for node in 0..self.nodes.len() {
            for pair in 0..self.nodes[node].pairs.len() {
                let one = &mut self.nodes[node].pairs[pair];
                let mut any = one.wake_ns.is_some_and(|at| at <= now_ns);
                while let Some(answer) = one.device.pop_due(now_ns) {
                    one.reply(answer, now_ns, &mut self.traffic);
                    any = true;
                }
                if any {
                    self.think(Place { node, pair }, now_ns);
                }
            }
        }
    }
}

impl Pair {
    /// One frame is one transfer: it is closed by a short packet or one of length zero. So is one
    /// transfer of a stream, but there is more to come, and nothing closes it that has no need to.
    fn offer(&mut self, frame: Vec<u8>, close: bool, ready_ns: u64, traffic: &mut Traffic) {
        traffic.offer(self.to_host, frame.len() as u64, close, ready_ns);
        self.queued += frame.len();
        self.sending.push_back(frame);
    }

    /// Takes what came OUT as one report, if it is a HID function.
    fn take_report(&mut self, protocol: Protocol, at_ns: u64, traffic: &mut Traffic) {
        if self.report_bytes.is_none() {
            return;
        }
        let report = std::mem::take(&mut self.input);
        if !self.device.has_room(self.queued) {
            return;
        }
        let mut reply = Vec::new();
        let request = report::request_in(&report, protocol);
        self.device
            .take_datagram(request, at_ns, Trust::Proved, &mut reply);
        if !reply.is_empty() {
            self.reply(reply, at_ns, traffic);
        }
    }

    /// Sends an answer: a frame, or a report that holds it.
    fn reply(&mut self, answer: Vec<u8>, ready_ns: u64, traffic: &mut Traffic) {
        match self.report_bytes {
            None => self.offer(answer, true, ready_ns, traffic),
            // The host asks for as many bytes as a report has, so that nothing needs to end it.
            Some(bytes) => {
                if let Some(report) = report::padded(answer, bytes) {
                    self.offer(report, false, ready_ns, traffic);
                }
            }
        }
    }

    /// Has a stream to the host made some way ahead of the bus; returns when there is more.
    fn source(&mut self, now_ns: u64, traffic: &mut Traffic) -> Option<u64> {
        let transfer = self.device.source_bytes()?;
        while self.queued < AHEAD.max(2 * transfer) {
            let mut ready = Vec::with_capacity(transfer + 1);
            let pull = self.device.pull(now_ns, transfer, &mut ready);
            let made = !ready.is_empty();
            if made {
                self.offer(ready, false, now_ns, traffic);
            }
            match pull {
                Pull::Idle => return None,
                Pull::NextAt(at) if at > now_ns => return Some(at),
                // Nothing more, though there is room.
                Pull::NextAt(_) if !made => return None,
                Pull::NextAt(_) => {}
            }
        }
        None
    }

    /// Moves a packet from what is to be sent to what the host has.
    fn send_packet(&mut self, bytes: usize, to: &mut Vec<u8>) {
        // The packet of length zero comes when its transfer is gone already.
        if bytes == 0 {
            return;
        }
        let Some(frame) = self.sending.front() else {
            return;
        };
        to.extend_from_slice(&frame[self.sent..self.sent + bytes]);
        self.sent += bytes;
        self.queued -= bytes;
        if self.sent == frame.len() {
            self.sending.pop_front();
            self.sent = 0;
        }
    }
}

/// The device behind a pair of endpoints; behind reports, its frames must fit in them.
fn device_of(config: &DeviceConfig, report_bytes: Option<u16>, clock: Clock, bus: Bus) -> Device {
    let config = match report_bytes {
        Some(bytes) => report::fitted(config, bytes),
        None => config.clone(),
    };
    Device::on_bus(config, clock, bus)
}

/// Length of the first answer among those that a responder gave at once.
fn first_frame(answers: &[u8], protocol: Protocol) -> usize {
    let framed = match protocol {
        Protocol::Wiregauge => wire::Response::decode(answers).ok(),
        _ => None,
    };
    framed.map_or(answers.len(), |header| {
        (wire::RESPONSE_HEADER + header.in_payload as usize).min(answers.len())
    })
}
