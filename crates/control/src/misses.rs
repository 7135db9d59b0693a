//! Misses in a row: how many a loop bears in any pattern, all other answers having the same delay.
//!
//! Any sequence with at most m misses in a row is a product of the blocks `B_i = (i misses, then an answer)`, i = 0..m
//! (Maggio et al., ECRTS 2020). It is stable for all of them if the joint spectral radius of the blocks is below 1.

use crate::flow::spectral_radius;
use crate::jitter_margin::jitter_margin;
use crate::joint_radius::{JointRadius, JointSearch, joint_radius};
use crate::model::Loop;
use crate::pattern::{Flows, Layout, Source, period_map};
use crate::register::{self, MOST_PERIODS};
use crate::schedule::{OnMiss, Rules, on_grid};
use crate::system::Matrix;
use serde::Serialize;

/// Answers after a run of misses that are tried, each number of them.
const MOST_ANSWERS: usize = 200;
/// Ticks a period, at most; the delay is rounded to one.
const TICKS: u64 = 1 << 24;
/// More misses in a row are not stated: to some loops no command matters.
const MOST_PROVED: f64 = 10_000.0;
/// Products of blocks at most, and fewer where the matrices are large: their time is about that of so many
/// multiplications.
const PRODUCTS: usize = 8_000;
const WORK: f64 = 1e9;

/// Misses in a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Misses {
    /// Delay of all answers that arrive, in nanoseconds.
    pub delay_ns: u64,
    /// Stable in any pattern with at most so many misses in a row, by the blocks or by the jitter margin (10,000 at most); `None` if the
    /// loop is unstable without misses.
    pub proved: Option<u32>,
    /// A pattern that breaks the loop, with the fewest misses in a row that were found to do so.
    pub broken: Option<BreakingPattern>,
    /// Longer runs were not tried.
    pub tried: u32,
    /// Longest run of misses in the trace.
    pub longest_seen: u32,
}

/// Delays that, when they repeat, make the loop unstable.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BreakingPattern {
    /// Misses in a row.
    pub in_a_row: u32,
    /// Delays in nanoseconds, `None` for a miss, which repeat.
    pub delays: Vec<Option<u64>>,
    /// Growth per cycle of the period: 1 or more.
    pub growth: f64,
}

/// Why the patterns of misses are not covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NotCovered {
    /// Blocks overlap: what a miss does, and the answer before it, come into force in another order.
    #[error("with this rule on a miss, patterns are covered for delays below a period only")]
    LongDelay,
    /// Zero is set later than a period after the sample.
    #[error("a deadline of more than a period is not covered")]
    LongDeadline,
    /// A delay of more than 64 periods.
    #[error("delays of more than 64 periods are not covered")]
    TooLong,
    /// All answers with this delay are misses.
    #[error("the delay is beyond the deadline: every response is a miss")]
    BeyondDeadline,
}

/// How many misses in a row a loop bears if all other answers have the delay `delay_ns`; runs of up to `most` are tried.
///
/// # Errors
/// [`NotCovered`] says which combination of rules is not.
pub fn misses(
    model: &Loop,
    delay_ns: u64,
    longest_seen: u32,
    period_ns: u64,
    rules: Rules,
    most: u32,
) -> Result<Misses, NotCovered> {
    let blocks = blocks(model, delay_ns, period_ns, rules, most)?;
    let size = blocks[0].nrows() as f64;
    let affordable = (WORK / (50.0 * size.max(1.0).powi(3))) as usize;
    let search = JointSearch {
        depth: 12,
        tolerance: 1e-3,
        products: PRODUCTS.min(affordable),
        decides: true,
    };
    let mut proved = (spectral_radius(&blocks[0]) < 1.0).then_some(0);
    if rules.on_miss == OnMiss::Hold && proved.is_some() {
        // Each loss is a period more of jitter.
        let margin = jitter_margin(model, delay_ns as f64 / period_ns as f64 * model.period_s);
        proved = Some((margin.margin_s / model.period_s - 1e-9).clamp(0.0, MOST_PROVED) as u32);
    }
    let mut broken = None;
    for run in proved.map_or(1, |proved| proved.saturating_add(1))..=most {
        if proved.is_none() || broken.is_some() {
            break;
        }
        let set = &blocks[..=run as usize];
        // Without a proof, a short search for a product that breaks the loop.
        let search = match proved == Some(run - 1) {
            true => search,
            false => JointSearch {
                products: search.products / 8,
                ..search
            },
        };
        let radius = joint_radius(set, search);
        if radius.upper < 1.0 {
            proved = Some(run);
        } else {
            broken = breaking(set, &radius, run, delay_ns);
        }
    }
    Ok(Misses {
        delay_ns,
        proved,
        broken,
        tried: most,
        longest_seen,
    })
}

/// Bounds of the growth per block under all patterns with at most `run` misses in a row.
///
/// # Errors
/// As [`misses`].
pub fn misses_radius(
    model: &Loop,
    delay_ns: u64,
    period_ns: u64,
    rules: Rules,
    run: u32,
    search: JointSearch,
) -> Result<JointRadius, NotCovered> {
    let blocks = blocks(model, delay_ns, period_ns, rules, run)?;
    Ok(joint_radius(&blocks, search))
}

/// A pattern that breaks the loop: the worst product known, or `run` misses and then any number of answers.
fn breaking(
    set: &[Matrix],
    radius: &JointRadius,
    run: u32,
    delay_ns: u64,
) -> Option<BreakingPattern> {
    let word = match radius.lower >= 1.0 {
        true => radius.word.clone(),
        false => {
            let mut product = set[run as usize].clone();
            let mut found = None;
            // More answers may hurt, so each number of them is tried.
            for answers in 1..=MOST_ANSWERS {
                if spectral_radius(&product) >= 1.0 {
                    let mut word = vec![run as usize];
                    word.resize(answers, 0);
                    found = Some(word);
                    break;
                }
                product = &set[0] * product;
            }
            found?
        }
    };
    let mut delays = Vec::new();
    for &block in &word {
        delays.resize(delays.len() + block, None);
        delays.push(Some(delay_ns));
    }
    let product = (word.iter()).fold(
        Matrix::identity(set[0].nrows(), set[0].nrows()),
        |product, &block| &set[block] * product,
    );
    Some(BreakingPattern {
        in_a_row: word.iter().copied().max().unwrap_or(0) as u32,
        growth: spectral_radius(&product).powf(1.0 / delays.len() as f64),
        delays,
    })
}

/// `B_0 ... B_most`.
fn blocks(
    model: &Loop,
    delay_ns: u64,
    period_ns: u64,
    rules: Rules,
    most: u32,
) -> Result<Vec<Matrix>, NotCovered> {
    if rules.in_time(Some(delay_ns)).is_none() {
        return Err(NotCovered::BeyondDeadline);
    }
    let ticks = u32::try_from(period_ns.min(TICKS)).expect("below 2^32");
    let delay = on_grid(delay_ns, period_ns, ticks);
    let age = delay / u64::from(ticks);
    if rules.on_miss != OnMiss::Hold && age > 0 {
        return Err(NotCovered::LongDelay);
    }
    if age > MOST_PERIODS {
        return Err(NotCovered::TooLong);
    }
    let zero = rules.zero_tick(period_ns, ticks);
    // Zero at the end of a period is the same as at the start of the next one, behind its sample.
    let zero = match zero {
        Some(tick) if tick > u64::from(ticks) => return Err(NotCovered::LongDeadline),
        zero => zero.map(|tick| (tick as u32, Source::Zero)),
    };
    let mut flows = Flows::new(model, ticks);
    let layout = Layout::of(model, age as usize);
    let mut core = |ran, switches| {
        let pattern = register::pattern(ran, switches, layout.places);
        let period = period_map(model, &mut flows, layout, &pattern);
        period.core(layout).into_owned()
    };
    let own = (
        (delay % u64::from(ticks)) as u32,
        Source::Stored(age as u16),
    );
    let answer = core(true, vec![own]);
    let miss = core(rules.on_miss != OnMiss::Skip, zero.into_iter().collect());
    let mut blocks = vec![answer];
    for run in 0..most as usize {
        blocks.push(&blocks[run] * &miss);
    }
    Ok(blocks)
}
