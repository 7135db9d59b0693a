//! What a host's URBs say, as usbmon has them: no packets are seen, so device and bus are one.

use crate::read::{Format, ReadError, Reader, Record, Urb, UrbStage, UrbType};
use crate::spread::{Spread, Times};
use crate::survey::{Survey, Window};
use crate::verdict::ENOUGH;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use wiregauge_quantity::{grouped as shown, percent, time};

/// Which side limits, as far as URBs say it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum UrbVerdict {
    /// For half of the time or more no URB was pending.
    HostTooLate {
        /// Share of the time, 0 to 1.
        share: f64,
    },
    /// A URB was pending for most of the time.
    DeviceOrBus {
        /// Share of the time, 0 to 1.
        share: f64,
    },
}

/// An endpoint, by its URBs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UrbEndpoint {
    /// Bus of the host.
    pub bus: u16,
    /// Address of the device.
    pub device: u8,
    /// Endpoint; the highest bit is set for IN.
    pub endpoint: u8,
    /// Type of its transfers.
    pub transfer: UrbType,
    /// URBs that are over, without error.
    pub transfers: u64,
    /// Bytes that they transferred.
    pub bytes: u64,
    /// URBs that the host took back (ENOENT, ECONNRESET).
    pub cancelled: u64,
    /// URBs that ended with another error or could not be submitted.
    pub failed: u64,
    /// Of IN: URBs that transferred less than was requested.
    pub short: u64,
    /// URBs that transferred nothing.
    pub empty: u64,
    /// URBs whose start or end is not in the capture.
    pub unmatched: u64,
    /// Bytes a second.
    pub bytes_s: f64,
    /// From submission to completion.
    pub urb_time: Option<Times>,
    /// From a completion after which no URB was pending to the next submission.
    pub host_gap: Option<Times>,
    /// From completion to completion.
    pub transfer_gap: Option<Times>,
    /// Mean number pending.
    pub pending: f64,
    /// Share of the time with none pending, 0 to 1.
    pub idle: f64,
    /// What limits it; none for endpoint 0, and if its URBs are too few to say.
    pub verdict: Option<UrbVerdict>,
    /// The same in a sentence, or why there is none; none for endpoint 0.
    pub words: Option<String>,
}

/// What the URBs of a host say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Host {
    /// How the capture is written.
    pub format: Format,
    /// From the first record to the last.
    pub duration_ns: u64,
    /// Submissions and completions.
    pub records: u64,
    /// Records that are missing in the capture, as its writer says.
    pub missing: u64,
    /// If the file ends within a record: the bytes of the file that were used.
    pub cut_off_at: Option<u64>,
    /// The first record whose time is before that of the one before it; the first of the file is 1.
    pub time_goes_back_at: Option<u64>,
    /// How often time goes back.
    pub times_back: u64,
    /// Records of endpoints that are not listed because there are too many.
    pub left_out: u64,
    /// The endpoints, by device.
    pub endpoints: Vec<UrbEndpoint>,
}

#[derive(Debug)]
struct Counter {
    transfer: UrbType,
    pending: HashMap<u64, (u64, u32)>,
    transfers: u64,
    bytes: u64,
    cancelled: u64,
    failed: u64,
    short: u64,
    empty: u64,
    unmatched: u64,
    urb_time: Spread,
    host_gap: Spread,
    transfer_gap: Spread,
    first_ns: Option<u64>,
    changed_ns: u64,
    completed_ns: Option<u64>,
    pending_ns: u128,
    idle_ns: u64,
    counted: Counted,
}

/// From the first submission to the last completion: what follows are URBs that the program takes back when it ends.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    ns: u64,
    pending_ns: u128,
    idle_ns: u64,
}

const ENDPOINTS: usize = 64;
/// URBs of an endpoint that are pending at once; a capture that lacks completions would fill the memory.
const PENDING: usize = 65_536;

/// Counts the URBs of a capture that was surveyed.
///
/// # Errors
/// If the file cannot be read.
pub fn count<R: Read>(file: R, survey: &Survey, window: Window) -> Result<Host, ReadError> {
    let mut reader = Reader::new(file)?;
    let mut counters: BTreeMap<(u16, u8, u8), Counter> = BTreeMap::new();
    let (mut records, mut left_out) = (0, 0);
    while let Some(record) = reader.next_record()? {
        let Record::Urb(urb) = record else { continue };
        if !window.has(survey.begin_ns, urb.at_ns) {
            continue;
        }
        records += 1;
        let key = (urb.bus, urb.device, urb.endpoint);
        if counters.len() >= ENDPOINTS && !counters.contains_key(&key) {
            left_out += 1;
            continue;
        }
        counters
            .entry(key)
            .or_insert_with(|| Counter::new(urb.transfer))
            .take(&urb);
    }
    Ok(Host {
        format: reader.format(),
        duration_ns: survey.end_ns.saturating_sub(survey.begin_ns),
        records,
        missing: reader.missing(),
        cut_off_at: reader.cut_off(),
        time_goes_back_at: survey.backward.first,
        times_back: survey.backward.times,
        left_out,
        endpoints: counters
            .into_iter()
            .map(|(key, counter)| counter.finish(key))
            .collect(),
    })
}

impl Counter {
    fn new(transfer: UrbType) -> Counter {
        Counter {
            transfer,
            pending: HashMap::new(),
            transfers: 0,
            bytes: 0,
            cancelled: 0,
            failed: 0,
            short: 0,
            empty: 0,
            unmatched: 0,
            urb_time: Spread::default(),
            host_gap: Spread::default(),
            transfer_gap: Spread::default(),
            first_ns: None,
            changed_ns: 0,
            completed_ns: None,
            pending_ns: 0,
            idle_ns: 0,
            counted: Counted::default(),
        }
    }

    fn take(&mut self, urb: &Urb) {
        let at_ns = urb.at_ns;
        match urb.stage {
            UrbStage::Submitted => {
                self.pass(at_ns);
                self.first_ns.get_or_insert(at_ns);
                if self.pending.is_empty()
                    && let Some(completed) = self.completed_ns
                {
                    self.host_gap.add(at_ns.saturating_sub(completed));
                }
                if self.pending.len() < PENDING
                    && self.pending.insert(urb.id, (at_ns, urb.length)).is_some()
                {
                    self.unmatched += 1;
                }
            }
            UrbStage::Completed | UrbStage::Refused => {
                let Some((submitted_ns, requested)) = self.pending.get(&urb.id).copied() else {
                    self.unmatched += 1;
                    return;
                };
                self.pass(at_ns);
                self.pending.remove(&urb.id);
                let is_cancelled =
                    urb.stage == UrbStage::Completed && matches!(urb.status, -2 | -104);
                // EREMOTEIO: fewer bytes than requested, where the driver wants to know it.
                if is_cancelled {
                    // The program did not wait for it, so nothing is known of the time in which it was pending.
                    self.cancelled += 1;
                    return;
                }
                if urb.stage == UrbStage::Refused || !matches!(urb.status, 0 | -121) {
                    self.failed += 1;
                } else {
                    self.transfers += 1;
                    self.bytes += u64::from(urb.length);
                    self.empty += u64::from(urb.length == 0);
                    let is_in = urb.endpoint & 0x80 != 0;
                    self.short += u64::from(is_in && urb.length > 0 && urb.length < requested);
                    self.urb_time.add(at_ns.saturating_sub(submitted_ns));
                    if let Some(before) = self.completed_ns {
                        self.transfer_gap.add(at_ns.saturating_sub(before));
                    }
                }
                self.completed_ns = Some(at_ns);
                self.counted = Counted {
                    ns: at_ns.saturating_sub(self.first_ns.unwrap_or(at_ns)),
                    pending_ns: self.pending_ns,
                    idle_ns: self.idle_ns,
                };
            }
        }
    }

    /// The time since the last change belongs to the number of URBs that were pending.
    fn pass(&mut self, at_ns: u64) {
        if self.first_ns.is_some() {
            let ns = at_ns.saturating_sub(self.changed_ns);
            self.pending_ns += u128::from(ns) * self.pending.len() as u128;
            if self.pending.is_empty() {
                self.idle_ns += ns;
            }
        }
        self.changed_ns = at_ns;
    }

    fn finish(self, (bus, device, endpoint): (u16, u8, u8)) -> UrbEndpoint {
        let of_whole = |value: f64| match self.counted.ns {
            0 => 0.0,
            ns => value / ns as f64,
        };
        let mut finished = UrbEndpoint {
            bus,
            device,
            endpoint,
            transfer: self.transfer,
            transfers: self.transfers,
            bytes: self.bytes,
            cancelled: self.cancelled,
            failed: self.failed,
            short: self.short,
            empty: self.empty,
            unmatched: self.unmatched + self.pending.len() as u64,
            bytes_s: of_whole(self.bytes as f64) * 1e9,
            urb_time: self.urb_time.times(),
            host_gap: self.host_gap.times(),
            transfer_gap: self.transfer_gap.times(),
            pending: of_whole(self.counted.pending_ns as f64),
            idle: of_whole(self.counted.idle_ns as f64),
            verdict: None,
            words: None,
        };
        if endpoint & 0x7f != 0 {
            finished.verdict = finished.judge();
            finished.words = Some(finished.words());
        }
        finished
    }
}

impl UrbEndpoint {
    fn judge(&self) -> Option<UrbVerdict> {
        match self.idle {
            _ if self.transfers < ENOUGH => None,
            idle if idle >= 0.5 => Some(UrbVerdict::HostTooLate { share: idle }),
            idle => Some(UrbVerdict::DeviceOrBus { share: 1.0 - idle }),
        }
    }

    fn words(&self) -> String {
        let gap = self.host_gap.map_or(String::new(), |gap| {
            format!(
                "; from a completion to the next submission {} (median of {} gaps with none pending)",
                time(gap.p50_ns as f64),
                shown(gap.count)
            )
        });
        match self.verdict {
            None => format!(
                "no verdict: completed URBs: {}, {ENOUGH} are needed",
                shown(self.transfers)
            ),
            Some(UrbVerdict::HostTooLate { share }) => format!(
                "limited by the host: for {} of the time no URB was pending{gap}. If the program does not wait for a response, \
                 keep several transfers pending; otherwise use a larger depth",
                percent(share)
            ),
            Some(UrbVerdict::DeviceOrBus { share }) => format!(
                "device or bus: a URB was pending for {} of the time, {:.2} on average{gap}. usbmon does not see NAKs: \
                 a bus analyzer distinguishes a device that is not ready from a bus that is full",
                percent(share),
                self.pending
            ),
        }
    }
}
