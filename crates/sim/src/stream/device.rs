//! Devices with streams: what a device is to the simulator, and the simulator's own.

use super::truth::{Arrivals, OrderTruth, StreamByte, pattern};
use std::collections::VecDeque;
use wiregauge_wire::{Kind, RESPONSE_HEADER, Response, Status, StreamReport};

/// Larger transfers are refused.
pub const MOST_TRANSFER: u32 = 4096;

/// How long a source on datagrams goes on after the last order.
const UNHEARD_NS: u64 = 10_000_000_000;

/// A device with streams.
pub trait StreamDevice {
    /// Takes bytes that arrived, or one datagram; returns how many it used up. What it leaves is given again after
    /// the next [`StreamDevice::give`].
    fn take(&mut self, bytes: &[StreamByte], now_ns: u64) -> usize;

    /// What it sends next: bytes in pieces of any size, or one datagram. Empty: nothing.
    fn give(&mut self, now_ns: u64) -> Vec<u8>;

    /// Whether a stream to the host flows, and one from it.
    fn flows(&self) -> [bool; 2];

    /// It forgets everything.
    fn reset(&mut self);
}

/// The simulator's own device. It knows where bytes come from, and counts by that.
#[derive(Default)]
pub struct Plain {
    datagram: bool,
    arrivals: Arrivals,
    source: Option<Source>,
    started: Option<u32>,
    handed_over: u64,
    answers: VecDeque<Vec<u8>>,
    heard_ns: u64,
}

struct Source {
    transfer_bytes: u32,
    position: u64,
}

impl Plain {
    /// One at rest.
    pub fn new(datagram: bool) -> Plain {
        Plain {
            datagram,
            ..Plain::default()
        }
    }

    fn obey(&mut self, order: &OrderTruth, now_ns: u64) {
        self.heard_ns = now_ns;
        let refused = !order.ends && order.transfer_bytes > MOST_TRANSFER;
        if order.is_source && order.ends {
            self.end_source();
        } else if order.is_source && !refused && self.started != Some(order.sequence) {
            self.started = Some(order.sequence);
            self.handed_over = 0;
            self.source = Some(Source {
                transfer_bytes: order.transfer_bytes,
                position: 0,
            });
        }
        let [received, lost, duplicated, corrupted, stray] = self.arrivals.last.numbers;
        let report = match order.is_source {
            true => StreamReport {
                bytes: self.handed_over,
                ..StreamReport::default()
            },
            false => StreamReport {
                bytes: received,
                lost,
                duplicated,
                corrupted,
                stray,
                ..StreamReport::default()
            },
        };
        let payload = match order.ends {
            true => report.encode().to_vec(),
            false => Vec::new(),
        };
        let mut answer = vec![0; RESPONSE_HEADER];
        Response {
            kind: if order.is_source {
                Kind::Source
            } else {
                Kind::Sink
            },
            sequence: order.sequence,
            in_payload: payload.len() as u32,
            status: if refused {
                Status::TooLarge
            } else {
                Status::Ok
            },
            flags: 0,
            rx_ticks: now_ns,
            tx_ticks: now_ns,
        }
        .encode(answer.as_mut_slice().try_into().expect("a header"));
        answer.extend(payload);
        self.answers.push_back(answer);
    }

    fn end_source(&mut self) {
        if let Some(source) = self.source.take() {
            self.handed_over = source.position;
        }
    }
}

impl StreamDevice for Plain {
    fn take(&mut self, bytes: &[StreamByte], now_ns: u64) -> usize {
        for &byte in bytes {
            if let Some(order) = self.arrivals.take(byte, MOST_TRANSFER) {
                self.obey(&order, now_ns);
            }
        }
        if self.datagram {
            self.arrivals.flush();
        }
        bytes.len()
    }

    fn give(&mut self, now_ns: u64) -> Vec<u8> {
        if let Some(answer) = self.answers.pop_front() {
            return answer;
        }
        if self.datagram && now_ns > self.heard_ns + UNHEARD_NS {
            self.end_source();
        }
        let Some(source) = &mut self.source else {
            return Vec::new();
        };
        let from = source.position;
        source.position += u64::from(source.transfer_bytes);
        (from..source.position).map(pattern).collect()
    }

    fn flows(&self) -> [bool; 2] {
        [self.source.is_some(), self.arrivals.flows()]
    }

    fn reset(&mut self) {
        *self = Plain::new(self.datagram);
    }
}
