//! The responder itself, without any I/O: received bytes in, answers with the time when they are
//! due out. Everything that it holds is bounded.

mod hello;
mod orders;

use super::application::Application;
use super::faults::{FaultInjector, Faulted, Faults};
use super::frames::{echo_message, frame_of, not_spoken, put_header, put_message};
use super::model::{Model, ModelledDevice, Passage};
use super::plant::DevicePlant;
use super::replies::Replies;
use super::streams::{self, Pull, Streams, Sunk};
use super::trace::DeviceCounter;
use wiregauge_control::PlantModel;
use wiregauge_link::host::Clock;
use wiregauge_link::limits::Bus;
use wiregauge_record::{ModbusLine, Protocol};
use wiregauge_wire as wire;
use wiregauge_wire::{Found, HelloRequest, Kind, Request, Response, Status, StreamOrder};

/// Bytes of answers held at most before requests are left unread.
const HELD: usize = 1 << 20;

/// How much later a reordered answer is sent.
const REORDER_NS: u64 = 5_000_000;

/// What a responder is.
#[derive(Clone, Debug)]
pub struct DeviceConfig {
    /// What it speaks.
    pub protocol: Protocol,
    /// The name that it gives.
    pub name: String,
    /// Largest frame in either direction.
    pub max_frame: u32,
    /// What is modelled.
    pub model: Model,
    /// By which rules it speaks Modbus, if it does.
    pub modbus: ModbusLine,
    /// What goes wrong.
    pub faults: Faults,
    /// Seed of all that is random.
    pub seed: u64,
    /// The plant that its messages command and measure; without one it echoes them.
    pub plant: Option<PlantModel>,
}

impl Default for DeviceConfig {
    fn default() -> DeviceConfig {
        DeviceConfig {
            protocol: Protocol::Wiregauge,
            name: "device".into(),
            max_frame: 1 << 20,
            model: Model::default(),
            modbus: ModbusLine::Tcp,
            faults: Faults::default(),
            seed: 1,
            plant: None,
        }
    }
}

/// One device, seen by one peer.
pub struct Device {
    config: DeviceConfig,
    /// What it does where it does not speak the wiregauge protocol.
    application: Option<Application>,
    clock: Clock,
    modelled: Option<ModelledDevice>,
    injector: Option<FaultInjector>,
    plant: Option<DevicePlant>,
    later: Replies,
    scratch: Vec<u8>,
    /// Bytes of an incomplete request at the front of the stream that were compared already.
    seen: usize,
    streams: Streams,
    /// The modelled bus that carries its packets outside of it; its time is that bus's.
    on_bus: Option<Bus>,
    /// What counts the packets of its streams there.
    counter: Option<DeviceCounter>,
}

/// How much a peer may be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Anything: a connection, or a datagram's address that was proved.
    Proved,
    /// Not more bytes than it sent.
    Unproved,
}

impl Device {
    /// A device at rest, whose own clock is `clock`.
    pub fn new(config: DeviceConfig, clock: Clock) -> Device {
        let (model, faults, seed) = (config.model, config.faults, config.seed);
        Device {
            application: Application::new(config.protocol, &config.name, config.modbus),
            modelled: (model != Model::default() || faults.stall.is_some())
                .then(|| ModelledDevice::new(model, seed)),
            injector: (faults != Faults::default())
                .then(|| FaultInjector::new(faults, seed ^ 0x5eed)),
            plant: (config.plant.as_ref()).map(|plant| DevicePlant::new(plant, seed)),
            config,
            clock,
            later: Replies::default(),
            scratch: Vec::new(),
            seen: 0,
            streams: Streams::default(),
            on_bus: None,
            counter: None,
        }
    }

    /// A device whose packets a modelled bus carries: the bus gives it the time, and nothing else.
    pub fn on_bus(config: DeviceConfig, clock: Clock, bus: Bus) -> Device {
        Device {
            on_bus: Some(bus),
            ..Device::new(config, clock)
        }
    }

    /// The same, with counts of the bus in the reports of its streams.
    pub(crate) fn counted_by(self, counter: Option<DeviceCounter>) -> Device {
        Device { counter, ..self }
    }

    /// What it is.
    #[cfg(test)]
    pub fn config(&self) -> &DeviceConfig {
        &self.config
    }

    /// True if it has disconnected itself and owes no more answers.
    pub fn is_gone(&self) -> bool {
        self.has_left() && self.later.is_empty() && !self.streams.owes()
    }

    fn has_left(&self) -> bool {
        self.injector.as_ref().is_some_and(FaultInjector::is_gone)
    }

    /// Takes requests, and the data of a sink, from received bytes of a byte stream; answers due at
    /// once are appended to `ready`. Returns how many bytes were used up; it stops early when it
    /// holds enough answers, and where the model's wire or sink is not as fast as the data comes:
    /// then it takes the rest from [`Device::full_until_ns`] on.
    pub fn take_stream(&mut self, bytes: &[u8], now_ns: u64, ready: &mut Vec<u8>) -> usize {
        if self.application.is_some() {
            return self.take_requests(bytes, now_ns, ready);
        }
        if self.config.protocol != Protocol::Wiregauge {
            if !self.has_room(ready.len()) {
                return 0;
            }
            self.echo(bytes, now_ns, ready);
            return bytes.len();
        }
        let mut used = 0;
        while used < bytes.len() && self.later.held() + ready.len() < HELD && !self.has_left() {
            let rest = &bytes[used..];
            if self.streams.is_sinking() {
                let (modelled, injector) = (self.modelled.as_mut(), self.injector.as_mut());
                match self.streams.take(rest, now_ns, modelled, injector) {
                    Sunk::Took(taken) => return used + taken,
                    Sunk::Request { header, payload } => {
                        let end = payload.end;
                        let payload = &rest[payload];
                        self.take_whole(&header, payload, now_ns, Trust::Proved, ready);
                        used += end;
                        continue;
                    }
                }
            }
            if let Some(request) = self.oversized(rest) {
                self.refuse(&request, Status::TooLarge, now_ns, ready);
                // What follows the header is noise, and skipped as such.
                used += wire::REQUEST_HEADER;
                continue;
            }
            let (most, seen) = (
                self.config.max_frame as usize,
                std::mem::take(&mut self.seen),
            );
            let found = wire::next_frame_after::<Request>(rest, most, seen);
            if let Found::Garbage { skip } | Found::Frame { skip, .. } = found
                && let Some(at) = (1..skip).find(|at| self.oversized(&rest[*at..]).is_some())
            {
                // It is refused as it would be if it had come by itself.
                used += at;
                continue;
            }
            match found {
                Found::Incomplete { .. } => {
                    self.seen = rest.len();
                    break;
                }
                Found::Garbage { skip } => used += skip.max(1),
                Found::Frame {
                    header,
                    payload,
                    end,
                    intact,
                    ..
                } => {
                    let payload = &rest[payload];
                    self.take_request(&header, payload, intact, now_ns, Trust::Proved, ready);
                    used += end.max(1);
                }
            }
        }
        used
    }

    /// As [`Device::take_stream`], of a protocol that is not wiregauge's.
    fn take_requests(&mut self, bytes: &[u8], now_ns: u64, ready: &mut Vec<u8>) -> usize {
        let mut used = 0;
        while used < bytes.len() && self.has_room(ready.len()) {
            let Some(application) = &mut self.application else {
                break;
            };
            let mut answer = Vec::new();
            let taken = application.take(&bytes[used..], false, &mut answer);
            if taken == 0 {
                break;
            }
            used += taken;
            if !answer.is_empty() {
                self.answer([taken, answer.len()], now_ns, ready, |to, _| {
                    to.append(&mut answer);
                });
            }
        }
        used
    }

    /// Sends bytes back as they came.
    fn echo(&mut self, bytes: &[u8], now_ns: u64, ready: &mut Vec<u8>) {
        self.answer([bytes.len(); 2], now_ns, ready, |to, _| {
            to.extend_from_slice(bytes);
        });
    }

    /// Takes one datagram; its answer, if it is due at once, is put into `ready`.
    pub fn take_datagram(&mut self, bytes: &[u8], now_ns: u64, trust: Trust, ready: &mut Vec<u8>) {
        if self.later.held() >= HELD || self.has_left() {
            return;
        }
        if let Some(application) = &mut self.application {
            let mut answer = Vec::new();
            application.take(bytes, true, &mut answer);
            let is_allowed = trust == Trust::Proved || answer.len() <= bytes.len();
            if !answer.is_empty() && is_allowed {
                let sizes = [bytes.len(), answer.len()];
                self.answer(sizes, now_ns, ready, |to, _| to.append(&mut answer));
            }
            return;
        }
        if self.config.protocol != Protocol::Wiregauge {
            self.echo(bytes, now_ns, ready);
            return;
        }
        self.streams.datagrams = true;
        if let Some((request, payload)) = frame_of(bytes) {
            self.take_whole(&request, payload, now_ns, trust, ready);
        } else if self.streams.is_sinking() {
            // A piece of a stream has no frame in it: what looks like one is damage.
            let (modelled, injector) = (self.modelled.as_mut(), self.injector.as_mut());
            let _ = self.streams.take(bytes, now_ns, modelled, injector);
        } else if let Some((request, status)) = not_spoken(bytes)
            && (trust == Trust::Proved || bytes.len() >= wire::RESPONSE_HEADER)
        {
            self.refuse(&request, status, now_ns, ready);
        }
    }

    /// A request that is a datagram, or stood within a stream: its end is certain, so its payload is
    /// not searched for another header.
    fn take_whole(
        &mut self,
        request: &Request,
        payload: &[u8],
        now_ns: u64,
        trust: Trust,
        ready: &mut Vec<u8>,
    ) {
        if wire::REQUEST_HEADER + payload.len() > self.config.max_frame as usize {
            self.refuse(request, Status::TooLarge, now_ns, ready);
            return;
        }
        let intact = match request.kind {
            Kind::Exchange => wire::check_pattern(request.sequence, payload).is_none(),
            Kind::Message => wire::message_of(payload).is_some(),
            Kind::Hello | Kind::Sink | Kind::Source => true,
        };
        self.take_request(request, payload, intact, now_ns, trust, ready);
    }

    /// Appends whole transfers of the stream to the host that are due, at most `room` bytes of them
    /// (a fault may add a byte). Call it when what was appended before, and what
    /// [`Device::pop_due`] gave, is handed over, or its order is lost.
    pub fn pull(&mut self, now_ns: u64, room: usize, ready: &mut Vec<u8>) -> Pull {
        let (modelled, injector) = (self.modelled.as_mut(), self.injector.as_mut());
        self.streams.pull(now_ns, room, ready, modelled, injector)
    }

    /// Bytes of one transfer of the stream from the host, if there is one.
    pub fn sink_bytes(&self) -> Option<usize> {
        self.streams.sink_bytes()
    }

    /// Bytes of one transfer of the stream to the host, if there is one.
    pub fn source_bytes(&self) -> Option<usize> {
        self.streams.source_bytes()
    }

    /// Until when it takes no data, because the model is not as fast; 0 if it takes some now.
    pub fn full_until_ns(&self) -> u64 {
        self.streams.full_until_ns(self.modelled.as_ref())
    }

    /// When it takes more of what [`Device::take_stream`] left of a stream; `None` if it waits for
    /// more bytes instead.
    pub fn takes_more_ns(&self) -> Option<u64> {
        self.streams.takes_more_ns(self.modelled.as_ref())
    }

    /// The token in a HELLO, if the datagram is one.
    pub fn token_in(bytes: &[u8]) -> Option<[u8; 8]> {
        let (request, payload) = frame_of(bytes)?;
        let hello = HelloRequest::decode(payload).filter(|_| request.kind == Kind::Hello);
        hello.map(|hello| hello.token)
    }

    /// A request at the front whose size alone is over the limit: nobody waits for its payload.
    fn oversized(&self, bytes: &[u8]) -> Option<Request> {
        let request = Request::decode(bytes).ok()?;
        let size = wire::REQUEST_HEADER as u64 + u64::from(request.out_payload);
        (size > u64::from(self.config.max_frame)).then_some(request)
    }

    fn refuse(&self, request: &Request, status: Status, now_ns: u64, ready: &mut Vec<u8>) {
        let response = Response {
            kind: request.kind,
            sequence: request.sequence,
            in_payload: 0,
            status,
            flags: 0,
            rx_ticks: now_ns,
            tx_ticks: now_ns,
        };
        put_header(&response, ready);
    }

    fn take_request(
        &mut self,
        request: &Request,
        payload: &[u8],
        intact: bool,
        now_ns: u64,
        trust: Trust,
        ready: &mut Vec<u8>,
    ) {
        let out_bytes = wire::REQUEST_HEADER + payload.len();
        // A request for less is one for the header alone, or for the empty message.
        let least = wire::RESPONSE_HEADER
            + match request.kind {
                // What arrived damaged is not acted on.
                Kind::Message if intact => wire::MESSAGE_CHECK,
                _ => 0,
            };
        let most = match (&self.plant, request.kind) {
            (_, Kind::Message) if !intact => least,
            (Some(plant), Kind::Message) => least + plant.reply_bytes(),
            _ => usize::MAX,
        };
        let in_bytes = (request.in_bytes as usize).max(least).min(most);
        let said = match request.kind {
            Kind::Message => wire::message_of(payload).unwrap_or_default(),
            _ => &[],
        };
        if trust == Trust::Proved {
            self.streams.heard(now_ns);
        }
        let order = StreamOrder::decode(payload);
        let status = match request.kind {
            Kind::Hello => {
                self.hello(request, payload, now_ns, ready);
                return;
            }
            // The report is longer than the order; a stream is longer than everything.
            Kind::Sink | Kind::Source if trust == Trust::Unproved => Status::Unproven,
            Kind::Sink | Kind::Source => streams::judge(order.as_ref(), self.most_streamed()),
            Kind::Exchange | Kind::Message if request.in_bytes > self.config.max_frame => {
                Status::TooLarge
            }
            Kind::Exchange | Kind::Message
                if trust == Trust::Unproved && self.most_sent_for(in_bytes) > out_bytes =>
            {
                Status::Unproven
            }
            Kind::Message if intact && !self.accepts(said) => Status::Unsupported,
            Kind::Exchange | Kind::Message => Status::Ok,
        };
        if status != Status::Ok {
            if trust == Trust::Proved || out_bytes >= wire::RESPONSE_HEADER {
                self.refuse(request, status, now_ns, ready);
            }
            return;
        }
        if let (Kind::Sink | Kind::Source, Some(order)) = (request.kind, order) {
            self.obey(request, &order, now_ns, ready);
            return;
        }
        let response = Response {
            kind: request.kind,
            sequence: request.sequence,
            in_payload: 0,
            status,
            flags: if intact {
                0
            } else {
                wire::flags::OUT_CORRUPTED
            },
            rx_ticks: now_ns,
            tx_ticks: now_ns,
        };
        let in_payload = in_bytes - wire::RESPONSE_HEADER;
        let (clock, on_bus) = (self.clock, self.on_bus);
        // Apart from the device while the answer is composed.
        let mut plant = self.plant.take();
        self.answer([out_bytes, in_bytes], now_ns, ready, |to, passage| {
            let begin = to.len();
            to.resize(begin + in_bytes, 0);
            let (header, payload) = to[begin..].split_at_mut(wire::RESPONSE_HEADER);
            let taken_ns = passage.map_or(now_ns, |passage| passage.taken_ns);
            match (response.kind, &mut plant) {
                (Kind::Message, Some(plant)) if intact => {
                    put_message(payload, |reply| plant.exchange(said, taken_ns, reply));
                }
                (Kind::Message, _) => put_message(payload, |reply| echo_message(said, reply)),
                _ => wire::fill_pattern(response.sequence, payload),
            }
            Response {
                in_payload: in_payload as u32,
                rx_ticks: passage.map_or(now_ns, |passage| passage.arrived_ns),
                tx_ticks: match passage {
                    Some(passage) => passage.ready_ns,
                    None => on_bus.map_or_else(|| clock.now(), |_| now_ns),
                },
                ..response
            }
            .encode(header.try_into().expect("split at the header's size"));
        });
        self.plant = plant;
    }

    /// True if its application can carry out this message.
    fn accepts(&mut self, message: &[u8]) -> bool {
        (self.plant.as_mut()).is_none_or(|plant| plant.accepts(message))
    }

    /// Bytes that may go out for an answer of so many, with the faults that add to it.
    fn most_sent_for(&self, in_bytes: usize) -> usize {
        let faults = self.config.faults;
        let once = in_bytes + usize::from(faults.insert_byte.is_some());
        once * (1 + usize::from(faults.duplicate.is_some()))
    }

    /// Composes an answer, of these sizes of a request and its answer, and sends it on its way: at once, later, twice
    /// or never. A model says first when it passes.
    fn answer(
        &mut self,
        [out_bytes, in_bytes]: [usize; 2],
        now_ns: u64,
        ready: &mut Vec<u8>,
        compose: impl FnOnce(&mut Vec<u8>, Option<&Passage>),
    ) {
        if self.modelled.is_none() && self.injector.is_none() {
            compose(ready, None);
            return;
        }
        let fault = self
            .injector
            .as_mut()
            .map_or(Faulted::default(), FaultInjector::next);
        let passage = (self.modelled.as_mut())
            .map(|device| device.pass(now_ns, out_bytes as u64, in_bytes as u64, fault.stall_ns));
        let mut due_ns = passage.map_or(now_ns, |passage| passage.delivered_ns);
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        compose(&mut bytes, passage.as_ref());
        if fault.reorder {
            due_ns += REORDER_NS;
        }
        fault.mangle(&mut bytes);
        let copies = if fault.drop {
            0
        } else {
            1 + usize::from(fault.duplicate)
        };
        for _ in 0..copies {
            self.later.send_at(due_ns, bytes.clone());
        }
        self.scratch = bytes;
    }

    /// When the next answer is due.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.later.next_due_ns()
    }

    /// Takes the next answer if it is due.
    pub fn pop_due(&mut self, now_ns: u64) -> Option<Vec<u8>> {
        self.later.pop_due(now_ns)
    }

    /// True if it can take more requests.
    pub fn has_room(&self, ready: usize) -> bool {
        self.later.held() + ready < HELD && !self.has_left()
    }
}
