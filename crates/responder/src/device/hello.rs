//! The reply to a HELLO: what the device can do. A host begins with it, so what an earlier one left ends there.

use super::Device;
use crate::frames::put_header;
use wiregauge_link::limits::Bus;
use wiregauge_wire as wire;
use wiregauge_wire::{HelloReply, HelloRequest, Kind, Request, Response, Status};

impl Device {
    pub(super) fn hello(
        &mut self,
        request: &Request,
        payload: &[u8],
        now_ns: u64,
        ready: &mut Vec<u8>,
    ) {
        // A short HELLO could make a responder send more than it got.
        let Some(hello) = HelloRequest::decode(payload) else {
            return;
        };
        // A host begins; on a tty nothing else tells that another one has gone.
        self.streams.forget();
        if let Some(counter) = &mut self.counter {
            counter.end(false);
            counter.end(true);
        }
        if let Some(plant) = &mut self.plant {
            plant.reset();
        }
        let max = self.config.max_frame;
        let mut reply = HelloReply {
            min_version: wire::VERSION,
            max_version: wire::VERSION,
            tick_bits: 64,
            bus: match self.on_bus.or(self.config.model.bus) {
                None => 0,
                Some(Bus::FullSpeed) => 2,
                Some(Bus::HighSpeed) => 3,
            },
            abilities: wire::abilities::EXCHANGE
                | wire::abilities::SINK
                | wire::abilities::SOURCE
                | wire::abilities::TIMESTAMPS
                | wire::abilities::CHECKS_OUT
                | wire::abilities::MESSAGE
                | match self.counter {
                    Some(_) => wire::abilities::BUS_COUNTS,
                    None => 0,
                },
            max_out: max,
            max_in: max,
            max_outstanding: 0,
            tick_hz: 1_000_000_000,
            name: [0; 32],
            token: hello.token,
        };
        reply.set_name(&self.config.name);
        let payload = reply.encode();
        let response = Response {
            kind: Kind::Hello,
            sequence: request.sequence,
            in_payload: payload.len() as u32,
            status: Status::Ok,
            flags: 0,
            rx_ticks: now_ns,
            tx_ticks: now_ns,
        };
        put_header(&response, ready);
        ready.extend_from_slice(&payload);
    }
}
