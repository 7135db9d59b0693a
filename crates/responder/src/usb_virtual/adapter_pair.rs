//! The endpoints of an adapter with a responder behind its UART: packets of the bus in, packets to the host out. Virtual
//! time; no I/O here.

use super::adapter::{Adapter, Event};
use super::control::Answer;
use crate::bus::{Carried, PipeId, Traffic};
use crate::device::Device;
use crate::streams::Pull;

/// Bytes that a stream to the host is made ahead of the line, or two transfers if these are more.
const AHEAD: usize = 4096;

/// The endpoints of an adapter.
#[derive(Clone, Copy, Debug)]
pub struct Pipes {
    /// The one that the host sends to.
    pub out: PipeId,
    /// The one that it receives from.
    pub to_host: PipeId,
    /// The interrupt endpoint that reports modem lines, if there is one.
    pub notices: Option<PipeId>,
}

/// The endpoints of an adapter, the adapter, and the responder behind it.
pub struct AdapterPair {
    pipes: Pipes,
    adapter: Adapter,
    device: Device,
    /// Requests that are not complete or not wanted yet.
    input: Vec<u8>,
    /// The packet that waits for the host.
    packet: Vec<u8>,
    /// What the interrupt endpoint sends next.
    notice: [u8; 4],
    /// When its source has the next data, its sink takes some again, or the adapter does something.
    wake_ns: Option<u64>,
    ready: Vec<u8>,
}

impl AdapterPair {
    /// A responder behind this adapter.
    pub fn new(pipes: Pipes, adapter: Adapter, device: Device) -> AdapterPair {
        AdapterPair {
            pipes,
            adapter,
            device,
            input: Vec::new(),
            packet: Vec::new(),
            notice: [0; 4],
            wake_ns: None,
            ready: Vec::new(),
        }
    }

    /// Begins anew with this responder: nothing is on the line.
    pub fn reset(&mut self, device: Device, now_ns: u64, traffic: &mut Traffic) {
        self.device = device;
        self.adapter.restart(now_ns);
        self.input.clear();
        traffic.withdraw(self.pipes.to_host);
        self.think(now_ns, traffic);
    }

    /// The endpoint to the host.
    pub fn to_host(&self) -> PipeId {
        self.pipes.to_host
    }

    /// True if the responder has disconnected itself, and all that it had to send is sent.
    pub fn is_gone(&self) -> bool {
        self.device.is_gone() && self.adapter.queued() == 0
    }

    /// When [`AdapterPair::wake`] is to be called next.
    pub fn next_due_ns(&self) -> Option<u64> {
        let own = [self.device.next_due_ns(), self.wake_ns];
        own.into_iter().flatten().min()
    }

    /// Answers a vendor request on endpoint 0; nothing if it is not one.
    pub fn answer(
        &mut self,
        setup: [u8; 8],
        data: &[u8],
        now_ns: u64,
        traffic: &mut Traffic,
    ) -> Option<Answer> {
        // bmRequestType (USB 2.0, table 9-2).
        const KIND: u8 = 0x60;
        const VENDOR: u8 = 0x40;
        if setup[0] & KIND != VENDOR {
            return None;
        }
        // What was sent before is not changed by the request.
        self.run(now_ns, traffic);
        let answer = self.adapter.answer(setup, data, now_ns);
        if let Some((notice, pipe)) = self.adapter.take_notice().zip(self.pipes.notices) {
            self.notice = notice;
            traffic.withdraw(pipe);
            traffic.offer(pipe, notice.len() as u64, false, now_ns);
        }
        if self.adapter.take_purged() {
            traffic.withdraw(self.pipes.to_host);
        }
        self.think(now_ns, traffic);
        Some(answer)
    }

    /// A packet OUT was carried with these bytes.
    pub fn receive(&mut self, bytes: &[u8], packet: &Carried, traffic: &mut Traffic) {
        self.adapter.send(bytes, packet.taken_ns);
        self.think(packet.taken_ns, traffic);
    }

    /// A packet IN was carried.
    pub fn send_packet(&mut self, packet: &Carried, to: &mut Vec<u8>, traffic: &mut Traffic) {
        let bytes = packet.bytes as usize;
        if self.pipes.notices == Some(packet.pipe) {
            to.extend(&self.notice[..bytes]);
            return;
        }
        to.extend(&self.packet[..bytes]);
        self.run(packet.end_ns, traffic);
        self.adapter.packet_sent(packet.end_ns);
        self.think(packet.end_ns, traffic);
    }

    /// What was due at this time happens.
    pub fn wake(&mut self, now_ns: u64, traffic: &mut Traffic) {
        let mut any = self.wake_ns.is_some_and(|at| at <= now_ns);
        while let Some(answer) = self.device.pop_due(now_ns) {
            self.run(now_ns, traffic);
            self.adapter.receive(&answer, now_ns);
            any = true;
        }
        if any {
            self.think(now_ns, traffic);
        }
    }

    /// Lets the line run until this time.
    fn run(&mut self, until_ns: u64, traffic: &mut Traffic) {
        while let Some((at_ns, event)) = self.adapter.step(until_ns) {
            match event {
                Event::Heard(byte) => {
                    self.input.push(byte);
                    self.take_input(at_ns);
                }
                Event::Packet => {
                    let Some(packet) = self.adapter.take_packet() else {
                        return;
                    };
                    let bytes = packet.len() as u64;
                    // One of length zero ends a transfer of the host whose last packet was full.
                    traffic.offer(self.pipes.to_host, bytes, bytes == 0, at_ns);
                    self.packet = packet;
                }
            }
        }
    }

    /// Lets the responder take what arrived.
    fn take_input(&mut self, at_ns: u64) {
        if !self.input.is_empty() && self.device.has_room(self.adapter.queued()) {
            self.ready.clear();
            let used = self.device.take_stream(&self.input, at_ns, &mut self.ready);
            self.input.drain(..used);
            self.adapter.receive(&self.ready, at_ns);
        }
    }

    /// Lets the responder take what arrived and make what it has to send, as far as it wants.
    fn think(&mut self, at_ns: u64, traffic: &mut Traffic) {
        self.run(at_ns, traffic);
        self.take_input(at_ns);
        let full_until_ns = self.device.full_until_ns();
        let full = full_until_ns > at_ns && !self.input.is_empty();
        let has_room = self.adapter.has_room() && self.device.has_room(self.adapter.queued());
        traffic.hold(self.pipes.out, full || !has_room);
        let source_ns = self.source(at_ns);
        let times = [
            full.then_some(full_until_ns),
            source_ns,
            self.adapter.next_ns(),
        ];
        self.wake_ns = times.into_iter().flatten().min();
    }

    /// Has a stream to the host made some way ahead of the line; returns when there is more.
    fn source(&mut self, now_ns: u64) -> Option<u64> {
        let transfer = self.device.source_bytes()?;
        while self.adapter.queued() < AHEAD.max(2 * transfer) {
            self.ready.clear();
            let pull = self.device.pull(now_ns, transfer, &mut self.ready);
            self.adapter.receive(&self.ready, now_ns);
            match pull {
                Pull::Idle => return None,
                Pull::NextAt(at) if at > now_ns => return Some(at),
                // Nothing more, though there is room.
                Pull::NextAt(_) if self.ready.is_empty() => return None,
                Pull::NextAt(_) => {}
            }
        }
        None
    }
}
