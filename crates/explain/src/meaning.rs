//! What the figures of a model mean, in sentences.

use crate::noun::Noun;
use wiregauge_model::{Figures, LinkModel, Residual, Setting, StageCost, response_size};
use wiregauge_quantity::{percent, time};
use wiregauge_record::grouped;

/// A model that is further off than this at some point is said to be, and describes no link if it is
/// off by `TYPICAL` at half of them, too.
const FITS: f64 = 0.25;
const TYPICAL: f64 = 0.10;
/// A model whose leave-one-out error is larger at half of the points does not predict them.
const KNOWN: f64 = 0.20;

/// What the points of a model are known for besides their times.
#[derive(Default)]
pub(crate) struct Seen {
    /// Where the bus carried what it can.
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

/// Why the figures of a model say nothing about the link, if the points do not determine them.
pub(crate) fn undetermined(model: &LinkModel, figures: &Figures) -> Option<String> {
    let (points, parameters) = (model.points().len(), model.parameters());
    match left_out(figures) {
        _ if points <= parameters => Some(format!(
            "too few points for a model ({points} points for {parameters} parameters)"
        )),
        Some(off) if off > KNOWN && describes(figures) => Some(format!(
            "the model does not predict its own points: cross-validated error {} (median)",
            model_error(off)
        )),
        _ => None,
    }
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
        depths(figures, noun, seen),
        Some(quality(figures, noun)),
    ];
    said.into_iter().flatten().collect()
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

/// What the depths do not show, or where the bus is full.
fn depths(figures: &Figures, noun: &Noun, seen: &Seen) -> Option<String> {
    if figures.from.depth == figures.to.depth {
        return Some(noun.one_depth.clone());
    }
    if figures.slowest.is_none() {
        return full_bus(noun, seen);
    }
    figures.saturation.is_empty().then(|| {
        format!(
            "the slowest stage was busy at every measured {}, so the time of one {} alone is unknown",
            noun.depth, noun.one
        )
    })
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
