//! What keeps a stream's figures from being trusted, and the remedy in the flags that the user is
//! using.

use super::codes::Code;
use super::common;
use super::warning::{Name, Search, Warning, once, share, some, times_of};
use crate::tables::flow_rows::{Row, is_of, number};
use crate::tables::limit_share::LimitShare;
use crate::tables::places::Places;
use crate::tables::stream::lost;
use std::collections::BTreeSet;
use wiregauge_explain::ahead_of_device;
use wiregauge_quantity::{grouped, percent, time, times};
use wiregauge_record::{StreamProtocol, Way, is_on_this_host};
use wiregauge_run::{RunFile, Stream};

/// A queue that is less full than this was kept waiting.
const SHALLOW: f64 = 0.8;

/// Rows of a stream run.
type Flows<'a> = Search<'a, Row<'a>>;

/// A direction, and how its rows are named among themselves.
type OfWay<'a> = (Way, Name<'a>);

/// The warnings that a run deserves.
pub(super) fn of_run(file: &RunFile<Stream>, rows: &[Row<'_>], places: &Places) -> Vec<Warning> {
    let name = |rows: &[u32]| places.bracketed(rows);
    let [inward, outward] = [Way::In, Way::Out].map(|way| {
        let places = places.only(|flow| is_of(flow, way));
        move |rows: &[u32]| places.bracketed(rows)
    });
    let ways: [OfWay<'_>; 2] = [(Way::In, &inward), (Way::Out, &outward)];
    let mut search = Search::new(rows.iter().map(|row| (number(row), *row)), &name);
    for way in ways {
        losses(file, &mut search, way);
    }
    search.name = &name;
    search.at(
        Code::Damaged,
        |(_, flow)| flow.counts.wrong() > 0,
        |at| format!("bytes are corrupted, duplicated or were never sent{at}"),
        ": this link is not reliable. Check cable, --baud and the buffers of the device.",
    );
    search.at(
        Code::PatternJumps,
        |(_, flow)| flow.jumps.unwrap_or(0) > 0,
        |at| format!("the received pattern jumps{at}"),
        ": bytes were lost, repeated or inserted; the pattern does not show how many.",
    );
    let waited = |(_, flow): Row<'_>| some(flow.recording.as_ref()?.waited_ns);
    let waiting = |(_, flow): Row<'_>| some(flow.recording.as_ref()?.peak_waiting_bytes);
    let (most_ns, bytes) = (search.most(waited), search.most(waiting));
    search.at(
        Code::Storage,
        |row| waited(row).is_some(),
        |at| {
            format!(
                "the receiver waited {} for the storage, with {} bytes of the recording yet to be written{at}",
                time(most_ns),
                grouped(bytes as u64)
            )
        },
        ": the rate is that of the storage. Record to a faster file system or read the pipe faster, or leave out \
         --record to measure the link.",
    );
    let raw = file.plan.protocol == StreamProtocol::Raw;
    search.at(
        Code::UntrueReport,
        |(_, flow)| !raw && lost(flow).is_none() && flow.report_error.is_none(),
        |at| format!("the device did not report what it received{at}"),
        ": the number of lost bytes is unknown.",
    );
    let reasons = rows.iter().filter_map(|row| row.1.report_error.as_ref());
    for why in BTreeSet::from_iter(reasons) {
        search.at(
            Code::UntrueReport,
            |(_, flow)| flow.report_error.as_ref() == Some(why),
            |at| format!("the report of the device cannot be true: {why}{at}"),
            ". It is in no figure. Check how the device counts bytes and reads its clock.",
        );
    }
    search.range(
        Code::Overruns,
        |(_, flow)| some(flow.device?.overruns),
        times_of,
        |times, at| {
            let times = once(times);
            format!("the device could not send or receive data in time, {times}{at}")
        },
        ". Its buffer is too small for the gaps of this host, or it is too slow.",
    );
    search.range(
        Code::EndpointStalled,
        |(_, flow)| some(flow.stalls),
        times_of,
        |times, at| {
            let times = once(times);
            format!("endpoints stalled and were cleared, {times}{at}")
        },
        ": the device rejected transfers. Check its firmware.",
    );
    let shallow = |(summary, flow): Row<'_>| {
        let queue = summary.point.queue;
        queue > 1
            && flow.transfers > 10 * u64::from(queue)
            && flow.achieved_queue < SHALLOW * f64::from(queue)
    };
    let queues = search.spread(
        |row| shallow(row).then(|| f64::from(row.0.point.queue)),
        |queue| format!("{queue:.0}"),
    );
    search.range(
        Code::Shallow,
        |row| shallow(row).then_some(row.1.achieved_queue),
        |queue| format!("{queue:.1}"),
        |achieved, at| format!("a queue of {queues} was requested, {achieved} achieved{at}"),
        ": the host gap is large compared with the transfer time. The rate is that of the achieved queue; try \
         larger --transfer sizes, --priority, or --no-check.",
    );
    for way in ways {
        over_limit(&mut search, way);
    }
    search.name = &name;
    for (over, finding, advice) in DEVICE_ABOVE {
        let hit = |row: Row<'_>| {
            let share = LimitShare::of(&row);
            share.is_some_and(|share| share.is_device_above() && share.is_host_above() == over)
        };
        let source = source(&search, hit);
        let finding = |at: &str| format!("{finding}{at}");
        let advice = advice.replace("SOURCE", &source);
        search.at(Code::AboveLimit, hit, finding, advice);
    }
    search.name = &outward;
    search.range(
        Code::AboveLimit,
        |row| {
            // Above the limit, the warning about that says so.
            let over = LimitShare::of(&row).is_some_and(|share| share.is_host_proven_above());
            ahead_of_device(&file.plan, row.0, row.1).filter(|_| !over)
        },
        times,
        |ratio, at| format!("the host sent {ratio} as fast as the device received{at}"),
        ": buffers in between were still filling. The rate is that of the device's count; to confirm it, try a longer \
         --settle and --duration.",
    );
    search.name = &name;
    search.at(
        Code::FewSamples,
        |(_, flow)| flow.rate.as_ref().is_none_or(|rate| rate.low.is_none()),
        |at| format!("the rate has no interval{at}"),
        ": the point is too short, or the rate drifts or changes slowly. Try a longer --duration; `wiregauge report` \
         plots the rate over time.",
    );
    common::cut(&mut search, |(summary, _)| &summary.ending);
    common::disturbed(
        &mut search,
        |(summary, _)| &summary.disturbances[..],
        &file.plan.host,
        file.plan.links().any(is_on_this_host),
    );
    search.found
}

/// Lost bytes of a direction, by what carried them.
fn losses<'a>(file: &RunFile<Stream>, search: &mut Flows<'a>, (way, name): OfWay<'a>) {
    search.name = name;
    let links = file.plan.links().map(|link| link.starts_with("udp:"));
    let links: Vec<bool> = links.collect();
    for datagram in [true, false] {
        let share = |(summary, flow): Row<'_>| {
            let is_datagram = links.get(summary.point.link as usize) == Some(&true);
            let lost = lost(flow).filter(|_| flow.way == way && is_datagram == datagram);
            share(lost?, flow.counts.counted())
        };
        let who = match way {
            Way::In => "sent by the device were lost",
            Way::Out => "sent by this host did not arrive at the device",
        };
        search.range(
            Code::Lost,
            share,
            percent,
            |share, at| format!("{share} of the bytes {who}{at}"),
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
        );
    }
}

/// Where the device counted more than the limit, with the host (`true`) or alone: what that means.
const DEVICE_ABOVE: [(bool, &str, &str); 2] = [
    (
        true,
        "both ends report more data than the reported bus can carry",
        ": the limit (SOURCE) is not that of what carried the data. An emulated bus has no limit; these figures are \
         those of its software.",
    ),
    (
        false,
        "the device reports more data than its link can carry",
        ": its clock or its count is wrong, or the limit (SOURCE) is not that of its link. Use the rate of the host.",
    ),
];

/// What the limit of the first of these rows is.
fn source<'a>(search: &Flows<'a>, hit: impl Fn(Row<'a>) -> bool) -> String {
    let first = search.rows().find(|row| hit(*row));
    let limit = first.and_then(|(_, flow)| flow.limit.as_ref());
    limit.map_or_else(String::new, |limit| limit.source.clone())
}

/// Rates of the host above the limit of the link, which the device did not count: which end measured them says what they are.
fn over_limit<'a>(search: &mut Flows<'a>, (way, name): OfWay<'a>) {
    search.name = name;
    let over = |row: Row<'_>| {
        let share = LimitShare::of(&row).filter(|_| row.1.way == way)?;
        // By chance a rate at the limit is measured as a little more; the device's count is shown then.
        let is_doubtful = share.is_host_proven_above() || share.shown().is_none();
        // What only fills buffers has not yet come to the device.
        let is_it = share.is_host_above() && is_doubtful && !share.is_device_above();
        is_it.then_some(share)
    };
    // What the device counted, where that is known and no more than the limit.
    let is_within = |share: LimitShare| share.device.and(share.shown()).is_some();
    let is_known = search.rows().filter_map(over).all(is_within);
    let device = match is_known {
        true => {
            "The share of the limit is that of the device's count, and so is a rate OUT. To confirm it,"
        }
        false => "Not every rate here is certain to be that of the wire. To find it,",
    };
    let (did, why) = match way {
        Way::Out => ("sent", "buffers in between were still filling"),
        Way::In => ("received", "data had accumulated in buffers before"),
    };
    let source = source(search, |row| over(row).is_some());
    search.range(
        Code::AboveLimit,
        |row| Some(over(row)?.host),
        percent,
        |share, at| format!("the host {did} more than the wire carries, {share} of the limit{at}"),
        format!(
            ": {why}, or the limit ({source}) is not that of what carried the data. {device} try a longer --settle and \
             --duration."
        ),
    );
}
