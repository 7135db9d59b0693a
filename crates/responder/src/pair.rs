//! An OUT and an IN endpoint of a modelled bus with a responder between them: packets of the bus in, transfers
//! to the host out. Virtual time; no I/O here.

use crate::bus::{Carried, PipeId, Traffic};
use crate::device::{Device, Trust};
use crate::hid::report;
use crate::streams::Pull;
use std::collections::VecDeque;
use wiregauge_record::Protocol;
use wiregauge_wire as wire;

/// Bytes that a stream to the host is made ahead of the bus, or two transfers if these are more.
const AHEAD: usize = 4096;

/// An OUT and an IN endpoint with a responder between them.
pub(crate) struct Pair {
    out: PipeId,
    to_host: PipeId,
    device: Device,
    protocol: Protocol,
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
    ready: Vec<u8>,
}

impl Pair {
    /// A responder between two endpoints.
    pub(crate) fn new(
        out: PipeId,
        to_host: PipeId,
        device: Device,
        protocol: Protocol,
        report_bytes: Option<u16>,
    ) -> Pair {
        Pair {
            out,
            to_host,
            device,
            protocol,
            report_bytes,
            input: Vec::new(),
            sending: VecDeque::new(),
            sent: 0,
            queued: 0,
            wake_ns: None,
            ready: Vec::new(),
        }
    }

    /// Begins anew with this responder.
    pub(crate) fn reset(&mut self, device: Device, traffic: &mut Traffic) {
        self.device = device;
        self.input.clear();
        self.sending.clear();
        (self.sent, self.queued, self.wake_ns) = (0, 0, None);
        traffic.withdraw(self.to_host);
        traffic.hold(self.out, false);
    }

    /// The endpoint from the host.
    pub(crate) fn out(&self) -> PipeId {
        self.out
    }

    /// The endpoint to the host.
    pub(crate) fn to_host(&self) -> PipeId {
        self.to_host
    }

    /// Bytes of a report, of a HID function.
    pub(crate) fn report_bytes(&self) -> Option<u16> {
        self.report_bytes
    }

    /// Bytes of one transfer of the stream from the host, if there is one.
    pub(crate) fn sink_bytes(&self) -> Option<usize> {
        self.device.sink_bytes()
    }

    /// True if the responder has disconnected itself, and all that it had to send is sent.
    pub(crate) fn is_gone(&self) -> bool {
        self.device.is_gone() && self.sending.is_empty()
    }

    /// When [`Pair::wake`] is to be called next.
    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        let own = [self.device.next_due_ns(), self.wake_ns];
        own.into_iter().flatten().min()
    }

    /// A packet OUT was carried with these bytes.
    pub(crate) fn receive(&mut self, bytes: &[u8], packet: &Carried, traffic: &mut Traffic) {
        self.input.extend_from_slice(bytes);
        if packet.told_ns.is_some() && self.report_bytes.is_some() {
            self.take_report(packet.taken_ns, traffic);
        }
        self.think(packet.taken_ns, traffic);
    }

    /// A packet IN was carried: its bytes move from what is to be sent to what the host has.
    pub(crate) fn send_packet(
        &mut self,
        packet: &Carried,
        to: &mut Vec<u8>,
        traffic: &mut Traffic,
    ) {
        let bytes = packet.bytes as usize;
        // The packet of length zero comes when its transfer is gone already.
        if bytes > 0
            && let Some(frame) = self.sending.front()
        {
            to.extend_from_slice(&frame[self.sent..self.sent + bytes]);
            self.sent += bytes;
            self.queued -= bytes;
            if self.sent == frame.len() {
                self.sending.pop_front();
                self.sent = 0;
            }
        }
        self.think(packet.taken_ns, traffic);
    }

    /// What was due at this time happens.
    pub(crate) fn wake(&mut self, now_ns: u64, traffic: &mut Traffic) {
        let mut any = self.wake_ns.is_some_and(|at| at <= now_ns);
        while let Some(answer) = self.device.pop_due(now_ns) {
            self.reply(answer, now_ns, traffic);
            any = true;
        }
        if any {
            self.think(now_ns, traffic);
        }
    }

    /// Lets a responder take what arrived and make what it has to send, as far as it wants.
    fn think(&mut self, at_ns: u64, traffic: &mut Traffic) {
        let is_stream = self.report_bytes.is_none();
        if is_stream && !self.input.is_empty() && self.device.has_room(self.queued) {
            let mut ready = std::mem::take(&mut self.ready);
            ready.clear();
            let used = self.device.take_stream(&self.input, at_ns, &mut ready);
            self.input.drain(..used);
            let mut rest = &ready[..];
            while !rest.is_empty() {
                let length = first_frame(rest, self.protocol);
                let (frame, after) = rest.split_at(length);
                self.offer(frame.to_vec(), true, at_ns, traffic);
                rest = after;
            }
            self.ready = ready;
        }
        let full_until_ns = self.device.full_until_ns();
        let full = full_until_ns > at_ns && !self.input.is_empty();
        let held = full || !self.device.has_room(self.queued);
        traffic.hold(self.out, held);
        let source_ns = self.source(at_ns, traffic);
        self.wake_ns = [full.then_some(full_until_ns), source_ns]
            .into_iter()
            .flatten()
            .min();
    }

    /// One frame is one transfer: it is closed by a short packet or one of length zero. So is one
    /// transfer of a stream, but there is more to come, and nothing closes it that has no need to.
    fn offer(&mut self, frame: Vec<u8>, close: bool, ready_ns: u64, traffic: &mut Traffic) {
        traffic.offer(self.to_host, frame.len() as u64, close, ready_ns);
        self.queued += frame.len();
        self.sending.push_back(frame);
    }

    /// Takes what came OUT as one report, if it is a HID function.
    fn take_report(&mut self, at_ns: u64, traffic: &mut Traffic) {
        let report = std::mem::take(&mut self.input);
        if !self.device.has_room(self.queued) {
            return;
        }
        let mut reply = Vec::new();
        let request = report::request_in(&report, self.protocol);
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
