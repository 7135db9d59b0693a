//! What passed on a bus: every endpoint of every device, and how much of the frames was used.

use crate::bus_verdict;
use crate::endpoint::{Counter, Endpoint};
use crate::frame_use::{FrameUse, Purpose};
use crate::judged::{Judged, Shares};
use crate::packet::{Pid, Speed};
use crate::read::{Format, ReadError, Reader, Record};
use crate::survey::{Survey, Window};
use crate::timing::frame_ns;
use crate::transactions::{Assembler, Event, Outcome, Transaction};
use crate::verdict::Verdict;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Read;

/// What passed on a bus.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bus {
    /// How the capture is written.
    pub format: Format,
    /// Of the wire.
    pub speed: Speed,
    /// True if the capture does not state the speed.
    pub speed_assumed: bool,
    /// From the first packet to the last.
    pub duration_ns: u64,
    /// Packets.
    pub packets: u64,
    /// Starts of frame in the capture.
    pub starts_of_frame: u64,
    /// Frames, or microframes at high speed; of nominal length where no start of frame was captured.
    pub frames: u64,
    /// Packets whose first byte or check is wrong.
    pub damaged: u64,
    /// Packets that belong to no transaction.
    pub stray: u64,
    /// Packets that are missing in the capture, as its writer says.
    pub missing: u64,
    /// If the file ends within a record: the bytes of the file that were used.
    pub cut_off_at: Option<u64>,
    /// The first record whose time is before that of the one before it; the first of the file is 1.
    pub time_goes_back_at: Option<u64>,
    /// How often time goes back.
    pub times_back: u64,
    /// Endpoints that are not listed because there are too many.
    pub endpoints_left_out: u64,
    /// What the frames were used for.
    pub shares: Shares,
    /// The endpoints, by device.
    pub endpoints: Vec<Judged>,
    /// What limits the endpoint that carried most; none if the packets are too few to say.
    pub verdict: Option<Verdict>,
    /// The same in a sentence.
    pub words: String,
}

/// Endpoints that are counted one by one; the times of each take a megabyte.
const ENDPOINTS: usize = 64;

struct Counting<'a> {
    survey: &'a Survey,
    frames: FrameUse,
    counters: Vec<Counter>,
    index: BTreeMap<(u8, u8), usize>,
    left_out: u64,
    /// A transaction whose time is known when the next packet begins.
    last: Option<(Transaction, Option<usize>)>,
    used_ns: u64,
    packets: u64,
    damaged: u64,
    stray: u64,
}

/// Counts the packets of a capture of a bus that was surveyed.
///
/// # Errors
/// If the file cannot be read.
pub fn count<R: Read>(file: R, survey: &Survey, window: Window) -> Result<Bus, ReadError> {
    let mut reader = Reader::new(file)?;
    let mut counting = Counting {
        survey,
        frames: FrameUse::new(frame_ns(survey.speed), survey.frames > 1),
        counters: Vec::new(),
        index: BTreeMap::new(),
        left_out: 0,
        last: None,
        used_ns: 0,
        packets: 0,
        damaged: 0,
        stray: 0,
    };
    let mut assembler = Assembler::default();
    let (mut first, mut last) = (None, survey.begin_ns);
    while let Some(record) = reader.next_record()? {
        let Record::Packet(packet) = record else {
            continue;
        };
        if !window.has(survey.begin_ns, packet.at_ns) {
            continue;
        }
        first.get_or_insert(packet.at_ns);
        last = last.max(packet.at_ns);
        counting.packets += 1;
        let speed = packet.speed.unwrap_or(survey.speed);
        assembler.packet(&packet, speed, &mut |event| counting.event(event));
    }
    assembler.finish(&mut |event| counting.event(event));
    counting.settle(u64::MAX);
    let duration_ns = last.saturating_sub(first.unwrap_or(last));
    Ok(counting.finish(&reader, duration_ns))
}

impl Counting<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Frame { at_ns, end_ns } => {
                self.settle(at_ns);
                let Counting {
                    frames, counters, ..
                } = self;
                frames.mark(at_ns, &mut |(at, share)| counters[at].frame(share));
                self.used(Purpose::StartOfFrame, None, end_ns - at_ns);
            }
            Event::Stray {
                at_ns,
                end_ns,
                damaged,
            } => {
                self.settle(at_ns);
                self.pass(at_ns);
                self.damaged += u64::from(damaged);
                self.stray += u64::from(!damaged);
                self.used(Purpose::Other, None, end_ns - at_ns);
            }
            Event::Transaction(transaction, payload) => {
                self.settle(transaction.begin_ns);
                self.pass(transaction.begin_ns);
                if transaction.token == Pid::Setup {
                    self.request(transaction.address, payload);
                }
                let at = self.counter(transaction);
                self.last = Some((*transaction, at));
            }
        }
    }

    fn pass(&mut self, at_ns: u64) {
        let Counting {
            frames, counters, ..
        } = self;
        frames.pass(at_ns, &mut |(at, share)| counters[at].frame(share));
    }

    /// Requests after which endpoints begin with `DATA0` again: CLEAR_FEATURE of an endpoint, SET_CONFIGURATION, SET_INTERFACE.
    fn request(&mut self, address: u8, payload: &[u8]) {
        if let [0x02, 1, ..] | [0x00, 9, ..] | [0x01, 11, ..] = payload {
            for (key, &at) in &self.index {
                if key.0 == address {
                    self.counters[at].reset();
                }
            }
        }
    }

    fn counter(&mut self, transaction: &Transaction) -> Option<usize> {
        let key = (transaction.address, transaction.endpoint);
        if let Some(&at) = self.index.get(&key) {
            return Some(at);
        }
        if self.counters.len() >= ENDPOINTS {
            self.left_out += 1;
            return None;
        }
        let nature = self.survey.nature(key.0, key.1);
        self.counters
            .push(Counter::new(key, nature, transaction.begin_ns));
        self.index.insert(key, self.counters.len() - 1);
        Some(self.counters.len() - 1)
    }

    /// Counts the last transaction, now that the next packet begins.
    fn settle(&mut self, next_ns: u64) {
        let Some((transaction, at)) = self.last.take() else {
            return;
        };
        let end_ns = transaction
            .end_ns
            .saturating_add(transaction.gap_ns)
            .min(next_ns);
        let ns = end_ns.saturating_sub(transaction.begin_ns);
        let purpose = match transaction.outcome() {
            Outcome::Taken | Outcome::NoHandshake => Purpose::Data,
            Outcome::Nak => Purpose::Nak,
            _ => Purpose::Other,
        };
        if let Some(at) = at {
            let taken = self.counters[at].transaction(&transaction, ns, self.used_ns);
            if taken && transaction.token == Pid::Out && transaction.endpoint != 0 {
                self.request_data(at, transaction.begin_ns);
            }
        }
        self.used(purpose, at, ns);
    }

    /// Data OUT, to which the device may respond by an IN endpoint: that of the same number, or any if there is none.
    fn request_data(&mut self, at: usize, begin_ns: u64) {
        let (out, complete) = (&self.counters[at], !self.counters[at].is_in_transfer());
        if out.is_isochronous() {
            return;
        }
        let (device, number) = out.key();
        for counter in &mut self.counters {
            let (address, endpoint) = counter.key();
            let own = endpoint & 0x7f;
            let answers = own == number || !self.survey.carries(address, own);
            if address == device && endpoint & 0x80 != 0 && answers {
                counter.data_out(begin_ns, complete);
            }
        }
    }

    fn used(&mut self, purpose: Purpose, at: Option<usize>, ns: u64) {
        self.used_ns = self.used_ns.saturating_add(ns);
        self.frames.add(purpose, at, ns);
    }

    fn finish<R: Read>(self, reader: &Reader<R>, duration_ns: u64) -> Bus {
        let (used, total_ns) = self.frames.counted();
        // A capture of less than a frame has no frame that is over.
        let total_ns = total_ns.unwrap_or(duration_ns.max(1));
        let share = |ns: u64| (ns as f64 / total_ns as f64).min(1.0);
        let mut shares = Shares {
            data: share(used.of(Purpose::Data)),
            nak: share(used.of(Purpose::Nak)),
            sof: share(used.of(Purpose::StartOfFrame)),
            other: share(used.of(Purpose::Other)),
            idle: 0.0,
            busiest: match self.frames.frames() {
                0 => share(used.whole()),
                _ => self.frames.busiest().min(1.0),
            },
        };
        shares.idle = (1.0 - shares.data - shares.nak - shares.sof - shares.other).max(0.0);
        let mut endpoints: Vec<Endpoint> = self
            .counters
            .iter()
            .enumerate()
            .map(|(at, counter)| counter.finish(used.of_endpoint(at), total_ns))
            .collect();
        endpoints.sort_by_key(|one| (one.device, one.endpoint));
        let endpoints = Judged::all(endpoints, self.survey.speed);
        let (verdict, words) = bus_verdict::of(&endpoints, &shares);
        Bus {
            format: reader.format(),
            speed: self.survey.speed,
            speed_assumed: self.survey.speed_assumed,
            duration_ns,
            packets: self.packets,
            starts_of_frame: self.survey.frames,
            frames: self.frames.frames(),
            damaged: self.damaged,
            stray: self.stray,
            missing: reader.missing(),
            cut_off_at: reader.cut_off(),
            time_goes_back_at: self.survey.backward.first,
            times_back: self.survey.backward.times,
            endpoints_left_out: self.left_out,
            shares,
            endpoints,
            verdict,
            words,
        }
    }
}
