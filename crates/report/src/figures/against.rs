//! Which statistics are drawn against which setting: RTT, TRT and throughput against size, RTT and TRT against depth,
//! rates of streams against transfer size.

use super::Figure;
use super::axes::{Axis, size_text};
use super::cells::{self, Cell, Sweep, Swept, bare, distinct, has_schedule, points, sweeps};
use super::selection::has_turnarounds;
use super::sweep::{AxisOf, Panel, Plot, Statistic, Value, Vertical};
use crate::Subject;
use wiregauge_model::response_size;
use wiregauge_record::{Direction, FlowSummary, Point, PointSummary, StreamPoint, Way};
use wiregauge_stats::{Distribution, Estimate};

/// Transfer sizes of a figure.
const MOST_SIZES: usize = 8;

type PartOf = fn(&Distribution) -> Estimate;

/// What is drawn of a distribution against size: its name, its look, its value. In the order in which they lie in the
/// figure, which is that of the literature on USB control loops.
const ALL: [(&str, usize, PartOf); 5] = [
    ("max", 2, |d| bare(d.max)),
    ("max3", 1, |d| bare(d.max3)),
    ("mean + SD", 3, |d| bare(d.mean_plus_sd)),
    ("mean", 0, |d| d.mean),
    ("min", 4, |d| bare(d.min)),
];

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let cells = cells::exchange(subjects);
    let mut fast = cells.clone();
    fast.retain(|cell| {
        let run = subjects[cell.subject].exchange_run();
        run.is_some_and(|(run, _)| has_turnarounds(&run.file))
    });
    let mut figures = times(subjects, cells.clone(), "RTT", |point| point.rtt.as_ref());
    figures.extend(times(subjects, fast, "TRT", |point| point.trt.as_ref()));
    figures.extend(throughput(subjects, cells.clone()));
    figures.extend(depths(subjects, cells));
    figures.extend(rates(subjects));
    figures
}

/// A value of a point of exchanges.
fn value<'a, H>(
    cell: &Cell<'a>,
    statistic: usize,
    held: H,
    (curve, x): (u32, u32),
    y: Estimate,
) -> Value<'a, H> {
    let Point { link, together, .. } = cell.point();
    Value {
        subject: cell.subject,
        panel: Panel {
            together,
            link,
            held,
        },
        statistic,
        curve,
        x,
        y,
        limit: None,
    }
}

/// Min, mean, mean + SD, max3 and max of the RTT or the TRT against size; several runs are laid over each other with
/// mean and max3 only.
fn times(
    subjects: &[Subject],
    mut cells: Vec<Cell<'_>>,
    name: &'static str,
    of: fn(&PointSummary) -> Option<&Distribution>,
) -> Vec<Figure> {
    cells.retain(|cell| of(cell.summary).is_some());
    let runs = distinct(cells.iter().map(|cell| cell.subject)).len();
    let is_drawn = |name: &str| runs == 1 || name == "mean" || name == "max3";
    let drawn = ALL.into_iter().filter(|(name, ..)| is_drawn(name));
    let drawn: Vec<_> = drawn.collect();
    let plot = |sweep: Sweep<'_>| {
        let mut values = Vec::new();
        for cell in &sweep.cells {
            let (depth, size) = (cell.point().depth, (sweep.size)(&cell.point()));
            for (at, (_, _, part)) in drawn.iter().enumerate() {
                let found = of(cell.summary).map(part);
                values.extend(found.map(|y| value(cell, at, depth, (0, size), y)));
            }
        }
        let mut caption =
            String::from("max3: third-largest. Bars at the mean: 95 % confidence interval.");
        if name == "TRT" {
            caption += " TRT: from the start of an exchange to the start of the next.";
            if values.iter().any(|value| value.y.value == 0.0) {
                caption += " Requests sent in one call have a TRT of 0, at the lower edge.";
            }
        }
        if runs > 1 {
            caption += " For several runs, mean and max3 are shown.";
        }
        caption += &sweep.held;
        let what = match sweep.way {
            Swept::Equal => "size",
            Swept::In | Swept::Out => sweep.name,
        };
        let statistics = drawn.iter().map(|(name, look, _)| Statistic {
            name: (*name).to_owned(),
            look: Some(*look),
        });
        let plot = Plot {
            name: format!("{}-{}", name.to_lowercase(), sweep.stem),
            title: format!("{name} against {what}"),
            caption,
            x: (sweep.name, Axis::sizes),
            y: Vertical::Time(name),
            log_from: 20.0,
            statistics: statistics.collect(),
            curve: "",
            held: |depth: u32| format!("depth {depth}"),
            values,
        };
        plot.draw(subjects)
    };
    sweeps(&cells).into_iter().filter_map(plot).collect()
}

/// Throughput against size, a curve for each depth, under what the medium can carry.
fn throughput(subjects: &[Subject], mut cells: Vec<Cell<'_>>) -> Vec<Figure> {
    cells.retain(|cell| cell.summary.counts.answered > 0);
    let paced = match has_schedule(subjects) {
        true => " A schedule started the exchanges, which limits the throughput.",
        false => "",
    };
    let plot = |sweep: Sweep<'_>| {
        let of_cell = |cell: &Cell<'_>| match sweep.way {
            Swept::In | Swept::Equal => cell.summary.throughput.in_bytes_s,
            Swept::Out => cell.summary.throughput.out_bytes_s,
        };
        let what = match sweep.way {
            Swept::In => "IN throughput",
            Swept::Out => "OUT throughput",
            Swept::Equal => "Throughput in each direction",
        };
        let finite = sweep.cells.iter().filter(|cell| of_cell(cell).is_finite());
        let values = finite.map(|cell| {
            let at = (cell.point().depth, (sweep.size)(&cell.point()));
            Value {
                limit: cell.summary.limit.as_ref(),
                ..value(cell, 0, (), at, bare(of_cell(cell)))
            }
        });
        let plot = Plot {
            name: format!("throughput-{}", sweep.stem),
            title: format!("{what} against size"),
            caption: format!(
                "Bytes of complete, correct exchanges, divided by the measured time.{paced}{}",
                sweep.held
            ),
            x: (sweep.name, Axis::sizes),
            y: Vertical::Rate(what),
            log_from: 30.0,
            statistics: nameless(),
            curve: "depth",
            held: |()| String::new(),
            values: values.collect(),
        };
        plot.draw(subjects)
    };
    sweeps(&cells).into_iter().filter_map(plot).collect()
}

/// One statistic, which the axis names.
fn nameless() -> Vec<Statistic> {
    vec![Statistic {
        name: String::new(),
        look: Some(0),
    }]
}

/// RTT and TRT against depth, at all sizes at which the depth varies. What a depth is worth is how far TRT falls; at best
/// it is the RTT of a single exchange, divided by the depth.
fn depths(subjects: &[Subject], mut cells: Vec<Cell<'_>>) -> Option<Figure> {
    cells.retain(|cell| cell.summary.rtt.is_some() && cell.point().depth > 0);
    let held = |cell: &Cell<'_>| {
        let point = cell.point();
        let sizes = (point.out_bytes, point.in_bytes);
        (point.link, point.together, sizes)
    };
    let all = cells.clone();
    // Of all runs.
    let others = |cell: &Cell<'_>| {
        let held_here = held(cell);
        all.iter().filter(move |other| held(other) == held_here)
    };
    cells.retain(|cell| others(cell).any(|other| other.point().depth != cell.point().depth));
    let smallest = cells.iter().map(|cell| cell.point().depth).min()?;
    // A schedule sets when exchanges start: no depth can bring TRT down to the ideal.
    let scheduled = has_schedule(subjects);
    let has_ideal = !scheduled && distinct(cells.iter().map(|cell| cell.subject)).len() == 1;
    let ideal = |cell: &Cell<'_>| {
        let shallowest = others(cell).min_by_key(|other| other.point().depth);
        let alone = shallowest.filter(|_| has_ideal)?.summary.rtt.as_ref()?;
        Some(bare(alone.mean.value / f64::from(cell.point().depth)))
    };
    let mut values = Vec::new();
    for cell in &cells {
        let (rtt, trt) = (cell.summary.rtt.as_ref(), cell.summary.trt.as_ref());
        let found = [rtt.map(|d| d.mean), trt.map(|d| d.mean), ideal(cell)];
        let (.., sizes) = held(cell);
        for (at, y) in found.into_iter().enumerate() {
            let setting = (0, cell.point().depth);
            values.extend(y.map(|y| value(cell, at, sizes, setting, y)));
        }
    }
    let statistic = |name: &str, look| Statistic {
        name: name.to_owned(),
        look,
    };
    let of_ideal = format!("ideal TRT: RTT at depth {smallest} / depth");
    let worth = match (has_ideal, scheduled) {
        (true, _) => " Where it stays above the ideal, a higher depth helps less.",
        (false, true) => {
            " A schedule starts the exchanges, so no depth makes TRT shorter than its period."
        }
        (false, false) => "",
    };
    let plot = Plot {
        name: "rtt-trt-depth".to_owned(),
        title: "RTT and TRT against depth".to_owned(),
        caption: format!(
            "TRT is the time from the start of one exchange to the start of the next.{worth} Bars: 95 % confidence \
             interval."
        ),
        x: ("Depth", Axis::depths),
        y: Vertical::Time("Time"),
        log_from: 0.0,
        statistics: vec![
            statistic("mean RTT", Some(0)),
            statistic("mean TRT", Some(1)),
            statistic(&of_ideal, None),
        ],
        curve: "",
        held: |(out, back): (u32, u32)| format!("OUT {}, {}", size_text(out), response_size(back)),
        values,
    };
    plot.draw(subjects)
}

/// Rates of streams against transfer size, a curve for each queue; of one size against the queue.
fn rates(subjects: &[Subject]) -> Option<Figure> {
    let all = points(subjects, Subject::stream_run).into_iter();
    let all = all.flat_map(|(subject, summary, _)| {
        let flows = summary.flows.iter();
        flows.filter_map(move |flow| Some((subject, summary.point, flow, flow.rate?)))
    });
    let flows: Vec<(usize, StreamPoint, &FlowSummary, Estimate)> =
        all.filter(|(.., rate)| rate.value.is_finite()).collect();
    let sizes = distinct(flows.iter().map(|(_, point, ..)| point.transfer_bytes));
    let queues = distinct(flows.iter().map(|(_, point, ..)| point.queue));
    let is_by_size = sizes.len() > 1;
    if !is_by_size && queues.len() < 2 {
        return None;
    }
    let (setting, other) = match is_by_size {
        true => ("Transfer size", "queue"),
        false => ("Queue", "transfer"),
    };
    let (sizes, left_out) = cells::few(&sizes, MOST_SIZES, "sizes", |size| size_text(*size));
    let drawn = flows.into_iter();
    let drawn = drawn.filter(|(_, point, ..)| sizes.contains(&point.transfer_bytes));
    let values = drawn.map(|(subject, point, flow, y)| {
        let (size, queue) = (point.transfer_bytes, point.queue);
        let (curve, x) = match is_by_size {
            true => (queue, size),
            false => (size, queue),
        };
        Value {
            subject,
            panel: Panel {
                together: point.together,
                link: point.link,
                held: (point.direction, flow.way),
            },
            statistic: 0,
            curve,
            x,
            y,
            limit: flow.limit.as_ref(),
        }
    });
    let axis: AxisOf = match is_by_size {
        true => Axis::sizes,
        false => Axis::depths,
    };
    let plot = Plot {
        name: "rate-transfer-queue".to_owned(),
        title: "Rate by transfer size and queue".to_owned(),
        caption: format!("Bars: 95 % confidence interval.{left_out}"),
        x: (setting, axis),
        y: Vertical::Rate("Rate"),
        log_from: 60.0,
        statistics: nameless(),
        curve: other,
        held: |(direction, way): (Direction, Way)| direction.words_of(way).to_owned(),
        values: values.collect(),
    };
    plot.draw(subjects)
}
