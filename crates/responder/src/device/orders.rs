//! The orders that begin and end a stream, and their reports.

use super::Device;
use crate::frames::put_header;
use wiregauge_wire as wire;
use wiregauge_wire::{Kind, Request, Response, Status, StreamOrder, Verb};

/// The largest payload of UDP over IPv4.
const DATAGRAM: u32 = 65_507;

impl Device {
    /// Largest transfer of a stream.
    pub(super) fn most_streamed(&self) -> u64 {
        let most = self.config.max_frame;
        u64::from(match self.streams.datagrams {
            true => most.min(DATAGRAM),
            false => most,
        })
    }

    /// Carries out an order, and says so. No fault hits its answer: it is no data.
    pub(super) fn obey(
        &mut self,
        request: &Request,
        order: &StreamOrder,
        now_ns: u64,
        ready: &mut Vec<u8>,
    ) {
        // All that came before the order is in the device before it.
        let at_ns = self.streams.arrived_ns().max(now_ns);
        let modelled = self.modelled.as_mut();
        let kind = request.kind;
        let begins = self.streams.is_new(kind, request.sequence);
        let report = self
            .streams
            .obey(kind, request.sequence, order, at_ns, modelled);
        let mut payload = report.map_or(Vec::new(), |report| report.encode().to_vec());
        if let Some(counter) = &mut self.counter {
            let is_in = kind == Kind::Source;
            let whole = wire::RESPONSE_HEADER + wire::STREAM_REPORT + wire::BUS_COUNTS;
            match order.verb {
                // One that is repeated changes nothing.
                Verb::Start if begins => counter.begin(is_in),
                Verb::Start => {}
                Verb::End => {
                    let counts = counter.end(is_in);
                    if request.in_bytes as usize >= whole {
                        payload.extend_from_slice(&counts.encode());
                    }
                }
            }
        }
        let response = Response {
            kind,
            sequence: request.sequence,
            in_payload: payload.len() as u32,
            status: Status::Ok,
            flags: 0,
            rx_ticks: at_ns,
            tx_ticks: at_ns,
        };
        let Some(model) = &mut self.modelled else {
            put_header(&response, ready);
            ready.extend_from_slice(&payload);
            return;
        };
        let mut bytes = Vec::with_capacity(wire::RESPONSE_HEADER + payload.len());
        put_header(&response, &mut bytes);
        bytes.extend_from_slice(&payload);
        let due_ns = model.answer(at_ns, bytes.len() as u64);
        if kind == Kind::Source {
            self.streams.answered(due_ns);
        }
        self.later.send_at(due_ns, bytes);
    }
}
