//! What the devices of a modelled bus and the bus itself do, for a [`Trace`] and for the counts of streams; nothing
//! without them.

use super::Trace;
use super::composer::{Endpoint, Event};
use super::counter::{Counter, DeviceCounter, locked};
use crate::bus::{Carried, PipeId, Traffic};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// How often a trace learns that nothing is missing any more.
const STEP_NS: u64 = 1_000_000;

/// The endpoints of the bus by their addresses, and the trace.
#[derive(Debug)]
pub struct Recorder {
    trace: Option<Trace>,
    counter: Arc<Mutex<Counter>>,
    endpoints: HashMap<PipeId, (usize, Endpoint)>,
    to_ns: u64,
}

/// A request on endpoint 0, with its answer.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// When.
    pub at_ns: u64,
    /// The request.
    pub setup: [u8; 8],
    /// Of the data stage.
    pub data: &'a [u8],
    /// The device refused it.
    pub stalls: bool,
}

/// Address of a device on the bus.
pub fn address_of(node: usize) -> u8 {
    node as u8 + 1
}

impl Recorder {
    /// Nothing is written; streams are counted.
    pub fn new(counter: Counter) -> Recorder {
        Recorder {
            trace: None,
            counter: Arc::new(Mutex::new(counter)),
            endpoints: HashMap::new(),
            to_ns: 0,
        }
    }

    /// What counts the streams of a device with these endpoints, which were added before.
    pub fn device_counter(&self, out: PipeId, to_host: PipeId) -> Option<DeviceCounter> {
        let of = |pipe| self.endpoints.get(pipe).map(|(_, endpoint)| *endpoint);
        let counter = Arc::clone(&self.counter);
        Some(DeviceCounter::new(counter, of(&out)?, of(&to_host)?))
    }

    fn add(&self, event: Event) {
        locked(&self.counter).take(&event);
        if let Some(trace) = &self.trace {
            trace.add(event);
        }
    }

    /// True if it matters what happens between the packets.
    fn is_used(&self) -> bool {
        self.trace.is_some() || locked(&self.counter).is_active()
    }

    /// Writes everything from now on.
    pub fn begin(&mut self, trace: Trace) {
        self.trace = Some(trace);
    }

    /// Adds an endpoint of a device.
    pub fn plug(&mut self, pipe: PipeId, node: usize, endpoint: Endpoint) {
        self.endpoints.insert(pipe, (node, endpoint));
    }

    /// A packet was carried.
    pub fn carried(&self, packet: &Carried, payload: &[u8]) {
        let Some(&(_, endpoint)) = self.endpoints.get(&packet.pipe) else {
            return;
        };
        self.add(Event::Carried {
            endpoint,
            asked_ns: packet.asked_ns,
            ready_ns: packet.ready_ns,
            begin_ns: packet.begin_ns,
            fills: packet.fills,
            payload: payload.to_vec(),
        });
    }

    /// A request on endpoint 0 was answered; the endpoints of this device for which `resets` is true begin with
    /// DATA0 after it.
    pub fn control(&self, node: usize, request: Request<'_>, resets: impl Fn(&Endpoint) -> bool) {
        let Some(trace) = &self.trace else { return };
        let of_device = self.endpoints.values().filter(|(of, _)| *of == node);
        let reset = of_device.map(|(_, endpoint)| *endpoint).filter(resets);
        trace.add(Event::Control {
            address: address_of(node),
            at_ns: request.at_ns,
            setup: request.setup,
            data: request.data.to_vec(),
            stalls: request.stalls,
            resets: reset.collect(),
        });
    }

    /// Nothing that begins before `now_ns` is missing. `rest` gives what a transfer OUT of a device has still to send.
    pub fn until<'a>(
        &mut self,
        now_ns: u64,
        traffic: &Traffic,
        rest: impl Fn(usize, u64) -> &'a [u8],
    ) {
        if !self.is_used() {
            return;
        }
        self.to_ns = now_ns;
        for refused in traffic.refused() {
            let Some(&(node, endpoint)) = self.endpoints.get(&refused.pipe) else {
                continue;
            };
            let mut payload = Vec::new();
            if !endpoint.is_in {
                let rest = rest(node, refused.key);
                payload.extend(rest.iter().take(traffic.packet_bytes(refused.pipe)));
            }
            self.add(Event::Refused {
                endpoint,
                since_ns: refused.since_ns,
                until_ns: refused.until_ns,
                payload,
            });
        }
        self.add(Event::Until(now_ns));
    }

    /// True if the trace's file takes no more.
    pub fn is_broken(&self) -> bool {
        self.trace.as_ref().is_some_and(Trace::is_broken)
    }

    /// True if [`Recorder::until`] is to be called again.
    pub fn is_due(&self, now_ns: u64) -> bool {
        now_ns >= self.to_ns + STEP_NS && self.is_used()
    }
}
