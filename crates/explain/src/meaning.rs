//! What the figures of a model mean, in sentences.

use crate::depth::EQUAL;
use crate::noun::Noun;
use wiregauge_model::{Figures, LinkModel, Residual, Setting, StageCost, response_size};
use wiregauge_quantity::{percent, time};
use wiregauge_record::grouped;

/// A model that is further off than this at some point is said to be, and describes no link if it is
/// off by `TYPICAL` at half of them, too.
const FITS: f64 = 0.25;
const TYPICAL: f64 = 0.10;
/// A model whose leave-one-out error is larger at half of the points rests on too few of them.
const KNOWN: f64 = 0.20;
/// Depths that differ by less than this factor are reported as one.
const ALIKE: f64 = 1.3;
/// A predicted depth more than this many times the deepest measured one is not worth a number.
const FARTHEST: u32 = 4;
/// A gain up to this is none: the scatter of short runs.
const NO_GAIN: f64 = 1.0 / EQUAL;

/// What the points of a model are known for besides their times.
#[derive(Default)]
pub(crate) struct Seen {
    /// Where the bus carried what it can: a larger depth gains nothing there.
    pub(crate) full: Vec<Setting>,
    /// Where the device was busy nearly all the time.
    pub(crate) busy: Vec<Busy>,
}

/// Where a device was busy nearly all the time.
#[derive(Clone, Copy)]
pub(crate) struct Busy {
    pub(crate) at: Setting,
    /// The shortest time that it needed for one, in nanoseconds.
    pub(crate) needs_ns: f64,
    /// Start to start.
    pub(crate) trt_ns: f64,
}

/// Which measurement a model contradicts: a device that needs much more time than the slowest stage has.
pub(crate) fn refuted(model: &LinkModel, seen: &Seen) -> Option<String> {
    let slowest = |at: &Setting| model.slowest_ns(at.out_bytes, at.in_bytes);
    let needs_more = |busy: &&Busy| slowest(&busy.at).unwrap_or(0.0) * (1.0 + FITS) < busy.needs_ns;
    let Busy { at, needs_ns, .. } = seen.busy.iter().find(needs_more)?;
    let stage = match slowest(at) {
        Some(ns) => format!("by the model its slowest stage takes {}", time(ns)),
        None => "by the model no stage is busy all the time".into(),
    };
    Some(format!(
        "the model contradicts a measurement: at {} the device needs at least {} per exchange; {stage}",
        at.sizes(),
        time(*needs_ns)
    ))
}

/// Why the figures of a model say nothing about the link, if the points are too few for them.
pub(crate) fn too_few(model: &LinkModel, figures: &Figures) -> Option<String> {
    let (points, parameters) = (model.points().len(), model.parameters());
    let why = match left_out(figures) {
        _ if points <= parameters => {
            format!("{points} points for {parameters} parameters")
        }
        Some(off) if off > KNOWN && describes(figures) => {
            format!("cross-validated error {} (median)", model_error(off))
        }
        _ => return None,
    };
    Some(format!("too few points for a model ({why})"))
}

/// One sentence each, the most useful first.
pub(crate) fn of(figures: &Figures, noun: &Noun, seen: &Seen) -> Vec<String> {
    if !describes(figures) {
        // What follows from figures that do not hold is not worth saying.
        return vec![quality(figures, noun)];
    }
    let base = figures.base.as_ref();
    let said = [
        base.and_then(|base| half(base, figures)),
        Some(depths(figures, noun, seen)),
        base.and_then(|base| steps(base, figures)),
        Some(quality(figures, noun)),
    ];
    said.into_iter().flatten().collect()
}

/// No predicted depth beyond this one is worth a number.
fn farthest(figures: &Figures) -> u32 {
    figures.to.depth.saturating_mul(FARTHEST)
}

/// The depth beyond which the model predicts no gain, from the depth of saturation: of
/// `TRT(d)^p = (D/d)^p + S^p (1 - d^-p)`, where TRT is within that of S.
fn beyond_depth(figures: &Figures, saturation: f64) -> u32 {
    let p = figures.sharpness.unwrap_or(1.0);
    let depth = ((saturation.powf(p) - 1.0) / (NO_GAIN.powf(p) - 1.0)).powf(1.0 / p);
    depth.ceil().clamp(1.0, f64::from(u32::MAX)) as u32
}

/// The smallest depth at which the bus was full with these sizes, or the device never idle.
fn full_from(seen: &Seen, sizes: (u32, u32)) -> u32 {
    let is_full = |busy: &&Busy| busy.trt_ns <= NO_GAIN * busy.needs_ns;
    let busy = seen.busy.iter().filter(is_full);
    let full = seen.full.iter().chain(busy.map(|busy| &busy.at));
    let full = full.filter(|at| (at.out_bytes, at.in_bytes) == sizes);
    full.map(|at| at.depth).min().unwrap_or(u32::MAX)
}

/// The smallest depth measured at these sizes that no larger one exceeds; 1 where none was measured.
fn measured_enough(figures: &Figures, sizes: (u32, u32)) -> u32 {
    let points = figures.residuals.iter().map(|residual| residual.point);
    let here = points.filter(|point| (point.at.out_bytes, point.at.in_bytes) == sizes);
    let mut here: Vec<(u32, f64)> = here.map(|point| (point.at.depth, point.trt_ns)).collect();
    here.sort_by_key(|at| at.0);
    let is_enough = |at: &usize| {
        let (_, trt_ns) = here[*at];
        here[*at..]
            .iter()
            .all(|(_, deeper)| trt_ns <= NO_GAIN * deeper)
    };
    let enough = (0..here.len()).find(is_enough);
    enough.map_or(1, |at| here[at].0)
}

/// Where fixed cost and bytes balance.
fn half(base: &StageCost, figures: &Figures) -> Option<String> {
    let ways = [(&base.in_ns_a_byte, "IN"), (&base.out_ns_a_byte, "OUT")];
    let (cost, way) = ways
        .into_iter()
        .find_map(|(cost, way)| Some((cost.as_ref()?, way)))?;
    let fixed = base.fixed_ns.value;
    if cost.low.map_or(cost.value <= 0.0, |low| low <= 0.0) {
        return Some(format!("no significant time per byte {way}"));
    }
    let bytes = fixed / cost.value;
    let measured = f64::from(figures.to.in_bytes.max(figures.to.out_bytes));
    if bytes > measured {
        return Some(
            "the fixed cost is more than half of the time at every measured size: larger sizes carry more data \
             for little extra time"
                .into(),
        );
    }
    (bytes >= 1.0).then(|| {
        let bytes = grouped(bytes.round() as u64);
        format!("at {bytes} B {way}, half of the time is fixed cost")
    })
}

/// Which depths are worth measuring.
fn depths(figures: &Figures, noun: &Noun, seen: &Seen) -> String {
    let (depth, deepest) = (noun.depth, figures.to.depth);
    if figures.from.depth == deepest {
        return noun.one_depth.clone();
    }
    let none_busy = format!("no {depth} up to {deepest} keeps the slowest stage busy");
    let still_help = format!("{none_busy}: larger {depth}s still help");
    if figures.slowest.is_none() {
        return full_bus(noun, seen).unwrap_or(still_help);
    }
    let ends = figures.saturation.iter().map(|at| {
        let sizes = (at.out_bytes, at.in_bytes);
        let enough = beyond_depth(figures, at.depth.value).min(full_from(seen, sizes));
        enough.max(measured_enough(figures, sizes))
    });
    let ends: Vec<u32> = ends.collect();
    let Some((&small, &large)) = ends.first().zip(ends.last()) else {
        return format!(
            "the slowest stage was busy at every measured {depth}, so the time of one {} alone is unknown",
            noun.one
        );
    };
    let most = small.max(large);
    if most == 1 {
        return format!(
            "more than one at a time gives no gain (5 % or less): the slowest stage takes nearly all of the \
             time of one {}",
            noun.one
        );
    }
    let about = |enough: u32| match enough > deepest {
        true => format!("about {enough} (outside the measured range)"),
        false => enough.to_string(),
    };
    let no_gain = format!("no gain (5 % or less) beyond {depth}");
    let busy = "the slowest stage is busy all the time";
    let alike = f64::from(most) / f64::from(small.min(large)) < ALIKE;
    let far = |enough: u32| enough > farthest(figures);
    match (far(small), far(large)) {
        (true, true) if seen.busy.is_empty() => still_help,
        (true, true) => none_busy,
        (true, false) => format!("{no_gain} {} at the largest sizes", about(large)),
        (false, true) => format!("{no_gain} {} at the smallest sizes", about(small)),
        (false, false) if alike => format!("{no_gain} {}: {busy}", about(most)),
        (false, false) => format!(
            "{no_gain} {} at the smallest sizes, {} at the largest: {busy}",
            about(small),
            about(large)
        ),
    }
}

/// The smallest sizes and depth at which the bus was full.
fn full_bus(noun: &Noun, seen: &Seen) -> Option<String> {
    let bytes = |at: &Setting| u64::from(at.out_bytes) + u64::from(at.in_bytes);
    let at = seen.full.iter().min_by_key(|at| (bytes(at), at.depth))?;
    // Of a stream the size in the other direction is 0; of a reply that may have any, too.
    let sizes = [("OUT", at.out_bytes), ("IN", at.in_bytes)].into_iter();
    let sizes = sizes.filter(|(_, bytes)| *bytes > 0);
    let sizes: String = sizes
        .map(|(way, bytes)| format!("{way} {} B, ", grouped(bytes.into())))
        .collect();
    Some(format!(
        "the bus is full at {sizes}{} {}",
        noun.depth, at.depth
    ))
}

/// What a packet, frame or segment costs as a whole.
fn steps(base: &StageCost, figures: &Figures) -> Option<String> {
    let steps = figures.steps?;
    let costs = [(&base.out_ns_a_step, "OUT"), (&base.in_ns_a_step, "IN")];
    let each = costs.into_iter().filter_map(|(cost, way)| {
        let cost = cost.as_ref().filter(|cost| cost.value > 0.0)?;
        Some(format!("{} {way}", time(cost.value)))
    });
    let each: Vec<String> = each.collect();
    Some(format!(
        "the time grows in steps of {steps}: {} each, in addition to the cost per byte",
        each.join(", ")
    ))
}

/// What it is off by at half of the points.
fn typical_off(figures: &Figures) -> f64 {
    let off = figures.residuals.iter().map(|r| r.off.abs());
    median(off.collect()).unwrap_or(0.0)
}

/// The median of the leave-one-out errors; `None` if some point has none.
fn left_out(figures: &Figures) -> Option<f64> {
    let all = figures.residuals.iter().map(|r| Some(r.off_without?.abs()));
    median(all.collect::<Option<Vec<f64>>>()?)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// False of figures that do not hold.
pub(crate) fn describes(figures: &Figures) -> bool {
    figures.worst <= FITS || typical_off(figures) <= TYPICAL
}

fn quality(figures: &Figures, noun: &Noun) -> String {
    let worst = figures
        .residuals
        .iter()
        .max_by(|a, b| a.off.abs().total_cmp(&b.off.abs()));
    let Some(worst) = worst else {
        return String::new();
    };
    let at = place(worst, figures, noun);
    let (most, typical) = (
        model_error(figures.worst),
        model_error(typical_off(figures)),
    );
    if !describes(figures) {
        return format!(
            "the model does not fit this link: its median error is {typical}, its largest {most}, at {at}. \
             It lacks an effect that depends on size or {}",
            noun.depth
        );
    }
    if figures.worst > FITS {
        return format!(
            "median error {typical}, but {most} at {at}: a disturbance there (measure again), \
             or an effect that depends on size or {}",
            noun.depth
        );
    }
    let typical = left_out(figures)
        .map(|typical| format!("; cross-validated error {} (median)", model_error(typical)));
    format!(
        "maximum error {}, at {at}{}",
        model_error(figures.worst),
        typical.unwrap_or_default()
    )
}

/// The setting of a residual, without what never changed.
fn place(residual: &Residual, figures: &Figures, noun: &Noun) -> String {
    let (from, to, at) = (figures.from, figures.to, residual.point.at);
    let out_bytes = grouped(at.out_bytes.into());
    let out = (from.out_bytes != to.out_bytes).then(|| format!("OUT {out_bytes} B"));
    let response = (from.in_bytes != to.in_bytes).then(|| response_size(at.in_bytes));
    let depth = (from.depth != to.depth).then(|| format!("{} {}", noun.depth, at.depth));
    let parts: Vec<String> = [out, response, depth].into_iter().flatten().collect();
    parts.join(", ")
}

/// The error of a model in percent: below 0.1 % it is the arithmetic's own.
fn model_error(share: f64) -> String {
    match share {
        small if small < 1e-3 => "under 0.1 %".into(),
        share => percent(share),
    }
}
