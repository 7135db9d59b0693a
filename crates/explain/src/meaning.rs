//! What the figures of a model mean, in sentences.

use crate::depth::EQUAL;
use crate::noun::Noun;
use wiregauge_model::{Figures, LinkModel, Residual, Setting, StageCost, response_size};
use wiregauge_quantity::{percent, rate, time};
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

/// The size of the transfers that were asked for, where a stream was observed: a read may carry less.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    /// The setting as the model has it.
    pub(crate) at: Setting,
    /// Of the plan.
    pub(crate) transfer_bytes: u32,
}

/// What the points of a model are known for besides their times.
#[derive(Default)]
pub(crate) struct Seen {
    /// Of a stream: the transfers behind the points.
    pub(crate) asked: Vec<Asked>,
    /// The physical limit in bytes a second.
    pub(crate) limit_bytes_s: Option<f64>,
    /// Whether both directions share it.
    pub(crate) limit_is_shared: bool,
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

impl Busy {
    /// How many times as fast a device that is never idle would be.
    fn most(&self) -> f64 {
        self.trt_ns / self.needs_ns
    }
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

/// One sentence each, the most useful first; no throughput is beyond the physical limit.
pub(crate) fn of(figures: &Figures, noun: &Noun, seen: &Seen) -> Vec<String> {
    let limit = seen.limit_bytes_s;
    let mut said = Vec::new();
    if !describes(figures) {
        // What follows from figures that do not hold is not worth saying.
        return vec![quality(figures, noun, seen)];
    }
    said.extend(figures.base.as_ref().and_then(|base| half(base, figures)));
    said.push(depths(figures, noun, seen));
    said.extend(overlap(figures));
    said.extend(with_larger_sizes(figures, noun, limit));
    let most = [(&figures.out_bytes_s, "OUT"), (&figures.in_bytes_s, "IN")];
    let most: Vec<String> = most
        .iter()
        .filter_map(|(most, way)| {
            let most = most.as_ref()?.value;
            Some(match beyond(most, limit) {
                Some(limit) => format!("at most the limit of {} {way}", rate(limit)),
                None => format!("{} {way}", rate(most)),
            })
        })
        .collect();
    if !most.is_empty() {
        said.push(format!(
            "maximum throughput at any size and depth: {}",
            most.join(" or ")
        ));
    }
    if let (Some(steps), Some(base)) = (figures.steps, &figures.base) {
        let each = [(&base.out_ns_a_step, "OUT"), (&base.in_ns_a_step, "IN")];
        let each: Vec<String> = each
            .iter()
            .filter_map(|(cost, way)| {
                let cost = cost.as_ref().filter(|cost| cost.value > 0.0)?;
                Some(format!("{} {way}", time(cost.value)))
            })
            .collect();
        said.push(format!(
            "the time grows in steps of {steps}: {} each, in addition to the cost per byte",
            each.join(", ")
        ));
    }
    if figures.together {
        said.push(
            "the OUT and IN sizes always changed together, so the cost per byte is assumed equal for both"
                .into(),
        );
    }
    said.push(quality(figures, noun, seen));
    said
}

/// The depth beyond which nothing is to be gained with these sizes, by the model and by every point.
pub(crate) fn enough_at(model: &LinkModel, sizes: (u32, u32)) -> Option<u32> {
    let figures = model.figures();
    figures.slowest.as_ref().filter(|_| describes(&figures))?;
    let saturation = model.saturation_depth(sizes.0, sizes.1)?;
    let enough = beyond_depth(&figures, saturation).max(measured_enough(&figures, sizes));
    (enough <= farthest(&figures)).then_some(enough)
}

/// No predicted depth beyond this one is worth a number.
fn farthest(figures: &Figures) -> u32 {
    figures.to.depth.saturating_mul(FARTHEST)
}

/// At the smallest and at the largest sizes, the depth beyond which the model predicts no gain: of
/// `TRT(d)^p = (D/d)^p + S^p (1 - d^-p)`, where TRT is within that of S.
fn modelled_enough(figures: &Figures) -> Vec<(u32, (u32, u32))> {
    let all = figures.saturation.iter();
    all.map(|at| {
        let sizes = (at.out_bytes, at.in_bytes);
        (beyond_depth(figures, at.depth.value), sizes)
    })
    .collect()
}

/// The depth beyond which the model predicts no gain, from the depth of saturation.
fn beyond_depth(figures: &Figures, saturation: f64) -> u32 {
    let p = figures.sharpness.unwrap_or(1.0);
    let depth = ((saturation.powf(p) - 1.0) / (NO_GAIN.powf(p) - 1.0)).powf(1.0 / p);
    depth.ceil().clamp(1.0, f64::from(u32::MAX)) as u32
}

/// The smallest depth at which the bus was full with these sizes, or the device never idle.
fn full_from(seen: &Seen, sizes: (u32, u32)) -> u32 {
    let busy = seen.busy.iter().filter(|busy| busy.most() <= NO_GAIN);
    let full = seen.full.iter().chain(busy.map(|busy| &busy.at));
    let full = full.filter(|at| (at.out_bytes, at.in_bytes) == sizes);
    full.map(|at| at.depth).min().unwrap_or(u32::MAX)
}

/// How many times as fast a larger depth can be with these sizes, where the device is busy nearly all the time.
fn most_gain(seen: &Seen, sizes: (u32, u32)) -> Option<f64> {
    let busy = seen.busy.iter();
    let busy = busy.filter(|busy| (busy.at.out_bytes, busy.at.in_bytes) == sizes);
    busy.map(Busy::most).reduce(f64::min)
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
        let bound = |bound: Option<f64>| bound.map_or("unknown".into(), |ns| format!("{ns:.2}"));
        return Some(format!(
            "no significant time per byte {way} ({:.2} ns, 95 %: {} to {})",
            cost.value,
            bound(cost.low),
            bound(cost.high)
        ));
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

fn depths(figures: &Figures, noun: &Noun, seen: &Seen) -> String {
    let deepest = figures.to.depth;
    if figures.from.depth == deepest {
        return noun.one_depth.clone();
    }
    if figures.slowest.is_none() {
        let bytes = |at: &&Setting| u64::from(at.out_bytes) + u64::from(at.in_bytes);
        if let Some(at) = seen.full.iter().min_by_key(|at| (bytes(at), at.depth)) {
            // Of a stream the size in the other direction is 0; of a reply that may have any, too.
            let sizes = [("OUT", at.out_bytes), ("IN", at.in_bytes)].into_iter();
            let sizes = sizes.filter(|(_, bytes)| *bytes > 0);
            let at_sizes: String = sizes
                .map(|(way, bytes)| format!("{way} {} B, ", grouped(bytes.into())))
                .collect();
            let full = format!("the bus is full at {at_sizes}{} {}", noun.depth, at.depth);
            let mut points = figures.residuals.iter();
            return match points.any(|measured| bytes(&&measured.point.at) < bytes(&at)) {
                true => format!(
                    "{full}; at smaller sizes, larger {}s still help",
                    noun.depth
                ),
                false => full,
            };
        }
        return format!(
            "no {} up to {deepest} keeps the slowest stage busy: larger {}s still help",
            noun.depth, noun.depth
        );
    }
    let ends = modelled_enough(figures).into_iter();
    let ends: Vec<(u32, (u32, u32))> = ends
        .map(|(depth, sizes)| {
            let depth = depth.min(full_from(seen, sizes));
            (depth.max(measured_enough(figures, sizes)), sizes)
        })
        .collect();
    let Some((&(small, smallest), &(large, largest))) = ends.first().zip(ends.last()) else {
        return format!(
            "the slowest stage was busy at every measured {}, so the time of one {} alone is unknown",
            noun.depth, noun.one
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
    let about = |depth: u32| match depth > deepest {
        true => format!("about {depth} (outside the measured range)"),
        false => depth.to_string(),
    };
    let no_gain = format!("no gain (5 % or less) beyond {}", noun.depth);
    let busy = "the slowest stage is busy all the time";
    let alike = f64::from(most) / f64::from(small.min(large)) < ALIKE;
    let far = |depth: u32| depth > farthest(figures);
    let gains = (most_gain(seen, smallest), most_gain(seen, largest));
    let more = |gain: Option<f64>, place: &str| match gain {
        None => format!("larger {}s still help{place}", noun.depth),
        Some(most) => format!(
            "larger {}s gain at most {}{place} (the device is busy)",
            noun.depth,
            percent(most - 1.0)
        ),
    };
    match (far(small), far(large)) {
        (true, true) if gains == (None, None) => format!(
            "no {} up to {deepest} keeps the slowest stage busy: {}",
            noun.depth,
            more(None, "")
        ),
        (true, true) if smallest == largest => more(gains.0, ""),
        (true, true) => format!(
            "{}; at the largest, {}",
            more(gains.0, " at the smallest sizes"),
            more(gains.1, "")
        ),
        (true, false) => format!(
            "{no_gain} {} at the largest sizes; at the smallest, {}",
            about(large),
            more(gains.0, "")
        ),
        (false, true) => format!(
            "{no_gain} {} at the smallest sizes; at the largest, {}",
            about(small),
            more(gains.1, "")
        ),
        (false, false) if alike => format!("{no_gain} {}: {busy}", about(most)),
        (false, false) => format!(
            "{no_gain} {} at the smallest sizes, {} at the largest: {busy}",
            about(small),
            about(large)
        ),
    }
}

/// The physical limit, if a rate of the model is beyond it.
fn beyond(bytes_s: f64, limit: Option<f64>) -> Option<f64> {
    limit.filter(|&limit| bytes_s > limit)
}

/// What larger sizes could come to where only one depth was measured.
fn with_larger_sizes(figures: &Figures, noun: &Noun, limit: Option<f64>) -> Option<String> {
    let base = figures.base.as_ref()?;
    let one_depth = figures.from.depth == figures.to.depth && !figures.together;
    let ways = [(&base.out_ns_a_byte, "OUT"), (&base.in_ns_a_byte, "IN")];
    let most: Vec<String> = ways
        .iter()
        .filter_map(|(cost, way)| {
            // Of a cost that may as well be none, nothing follows.
            let cost = cost.as_ref().filter(|cost| cost.low > Some(0.0))?.value;
            Some(match beyond(1e9 / cost, limit) {
                Some(limit) => format!("the limit of {} {way}", rate(limit)),
                None => format!("{} {way}", rate(1e9 / cost)),
            })
        })
        .collect();
    (one_depth && !most.is_empty()).then(|| {
        format!(
            "at {} {}, larger sizes reach at most {}",
            noun.depth,
            figures.to.depth,
            most.join(" or ")
        )
    })
}

/// Where two stages work at once: which sizes keep which busy.
fn overlap(figures: &Figures) -> Option<String> {
    let slowest = figures.slowest.as_ref().filter(|_| figures.overlap)?;
    let fixed = slowest.fixed_ns.value;
    let ways = [
        (&slowest.in_ns_a_byte, "IN"),
        (&slowest.out_ns_a_byte, "OUT"),
    ];
    let limits: Vec<String> = ways
        .iter()
        .filter_map(|(cost, way)| {
            let cost = cost.as_ref()?.value;
            (cost > 0.0).then(|| format!("{} B {way}", grouped((fixed / cost).round() as u64)))
        })
        .collect();
    Some(format!(
        "two stages work in parallel: one needs {} at any size, the other carries the bytes and takes longer \
         above about {}",
        time(fixed),
        limits.join(" or ")
    ))
}

/// All of it in one sentence; `None` where the figures describe nothing.
pub(crate) fn in_short(figures: &Figures, noun: &Noun, seen: &Seen) -> Option<String> {
    if !describes(figures) {
        return None;
    }
    let mut parts = Vec::new();
    if let Some(base) = &figures.base {
        let how = match figures.base_depth {
            1 => "alone".into(),
            deep => format!("with {} {deep}", noun.depth),
        };
        parts.push(format!(
            "one {} {how} takes {}",
            noun.one,
            of_cost(base, " + ")
        ));
    }
    if let Some(slowest) = &figures.slowest {
        let and = if figures.overlap {
            " or, if longer, "
        } else {
            " + "
        };
        parts.push(format!("its slowest stage {}", of_cost(slowest, and)));
        parts.push(depths(figures, noun, seen));
    }
    parts.push(quality(figures, noun, seen));
    Some(parts.join("; "))
}

fn of_cost(cost: &StageCost, and: &str) -> String {
    let bytes: Vec<String> = [(&cost.out_ns_a_byte, "OUT"), (&cost.in_ns_a_byte, "IN")]
        .iter()
        .filter_map(|(cost, way)| {
            let cost = cost.as_ref().filter(|cost| cost.value > 0.0)?;
            Some(format!("{:.2} ns per byte {way}", cost.value))
        })
        .collect();
    let bytes = (!bytes.is_empty()).then(|| bytes.join(" + "));
    let fixed = cost.fixed_ns.value;
    let fixed = (fixed > 0.0 || bytes.is_none()).then(|| time(fixed));
    let parts: Vec<String> = fixed.into_iter().chain(bytes).collect();
    parts.join(and)
}

/// What it is off by at half of the points.
fn typical_off(figures: &Figures) -> f64 {
    let mut off: Vec<f64> = figures.residuals.iter().map(|r| r.off.abs()).collect();
    off.sort_by(f64::total_cmp);
    off.get(off.len() / 2).copied().unwrap_or(0.0)
}

/// The median of the leave-one-out errors; `None` if some point has none.
fn left_out(figures: &Figures) -> Option<f64> {
    let all = figures.residuals.iter().map(|r| Some(r.off_without?.abs()));
    let mut all = all.collect::<Option<Vec<f64>>>()?;
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

fn describes(figures: &Figures) -> bool {
    figures.worst <= FITS || typical_off(figures) <= TYPICAL
}

fn quality(figures: &Figures, noun: &Noun, seen: &Seen) -> String {
    let worst = figures
        .residuals
        .iter()
        .max_by(|a, b| a.off.abs().total_cmp(&b.off.abs()));
    let Some(worst) = worst else {
        return String::new();
    };
    let at = place(worst, figures, noun, seen);
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
fn place(residual: &Residual, figures: &Figures, noun: &Noun, seen: &Seen) -> String {
    let (from, to, at) = (figures.from, figures.to, residual.point.at);
    let size = |way: &str, bytes: u32, named: String| {
        let asked = seen.asked.iter().find(|asked| asked.at == at);
        match asked.filter(|asked| asked.transfer_bytes != bytes) {
            Some(asked) => {
                let transfer = asked.transfer_bytes;
                let bytes = grouped(bytes.into());
                format!("--transfer {transfer} {way} ({bytes} B carried on average)")
            }
            None => named,
        }
    };
    let mut parts = Vec::new();
    if from.out_bytes != to.out_bytes {
        let named = format!("OUT {} B", grouped(at.out_bytes.into()));
        parts.push(size("OUT", at.out_bytes, named));
    }
    if from.in_bytes != to.in_bytes {
        parts.push(size("IN", at.in_bytes, response_size(at.in_bytes)));
    }
    if from.depth != to.depth {
        parts.push(format!("{} {}", noun.depth, at.depth));
    }
    parts.join(", ")
}

/// The error of a model in percent: below 0.1 % it is the arithmetic's own.
fn model_error(share: f64) -> String {
    match share {
        small if small < 1e-3 => "under 0.1 %".into(),
        share => percent(share),
    }
}
