//! What the figures of a model mean, in sentences.

use crate::show::{percent, rate, time};
use wiregauge_model::{Figures, Residual, Saturation, Setting, StageCost};

/// A model that is further off than this at some point is said to be, and describes no link if it is
/// off by `TYPICAL` at half of them, too.
const FITS: f64 = 0.25;
const TYPICAL: f64 = 0.10;
/// Saturation depths that differ by less than this factor are told as one.
const ALIKE: f64 = 1.3;

/// The words of exchanges, or of transfers.
#[derive(Clone, Copy)]
pub(crate) struct Noun {
    one: &'static str,
    depth: &'static str,
    /// What measures more depths; `None` where there is but one.
    flag: Option<&'static str>,
    /// What would make more settings.
    pub(crate) try_more: &'static str,
}

pub(crate) const EXCHANGE: Noun = Noun {
    one: "exchange",
    depth: "depth",
    flag: Some("--depth 1,2,4,8"),
    try_more: "Try --in 64,512,4k --depth 1,4",
};

pub(crate) const TRANSFER: Noun = Noun {
    one: "transfer",
    depth: "queue",
    flag: Some("--queue 1,2,4,8"),
    try_more: "Try --transfer 512,4k,64k --queue 1,4",
};

pub(crate) const SYSTEM_CALL: Noun = Noun {
    one: "transfer",
    depth: "queue",
    flag: None,
    try_more: "Try --transfer 512,4k,64k",
};

/// The size of the transfers that were asked for, where a stream was observed: a read may carry less.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    /// What the model was told.
    pub(crate) at: Setting,
    /// What the user said.
    pub(crate) transfer_bytes: u32,
}

/// One sentence each, the most useful first.
pub(crate) fn of(figures: &Figures, noun: Noun, asked: &[Asked]) -> Vec<String> {
    let mut said = Vec::new();
    if !describes(figures) {
        // What follows from figures that do not hold is not worth saying.
        return vec![quality(figures, noun, asked)];
    }
    said.extend(figures.base.as_ref().and_then(|base| half(base, figures)));
    said.push(depths(figures, noun));
    said.extend(overlap(figures));
    said.extend(with_larger_sizes(figures, noun));
    let most = [(&figures.out_bytes_s, "OUT"), (&figures.in_bytes_s, "IN")];
    let most: Vec<String> = most
        .iter()
        .filter_map(|(most, way)| Some(format!("{} {way}", rate(most.as_ref()?.value))))
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
    said.push(quality(figures, noun, asked));
    said
}

/// The depth beyond which the model predicts no gain at any size.
pub(crate) fn enough(figures: &Figures) -> Option<u32> {
    figures.slowest.as_ref().filter(|_| describes(figures))?;
    let depths = figures.saturation.iter().map(|s| s.depth.value);
    depths.reduce(f64::max).map(|depth| depth.ceil() as u32)
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
    (bytes >= 1.0).then(|| format!("at {bytes:.0} B {way}, half of the time is fixed cost"))
}

fn depths(figures: &Figures, noun: Noun) -> String {
    let deepest = figures.to.depth;
    if figures.from.depth == deepest {
        return match noun.flag {
            Some(flag) => format!(
                "only {} {deepest} was measured, so the time of the slowest stage is unknown. Try {flag}",
                noun.depth
            ),
            None => "this kind of link has no queue: only larger transfers help".into(),
        };
    }
    if figures.slowest.is_none() {
        return format!(
            "no {} up to {deepest} keeps the slowest stage busy: more still helps",
            noun.depth
        );
    }
    let Some((small, large)) = figures.saturation.first().zip(figures.saturation.last()) else {
        return format!(
            "the slowest stage was busy at every measured {}, so the time of one {} alone is unknown",
            noun.depth, noun.one
        );
    };
    let (one, other) = (small.depth.value, large.depth.value);
    if one.max(other) < ALIKE {
        return format!(
            "more than one at a time gives no gain: the slowest stage takes nearly all of the time of one {}",
            noun.one
        );
    }
    let from = |saturation: &Saturation| {
        let depth = saturation.depth.value.ceil();
        if depth > f64::from(deepest) {
            format!("about {depth:.0} (outside the measured range)")
        } else {
            format!("{depth:.0}")
        }
    };
    if one.max(other) / one.min(other) < ALIKE {
        return format!(
            "no gain beyond {} {}: the slowest stage is busy all the time",
            noun.depth,
            from(if one > other { small } else { large })
        );
    }
    format!(
        "no gain beyond {} {} at the smallest sizes, {} at the largest: the slowest stage is busy all the time",
        noun.depth,
        from(small),
        from(large)
    )
}

/// What larger sizes could come to where only one depth was measured.
fn with_larger_sizes(figures: &Figures, noun: Noun) -> Option<String> {
    let base = figures.base.as_ref()?;
    let one_depth = figures.from.depth == figures.to.depth && !figures.together;
    let ways = [(&base.out_ns_a_byte, "OUT"), (&base.in_ns_a_byte, "IN")];
    let most: Vec<String> = ways
        .iter()
        .filter_map(|(cost, way)| {
            // Of a cost that may as well be none, nothing follows.
            let cost = cost.as_ref().filter(|cost| cost.low > Some(0.0))?.value;
            Some(format!("{} {way}", rate(1e9 / cost)))
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
            (cost > 0.0).then(|| format!("{:.0} B {way}", fixed / cost))
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
pub(crate) fn in_short(figures: &Figures, noun: Noun, asked: &[Asked]) -> Option<String> {
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
        parts.push(depths(figures, noun));
    }
    parts.push(quality(figures, noun, asked));
    Some(parts.join("; "))
}

fn of_cost(cost: &StageCost, and: &str) -> String {
    let mut parts = vec![time(cost.fixed_ns.value)];
    let bytes: Vec<String> = [(&cost.out_ns_a_byte, "OUT"), (&cost.in_ns_a_byte, "IN")]
        .iter()
        .filter_map(|(cost, way)| {
            let cost = cost.as_ref().filter(|cost| cost.value > 0.0)?;
            Some(format!("{:.2} ns per byte {way}", cost.value))
        })
        .collect();
    if !bytes.is_empty() {
        parts.push(bytes.join(" + "));
    }
    parts.join(and)
}

/// What it is off by at half of the points.
fn typical_off(figures: &Figures) -> f64 {
    let mut off: Vec<f64> = figures.residuals.iter().map(|r| r.off.abs()).collect();
    off.sort_by(f64::total_cmp);
    off.get(off.len() / 2).copied().unwrap_or(0.0)
}

fn describes(figures: &Figures) -> bool {
    figures.worst <= FITS || typical_off(figures) <= TYPICAL
}

fn quality(figures: &Figures, noun: Noun, asked: &[Asked]) -> String {
    let worst = figures
        .residuals
        .iter()
        .max_by(|a, b| a.off.abs().total_cmp(&b.off.abs()));
    let Some(worst) = worst else {
        return String::new();
    };
    let at = place(worst, figures, noun, asked);
    let (most, typical) = (percent(figures.worst), percent(typical_off(figures)));
    if !describes(figures) {
        return format!(
            "the model does not fit this link: its error is {typical} at half of the points, and {most} at \
             {at}. It lacks an effect that depends on size or {}",
            noun.depth
        );
    }
    if figures.worst > FITS {
        return format!(
            "error {typical} at half of the points, but {most} at {at}: a disturbance there (measure again), \
             or an effect that depends on size or {}",
            noun.depth
        );
    }
    let mut without: Vec<f64> = figures
        .residuals
        .iter()
        .filter_map(|residual| Some(residual.off_without?.abs()))
        .collect();
    without.sort_by(f64::total_cmp);
    let typical = without
        .get(without.len() / 2)
        .filter(|_| without.len() == figures.residuals.len())
        .map(|&typical| format!("; leave-one-out error {} (median)", percent(typical)));
    format!(
        "maximum error {}, at {at}{}",
        percent(figures.worst),
        typical.unwrap_or_default()
    )
}

/// The setting of a residual, without what never changed.
fn place(residual: &Residual, figures: &Figures, noun: Noun, asked: &[Asked]) -> String {
    let (from, to, at) = (figures.from, figures.to, residual.point.at);
    let size = |way: &str, bytes: u32| {
        let asked = asked.iter().find(|asked| asked.at == at);
        match asked.filter(|asked| asked.transfer_bytes != bytes) {
            Some(asked) => {
                let transfer = asked.transfer_bytes;
                format!("--transfer {transfer} {way} ({bytes} B carried on average)")
            }
            None => format!("{way} {bytes} B"),
        }
    };
    let mut parts = Vec::new();
    if from.out_bytes != to.out_bytes {
        parts.push(size("OUT", at.out_bytes));
    }
    if from.in_bytes != to.in_bytes {
        parts.push(size("IN", at.in_bytes));
    }
    if from.depth != to.depth {
        parts.push(format!("{} {}", noun.depth, at.depth));
    }
    parts.join(", ")
}
