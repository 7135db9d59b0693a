//! What passed at one endpoint: counts, times, and what the time between two tokens went for.

use crate::packet::Pid;
use crate::read::UrbType;
use crate::requests::Requests;
use crate::spread::{Spread, Times};
use crate::survey::Nature;
use crate::transactions::{Outcome, Transaction};
use serde::Serialize;

/// Counts of an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Tokens: how often the host asked or sent.
    pub tokens: u64,
    /// Transfers that were completed: by a short packet, or an empty one.
    pub transfers: u64,
    /// Data packets that were taken.
    pub packets: u64,
    /// Their payload.
    pub bytes: u64,
    /// Times that the device was not ready.
    pub naks: u64,
    /// Times that it took data and had no room for more.
    pub nyets: u64,
    /// Times that the endpoint was halted.
    pub stalls: u64,
    /// Transactions that repeat one that failed, or data that was taken already.
    pub retries: u64,
    /// Data packets shorter than the largest, but not empty.
    pub short: u64,
    /// Data packets without payload.
    pub empty: u64,
    /// Data with a wrong check.
    pub bad_data: u64,
    /// Transactions that nobody completed: no response, or no handshake.
    pub unanswered: u64,
    /// Split transactions: parts that were started or completed at a hub.
    pub splits: u64,
}

/// The time from the first token to the last, of responses from the first request to the last response: what it went for, in nanoseconds. The parts add up to the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Parts {
    /// The whole.
    pub total_ns: f64,
    /// Transactions with data.
    pub data_ns: f64,
    /// The device had answered NAK, and was to respond.
    pub nak_ns: f64,
    /// The device had answered NAK, and no request was outstanding.
    pub unrequested_ns: f64,
    /// Other traffic.
    pub other_ns: f64,
    /// A hub had the transaction.
    pub hub_ns: f64,
    /// Nothing passed, and the host did not ask.
    pub idle_ns: f64,
}

/// An endpoint of a device on the bus.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Endpoint {
    /// Address of the device.
    pub device: u8,
    /// Endpoint; the highest bit is set for IN, and never for endpoint 0.
    pub endpoint: u8,
    /// Type of its transfers, where it is known.
    pub transfer: Option<UrbType>,
    /// Largest payload of a packet.
    pub max_packet: u32,
    /// True if a descriptor in the capture says so, false if it was concluded from the packets.
    pub max_packet_described: bool,
    /// Counts.
    pub counts: Counts,
    /// Bytes a second, from the first token to the end of the last transaction.
    pub bytes_s: f64,
    /// From the end of the token, or of the data OUT, to the response of the device.
    pub turn_around: Option<Times>,
    /// From the end of a transaction to the next token of this endpoint.
    pub next_token: Option<Times>,
    /// From the end of a transfer to the first data of the next.
    pub transfer_gap: Option<Times>,
    /// From the end of a transfer to the next token; where no end was seen, from data that was taken.
    pub pause: Option<Times>,
    /// Of IN, where the device has an OUT endpoint for requests: how often its data followed data OUT.
    pub responses: u64,
    /// Of such an endpoint: from data IN to the next data OUT.
    pub request_pause: Option<Times>,
    /// Share of the time of all frames.
    pub frame_share: f64,
    /// Share of the frame in which it was largest.
    pub frame_share_max: f64,
    /// What the time went for.
    pub parts: Parts,
}

/// An endpoint that is being counted.
#[derive(Debug)]
pub(crate) struct Counter {
    key: (u8, u8),
    nature: Nature,
    counts: Counts,
    turn_around: Spread,
    next_token: Spread,
    transfer_gap: Spread,
    transfer_pause: Spread,
    data_pause: Spread,
    requests: Requests,
    begin_ns: u64,
    end_ns: u64,
    frame_share_max: f64,
    parts: Parts,
    last: Option<Last>,
    /// The data packet that was taken last.
    toggle: Option<Pid>,
    /// A transfer has begun.
    in_transfer: bool,
    transfer_end_ns: Option<u64>,
    /// Bytes OUT that a hub has.
    at_hub: u32,
}

/// The transaction before.
#[derive(Clone, Copy, Debug)]
struct Last {
    outcome: Outcome,
    begin_ns: u64,
    end_ns: u64,
    used_ns: u64,
    /// What the whole bus had been used for when it began.
    bus_used_ns: u64,
    /// Its data was the last of a transfer.
    ends: bool,
}

impl Counter {
    pub(crate) fn new(key: (u8, u8), nature: Nature, begin_ns: u64) -> Counter {
        Counter {
            key,
            nature,
            counts: Counts::default(),
            turn_around: Spread::default(),
            next_token: Spread::default(),
            transfer_gap: Spread::default(),
            transfer_pause: Spread::default(),
            data_pause: Spread::default(),
            requests: Requests::default(),
            begin_ns,
            end_ns: begin_ns,
            frame_share_max: 0.0,
            parts: Parts::default(),
            last: None,
            toggle: None,
            in_transfer: false,
            transfer_end_ns: None,
            at_hub: 0,
        }
    }

    /// The share of a frame.
    pub(crate) fn frame(&mut self, share: f64) {
        self.frame_share_max = self.frame_share_max.max(share);
    }

    /// The data packets begin with `DATA0` again.
    pub(crate) fn reset(&mut self) {
        self.toggle = None;
    }

    /// Data passes without a handshake.
    pub(crate) fn is_isochronous(&self) -> bool {
        self.nature.transfer == Some(UrbType::Isochronous)
    }

    /// The device and the endpoint.
    pub(crate) fn key(&self) -> (u8, u8) {
        self.key
    }

    /// True within a transfer.
    pub(crate) fn is_in_transfer(&self) -> bool {
        self.in_transfer
    }

    /// Data that was taken by an endpoint of the device that takes requests for this one.
    pub(crate) fn data_out(&mut self, begin_ns: u64, complete: bool) {
        // A wait in which the request came has a part before it and one after it.
        if let Some(last) = &mut self.last
            && last.outcome == Outcome::Nak
        {
            let whole = begin_ns.saturating_sub(last.begin_ns);
            self.parts.total_ns += whole as f64;
            self.requests.nak(whole);
            last.begin_ns = begin_ns;
        }
        self.requests.data_out(begin_ns, complete);
    }

    /// The next transaction, which used the bus for `used_ns`; `bus_used_ns` is what all had used before it.
    /// True if it carried new data.
    pub(crate) fn transaction(
        &mut self,
        transaction: &Transaction,
        used_ns: u64,
        bus_used_ns: u64,
    ) -> bool {
        let outcome = match transaction.outcome() {
            Outcome::NoHandshake if self.is_isochronous() => Outcome::Taken,
            other => other,
        };
        let begin_ns = transaction.begin_ns;
        if let Some(last) = self.last {
            self.interval(last, begin_ns, bus_used_ns);
        }
        let isochronous = self.is_isochronous();
        let repeated = outcome == Outcome::Taken && self.is_repeated(transaction);
        let counts = &mut self.counts;
        counts.tokens += 1;
        counts.splits += u64::from(transaction.split.is_some());
        if let Some(turn_around) = transaction.turn_around_ns() {
            self.turn_around.add(turn_around);
        }
        let failed = self.last.is_some_and(|last| {
            matches!(
                last.outcome,
                Outcome::NoHandshake | Outcome::NoResponse | Outcome::BadData
            )
        });
        match outcome {
            Outcome::Nak => counts.naks += 1,
            Outcome::Stall => {
                counts.stalls += 1;
                self.toggle = None;
            }
            Outcome::BadData => counts.bad_data += 1,
            Outcome::NoHandshake | Outcome::NoResponse => counts.unanswered += 1,
            Outcome::AtHub => {
                self.at_hub = transaction.data.map_or(self.at_hub, |data| data.bytes);
            }
            Outcome::Room | Outcome::Taken => {}
        }
        if !isochronous {
            counts.retries += u64::from(failed || repeated);
        }
        let taken = outcome == Outcome::Taken && !repeated;
        if taken {
            self.taken(transaction);
            if self.key.1 & 0x80 != 0 {
                self.requests.data_in(transaction.end_ns);
            }
        }
        self.end_ns = self.end_ns.max(transaction.end_ns);
        self.last = Some(Last {
            outcome,
            begin_ns,
            end_ns: transaction.end_ns,
            used_ns,
            bus_used_ns,
            ends: taken && !self.in_transfer,
        });
        taken
    }

    /// Data that was taken already: its handshake did not arrive.
    fn is_repeated(&mut self, transaction: &Transaction) -> bool {
        let Some(data) = transaction.data else {
            return false;
        };
        if self.is_isochronous() || self.key.1 == 0 || transaction.split.is_some() {
            return false;
        }
        self.toggle.replace(data.pid) == Some(data.pid)
    }

    fn taken(&mut self, transaction: &Transaction) {
        let bytes = match transaction.data {
            Some(data) => data.bytes,
            None => std::mem::take(&mut self.at_hub),
        };
        let counts = &mut self.counts;
        counts.packets += 1;
        counts.bytes += u64::from(bytes);
        counts.nyets += u64::from(matches!(transaction.handshake, Some((Pid::Nyet, _))));
        if bytes == 0 {
            counts.empty += 1;
        } else if bytes < self.nature.max_packet {
            counts.short += 1;
        }
        let is_control = self.key.1 == 0;
        let begins = match is_control {
            true => transaction.token == Pid::Setup,
            false => !self.in_transfer,
        };
        if begins && let Some(end) = self.transfer_end_ns {
            self.transfer_gap
                .add(transaction.begin_ns.saturating_sub(end));
        }
        let ends = match is_control {
            // The status stage is an empty packet.
            true => bytes == 0,
            false => bytes < self.nature.max_packet || self.is_isochronous(),
        };
        self.in_transfer = !ends;
        if ends {
            self.counts.transfers += 1;
            self.transfer_end_ns = Some(transaction.end_ns);
        }
    }

    /// What the time from a token to the next went for.
    fn interval(&mut self, last: Last, begin_ns: u64, bus_used_ns: u64) {
        let whole = begin_ns.saturating_sub(last.begin_ns);
        let pause = begin_ns.saturating_sub(last.end_ns);
        self.next_token.add(pause);
        if last.outcome == Outcome::Taken {
            self.data_pause.add(pause);
        }
        if last.ends {
            self.transfer_pause.add(pause);
        }
        let own = last.used_ns.min(whole);
        let others = bus_used_ns
            .saturating_sub(last.bus_used_ns)
            .saturating_sub(last.used_ns)
            .min(whole - own);
        let parts = &mut self.parts;
        parts.total_ns += whole as f64;
        match last.outcome {
            Outcome::Nak => self.requests.nak(whole),
            Outcome::AtHub => parts.hub_ns += whole as f64,
            _ => {
                parts.data_ns += own as f64;
                parts.other_ns += others as f64;
                parts.idle_ns += (whole - own - others) as f64;
            }
        }
    }

    /// The figures; whole frames took `frames_ns` together, of which the endpoint used `used_ns`.
    pub(crate) fn finish(&self, used_ns: u64, frames_ns: u64) -> Endpoint {
        let mut parts = self.parts;
        let naks = self.requests.finish(self.counts.transfers);
        parts.nak_ns = naks.device_ns;
        parts.unrequested_ns = naks.unrequested_ns;
        parts.idle_ns += naks.rest_ns;
        parts.total_ns -= naks.outside_ns;
        let seconds = self.end_ns.saturating_sub(self.begin_ns) as f64 / 1e9;
        let share = |ns: u64, of: u64| match of {
            0 => 0.0,
            of => ns as f64 / of as f64,
        };
        Endpoint {
            device: self.key.0,
            endpoint: self.key.1,
            transfer: self.nature.transfer,
            max_packet: self.nature.max_packet,
            max_packet_described: self.nature.described,
            counts: self.counts,
            bytes_s: match seconds > 0.0 {
                true => self.counts.bytes as f64 / seconds,
                false => 0.0,
            },
            turn_around: self.turn_around.times(),
            next_token: self.next_token.times(),
            transfer_gap: self.transfer_gap.times(),
            pause: self.transfer_pause.times().or(self.data_pause.times()),
            responses: self.requests.answers(),
            request_pause: self.requests.pauses().times(),
            frame_share: share(used_ns, frames_ns),
            frame_share_max: self.frame_share_max,
            parts,
        }
    }
}
