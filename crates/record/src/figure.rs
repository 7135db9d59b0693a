//! Every reported statistic by a name, such as `rtt.p99.9` or `in-throughput`: what limits and aims
//! speak of. One place, so that the same word means the same number everywhere; `figure_value` has
//! the numbers.

use std::fmt;

/// A statistic of a point, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Figure {
    /// One number of a distribution of times, in nanoseconds.
    Time(Times, Part),
    /// What went wrong, as a part of the exchanges (of a stream: of the bytes sent).
    Share(Problem),
    /// The same as a number of exchanges (of a stream: of bytes, or of stalls).
    Count(Problem),
    /// Bytes a second.
    Rate(Carried),
    /// Exchanges (transfers) a second.
    Exchanges,
    /// The mean number outstanding (pending).
    AchievedDepth,
    /// Part of the physical limit.
    LimitUsed,
    /// What the delays do to a control loop. It requires the model of one.
    Control(LoopFigure),
    /// Consecutive cycles that miss their deadline, at most. It requires a period.
    Longest,
}

/// What the delays do to a control loop, in one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopFigure {
    /// Cost rate on the trace.
    Cost,
    /// Growth of a disturbance per cycle.
    Growth,
}

/// Which times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Times {
    /// What a bare `p99` means: from the intended start where there is a schedule, else the RTT.
    Answer,
    /// RTT.
    Rtt,
    /// From the intended start.
    FromIntended,
    /// TRT.
    Trt,
    /// Time in the device.
    Device,
    /// Connecting (`--connect each`).
    Connect,
    /// Start of sending to first byte (`--connect each`).
    Access,
    /// First to last byte (`--connect each`); of a stream: submission to completion.
    Transfer,
    /// Of a stream: completion to completion.
    Gap,
    /// Of a stream: completion to the next submission.
    HostGap,
}

/// Which number of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Smallest.
    Min,
    /// Mean.
    Mean,
    /// Standard deviation.
    Sd,
    /// Mean and standard deviation together.
    MeanPlusSd,
    /// Median.
    P50,
    /// 90th percentile.
    P90,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
    /// Interquartile range.
    Iqr,
    /// p99 - p50.
    P99MinusP50,
    /// Third-largest.
    Max3,
    /// Largest.
    Max,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Problem {
    /// Exchanges without a right answer in time; bytes that never came.
    Lost,
    /// Exchanges answered after the timeout.
    Late,
    /// Answers, or bytes, that came again.
    Duplicated,
    /// Answers that came after the answer to a later request.
    Reordered,
    /// Answers with a wrong byte; bytes that came changed.
    Corrupted,
    /// Of queries: whole replies that are not the expected ones.
    Unexpected,
    /// Of a stream: bytes that belong nowhere.
    Stray,
    /// Of a stream: transfers that found the endpoint stalled.
    Stalls,
    /// Cycles without a right answer in time, which require a period; of an isochronous stream: intervals in which no data
    /// moved.
    Missed,
}

/// Which bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Carried {
    /// Device to host.
    In,
    /// Host to device.
    Out,
    /// Both together.
    Both,
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less of it.
    Lower,
    /// More of it.
    Higher,
}

/// In which unit a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// A part of 1.
    Share,
    /// A whole number.
    Count,
    /// Bytes.
    Bytes,
    /// Bytes a second.
    Rate,
    /// A second.
    Frequency,
    /// A bare number.
    Number,
}

const TIMES: [(&str, Times); 9] = [
    ("rtt", Times::Rtt),
    ("from-intended", Times::FromIntended),
    ("trt", Times::Trt),
    ("device", Times::Device),
    ("connect", Times::Connect),
    ("access", Times::Access),
    ("transfer", Times::Transfer),
    ("gap", Times::Gap),
    ("host-gap", Times::HostGap),
];

const PARTS: [(&str, Part); 12] = [
    ("min", Part::Min),
    ("mean", Part::Mean),
    ("sd", Part::Sd),
    ("mean+sd", Part::MeanPlusSd),
    ("p50", Part::P50),
    ("p90", Part::P90),
    ("p99", Part::P99),
    ("p99.9", Part::P999),
    ("iqr", Part::Iqr),
    ("p99-p50", Part::P99MinusP50),
    ("max3", Part::Max3),
    ("max", Part::Max),
];

const PROBLEMS: [(&str, Problem); 9] = [
    ("lost", Problem::Lost),
    ("late", Problem::Late),
    ("duplicated", Problem::Duplicated),
    ("reordered", Problem::Reordered),
    ("corrupted", Problem::Corrupted),
    ("unexpected", Problem::Unexpected),
    ("stray", Problem::Stray),
    ("stalls", Problem::Stalls),
    ("missed", Problem::Missed),
];

const OTHERS: [(&str, Figure); 9] = [
    ("in-throughput", Figure::Rate(Carried::In)),
    ("out-throughput", Figure::Rate(Carried::Out)),
    ("throughput", Figure::Rate(Carried::Both)),
    ("exchanges", Figure::Exchanges),
    ("achieved-depth", Figure::AchievedDepth),
    ("limit-used", Figure::LimitUsed),
    ("control.cost", Figure::Control(LoopFigure::Cost)),
    ("control.growth", Figure::Control(LoopFigure::Growth)),
    ("longest", Figure::Longest),
];

/// Other spellings: the field's word for the SD of the RTT, those of `stream --require`, and of the fields of `run.json`.
const ALIASES: [(&str, Figure); 4] = [
    ("jitter", Figure::Time(Times::Rtt, Part::Sd)),
    ("rate", Figure::Rate(Carried::Both)),
    ("used", Figure::LimitUsed),
    ("transfers", Figure::Exchanges),
];

/// The figures of an exchange point, for people who mistyped one.
pub const OF_EXCHANGES: &str = "p50, p90, p99, p99.9, mean, sd, jitter (of the RTT), mean+sd, iqr, p99-p50, min, max3, \
     max, the same of rtt., trt., from-intended., device., connect., access. or transfer., trt, lost, \
     late, duplicated, reordered, corrupted, in-throughput, out-throughput, throughput, exchanges, \
     achieved-depth and limit-used";

/// The figures of a control loop, for people who mistyped one.
pub const OF_CONTROL: &str = "control.cost and control.growth";

/// The figures of the cycles of a period, for people who mistyped one.
pub const OF_CYCLES: &str = "missed and longest";

/// The figures of a stream point, for people who mistyped one.
pub const OF_STREAMS: &str = "in-throughput, out-throughput, throughput (or rate), gap.p99 (and .mean, \
     .sd, .mean+sd, .p50, .p90, .p99.9, .iqr, .p99-p50, .min, .max3, .max), the same of transfer. or \
     host-gap., lost, duplicated, corrupted, stray, stalls, missed, transfers, achieved-depth and limit-used \
     (or used)";

fn named<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    let found = table.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value)
}

fn name_of<T: PartialEq>(table: &[(&'static str, T)], value: &T) -> &'static str {
    let found = table.iter().find(|(_, known)| known == value);
    found.map_or("", |(name, _)| *name)
}

impl Figure {
    /// The figure of this name, of exchanges or of streams. A percentile alone is one of the answers;
    /// `rtt`, `trt`, `device`, `connect` and `access` alone are means. Problems are shares.
    pub fn parse(name: &str) -> Option<Figure> {
        if let Some(part) = named(&PARTS, name) {
            return Some(Figure::Time(Times::Answer, part));
        }
        if let Some(problem) = named(&PROBLEMS, name) {
            return Some(match problem {
                Problem::Stalls => Figure::Count(problem),
                _ => Figure::Share(problem),
            });
        }
        if let Some(figure) = named(&OTHERS, name).or(named(&ALIASES, name)) {
            return Some(figure);
        }
        let times = |name: &str| named(&TIMES, &name.replace('_', "-"));
        match name.split_once('.') {
            Some((of, part)) => Some(Figure::Time(times(of)?, named(&PARTS, part)?)),
            None => times(name)
                .filter(|times| {
                    // Of a stream the longest matter as much as the mean, so that is to be said.
                    !matches!(times, Times::Transfer | Times::Gap | Times::HostGap)
                })
                .map(|times| Figure::Time(times, Part::Mean)),
        }
    }

    /// In which unit it is.
    pub fn unit(self) -> Unit {
        match self {
            Figure::Time(..) => Unit::Time,
            Figure::Share(_) | Figure::LimitUsed => Unit::Share,
            Figure::Count(_) | Figure::Longest => Unit::Count,
            Figure::Rate(_) => Unit::Rate,
            Figure::Exchanges => Unit::Frequency,
            Figure::AchievedDepth | Figure::Control(_) => Unit::Number,
        }
    }

    /// Which way is better.
    pub fn better(self) -> Better {
        match self {
            Figure::Rate(_) | Figure::Exchanges | Figure::AchievedDepth | Figure::LimitUsed => {
                Better::Higher
            }
            _ => Better::Lower,
        }
    }

    /// True of a figure that says what was seen, without saying how far it holds for what was not:
    /// an extreme, a spread, a count. Its estimate has the value itself for bounds.
    pub fn is_bare(self) -> bool {
        match self {
            Figure::Time(_, part) => !matches!(
                part,
                Part::Mean | Part::P50 | Part::P90 | Part::P99 | Part::P999
            ),
            Figure::Count(_) | Figure::AchievedDepth | Figure::Longest => true,
            Figure::Control(figure) => figure == LoopFigure::Growth,
            Figure::Share(_) | Figure::Rate(_) | Figure::Exchanges | Figure::LimitUsed => false,
        }
    }

    /// True if it is one of a control loop, which requires a model of the loop.
    pub fn is_of_control(self) -> bool {
        matches!(self, Figure::Control(_))
    }

    /// True if it is one of the cycles of a period.
    pub fn is_of_cycles(self) -> bool {
        matches!(
            self,
            Figure::Share(Problem::Missed) | Figure::Count(Problem::Missed) | Figure::Longest
        )
    }

    /// True if an exchange point has it; those of a control loop require a model of the loop, too.
    pub fn is_of_exchanges(self) -> bool {
        match self {
            Figure::Time(times, _) => !matches!(times, Times::Gap | Times::HostGap),
            Figure::Share(problem) | Figure::Count(problem) => {
                !matches!(problem, Problem::Stray | Problem::Stalls | Problem::Missed)
            }
            Figure::Longest => false,
            _ => true,
        }
    }

    /// True if a stream point has it.
    pub fn is_of_streams(self) -> bool {
        match self {
            Figure::Time(times, _) => {
                matches!(times, Times::Transfer | Times::Gap | Times::HostGap)
            }
            Figure::Share(problem) | Figure::Count(problem) => {
                !matches!(problem, Problem::Late | Problem::Reordered)
            }
            Figure::Control(_) | Figure::Longest => false,
            _ => true,
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Figure::Time(Times::Answer, part) => f.write_str(name_of(&PARTS, part)),
            Figure::Time(Times::Trt, Part::Mean) => f.write_str("trt"),
            Figure::Time(times, part) => {
                write!(f, "{}.{}", name_of(&TIMES, times), name_of(&PARTS, part))
            }
            Figure::Share(problem) | Figure::Count(problem) => {
                f.write_str(name_of(&PROBLEMS, problem))
            }
            other => f.write_str(name_of(&OTHERS, other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back_as_itself() {
        let parts = PARTS.iter().map(|(name, _)| (*name).to_owned());
        let times = TIMES
            .iter()
            .flat_map(|(times, _)| PARTS.iter().map(move |(part, _)| format!("{times}.{part}")));
        let others = PROBLEMS.iter().map(|(name, _)| (*name).to_owned());
        let more = OTHERS.iter().map(|(name, _)| (*name).to_owned());
        let mut read = 0;
        for name in parts.chain(times).chain(others).chain(more) {
            let figure = Figure::parse(&name).unwrap_or_else(|| panic!("{name} is not read"));
            if name != "trt.mean" {
                assert_eq!(figure.to_string(), name);
            }
            assert_eq!(Figure::parse(&figure.to_string()), Some(figure));
            let is_somewhere =
                figure.is_of_exchanges() || figure.is_of_streams() || figure.is_of_cycles();
            assert!(is_somewhere, "{name}");
            read += 1;
        }
        assert!(read > 100, "{read}");
    }

    #[test]
    fn the_figures_of_a_control_loop_are_neither_of_streams_nor_of_a_point_alone() {
        for name in ["control.cost", "control.growth"] {
            let figure = Figure::parse(name).expect("a figure");
            assert!(figure.is_of_control() && !figure.is_of_streams(), "{name}");
            assert!(OF_CONTROL.contains(name) && !OF_EXCHANGES.contains(name));
        }
        assert_eq!(Figure::parse("control"), None);
        assert_eq!(Figure::parse("control.p99"), None);
    }

    #[test]
    fn a_bare_time_is_its_mean_and_what_is_no_figure_is_refused() {
        assert_eq!(Figure::parse("trt"), Figure::parse("trt.mean"));
        assert_eq!(Figure::parse("rate"), Figure::parse("throughput"));
        assert_eq!(
            Figure::parse("from_intended.p99"),
            Figure::parse("from-intended.p99")
        );
        for name in [
            "", "p98", "rtt.", "rtt.p98", ".p99", "gap", "transfer", "rtt.lost", "speed",
        ] {
            assert_eq!(Figure::parse(name), None, "{name}");
        }
    }
}
