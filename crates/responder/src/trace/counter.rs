//! Counts the packets and the NAKs of streams on a modelled bus, for the reports of its devices. The NAKs are those
//! that a trace of the same bus has.

use super::composer::{Composer, Endpoint, Event};
use super::wire::Wire;
use crate::bus::BusTiming;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wiregauge_link::limits::Bus;
use wiregauge_wire::BusCounts;

/// Counts while a stream is active, and costs nothing else.
#[derive(Debug)]
pub struct Counter {
    wire: Wire,
    timing: BusTiming,
    /// Only while a stream is active.
    composer: Option<Composer>,
    streams: BTreeMap<Endpoint, Stream>,
    /// When the last packet began.
    begin_ns: u64,
}

/// A stream that is active.
#[derive(Debug, Default)]
struct Stream {
    counts: BusCounts,
    /// Without the last packet: from the host that one carries END.
    before_last: BusCounts,
    /// When its first packet began.
    first_ns: Option<u64>,
}

impl Counter {
    /// A counter for a bus.
    pub fn new(bus: Bus, timing: &BusTiming) -> Counter {
        Counter {
            wire: Wire::of(bus, timing),
            timing: *timing,
            composer: None,
            streams: BTreeMap::new(),
            begin_ns: 0,
        }
    }

    /// True while a stream is active.
    pub fn is_active(&self) -> bool {
        self.composer.is_some()
    }

    /// Takes what happened on the bus.
    pub fn take(&mut self, event: &Event) {
        let Some(composer) = &mut self.composer else {
            if let Event::Carried { begin_ns, .. } = event {
                self.begin_ns = *begin_ns;
            }
            return;
        };
        if let Event::Until(now_ns) = event {
            let now_ns = *now_ns;
            self.count_naks(now_ns);
            return;
        }
        composer.count(event);
        if let Event::Carried {
            endpoint,
            asked_ns,
            ready_ns,
            begin_ns,
            payload,
            ..
        } = event
        {
            let not_ready_ns = ready_ns.min(begin_ns).saturating_sub(*asked_ns);
            self.carried(*endpoint, *begin_ns, not_ready_ns, payload.len() as u64);
        }
    }

    fn carried(&mut self, endpoint: Endpoint, begin_ns: u64, not_ready_ns: u64, bytes: u64) {
        self.begin_ns = begin_ns;
        let lasts_ns = self.timing.wire_ns(bytes);
        for (of, stream) in &mut self.streams {
            if *of != endpoint {
                stream.counts.others_ns += stream.first_ns.map_or(0, |_| lasts_ns);
                continue;
            }
            stream.before_last = stream.counts;
            // What was before the first packet is not of the stream.
            stream.counts.not_ready_ns += stream.first_ns.map_or(0, |_| not_ready_ns);
            let first_ns = *stream.first_ns.get_or_insert(begin_ns);
            stream.counts.packets += 1;
            stream.counts.packets_ns += lasts_ns;
            stream.counts.elapsed_ns = begin_ns + lasts_ns - first_ns;
        }
    }

    fn count_naks(&mut self, now_ns: u64) {
        let Some(composer) = &mut self.composer else {
            return;
        };
        for nak in composer.naks_until(now_ns) {
            for (of, stream) in &mut self.streams {
                if stream.first_ns.is_none_or(|first| nak.begin_ns < first) {
                    continue;
                }
                if *of == nak.endpoint {
                    stream.counts.naks += 1;
                    stream.counts.naks_ns += nak.lasts_ns;
                } else {
                    stream.counts.others_ns += nak.lasts_ns;
                }
            }
        }
    }

    fn begin(&mut self, endpoint: Endpoint) {
        let (wire, frame_ns) = (self.wire, self.timing.frame_ns);
        let begin_ns = self.begin_ns;
        self.composer
            .get_or_insert_with(|| Composer::counting(wire, frame_ns, begin_ns));
        self.streams.insert(endpoint, Stream::default());
    }

    fn end(&mut self, endpoint: Endpoint) -> Option<BusCounts> {
        self.count_naks(self.begin_ns);
        let stream = self.streams.remove(&endpoint)?;
        if self.streams.is_empty() {
            self.composer = None;
        }
        let counts = stream.counts;
        Some(match endpoint.is_in {
            true => counts,
            false => BusCounts {
                packets: stream.before_last.packets,
                packets_ns: stream.before_last.packets_ns,
                not_ready_ns: stream.before_last.not_ready_ns,
                elapsed_ns: stream.before_last.elapsed_ns,
                ..counts
            },
        })
    }
}

/// The endpoints of one device, and what counts on them.
#[derive(Clone, Debug)]
pub struct DeviceCounter {
    counter: Arc<Mutex<Counter>>,
    out: Endpoint,
    to_host: Endpoint,
    /// Of the last streams, OUT first.
    last: [BusCounts; 2],
}

impl DeviceCounter {
    /// What counts on these endpoints.
    pub fn new(counter: Arc<Mutex<Counter>>, out: Endpoint, to_host: Endpoint) -> DeviceCounter {
        DeviceCounter {
            counter,
            out,
            to_host,
            last: [BusCounts::default(); 2],
        }
    }

    /// A stream begins.
    pub fn begin(&mut self, is_in: bool) {
        let endpoint = self.endpoint(is_in);
        self.last[usize::from(is_in)] = BusCounts::default();
        locked(&self.counter).begin(endpoint);
    }

    /// A stream ends, if one is active; the counts of the last one.
    pub fn end(&mut self, is_in: bool) -> BusCounts {
        let endpoint = self.endpoint(is_in);
        if let Some(counts) = locked(&self.counter).end(endpoint) {
            self.last[usize::from(is_in)] = counts;
        }
        self.last[usize::from(is_in)]
    }

    fn endpoint(&self, is_in: bool) -> Endpoint {
        if is_in { self.to_host } else { self.out }
    }
}

/// The counter, whatever became of another thread that had it.
pub fn locked(counter: &Mutex<Counter>) -> MutexGuard<'_, Counter> {
    counter.lock().unwrap_or_else(PoisonError::into_inner)
}
