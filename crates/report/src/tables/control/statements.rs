//! The verdicts and the advice on one point, each as a word, the numbers that carry it, and a sentence that says what it
//! means: for cards on a page.

use super::on_trace::held;
use super::words::{growth, times};
use super::{any_order, long_run};
use wiregauge_control::{Assessment, Stated, Verdict};
use wiregauge_quantity::number;
use wiregauge_quantity::time;

/// An output whose standard deviation rose to more than this multiple of that without delay was far off.
pub(super) const FAR: f64 = 10.0;

/// How good it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// It holds.
    Good,
    /// Not decided, or near a limit.
    Caution,
    /// It does not hold.
    Bad,
    /// No statement.
    Open,
    /// A figure, not a verdict.
    Figure,
}

/// One card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Which question it answers.
    pub title: &'static str,
    /// The answer: a word or a value.
    pub answer: String,
    /// How good that is.
    pub tone: Tone,
    /// The numbers that carry it, one line each.
    pub figures: Vec<String>,
    /// What it means.
    pub meaning: String,
}

/// What there is to say on one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statements {
    /// On this trace, in the long run, in any order: three questions, none of which answers another.
    pub verdicts: [Statement; 3],
    /// Cost, margins, buffer.
    pub advice: [Statement; 3],
}

/// Of one point.
pub fn statements(assessment: &Assessment) -> Statements {
    Statements {
        verdicts: [
            on_trace(assessment),
            in_the_long_run(assessment),
            in_any_order(assessment),
        ],
        advice: [cost(assessment), margins(assessment), buffer(assessment)],
    }
}

fn on_trace(assessment: &Assessment) -> Statement {
    let found = &assessment.on_trace;
    let grown = format!("growth {} per cycle", growth(found.growth));
    let (tone, decayed) = match found.worst_ratio > FAR {
        true => (
            Tone::Caution,
            "With these delays in this order, disturbances decayed on average, but late or lost responses threw the output \
             far off for a while: see the highest SD.",
        ),
        false => (
            Tone::Good,
            "With these delays in this order, disturbances decayed on average.",
        ),
    };
    let (answer, tone, figures, meaning) = match held(found) {
        true => (
            "held",
            tone,
            vec![
                grown,
                format!("highest SD {}", times(found.worst_ratio, 1.0)),
            ],
            decayed,
        ),
        false => (
            "did not hold",
            Tone::Bad,
            vec![grown],
            "With these delays in this order, disturbances grew on average.",
        ),
    };
    Statement {
        title: "On this trace",
        answer: answer.into(),
        tone,
        figures,
        meaning: meaning.into(),
    }
}

fn in_the_long_run(assessment: &Assessment) -> Statement {
    let found = match &assessment.long_run {
        Stated::Made(found) => found,
        Stated::None { reason } => {
            return Statement {
                title: "In the long run",
                answer: long_run::verdict(assessment).into(),
                tone: Tone::Open,
                figures: Vec::new(),
                meaning: sentence(reason),
            };
        }
    };
    let answer = long_run::verdict(assessment);
    let bursts = long_run::in_bursts(found);
    let (carrying, which) = match bursts {
        Some(bursts) => (bursts, " in bursts"),
        None => (&found.independent, ""),
    };
    let meaning = match answer {
        "holds" => "Random delays with the statistics of this trace keep the output bounded.",
        "near the limit" => {
            "It holds, but disturbances decay at less than a tenth of the rate without delay: a longer run may decide \
             otherwise."
        }
        _ => "Random delays with the statistics of this trace let the output grow without bound.",
    };
    Statement {
        title: "In the long run",
        answer: answer.into(),
        tone: match answer {
            "holds" => Tone::Good,
            "near the limit" => Tone::Caution,
            _ => Tone::Bad,
        },
        figures: vec![
            format!(
                "RMS growth {} per cycle{which}",
                growth(carrying.growth.sqrt())
            ),
            format!(
                "cost {}{which}",
                carrying.cost.map_or("unbounded".into(), number)
            ),
        ],
        meaning: meaning.into(),
    }
}

fn in_any_order(assessment: &Assessment) -> Statement {
    let found = &assessment.any_order;
    let (tone, meaning) = match &found.verdict {
        Verdict::Proved => (
            Tone::Good,
            "No sequence of delays and losses within the range of this trace makes the loop unstable.",
        ),
        Verdict::NotProved { is_covered: true } => (
            Tone::Caution,
            "Neither a proof nor a sequence that breaks the loop was found.",
        ),
        Verdict::NotProved { is_covered: false } => (
            Tone::Caution,
            "No proof covers these delays with this rule on a miss.",
        ),
        Verdict::Broken(_) => (
            Tone::Bad,
            "Some sequence within the range of this trace makes the loop grow. It need not be likely.",
        ),
    };
    let demanded = found
        .demanded_s
        .map(|seconds| format!("jitter incl. losses {}", any_order::of_seconds(seconds)));
    let margin = format!(
        "jitter margin {}",
        any_order::of_seconds(found.margin.margin_s)
    );
    Statement {
        title: "In any order",
        answer: any_order::verdict(&found.verdict).into(),
        tone,
        figures: demanded.into_iter().chain([margin]).collect(),
        meaning: meaning.into(),
    }
}

fn cost(assessment: &Assessment) -> Statement {
    let found = &assessment.on_trace;
    let without = found.no_delay.cost.filter(|cost| *cost > 0.0);
    let mut figures = Vec::new();
    if found.cost.is_some() {
        figures.push(match found.interval {
            Some(interval) => format!(
                "95 % interval {} to {}",
                number(interval.low),
                number(interval.high)
            ),
            None => "no interval: the run is too short, or a few cycles dominate the cost".into(),
        });
    }
    let meaning = match (found.cost, without) {
        (None, _) => "The loop did not hold, so its cost has no meaning.".into(),
        (Some(_), None) => "The model has no noise, so the cost has nothing to compare.".into(),
        (Some(cost), Some(without)) => {
            let equal = match found.equal_delay_ns {
                Some(delay_ns) if delay_ns > 0 => {
                    format!(", as with a constant delay of {}", time(delay_ns as f64))
                }
                _ => String::new(),
            };
            format!(
                "{} that without delay ({}){equal}.",
                times(cost, without),
                number(without)
            )
        }
    };
    Statement {
        title: "Cost rate on this trace",
        answer: found.cost.map_or("-".into(), number),
        tone: Tone::Figure,
        figures,
        meaning,
    }
}

fn margins(assessment: &Assessment) -> Statement {
    let margin = assessment.delay_margin;
    let delays = &assessment.delays;
    let (answer, meaning) = match margin.margin_s {
        Some(margin_s) => (
            any_order::of_seconds(margin_s),
            "The loop is unstable from this constant delay on.",
        ),
        None => (
            format!("> {}", any_order::of_seconds(margin.tried_s)),
            "The loop is stable with every constant delay up to this one; longer ones were not tried.",
        ),
    };
    let misses = match &assessment.misses {
        Stated::Made(found) => {
            let proved = match found.proved {
                Some(proved) => format!("proved up to {proved}"),
                None => "unstable without a miss".into(),
            };
            let broken = match &found.broken {
                Some(broken) => format!(", broken by {}", broken.in_a_row),
                None => String::new(),
            };
            format!(
                "misses in a row: {} seen, {proved}{broken}",
                found.longest_seen
            )
        }
        Stated::None { .. } => "misses in a row: not covered".into(),
    };
    Statement {
        title: "Margin for a constant delay",
        answer,
        tone: Tone::Figure,
        figures: vec![
            format!(
                "measured: median {}, max {}",
                time(delays.median_ns as f64),
                time(delays.max_ns as f64)
            ),
            misses,
        ],
        meaning: meaning.into(),
    }
}

fn buffer(assessment: &Assessment) -> Statement {
    let title = "Buffer";
    let none = |answer: &str, meaning: &str| Statement {
        title,
        answer: answer.into(),
        tone: Tone::Figure,
        figures: Vec::new(),
        meaning: meaning.into(),
    };
    match &assessment.buffer {
        Some(buffer) if buffer.is_worth_it() => Statement {
            title,
            answer: time(buffer.delay_ns as f64),
            tone: Tone::Figure,
            figures: vec![format!(
                "cost {:+.1} %",
                100.0 * (buffer.cost / buffer.cost_without - 1.0)
            )],
            meaning: "Hold each command until this time after its sample: the constant delay costs less than the jitter."
                .into(),
        },
        Some(_) => none(
            "would not help",
            "Holding each command until a constant delay would not lower the cost.",
        ),
        None => none("-", "Not compared: disturbances grow over this trace."),
    }
}

/// A reason as a sentence of its own.
fn sentence(reason: &impl ToString) -> String {
    let text = reason.to_string();
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => text,
    }
}
