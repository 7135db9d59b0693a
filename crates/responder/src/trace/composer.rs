//! From what the modelled bus did to the packets on its wire: starts of frame, tokens, data and handshakes, and
//! in the time that is left the tokens that a device answers NAK. No file and no clock.

use super::wire::Wire;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::io;
use wiregauge_capture::{Pid, packet};

/// A host controller that finds nothing but NAKs asks again after this (EHCI 1.0, 4.8.4: 10 us).
const AGAIN_NS: u64 = 10_000;
/// After so long in vain once a frame (Linux' uhci-hcd: 50 ms until it gives up full-speed reclamation).
const PATIENT_NS: u64 = 50_000_000;

/// Takes a packet and when it begins.
pub type Write<'a> = dyn FnMut(u64, &[u8]) -> io::Result<()> + 'a;

/// An endpoint of a device on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// Of the device.
    pub address: u8,
    /// 0 to 15.
    pub number: u8,
    /// As seen from the host.
    pub is_in: bool,
    /// Asked once in this time; 0 for a bulk endpoint.
    pub interval_ns: u64,
    /// A bulk endpoint that is asked again in the next frame only.
    pub by_frame: bool,
}

/// What happened on the bus.
#[derive(Clone, Debug)]
pub enum Event {
    /// A packet was carried.
    Carried {
        /// Where.
        endpoint: Endpoint,
        /// From when on the host asked.
        asked_ns: u64,
        /// When the device was ready.
        ready_ns: u64,
        /// When the transaction began.
        begin_ns: u64,
        /// The device has no room for another packet.
        fills: bool,
        /// Its data.
        payload: Vec<u8>,
    },
    /// The device is asked and not ready.
    Refused {
        /// Where.
        endpoint: Endpoint,
        /// From when on.
        since_ns: u64,
        /// Until then, as far as is known.
        until_ns: u64,
        /// What the host has to send next.
        payload: Vec<u8>,
    },
    /// A control transfer, which the model does at once.
    Control {
        /// Of the device.
        address: u8,
        /// When.
        at_ns: u64,
        /// The request.
        setup: [u8; 8],
        /// Of the data stage, in the direction that the request names.
        data: Vec<u8>,
        /// The device refused it.
        stalls: bool,
        /// Endpoints that begin with DATA0 after it.
        resets: Vec<Endpoint>,
    },
    /// Nothing that begins before this time is missing.
    Until(u64),
    /// Nothing follows.
    End,
}

/// A token for a device that is not ready.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Attempt {
    at_ns: u64,
    /// The next one must begin before this.
    until_ns: u64,
    since_ns: u64,
    endpoint: Endpoint,
    /// Of the data that are refused.
    toggle: bool,
    payload: Vec<u8>,
}

/// A token that was answered NAK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nak {
    /// Where.
    pub endpoint: Endpoint,
    /// When it began.
    pub begin_ns: u64,
    /// How long it took.
    pub lasts_ns: u64,
}

/// A control transfer that waits for its place.
#[derive(Debug)]
struct Control {
    at_ns: u64,
    address: u8,
    setup: [u8; 8],
    data: Vec<u8>,
    stalls: bool,
}

/// A packet on the wire: when it begins, in the order in which it was composed, and its bytes.
type Begun = Reverse<(u64, u64, Vec<u8>)>;

/// Makes packets of events.
#[derive(Debug)]
pub struct Composer {
    wire: Wire,
    frame_ns: u64,
    /// Frames to one number of a start of frame: 8 at high speed.
    frames_a_number: u64,
    packets: BinaryHeap<Begun>,
    order: u64,
    /// Begin and end of what is taken of the wire.
    taken: BTreeMap<u64, u64>,
    attempts: BinaryHeap<Reverse<Attempt>>,
    controls: VecDeque<Control>,
    /// Refusals are composed up to here.
    refused_to: HashMap<Endpoint, u64>,
    /// The device has not been ready since.
    refused_since: HashMap<Endpoint, u64>,
    toggles: HashMap<Endpoint, bool>,
    next_frame: u64,
    /// All that begins before is known.
    passed_ns: u64,
    /// The end of what was carried last.
    carried_to_ns: u64,
    /// NAKs that were not counted yet, instead of packets.
    naks: Option<Vec<Nak>>,
}

impl Composer {
    /// A bus of this kind.
    pub fn new(wire: Wire, frame_ns: u64) -> Composer {
        Composer {
            wire,
            frame_ns,
            frames_a_number: (1_000_000 / frame_ns).max(1),
            packets: BinaryHeap::new(),
            order: 0,
            taken: BTreeMap::new(),
            attempts: BinaryHeap::new(),
            controls: VecDeque::new(),
            refused_to: HashMap::new(),
            refused_since: HashMap::new(),
            toggles: HashMap::new(),
            next_frame: 0,
            passed_ns: 0,
            carried_to_ns: 0,
            naks: None,
        }
    }

    /// One that begins at this time and makes no packets: its NAKs are to be counted ([`Composer::naks_until`]).
    pub fn counting(wire: Wire, frame_ns: u64, from_ns: u64) -> Composer {
        Composer {
            passed_ns: from_ns,
            naks: Some(Vec::new()),
            ..Composer::new(wire, frame_ns)
        }
    }

    /// Takes an event for its NAKs alone; a control transfer has none.
    pub fn count(&mut self, event: &Event) {
        match event {
            Event::Carried {
                endpoint,
                asked_ns,
                ready_ns,
                begin_ns,
                payload,
                ..
            } => {
                let until_ns = *ready_ns.min(begin_ns);
                self.refuse(*endpoint, *asked_ns, until_ns, payload);
                self.refused_since.remove(endpoint);
                let begin_ns = self.begin_of(*begin_ns);
                let data_ns = self.data_ns(payload);
                self.carried_to_ns = begin_ns + self.wire.refusal_ns() - self.wire.gap_ns + data_ns;
                self.taken.insert(begin_ns, self.carried_to_ns);
            }
            Event::Refused {
                endpoint,
                since_ns,
                until_ns,
                payload,
            } => self.refuse(*endpoint, *since_ns, *until_ns, payload),
            Event::Control { .. } | Event::Until(_) | Event::End => {}
        }
    }

    /// What was answered NAK and begins before `now_ns`, since it was asked last. Nothing that was carried or
    /// refused before that time may be missing.
    pub fn naks_until(&mut self, now_ns: u64) -> Vec<Nak> {
        if now_ns > self.passed_ns {
            self.pass_in_silence(now_ns);
        }
        self.naks.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Takes an event; `write` gets the packets that are certain by now, in the order of time.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn take(&mut self, event: Event, write: &mut Write<'_>) -> io::Result<()> {
        match event {
            Event::Carried {
                endpoint,
                asked_ns,
                ready_ns,
                begin_ns,
                fills,
                payload,
            } => {
                let until_ns = ready_ns.min(begin_ns);
                self.refuse(endpoint, asked_ns, until_ns, &payload);
                self.refused_since.remove(&endpoint);
                self.carry(endpoint, begin_ns, fills, &payload);
                Ok(())
            }
            Event::Refused {
                endpoint,
                since_ns,
                until_ns,
                payload,
            } => {
                self.refuse(endpoint, since_ns, until_ns, &payload);
                Ok(())
            }
            Event::Control {
                address,
                at_ns,
                setup,
                data,
                stalls,
                resets,
            } => {
                for endpoint in resets {
                    self.toggles.remove(&endpoint);
                }
                self.controls.push_back(Control {
                    at_ns,
                    address,
                    setup,
                    data,
                    stalls,
                });
                Ok(())
            }
            Event::Until(now_ns) => self.pass(now_ns, write),
            Event::End => Ok(()),
        }
    }

    /// Lets the device refuse from one time to another, as far as it was not said before.
    fn refuse(&mut self, endpoint: Endpoint, from_ns: u64, until_ns: u64, payload: &[u8]) {
        let since_ns = *self.refused_since.entry(endpoint).or_insert(from_ns);
        let refused_to = self.refused_to.get(&endpoint).copied().unwrap_or(0);
        let from_ns = from_ns.max(refused_to).max(self.certain_ns());
        let at_ns = match endpoint.interval_ns {
            0 => from_ns,
            interval => from_ns.div_ceil(interval) * interval,
        };
        if at_ns < until_ns {
            self.attempts.push(Reverse(Attempt {
                at_ns,
                until_ns,
                since_ns,
                endpoint,
                toggle: self.toggles.get(&endpoint).copied().unwrap_or_default(),
                payload: payload.to_vec(),
            }));
        }
    }

    fn carry(&mut self, endpoint: Endpoint, begin_ns: u64, fills: bool, payload: &[u8]) {
        let toggle = self.toggles.entry(endpoint).or_default();
        let pid = toggled(std::mem::replace(toggle, !*toggle));
        let handshake = match self.is_pinged(&endpoint) && fills {
            true => Pid::Nyet,
            false => Pid::Ack,
        };
        let token = match endpoint.is_in {
            true => Pid::In,
            false => Pid::Out,
        };
        let token = packet::token(token, endpoint.address, endpoint.number);
        let begin_ns = self.begin_of(begin_ns);
        let data = Some((pid, payload));
        self.carried_to_ns = self.transaction(begin_ns, &token, data, handshake);
    }

    /// The model has no time for the start of frame; what stands behind it makes room.
    fn begin_of(&self, begin_ns: u64) -> u64 {
        let frame_ns = begin_ns / self.frame_ns * self.frame_ns;
        begin_ns
            .max(frame_ns + self.wire.sof_ns())
            .max(self.carried_to_ns)
    }

    /// Puts a transaction on the wire; returns its end.
    fn transaction(
        &mut self,
        begin_ns: u64,
        token: &[u8],
        data: Option<(Pid, &[u8])>,
        handshake: Pid,
    ) -> u64 {
        let wire = self.wire;
        self.put(begin_ns, token.to_vec());
        let mut at_ns = begin_ns + wire.token_ns() + wire.gap_ns;
        if let Some((pid, payload)) = data {
            self.put(at_ns, packet::data(pid, payload));
            at_ns += wire.data_ns(payload.len() as u64) + wire.gap_ns;
        }
        self.put(at_ns, packet::handshake(handshake).to_vec());
        let end_ns = at_ns + wire.handshake_ns();
        self.taken.insert(begin_ns, end_ns);
        end_ns
    }

    fn put(&mut self, at_ns: u64, bytes: Vec<u8>) {
        self.order += 1;
        self.packets.push(Reverse((at_ns, self.order, bytes)));
    }

    /// All that begins before `now_ns` is known: what fills the gaps can be composed, and packets be written.
    fn pass(&mut self, now_ns: u64, write: &mut Write<'_>) -> io::Result<()> {
        self.pass_in_silence(now_ns);
        self.starts_of_frame(now_ns);
        self.write_before(self.certain_ns(), write)
    }

    fn pass_in_silence(&mut self, now_ns: u64) {
        // They must not reach into what is not known yet.
        self.controls_before(now_ns.saturating_sub(self.frame_ns));
        while let Some(Reverse(attempt)) = self.attempts.peek()
            && attempt.at_ns < now_ns
        {
            if let Some(Reverse(attempt)) = self.attempts.pop() {
                self.attempt(attempt, now_ns);
            }
        }
        self.passed_ns = now_ns;
        let certain_ns = self.certain_ns();
        self.taken.retain(|_, end_ns| *end_ns >= certain_ns);
    }

    /// Nothing is added before: a transaction is never longer than a frame.
    fn certain_ns(&self) -> u64 {
        self.passed_ns.saturating_sub(self.frame_ns)
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn finish(&mut self, write: &mut Write<'_>) -> io::Result<()> {
        self.controls_before(u64::MAX);
        self.write_before(u64::MAX, write)
    }

    fn controls_before(&mut self, until_ns: u64) {
        while self.controls.front().is_some_and(|c| c.at_ns < until_ns) {
            if let Some(control) = self.controls.pop_front() {
                self.control(&control);
            }
        }
    }

    fn write_before(&mut self, until_ns: u64, write: &mut Write<'_>) -> io::Result<()> {
        while let Some(Reverse((at_ns, ..))) = self.packets.peek()
            && *at_ns < until_ns
        {
            if let Some(Reverse((at_ns, _, bytes))) = self.packets.pop() {
                write(at_ns, &bytes)?;
            }
        }
        Ok(())
    }

    /// One token that is refused, and the next one when it is due.
    fn attempt(&mut self, mut attempt: Attempt, now_ns: u64) {
        let endpoint = attempt.endpoint;
        let (pid, data) = match endpoint.is_in {
            true => (Pid::In, None),
            false if self.is_pinged(&endpoint) => (Pid::Ping, None),
            false => (Pid::Out, Some(&attempt.payload[..])),
        };
        let data_ns = data.map_or(0, |payload| self.data_ns(payload));
        let needed_ns = self.wire.refusal_ns() + data_ns;
        let begin_ns = self.free_from(attempt.at_ns, needed_ns, attempt.until_ns);
        if begin_ns >= attempt.until_ns {
            return;
        }
        if begin_ns + needed_ns > now_ns {
            // What follows goes on from here, if the device still refuses.
            self.refused_to.insert(endpoint, begin_ns);
            return;
        }
        if let Some(naks) = &mut self.naks {
            self.taken
                .insert(begin_ns, begin_ns + needed_ns - self.wire.gap_ns);
            naks.push(Nak {
                endpoint,
                begin_ns,
                lasts_ns: needed_ns,
            });
        } else {
            let token = packet::token(pid, endpoint.address, endpoint.number);
            let data = data.map(|payload| (toggled(attempt.toggle), payload));
            self.transaction(begin_ns, &token, data, Pid::Nak);
        }
        let is_late = begin_ns.saturating_sub(attempt.since_ns) > PATIENT_NS;
        attempt.at_ns = match endpoint.interval_ns {
            0 if endpoint.by_frame || is_late => (begin_ns / self.frame_ns + 1) * self.frame_ns,
            0 => begin_ns + needed_ns + AGAIN_NS,
            interval => (begin_ns / interval + 1) * interval,
        };
        self.refused_to.insert(endpoint, attempt.at_ns);
        self.attempts.push(Reverse(attempt));
    }

    /// A bulk endpoint OUT at high speed is asked whether it has room (USB 2.0, 8.5.1).
    fn is_pinged(&self, endpoint: &Endpoint) -> bool {
        self.frames_a_number > 1 && !endpoint.is_in && endpoint.interval_ns == 0
    }

    /// Setup, data and status stage, in what is left of the wire.
    fn control(&mut self, control: &Control) {
        let (setup, address) = (&control.setup, control.address);
        let token = |pid| packet::token(pid, address, 0);
        let first = Some((Pid::Data0, &setup[..]));
        let mut at_ns = self.place(control.at_ns, &token(Pid::Setup), first, Pid::Ack);
        let wanted = u16::from_le_bytes([setup[6], setup[7]]);
        let (stage, status) = match setup[0] & 0x80 != 0 && wanted > 0 {
            true => (Pid::In, Pid::Out),
            false => (Pid::Out, Pid::In),
        };
        if control.stalls {
            let pid = if wanted > 0 { stage } else { status };
            let empty = Some((Pid::Data1, &[][..])).filter(|_| pid == Pid::Out);
            self.place(at_ns, &token(pid), empty, Pid::Stall);
            return;
        }
        for (part, toggle) in control
            .data
            .chunks(64)
            .zip([true, false].into_iter().cycle())
        {
            let data = Some((toggled(toggle), part));
            at_ns = self.place(at_ns, &token(stage), data, Pid::Ack);
        }
        self.place(at_ns, &token(status), Some((Pid::Data1, &[])), Pid::Ack);
    }

    fn data_ns(&self, payload: &[u8]) -> u64 {
        self.wire.data_ns(payload.len() as u64) + self.wire.gap_ns
    }

    /// Puts a transaction where the wire is free; returns its end.
    fn place(
        &mut self,
        from_ns: u64,
        token: &[u8],
        data: Option<(Pid, &[u8])>,
        handshake: Pid,
    ) -> u64 {
        let data_ns = data.map_or(0, |(_, payload)| self.data_ns(payload));
        let begin_ns = self.free_from(from_ns, self.wire.refusal_ns() + data_ns, u64::MAX);
        self.transaction(begin_ns, token, data, handshake) + self.wire.gap_ns
    }

    /// The first time from which the wire is free for so long, within one frame; `until_ns` or later if there is
    /// none before.
    fn free_from(&self, from_ns: u64, needed_ns: u64, until_ns: u64) -> u64 {
        let mut begin_ns = from_ns;
        loop {
            if begin_ns >= until_ns {
                return begin_ns;
            }
            let frame_ns = begin_ns / self.frame_ns * self.frame_ns;
            begin_ns = begin_ns.max(frame_ns + self.wire.sof_ns());
            let end_ns = begin_ns + needed_ns;
            if end_ns > frame_ns + self.frame_ns {
                begin_ns = frame_ns + self.frame_ns;
                continue;
            }
            // What is taken does not overlap, so the last one before the end is the only one in the way.
            match self.taken.range(..end_ns).next_back() {
                Some((_, &taken_ns)) if taken_ns > begin_ns => begin_ns = taken_ns,
                _ => return begin_ns,
            }
        }
    }

    fn starts_of_frame(&mut self, now_ns: u64) {
        while self.next_frame * self.frame_ns < now_ns {
            let bytes = packet::sof(self.next_frame / self.frames_a_number);
            let at_ns = self.next_frame * self.frame_ns;
            // Before all else of that time.
            self.packets.push(Reverse((at_ns, 0, bytes.to_vec())));
            self.next_frame += 1;
        }
    }
}

fn toggled(toggle: bool) -> Pid {
    match toggle {
        false => Pid::Data0,
        true => Pid::Data1,
    }
}
