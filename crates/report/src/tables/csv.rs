//! The summaries of a run as CSV for other programs: plain numbers in base units, the unit in the
//! name of the column, every bound of a confidence interval a column of its own. A cell is empty where
//! there is no figure. A column that is not known to a program is to be passed over: more may come.

use super::columns::Columns;
use serde::Serialize;
use wiregauge_record::{
    Aim, ControlSummary, Disturbance, FlowSummary, LoopSummary, PointSummary, StreamSummary,
    Verified,
};
use wiregauge_run::{Control, Loop, RunFile, Stream};
use wiregauge_stats::{Distribution, Estimate, poisson_high};

impl<'a, Row: Copy + 'a> Columns<'a, Row> {
    /// A figure with its bounds; `unit` ends the names.
    fn estimate(
        &mut self,
        name: &str,
        unit: &str,
        of: impl Fn(Row) -> Option<Estimate> + Copy + 'a,
    ) {
        self.some(format!("{name}_{unit}"), move |row| Some(of(row)?.value));
        self.some(format!("{name}_low_{unit}"), move |row| of(row)?.low);
        self.some(format!("{name}_high_{unit}"), move |row| of(row)?.high);
    }

    /// Times.
    fn times(&mut self, name: &str, of: fn(Row) -> Option<&'a Distribution>) {
        self.some(format!("{name}_n"), move |row| Some(of(row)?.n));
        self.some(format!("{name}_effective_n"), move |row| {
            Some(of(row)?.effective_n)
        });
        self.some(format!("{name}_min_ns"), move |row| Some(of(row)?.min));
        self.estimate(&format!("{name}_mean"), "ns", move |row| {
            Some(of(row)?.mean)
        });
        self.some(format!("{name}_sd_ns"), move |row| Some(of(row)?.sd));
        self.some(format!("{name}_mean_plus_sd_ns"), move |row| {
            Some(of(row)?.mean_plus_sd)
        });
        let mut percentile = |p: &str, part: fn(&Distribution) -> Estimate| {
            self.estimate(&format!("{name}_{p}"), "ns", move |row| {
                Some(part(of(row)?))
            });
        };
        percentile("p50", |times| times.p50);
        percentile("p90", |times| times.p90);
        percentile("p99", |times| times.p99);
        percentile("p999", |times| times.p999);
        self.some(format!("{name}_max3_ns"), move |row| Some(of(row)?.max3));
        self.some(format!("{name}_max_ns"), move |row| Some(of(row)?.max));
    }

    /// These rows as CSV, under the heads of the columns.
    pub fn write(&self, rows: Vec<Row>) -> String {
        let mut out = csv::Writer::from_writer(Vec::new());
        let names = self.0.iter().map(|(name, _)| name.as_bytes());
        let mut written = out.write_record(names);
        for row in rows {
            let cells = self.0.iter();
            let cells = cells.map(|(_, cell)| cell(row).unwrap_or_default());
            written = written.and_then(|()| out.write_record(cells));
        }
        written.expect("memory takes everything, and all rows have the same columns");
        let bytes = out.into_inner().expect("memory takes everything");
        String::from_utf8(bytes).expect("it was text")
    }
}

/// The points of a control run.
pub(crate) fn of_control(file: &RunFile<Control>) -> String {
    let mut columns = Columns(Vec::new());
    columns.add("point", |p: &ControlSummary| p.point.index);
    columns.add("period_ns", |p| p.point.period_ns);
    columns.add("depth", |p| p.point.depth);
    columns.add("cycles", |p| p.cycles);
    columns.add("samples_lost", |p| p.samples_lost);
    columns.add("commands_lost", |p| p.commands_lost);
    columns.add("overtaken", |p| p.overtaken);
    columns.add("unsent", |p| p.unsent);
    columns.some("delay_p50_ns", |p| Some(p.delay.as_ref()?.p50.value));
    columns.some("delay_p99_ns", |p| Some(p.delay.as_ref()?.p99.value));
    columns.some("delay_max_ns", |p| Some(p.delay.as_ref()?.max));
    columns.some("cost", |p| Some(p.cost?.value));
    columns.some("cost_low", |p| p.cost?.low);
    columns.some("cost_high", |p| p.cost?.high);
    columns.some("overshoot", |p| Some(p.step?.overshoot));
    columns.some("settling_s", |p| p.step?.settling_s);
    columns.write(file.points.iter().collect())
}

/// The points of an exchange run.
pub(crate) fn of_exchange(file: &RunFile) -> String {
    let plan = &file.plan;
    let links: Vec<&str> = plan.links().collect();
    let mut columns = Columns(Vec::new());
    columns.add("point", |p: &PointSummary| p.point.index);
    columns.add("link", |p| p.point.link);
    columns.add("address", move |p| address(&links, p.point.link));
    columns.add("together", |p| p.point.together);
    columns.add("out_bytes", |p| p.point.out_bytes);
    columns.add("in_bytes", |p| p.point.in_bytes);
    columns.add("depth", |p| p.point.depth);
    columns.add("ending", |p| named(&p.ending, "how"));
    columns.add("exchanges", |p| p.counts.exchanges);
    columns.add("answered", |p| p.counts.answered);
    columns.add("lost", |p| p.counts.lost);
    columns.add("late", |p| p.counts.late);
    columns.add("duplicated", |p| p.counts.duplicated);
    columns.add("reordered", |p| p.counts.reordered);
    columns.add("corrupted", |p| p.counts.corrupted);
    columns.add("unexpected", |p| p.counts.unexpected);
    columns.add("stray_bytes", |p| p.counts.stray_bytes);
    columns.add("elapsed_ns", |p| p.elapsed_ns);
    columns.some("first_rtt_ns", |p| p.first_rtt_ns);
    columns.some("open_ns", |p| p.open_ns);
    columns.times("rtt", |p| p.rtt.as_ref());
    columns.add("rtt_peaks", |p| p.modes.len());
    columns.times("from_intended", |p| p.from_intended.as_ref());
    columns.times("trt", |p| p.trt.as_ref());
    for (at, &limit) in plan.below_ns.iter().enumerate() {
        let share = move |p: &PointSummary| p.below.get(at).copied();
        let name = format!("below_{limit}_ns");
        columns.some(format!("{name}_share"), move |p| Some(share(p)?.share));
        columns.some(format!("{name}_low_share"), move |p| Some(share(p)?.low));
        columns.some(format!("{name}_high_share"), move |p| Some(share(p)?.high));
    }
    columns.add("exchanges_s", |p| p.throughput.exchanges_s);
    columns.add("out_bytes_s", |p| p.throughput.out_bytes_s);
    columns.add("in_bytes_s", |p| p.throughput.in_bytes_s);
    columns.add("achieved_depth", |p| p.achieved_depth);
    columns.some("batch", |p| p.batch.as_ref()?.chosen);
    columns.some("limit_bytes_s", |p| Some(p.limit.as_ref()?.bytes_s));
    columns.some("limit_used_share", |p| Some(p.limit.as_ref()?.used));
    columns.times("device", |p| p.device.as_ref());
    columns.times("connect", |p| p.connect.as_ref());
    columns.times("access", |p| p.access.as_ref());
    columns.times("transfer", |p| p.transfer.as_ref());
    columns.add("cpu_ns_per_exchange", |p| p.resources.cpu_ns_per_exchange);
    columns.add("run_delay_ns", |p| p.resources.run_delay_ns);
    columns.add("steal_ns", |p| p.resources.steal_ns);
    columns.add("disturbances", |p| disturbances(&p.disturbances));
    let mut points: Vec<&PointSummary> = file.points.iter().collect();
    points.sort_by_key(|point| point.point.index);
    columns.write(points)
}

/// A way of a stream point.
type Row<'a> = (&'a StreamSummary, &'a FlowSummary);

/// The ways of the points of a stream run.
pub(crate) fn of_stream(file: &RunFile<Stream>) -> String {
    let plan = &file.plan;
    let links: Vec<&str> = plan.links().collect();
    let mut columns = Columns(Vec::new());
    columns.add("point", |(p, _): Row<'_>| p.point.index);
    columns.add("link", |(p, _)| p.point.link);
    columns.add("address", move |(p, _)| address(&links, p.point.link));
    columns.add("together", |(p, _)| p.point.together);
    columns.add("direction", |(p, _)| p.point.direction.name());
    columns.add("way", |(_, flow)| flow.way.name());
    columns.add("transfer_bytes", |(p, _)| p.point.transfer_bytes);
    columns.add("queue", |(p, _)| p.point.queue);
    columns.add("ending", |(p, _)| named(&p.ending, "how"));
    columns.add("transfers", |(_, flow)| flow.transfers);
    columns.add("bytes", |(_, flow)| flow.bytes);
    columns.add("stalls", |(_, flow)| flow.stalls);
    columns.add("elapsed_ns", |(p, _)| p.elapsed_ns);
    columns.estimate("rate", "bytes_s", |(_, flow)| flow.rate);
    columns.some("limit_bytes_s", |(_, of)| Some(of.limit.as_ref()?.bytes_s));
    columns.some("limit_used_share", |(_, of)| Some(of.limit.as_ref()?.used));
    columns.add("achieved_queue", |(_, flow)| flow.achieved_queue);
    columns.some("sent_bytes", |(_, flow)| flow.counts.sent);
    columns.some("received_bytes", |(_, flow)| flow.counts.received);
    columns.some("lost_bytes", |(_, flow)| super::stream::lost(flow));
    columns.add("duplicated_bytes", |(_, flow)| flow.counts.duplicated);
    columns.add("corrupted_bytes", |(_, flow)| flow.counts.corrupted);
    columns.add("stray_bytes", |(_, flow)| flow.counts.stray);
    columns.some("jumps", |(_, flow)| flow.jumps);
    columns.some("recorded_bytes", |(_, flow)| {
        Some(flow.recording.as_ref()?.bytes)
    });
    columns.some("record_waited_ns", |(_, flow)| {
        Some(flow.recording.as_ref()?.waited_ns)
    });
    columns.some("device_bytes", |(_, flow)| Some(flow.device?.bytes));
    columns.some("device_overruns", |(_, flow)| Some(flow.device?.overruns));
    columns.some("device_elapsed_ns", |(_, of)| Some(of.device?.elapsed_ns));
    columns.times("transfer_time", |(_, flow)| flow.transfer_time.as_ref());
    columns.times("gap", |(_, flow)| flow.gap.as_ref());
    columns.times("host_gap", |(_, flow)| flow.host_gap.as_ref());
    columns.times("stack_time", |(_, flow)| flow.stack_time.as_ref());
    columns.times("urb_time", |(_, flow)| flow.urb_time.as_ref());
    for &rate in &plan.rates_bytes_s {
        let need = move |(_, flow): Row<'_>| {
            let mut needs = flow.buffers.iter();
            needs.find(|need| need.rate_bytes_s == rate).copied()
        };
        let name = format!("buffer_at_{rate}_bytes_s");
        columns.some(format!("{name}_sustained"), move |row| {
            Some(need(row)?.sustained)
        });
        columns.some(format!("{name}_worst_bytes"), move |row| {
            let need = need(row).filter(|need| need.sustained)?;
            Some(need.worst_bytes)
        });
        columns.estimate(&format!("{name}_for_loss"), "bytes", move |row| {
            need(row).filter(|need| need.sustained)?.for_loss_bytes
        });
        columns.some(format!("{name}_extrapolated"), move |row| {
            Some(need(row)?.extrapolated)
        });
    }
    columns.add("cpu_ns_per_mb", |(_, flow)| flow.cpu_ns_per_mb);
    columns.add("run_delay_ns", |(p, _)| p.resources.run_delay_ns);
    columns.add("steal_ns", |(p, _)| p.resources.steal_ns);
    columns.add("disturbances", |(p, _)| disturbances(&p.disturbances));
    columns.write(super::flow_rows::rows(&file.points))
}

/// The points of a loop run.
pub(crate) fn of_loop(file: &RunFile<Loop>) -> String {
    let plan = &file.plan;
    let mut points: Vec<&LoopSummary> = file.points.iter().collect();
    points.sort_by_key(|point| point.point.index);
    let mut columns = Columns(Vec::new());
    columns.add("point", |p: &LoopSummary| p.point.index);
    columns.add("address", |_| plan.address.clone());
    columns.add("aim", |p| named(&p.point.aim, ""));
    columns.add("rate_hz", |p| p.point.rate_hz);
    columns.add("channels", |p| p.point.channels);
    columns.add("notify_bytes", |p| p.point.notify_bytes);
    columns.add("ring_bytes", |p| p.point.ring_bytes);
    columns.add("preload_bytes", |p| p.point.preload_bytes);
    columns.add("preload_ns", |p| p.point.preload_ns());
    columns.add("path", |p| p.point.path.to_string());
    columns.add("ending", |p| named(&p.ending, "how"));
    columns.add("blocks", |p| p.blocks);
    columns.add("overruns", |p| p.overruns);
    columns.add("underruns", |p| p.underruns);
    columns.add("elapsed_ns", |p| p.elapsed_ns);
    columns.some("needed_ns", |p| p.needed_ns);
    columns.some("needed_bytes", |p| p.needed_bytes);
    columns.some("stalls_high_per_minute", stalls_high);
    columns.some("floor_ns", |p| p.floor_ns);
    columns.times("host_delay", |p| p.host_delay.as_ref());
    columns.times("timer_wake_up", |p| Some(&p.timer.as_ref()?.wake_up));
    columns.times("wake", |p| p.wake.as_ref());
    columns.times("work", |p| p.work.as_ref());
    columns.times("service", |p| p.service.as_ref());
    columns.add("duty_share", |p| p.duty);
    columns.some("verified_method", |p| Some(verified(p)?.method.clone()));
    columns.some("verified_latency_frames", |p| verified(p)?.found_frames);
    columns.some("verified_cable_frames", |p| verified(p)?.cable_frames);
    columns.some("verified_preload_frames", |p| {
        Some(verified(p)?.preload_frames)
    });
    columns.some("verified_compared", |p| Some(verified(p)?.compared));
    columns.some("verified_wrong", |p| Some(verified(p)?.wrong));
    columns.some("memory_bytes_s", |p| p.memory_bytes_s);
    columns.add("run_delay_ns", |p| p.resources.run_delay_ns);
    columns.add("steal_ns", |p| p.resources.steal_ns);
    columns.add("disturbances", |p| disturbances(&p.disturbances));
    columns.write(points)
}

fn verified(point: &LoopSummary) -> Option<&Verified> {
    point.verified.as_ref()
}

/// The upper bound of the stalls a minute: of a curve at the latency needed, of a preload under test
/// with what the device counted.
fn stalls_high(point: &LoopSummary) -> Option<f64> {
    let minutes = point.elapsed_ns as f64 / 60e9;
    match point.point.aim {
        Aim::Curve => Some(point.curve.last()?.per_minute_high),
        Aim::Hold if minutes > 0.0 => {
            Some(poisson_high(point.overruns + point.underruns) / minutes)
        }
        Aim::Hold => None,
    }
}

fn address(links: &[&str], link: u32) -> String {
    let address = usize::try_from(link).ok().and_then(|at| links.get(at));
    address.copied().unwrap_or_default().to_owned()
}

/// The name of a variant as JSON has it: in the field `tag` where variants have fields.
pub(super) fn named(variant: &impl Serialize, tag: &str) -> String {
    let json = serde_json::to_value(variant).unwrap_or_default();
    let name = json.get(tag).unwrap_or(&json).as_str();
    name.unwrap_or_default().to_owned()
}

/// Their names as run.json has them, separated by blanks.
fn disturbances(disturbances: &[Disturbance]) -> String {
    let names = disturbances.iter().map(|one| named(one, "kind"));
    names.collect::<Vec<_>>().join(" ")
}
