//! What keeps a stream's figures from being trusted, and the remedy in the flags that the user is
//! using.

use super::codes::Code;
use super::common;
use super::warning::{Warning, named, spread};
use crate::tables::flow_rows::{Row, is_of, number};
use crate::tables::limit_share::LimitShare;
use crate::tables::places::Places;
use crate::tables::stream::lost;
use std::collections::BTreeSet;
use wiregauge_explain::ahead_of_device;
use wiregauge_quantity::{grouped, percent, time, times};
use wiregauge_record::{Ending, FlowSummary, StreamProtocol, Way};
use wiregauge_run::{RunFile, Stream};

/// A queue that is less full than this was kept waiting.
const SHALLOW: f64 = 0.8;

/// The warnings that a run deserves.
pub(super) fn of_run(file: &RunFile<Stream>, rows: &[Row<'_>], places: &Places) -> Vec<Warning> {
    let mut found = Vec::new();
    let name = |rows: &[u32]| places.bracketed(rows);
    let those = |keep: &dyn Fn(&Row<'_>) -> bool| -> Option<String> {
        named(
            &name,
            rows.iter().filter(|row| keep(row)).map(number).collect(),
        )
    };
    let of_way = |way: Way, keep: &dyn Fn(&Row<'_>) -> bool| -> Option<String> {
        let places = places.only(|flow| is_of(flow, way));
        let kept = rows.iter().filter(|row| row.1.way == way && keep(row));
        named(&|rows| places.bracketed(rows), kept.map(number).collect())
    };
    losses(file, rows, &of_way, &mut found);
    let damaged = |row: &Row<'_>| row.1.counts.wrong() > 0;
    if let Some(at) = those(&damaged) {
        found.push(Warning::new(
            Code::Damaged,
            format!("bytes are corrupted, duplicated or were never sent{at}"),
            ": this link is not reliable. Check cable, --baud and the buffers of the device.",
        ));
    }
    if let Some(at) = those(&|row| row.1.jumps.unwrap_or(0) > 0) {
        found.push(Warning::new(
            Code::PatternJumps,
            format!("the received pattern jumps{at}"),
            ": bytes were lost, repeated or inserted; the pattern does not show how many.",
        ));
    }
    let waited = |row: &Row<'_>| row.1.recording.as_ref().map_or(0, |one| one.waited_ns);
    if let Some(at) = those(&|row| waited(row) > 0) {
        let most_ns = rows.iter().map(waited).max().unwrap_or(0);
        let recordings = rows.iter().filter_map(|row| row.1.recording.as_ref());
        let waiting_bytes = recordings
            .map(|one| one.peak_waiting_bytes)
            .max()
            .unwrap_or(0);
        found.push(Warning::new(
            Code::Storage,
            format!(
                "the receiver waited {} for the storage, with {} bytes of the recording yet to be written{at}",
                time(most_ns as f64),
                grouped(waiting_bytes)
            ),
            ": the rate is that of the storage. Record to a faster file system or read the pipe faster, or leave out \
             --record to measure the link.",
        ));
    }
    let raw = file.plan.protocol == StreamProtocol::Raw;
    let unreported = |row: &Row<'_>| !raw && lost(row.1).is_none() && row.1.report_error.is_none();
    if let Some(at) = those(&unreported) {
        found.push(Warning::new(
            Code::UntrueReport,
            format!("the device did not report what it received{at}"),
            ": the number of lost bytes is unknown.",
        ));
    }
    let reasons = rows.iter().filter_map(|row| row.1.report_error.as_ref());
    for why in BTreeSet::from_iter(reasons) {
        let at = those(&|row| row.1.report_error.as_ref() == Some(why));
        found.extend(at.map(|at| {
            Warning::new(
                Code::UntrueReport,
                format!("the report of the device cannot be true: {why}{at}"),
                ". It is in no figure. Check how the device counts bytes and reads its clock.",
            )
        }));
    }
    let overruns = |row: &Row<'_>| row.1.device.map_or(0, |device| device.overruns);
    if let Some(at) = those(&|row| overruns(row) > 0) {
        let times = rows.iter().map(overruns).filter(|times| *times > 0);
        let times = common::times_of(times);
        found.push(Warning::new(
            Code::Overruns,
            format!("the device could not send or receive data in time, {times}{at}"),
            ". Its buffer is too small for the gaps of this host, or it is too slow.",
        ));
    }
    if let Some(at) = those(&|row| row.1.stalls > 0) {
        let times = common::times_of(
            rows.iter()
                .map(|row| row.1.stalls)
                .filter(|times| *times > 0),
        );
        found.push(Warning::new(
            Code::EndpointStalled,
            format!("endpoints stalled and were cleared, {times}{at}"),
            ": the device rejected transfers. Check its firmware.",
        ));
    }
    let shallow = |row: &Row<'_>| {
        let queue = row.0.point.queue;
        queue > 1
            && row.1.transfers > 10 * u64::from(queue)
            && row.1.achieved_queue < SHALLOW * f64::from(queue)
    };
    if let Some(at) = those(&shallow) {
        let of = |queue: &dyn Fn(&Row<'_>) -> f64, digits: usize| {
            let all = rows.iter().filter(|row| shallow(row)).map(queue);
            spread(all, |queue| format!("{queue:.digits$}"))
        };
        let queues = of(&|row| f64::from(row.0.point.queue), 0);
        let achieved = of(&|row| row.1.achieved_queue, 1);
        found.push(Warning::new(
            Code::Shallow,
            format!("a queue of {queues} was requested, {achieved} achieved{at}"),
            ": the host gap is large compared with the transfer time. The rate is that of the achieved queue; try \
             larger --transfer sizes, --priority, or --no-check.",
        ));
    }
    over_limit(rows, &those, &of_way, &mut found);
    let ahead = |row: &Row<'_>| {
        // Above the limit, the warning about that says so.
        let over = LimitShare::of(row).is_some_and(|share| share.is_host_proven_above());
        ahead_of_device(&file.plan, row.0, row.1).filter(|_| !over)
    };
    if let Some(at) = of_way(Way::Out, &|row| ahead(row).is_some()) {
        let ratio = spread(rows.iter().filter_map(ahead), times);
        found.push(Warning::new(
            Code::AboveLimit,
            format!("the host sent {ratio} as fast as the device received{at}"),
            ": buffers in between were still filling. The rate is that of the device's count; to confirm it, try a \
             longer --settle and --duration.",
        ));
    }
    let unbounded = |row: &Row<'_>| row.1.rate.as_ref().is_none_or(|rate| rate.low.is_none());
    if let Some(at) = those(&unbounded) {
        found.push(Warning::new(
            Code::FewSamples,
            format!("the rate has no interval{at}"),
            ": the point is too short, or the rate drifts or changes slowly. Try a longer --duration; `wiregauge \
             report` plots the rate over time.",
        ));
    }
    let cut = those(&|row| row.0.ending != Ending::Complete);
    found.extend(cut.map(|at| common::cut_at(&at)));
    let disturbed = rows
        .iter()
        .map(|row| (number(row), &row.0.disturbances[..]));
    found.extend(common::of_disturbances(disturbed, &file.plan.host, &name));
    found
}

/// The rows for which this holds, by their name; `None` if it holds for none.
type Those<'a> = &'a dyn Fn(&dyn Fn(&Row<'_>) -> bool) -> Option<String>;

/// The same of one direction, by their name among its rows.
type OfWay<'a> = &'a dyn Fn(Way, &dyn Fn(&Row<'_>) -> bool) -> Option<String>;

/// Lost bytes of each way, by what carried them.
fn losses(file: &RunFile<Stream>, rows: &[Row<'_>], of_way: OfWay<'_>, found: &mut Vec<Warning>) {
    let lost_share =
        |flow: &FlowSummary| lost(flow).unwrap_or(0) as f64 / flow.counts.counted().max(1) as f64;
    let links = file.plan.links().map(|link| link.starts_with("udp:"));
    let links: Vec<bool> = links.collect();
    let is_datagram = |row: &Row<'_>| links.get(row.0.point.link as usize) == Some(&true);
    let each = [Way::In, Way::Out].map(|way| [true, false].map(|datagram| (way, datagram)));
    for (way, datagram) in each.into_iter().flatten() {
        let is_of = |row: &Row<'_>| row.1.way == way && is_datagram(row) == datagram;
        let Some(at) = of_way(way, &|row| is_of(row) && lost_share(row.1) > 0.0) else {
            continue;
        };
        let shares = rows.iter().filter(|row| is_of(row));
        let shares = shares.map(|row| lost_share(row.1));
        let shares = spread(shares.filter(|share| *share > 0.0), percent);
        let who = match way {
            Way::In => "sent by the device were lost",
            Way::Out => "sent by this host did not arrive at the device",
        };
        found.push(Warning::new(
            Code::Lost,
            format!("{shares} of the bytes {who}{at}"),
            match (datagram, way) {
                (true, _) => {
                    ". Datagrams have no flow control: a slower receiver loses data. Compare with tcp://."
                }
                (false, Way::In) => {
                    ". Where is not known. If it is the buffer of the device, while this host does not read, a larger \
                     --queue or --priority helps, and --rate computes the buffer; if it is the wire, check the cable."
                }
                (false, Way::Out) => {
                    ". Does the device use flow control (NAK, RTS/CTS, XOFF) when it is full? Also check cable and --baud."
                }
            },
        ));
    }
}

/// What the device counted of rows whose host's count is above the limit.
#[derive(Clone, Copy, PartialEq)]
enum ByDevice {
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
                "The share of the limit is that of the device's count, and so is a rate OUT. To confirm it, {longer}"
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

/// Rates above the limit of the link: which end measured them says what they are.
fn over_limit(rows: &[Row<'_>], those: Those<'_>, of_way: OfWay<'_>, found: &mut Vec<Warning>) {
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
    let source = |hit: &dyn Fn(&Row<'_>) -> bool| {
        let limit = rows.iter().find(|row| hit(row));
        let limit = limit.and_then(|row| row.1.limit.as_ref());
        limit.map_or_else(String::new, |limit| limit.source.clone())
    };
    for way in [Way::In, Way::Out] {
        let hit =
            |row: &Row<'_>| row.1.way == way && over(row) && doubtful(row) && !device_over(row);
        let Some(at) = of_way(way, &hit) else {
            continue;
        };
        let all = || rows.iter().filter(|row| hit(row));
        let shares = spread(all().map(used), percent);
        let device = ByDevice::of(all().filter_map(LimitShare::of)).advice();
        let (did, why) = match way {
            Way::Out => ("sent", "buffers in between were still filling"),
            Way::In => ("received", "data had accumulated in buffers before"),
        };
        let source = source(&hit);
        found.push(Warning::new(
            Code::AboveLimit,
            format!("the host {did} more than the wire carries, {shares} of the limit{at}"),
            format!(
                ": {why}, or the limit ({source}) is not that of what carried the data. {device}"
            ),
        ));
    }
    let both = |row: &Row<'_>| over(row) && device_over(row);
    if let Some(at) = those(&both) {
        let source = source(&both);
        found.push(Warning::new(
            Code::AboveLimit,
            format!("both ends report more data than the reported bus can carry{at}"),
            format!(
                ": the limit ({source}) is not that of what carried the data. An emulated bus has no limit; these \
                 figures are those of its software."
            ),
        ));
    }
    let by_device = |row: &Row<'_>| !over(row) && device_over(row);
    if let Some(at) = those(&by_device) {
        let source = source(&by_device);
        found.push(Warning::new(
            Code::AboveLimit,
            format!("the device reports more data than its link can carry{at}"),
            format!(
                ": its clock or its count is wrong, or the limit ({source}) is not that of its link. Use the rate of \
                 the host."
            ),
        ));
    }
}
