//! What the virtual devices and their bus do, for a [`Trace`]; nothing without one.

use super::control::{Answer, Effect};
use super::usbip::Submit;
use crate::bus::{Carried, PipeId, Traffic};
use crate::trace::{Endpoint, Event, Trace};
use std::collections::HashMap;
use wiregauge_link::LinkError;

/// How often a trace learns that nothing is missing any more.
const STEP_NS: u64 = 1_000_000;

/// The endpoints of the bus by their addresses, and the trace.
#[derive(Debug, Default)]
pub struct Traced {
    trace: Option<Trace>,
    endpoints: HashMap<PipeId, (usize, Endpoint)>,
    to_ns: u64,
}

/// Address of a device on the bus.
pub fn address_of(node: usize) -> u8 {
    node as u8 + 1
}

impl Traced {
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
        let Some(trace) = &self.trace else { return };
        let Some(&(_, endpoint)) = self.endpoints.get(&packet.pipe) else {
            return;
        };
        trace.add(Event::Carried {
            endpoint,
            asked_ns: packet.asked_ns,
            ready_ns: packet.ready_ns,
            begin_ns: packet.begin_ns,
            fills: packet.fills,
            payload: payload.to_vec(),
        });
    }

    /// A request on endpoint 0 was answered.
    pub fn control(&self, node: usize, submit: &Submit<'_>, answer: &Answer, now_ns: u64) {
        let Some(trace) = &self.trace else { return };
        let data = match answer {
            Answer::Data(bytes) => &bytes[..bytes.len().min(submit.length)],
            Answer::Done(_) | Answer::Stall => submit.data,
        };
        let of_device = self.endpoints.values().filter(|(of, _)| *of == node);
        let resets = of_device.map(|(_, endpoint)| *endpoint).filter(|endpoint| {
            let side = u8::from(endpoint.is_in) << 7;
            match answer {
                Answer::Done(Effect::ResetAll) => true,
                Answer::Done(Effect::ClearHalt(address)) => *address == side | endpoint.number,
                _ => false,
            }
        });
        trace.add(Event::Control {
            address: address_of(node),
            at_ns: now_ns,
            setup: submit.setup,
            data: data.to_vec(),
            stalls: *answer == Answer::Stall,
            resets: resets.collect(),
        });
    }

    /// Nothing that begins before `now_ns` is missing. `rest` gives what a transfer OUT of a device has still to send.
    pub fn until<'a>(
        &mut self,
        now_ns: u64,
        traffic: &Traffic,
        rest: impl Fn(usize, u64) -> &'a [u8],
    ) {
        let Some(trace) = &self.trace else { return };
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
            trace.add(Event::Refused {
                endpoint,
                since_ns: refused.since_ns,
                until_ns: refused.until_ns,
                payload,
            });
        }
        trace.add(Event::Until(now_ns));
    }

    /// True if [`Traced::until`] is to be called again.
    pub fn is_due(&self, now_ns: u64) -> bool {
        self.trace.is_some() && now_ns >= self.to_ns + STEP_NS
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// What the system says of its file.
    pub fn finish(&mut self) -> Result<(), LinkError> {
        self.trace.take().map_or(Ok(()), Trace::finish)
    }
}
