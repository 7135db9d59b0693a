//! A first pass through a capture: what must be known before its transactions can be counted.

use crate::descriptors::Descriptors;
use crate::packet::Speed;
use crate::read::{ReadError, Reader, Record, UrbType};
use crate::transactions::{Assembler, Event};
use std::collections::BTreeMap;
use std::io::Read;

/// What a capture is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Packets of a bus.
    Bus,
    /// URBs of a host.
    Urbs,
    /// Nothing.
    Nothing,
}

/// What the first pass found.
#[derive(Debug)]
pub struct Survey {
    /// What the capture is of.
    pub subject: Subject,
    /// When its first record was.
    pub begin_ns: u64,
    /// When its last record was.
    pub end_ns: u64,
    /// When the last record was, in the window or not.
    pub last_ns: u64,
    /// Records in the window.
    pub in_window: u64,
    /// Where time goes back in the file.
    pub backward: Backward,
    /// Of the wire, where packets do not say it.
    pub speed: Speed,
    /// True if the speed was concluded and not stated.
    pub speed_assumed: bool,
    /// Starts of frame.
    pub frames: u64,
    /// Data packets.
    pub data_packets: u64,
    endpoints: BTreeMap<(u8, u8), Seen>,
    descriptors: Descriptors,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    largest: u32,
    data: u64,
    handshakes: u64,
}

/// What an endpoint is, by its descriptor or by its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nature {
    pub(crate) transfer: Option<UrbType>,
    pub(crate) max_packet: u32,
    /// False if no descriptor says so.
    pub(crate) described: bool,
}

/// Endpoints of a bus have 7 and 5 bits; a damaged file names many.
const ENDPOINTS: usize = 4096;

/// A window of a capture, from its first record on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Start.
    pub from_ns: u64,
    /// End.
    pub to_ns: u64,
}

impl Default for Window {
    fn default() -> Window {
        Window {
            from_ns: 0,
            to_ns: u64::MAX,
        }
    }
}

impl Window {
    pub(crate) fn has(self, begin_ns: u64, at_ns: u64) -> bool {
        (self.from_ns..self.to_ns).contains(&at_ns.saturating_sub(begin_ns))
    }
}

impl Survey {
    /// Reads a capture from its start to its end.
    ///
    /// # Errors
    /// If it cannot be read, or mixes packets of a bus with URBs.
    pub fn of<R: Read>(file: R, window: Window) -> Result<Survey, ReadError> {
        let mut reader = Reader::new(file)?;
        let mut survey = Survey {
            subject: Subject::Nothing,
            begin_ns: 0,
            end_ns: 0,
            last_ns: 0,
            in_window: 0,
            backward: Backward::default(),
            speed: Speed::Full,
            speed_assumed: true,
            frames: 0,
            data_packets: 0,
            endpoints: BTreeMap::new(),
            descriptors: Descriptors::default(),
        };
        let mut assembler = Assembler::default();
        let mut spacing = SofSpacing::default();
        let mut stated = None;
        let mut first = true;
        while let Some(record) = reader.next_record()? {
            let (at_ns, subject) = match record {
                Record::Packet(packet) => (packet.at_ns, Subject::Bus),
                Record::Urb(urb) => (urb.at_ns, Subject::Urbs),
            };
            if std::mem::take(&mut first) {
                (survey.begin_ns, survey.end_ns) = (at_ns, at_ns);
                survey.subject = subject;
            }
            survey.backward.add(at_ns);
            survey.last_ns = survey.last_ns.max(at_ns);
            if subject != survey.subject {
                return Err(ReadError::Format {
                    offset: 0,
                    wrong: "packets of a bus and URBs of a host in one file".into(),
                    hint: "save the interfaces to files of their own (editcap, or a filter in Wireshark)",
                });
            }
            if !window.has(survey.begin_ns, at_ns) {
                continue;
            }
            survey.in_window += 1;
            survey.end_ns = survey.end_ns.max(at_ns);
            if let Record::Packet(packet) = record {
                stated = stated.or(packet.speed);
                let speed = packet.speed.unwrap_or(Speed::Full);
                let mut sink = |event: Event<'_>| survey.event(event, &mut spacing);
                assembler.packet(&packet, speed, &mut sink);
            }
        }
        assembler.finish(&mut |event| survey.event(event, &mut spacing));
        survey.speed_assumed = stated.is_none();
        survey.speed = stated.unwrap_or_else(|| survey.guess(&spacing));
        Ok(survey)
    }

    fn event(&mut self, event: Event<'_>, spacing: &mut SofSpacing) {
        match event {
            Event::Frame { at_ns, .. } => {
                self.frames += 1;
                spacing.add(at_ns);
            }
            Event::Transaction(transaction, payload) => {
                if transaction.endpoint == 0 {
                    self.descriptors.transaction(transaction, payload);
                }
                let key = (transaction.address, transaction.endpoint);
                if self.endpoints.len() >= ENDPOINTS && !self.endpoints.contains_key(&key) {
                    return;
                }
                let seen = self.endpoints.entry(key).or_default();
                if let Some(data) = transaction.data.filter(|data| data.good) {
                    seen.largest = seen.largest.max(data.bytes);
                    seen.data += 1;
                }
                seen.handshakes += u64::from(transaction.handshake.is_some());
                self.data_packets += u64::from(transaction.data.is_some());
            }
            Event::Stray { .. } => {}
        }
    }

    fn guess(&self, spacing: &SofSpacing) -> Speed {
        let largest = self.endpoints.iter().filter(|(key, _)| key.1 != 0);
        if spacing.short > spacing.long || largest.clone().any(|(_, seen)| seen.largest > 64) {
            // Isochronous packets of full speed are longer too, but 1 ms apart.
            match spacing.long > spacing.short {
                true => Speed::Full,
                false => Speed::High,
            }
        } else {
            Speed::Full
        }
    }

    /// True if data of the endpoint is in the capture.
    pub(crate) fn carries(&self, address: u8, endpoint: u8) -> bool {
        (self.endpoints.get(&(address, endpoint))).is_some_and(|seen| seen.data > 0)
    }

    /// What an endpoint is.
    pub(crate) fn nature(&self, address: u8, endpoint: u8) -> Nature {
        let seen = self
            .endpoints
            .get(&(address, endpoint))
            .copied()
            .unwrap_or_default();
        if let Some(described) = self.descriptors.of(address, endpoint) {
            return Nature {
                transfer: Some(described.transfer),
                max_packet: described.max_packet,
                described: true,
            };
        }
        let usual = match (self.speed, endpoint) {
            (Speed::Low, _) => 8,
            (Speed::High, 1..) => 512,
            _ => 64,
        };
        let transfer = match (endpoint, seen.handshakes, seen.data) {
            (0, ..) => Some(UrbType::Control),
            // Two packets without a handshake may be an accident.
            (_, 0, 3..) => Some(UrbType::Isochronous),
            _ => None,
        };
        Nature {
            transfer,
            max_packet: seen.largest.max(usual),
            described: false,
        }
    }
}

/// Where time goes back in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backward {
    /// The first such record; the first of the file is 1.
    pub first: Option<u64>,
    /// How often.
    pub times: u64,
    records: u64,
    last_ns: u64,
}

impl Backward {
    fn add(&mut self, at_ns: u64) {
        self.records += 1;
        if at_ns < self.last_ns {
            self.first.get_or_insert(self.records);
            self.times += 1;
        }
        self.last_ns = at_ns;
    }
}

/// Whether starts of frame are 125 us apart, or 1 ms.
#[derive(Debug, Default)]
struct SofSpacing {
    last_ns: Option<u64>,
    short: u64,
    long: u64,
}

impl SofSpacing {
    fn add(&mut self, at_ns: u64) {
        if let Some(last) = self.last_ns.replace(at_ns) {
            match at_ns.saturating_sub(last) {
                60_000..250_000 => self.short += 1,
                500_000..2_000_000 => self.long += 1,
                _ => {}
            }
        }
    }
}
