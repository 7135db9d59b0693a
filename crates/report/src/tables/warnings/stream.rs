//! What keeps a stream's figures from being trusted, and the remedy in the flags that the user is
//! using.

use super::codes::Code;
use super::common as warnings;
use super::warning::{Warning, add};
use crate::tables::flow_rows::{Row, number};
use crate::tables::limit_share::LimitShare;
use crate::tables::stream::lost;
use wiregauge_explain::ahead_of_device;
use wiregauge_quantity::{grouped, percent, time, times};
use wiregauge_record::{Ending, FlowSummary, StreamProtocol, Way};
use wiregauge_run::{RunFile, Stream};

/// A queue that is less full than this was kept waiting.
const SHALLOW: f64 = 0.8;

/// Steps of a rate whose blocks of time, 10 each, give an interval if they are independent.
const FEWEST_STEPS: usize = 6;

/// A warning about some rows of a stream run.
pub(in crate::tables) enum StreamWarning {
    /// Bytes were lost.
    Lost {
        rows: Vec<u32>,
        worst: f64,
        way: Way,
        datagram: bool,
    },
    /// Bytes came twice, changed or from nowhere.
    Damaged { rows: Vec<u32> },
    /// A pattern goes on at another place.
    Jumps { rows: Vec<u32> },
    /// The storage of a recording was slower than the link.
    RecordWaited {
        rows: Vec<u32>,
        most_ns: u64,
        waiting_bytes: u64,
    },
    /// The device did not tell what it took.
    Unreported { rows: Vec<u32> },
    /// The device could not keep pace.
    Overruns { rows: Vec<u32>, most: u64 },
    /// Endpoints stalled.
    Stalled { rows: Vec<u32>, most: u64 },
    /// The queue was not kept full.
    Shallow {
        rows: Vec<u32>,
        asked: u32,
        achieved: f64,
    },
    /// More than the wire carries, by the host's count.
    OverLimit {
        rows: Vec<u32>,
        way: Way,
        used: f64,
        source: String,
        device: ByDevice,
    },
    /// Faster than the device received, into buffers in between.
    Ahead { rows: Vec<u32>, most: f64 },
    /// More than the wire carries, by the device's count too.
    NoRealBus { rows: Vec<u32>, source: String },
    /// More than the wire carries, by the device's count alone.
    DeviceOverLimit { rows: Vec<u32>, source: String },
    /// What the device reports cannot be true.
    Untrue { rows: Vec<u32>, why: String },
    /// Too short for an interval of the rate.
    Short { rows: Vec<u32> },
    /// The rate drifts or changes too slowly for an interval.
    Unsteady { rows: Vec<u32> },
    /// Nothing was compared.
    Unchecked,
    /// A load ran.
    Load { cpu: u32, memory: u32 },
    /// A point is not whole.
    Cut { rows: Vec<u32> },
    /// What disturbs any measurement.
    Other(warnings::Disturbed),
}

/// The warnings that a run deserves.
pub(in crate::tables) fn of_run(file: &RunFile<Stream>, rows: &[Row<'_>]) -> Vec<StreamWarning> {
    let mut found = Vec::new();
    let those = |keep: &dyn Fn(&Row<'_>) -> bool| -> Vec<u32> {
        let kept = rows.iter().filter(|row| keep(row));
        kept.map(number).collect()
    };
    let lost_share =
        |flow: &FlowSummary| lost(flow).unwrap_or(0) as f64 / flow.counts.counted().max(1) as f64;
    let links: Vec<bool> = file
        .plan
        .links()
        .map(|link| link.starts_with("udp:"))
        .collect();
    let is_datagram = |row: &Row<'_>| links.get(row.0.point.link as usize) == Some(&true);
    let each = [Way::In, Way::Out].map(|way| [true, false].map(|datagram| (way, datagram)));
    for (way, datagram) in each.into_iter().flatten() {
        let is_of = |row: &Row<'_>| row.1.way == way && is_datagram(row) == datagram;
        let hit = |row: &Row<'_>| is_of(row) && lost_share(row.1) > 0.0;
        let worst = rows.iter().filter(|row| is_of(row));
        let worst = worst.map(|row| lost_share(row.1)).fold(0.0, f64::max);
        add(&mut found, those(&hit), |rows| StreamWarning::Lost {
            rows,
            worst,
            way,
            datagram,
        });
    }
    let damaged = |row: &Row<'_>| row.1.counts.wrong() > 0;
    add(&mut found, those(&damaged), |rows| StreamWarning::Damaged {
        rows,
    });
    let jumped = |row: &Row<'_>| row.1.jumps.unwrap_or(0) > 0;
    add(&mut found, those(&jumped), |rows| StreamWarning::Jumps {
        rows,
    });
    let waited = |row: &Row<'_>| row.1.recording.as_ref().map_or(0, |one| one.waited_ns);
    add(&mut found, those(&|row| waited(row) > 0), |hit| {
        StreamWarning::RecordWaited {
            rows: hit,
            most_ns: rows.iter().map(waited).max().unwrap_or(0),
            waiting_bytes: (rows.iter())
                .filter_map(|row| Some(row.1.recording.as_ref()?.peak_waiting_bytes))
                .max()
                .unwrap_or(0),
        }
    });
    let raw = file.plan.protocol == StreamProtocol::Raw;
    let unreported = |row: &Row<'_>| !raw && lost(row.1).is_none() && row.1.report_error.is_none();
    add(&mut found, those(&unreported), |rows| {
        StreamWarning::Unreported { rows }
    });
    let untrue = |row: &Row<'_>| row.1.report_error.is_some();
    if let Some(why) = rows.iter().find_map(|row| row.1.report_error.clone()) {
        add(&mut found, those(&untrue), |rows| StreamWarning::Untrue {
            rows,
            why: why.clone(),
        });
    }
    let overruns = |row: &Row<'_>| row.1.device.map_or(0, |device| device.overruns);
    add(&mut found, those(&|row| overruns(row) > 0), |hit| {
        StreamWarning::Overruns {
            rows: hit,
            most: rows.iter().map(overruns).max().unwrap_or(0),
        }
    });
    add(&mut found, those(&|row| row.1.stalls > 0), |hit| {
        StreamWarning::Stalled {
            rows: hit,
            most: rows.iter().map(|row| row.1.stalls).max().unwrap_or(0),
        }
    });
    let shallow = |row: &Row<'_>| {
        let queue = row.0.point.queue;
        queue > 1
            && row.1.transfers > 10 * u64::from(queue)
            && row.1.achieved_queue < SHALLOW * f64::from(queue)
    };
    if let Some((point, flow)) = rows.iter().find(|row| shallow(row)) {
        add(&mut found, those(&shallow), |rows| StreamWarning::Shallow {
            rows,
            asked: point.point.queue,
            achieved: flow.achieved_queue,
        });
    }
    over_limit(rows, &those, &mut found);
    let ahead = |row: &Row<'_>| {
        // Above the limit, the warning about that says so.
        let over = LimitShare::of(row).is_some_and(|share| share.is_host_proven_above());
        ahead_of_device(&file.plan, row.0, row.1).filter(|_| !over)
    };
    add(&mut found, those(&|row| ahead(row).is_some()), |hit| {
        StreamWarning::Ahead {
            rows: hit,
            most: rows.iter().filter_map(ahead).fold(1.0, f64::max),
        }
    });
    let unbounded = |row: &Row<'_>| row.1.rate.as_ref().is_none_or(|rate| rate.low.is_none());
    let is_short = |row: &Row<'_>| row.1.rate.is_none() || row.1.rate_bytes_s.len() < FEWEST_STEPS;
    let short = |row: &Row<'_>| unbounded(row) && is_short(row);
    add(&mut found, those(&short), |rows| StreamWarning::Short {
        rows,
    });
    let unsteady = |row: &Row<'_>| unbounded(row) && !is_short(row);
    add(&mut found, those(&unsteady), |rows| {
        StreamWarning::Unsteady { rows }
    });
    add(
        &mut found,
        those(&|row| row.0.ending != Ending::Complete),
        |rows| StreamWarning::Cut { rows },
    );
    if !file.plan.check && !raw {
        found.push(StreamWarning::Unchecked);
    }
    let load = file.plan.host.load;
    if load.cpu + load.memory > 0 {
        found.push(StreamWarning::Load {
            cpu: load.cpu,
            memory: load.memory,
        });
    }
    let disturbed = rows
        .iter()
        .map(|row| (number(row), &row.0.disturbances[..]));
    let others = warnings::of_disturbances(disturbed, &file.plan.host);
    found.extend(others.into_iter().map(StreamWarning::Other));
    found
}

/// What the device counted of rows whose host's count is above the limit.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::tables) enum ByDevice {
    /// No more than the limit, at every row.
    Within,
    /// This share of it, within what its clock may be off.
    Above(f64),
    /// Nothing, at some row.
    Unknown,
}

impl ByDevice {
    fn of(shares: impl Iterator<Item = LimitShare>) -> ByDevice {
        shares.fold(ByDevice::Within, |so_far, share| {
            match (so_far, share.device) {
                (ByDevice::Unknown, _) | (_, None) => ByDevice::Unknown,
                (_, Some(_)) if share.shown().is_some() => so_far,
                (ByDevice::Above(most), Some(device)) => ByDevice::Above(most.max(device)),
                (ByDevice::Within, Some(device)) => ByDevice::Above(device),
            }
        })
    }

    /// What that means for the share of the limit, and what to do.
    fn advice(self) -> String {
        let longer = "try a longer --settle and --duration.";
        match self {
            ByDevice::Within => format!(
                "The share of the limit is that of the device's count. Use the rate measured by the device (--full), or \
                 {longer}"
            ),
            ByDevice::Above(share) => format!(
                "The device counted up to {} of it, by a clock that may be off by a few percent: no rate here is \
                 certain to be that of the wire. To find it, {longer}",
                percent(share)
            ),
            ByDevice::Unknown => {
                format!("Not every rate was measured by the device as well: {longer}")
            }
        }
    }
}

/// The rows for which this holds.
type Those<'a> = &'a dyn Fn(&dyn Fn(&Row<'_>) -> bool) -> Vec<u32>;

/// Rates above the limit of the link: which end measured them says what they are.
fn over_limit(rows: &[Row<'_>], those: Those<'_>, found: &mut Vec<StreamWarning>) {
    let is = |row: &Row<'_>, of: fn(&LimitShare) -> bool| {
        LimitShare::of(row).is_some_and(|share| of(&share))
    };
    let used = |row: &Row<'_>| LimitShare::of(row).map_or(0.0, |share| share.host);
    let over = |row: &Row<'_>| is(row, LimitShare::is_host_above);
    // What only fills buffers has not yet come to the device.
    let device_over = |row: &Row<'_>| is(row, LimitShare::is_device_above);
    // By chance a rate at the limit is measured as a little more; the device's count is shown then.
    let doubtful = |row: &Row<'_>| {
        is(row, |share| {
            share.is_host_proven_above() || share.shown().is_none()
        })
    };
    let source = |rows: &[Row<'_>], hit: &[u32]| {
        let first = rows.iter().find(|row| hit.first() == Some(&number(row)));
        let limit = first.and_then(|row| row.1.limit.as_ref());
        limit.map_or_else(String::new, |limit| limit.source.clone())
    };
    for way in [Way::In, Way::Out] {
        let hit =
            |row: &Row<'_>| row.1.way == way && over(row) && doubtful(row) && !device_over(row);
        let most = rows.iter().filter(|row| hit(row)).map(used);
        let most = most.fold(0.0, f64::max);
        let shares = rows.iter().filter(|row| hit(row));
        let device = ByDevice::of(shares.filter_map(LimitShare::of));
        add(found, those(&hit), |hit| StreamWarning::OverLimit {
            device,
            source: source(rows, &hit),
            rows: hit,
            way,
            used: most,
        });
    }
    add(found, those(&|row| over(row) && device_over(row)), |hit| {
        StreamWarning::NoRealBus {
            source: source(rows, &hit),
            rows: hit,
        }
    });
    add(found, those(&|row| !over(row) && device_over(row)), |hit| {
        StreamWarning::DeviceOverLimit {
            source: source(rows, &hit),
            rows: hit,
        }
    });
}

impl StreamWarning {
    /// What is printed; `at` names rows, in brackets.
    pub(in crate::tables) fn warning_at(&self, at: &dyn Fn(&[u32]) -> String) -> Warning {
        match self {
            StreamWarning::Lost {
                rows,
                worst,
                way,
                datagram,
            } => {
                let who = match way {
                    Way::In => "sent by the device were lost",
                    Way::Out => "sent by this host did not arrive at the device",
                };
                let remedy = match (datagram, way) {
                    (true, _) => {
                        ". Datagrams have no flow control: a slower receiver loses data. Compare with \
                         tcp://."
                    }
                    (false, Way::In) => {
                        ". Where is not known. If it is the buffer of the device, while this host does not read, a \
                         larger --queue or --priority helps, and --rate computes the buffer; if it is the wire, \
                         check the cable."
                    }
                    (false, Way::Out) => {
                        ". Does the device use flow control (NAK, RTS/CTS, XOFF) when it is full? Also check \
                         cable and --baud."
                    }
                };
                let (part, rows) = (percent(*worst), at(rows));
                let finding = format!("up to {part} of the bytes {who}{rows}");
                Warning::new(Code::BytesLost, finding, remedy)
            }
            StreamWarning::Damaged { rows } => Warning::new(
                Code::BytesDamaged,
                format!(
                    "bytes are corrupted, duplicated or were never sent{}",
                    at(rows)
                ),
                ": this link is not reliable. Check cable, --baud and the buffers of the device.",
            ),
            StreamWarning::Jumps { rows } => Warning::new(
                Code::PatternJumps,
                format!("the received pattern jumps{}", at(rows)),
                ": bytes were lost, repeated or inserted; the pattern does not show how many.",
            ),
            StreamWarning::RecordWaited {
                rows,
                most_ns,
                waiting_bytes,
            } => Warning::new(
                Code::RecordWaited,
                format!(
                    "the receiver waited {} for the storage, with {} bytes of the recording yet to be written{}",
                    time(*most_ns as f64),
                    grouped(*waiting_bytes),
                    at(rows)
                ),
                ": the rate is that of the storage. Record to a faster file system or read the pipe faster, or \
                 leave out --record to measure the link.",
            ),
            StreamWarning::Unreported { rows } => Warning::new(
                Code::Unreported,
                format!("the device did not report what it received{}", at(rows)),
                ": the number of lost bytes is unknown.",
            ),
            StreamWarning::Overruns { rows, most } => Warning::new(
                Code::Overruns,
                format!(
                    "the device could not send or receive data in time, up to {} times{}",
                    grouped(*most),
                    at(rows)
                ),
                ". Its buffer is too small for the gaps of this host, or it is too slow.",
            ),
            StreamWarning::Stalled { rows, most } => Warning::new(
                Code::EndpointStalled,
                format!(
                    "endpoints stalled and were cleared, up to {} times{}",
                    grouped(*most),
                    at(rows)
                ),
                ": the device rejected transfers. Check its firmware.",
            ),
            StreamWarning::Shallow {
                rows,
                asked,
                achieved,
            } => Warning::new(
                Code::ShallowQueue,
                format!(
                    "a queue of {asked} was requested, {achieved:.1} achieved{}",
                    at(rows)
                ),
                ": the host gap is large compared with the transfer time. The rate is that of the achieved \
                 queue; try larger --transfer sizes, --priority, or --no-check.",
            ),
            StreamWarning::OverLimit {
                rows,
                way,
                used,
                source,
                device,
            } => {
                let (did, why) = match way {
                    Way::Out => ("sent", "buffers in between were still filling"),
                    Way::In => ("received", "data had accumulated in buffers before"),
                };
                let (used, rows) = (percent(*used), at(rows));
                Warning::new(
                    Code::OverLimit,
                    format!(
                        "the host {did} more than the wire carries, up to {used} of the limit{rows}"
                    ),
                    format!(
                        ": {why}, or the limit ({source}) is not that of what carried the data. {}",
                        device.advice()
                    ),
                )
            }
            StreamWarning::Ahead { rows, most } => Warning::new(
                Code::OverLimit,
                format!(
                    "the host sent up to {} as fast as the device received{}",
                    times(*most),
                    at(rows)
                ),
                ": buffers in between were still filling, and the rate is not that of the link. Use the rate measured \
                 by the device (--full), or try a longer --settle and --duration.",
            ),
            StreamWarning::NoRealBus { rows, source } => Warning::new(
                Code::NoRealBus,
                format!(
                    "both ends report more data than the reported bus can carry{}",
                    at(rows)
                ),
                format!(
                    ": the limit ({source}) is not that of what carried the data. An emulated bus has no limit; \
                     these figures are those of its software."
                ),
            ),
            StreamWarning::DeviceOverLimit { rows, source } => Warning::new(
                Code::DeviceOverLimit,
                format!(
                    "the device reports more data than its link can carry{}",
                    at(rows)
                ),
                format!(
                    ": its clock or its count is wrong, or the limit ({source}) is not that of its link. Use the \
                     rate of the host."
                ),
            ),
            StreamWarning::Untrue { rows, why } => Warning::new(
                Code::ReportUntrue,
                format!("the report of the device cannot be true: {why}{}", at(rows)),
                ". It is in no figure. Check how the device counts bytes and reads its clock.",
            ),
            StreamWarning::Short { rows } => Warning::new(
                Code::Short,
                format!(
                    "the point is too short for an interval of the rate{}",
                    at(rows)
                ),
                ". Try a longer --duration.",
            ),
            StreamWarning::Unsteady { rows } => Warning::new(
                Code::Short,
                format!(
                    "the rate has no interval because it drifts or changes slowly{}",
                    at(rows)
                ),
                ": its parts are autocorrelated, worth too few independent ones. Try a longer --duration; \
                 `wiregauge report` plots the rate over time.",
            ),
            StreamWarning::Unchecked => Warning::new(
                Code::Unchecked,
                "the content of received bytes was not checked (--no-check)".into(),
                ": only lost bytes are detected.",
            ),
            StreamWarning::Load { cpu, memory } => warnings::load(*cpu, *memory),
            StreamWarning::Cut { rows } => warnings::cut_at(&at(rows)),
            StreamWarning::Other(found) => found.warning_at(at),
        }
    }
}
