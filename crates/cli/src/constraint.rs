//! Limits as they are typed: a figure, a relation and a value with its unit, such as `p99<2ms`,
//! `in.rate>1MB/s` or `lost=0`. Of `--require`, and of `tune --subject-to`.

use crate::values;
use wiregauge_record::{
    Figure, FlowSummary, OF_CONTROL, OF_CYCLES, OF_EXCHANGES, OF_STREAMS, PointSummary, Times,
    Unit, Way,
};
use wiregauge_stats::Estimate;
use wiregauge_tune::{Bound, Compliance, Verdict};

/// What must hold of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// As it was written.
    pub text: String,
    /// Of a stream: only of this way.
    pub way: Option<Way>,
    /// The figure.
    pub figure: Figure,
    /// What it must be.
    pub relation: Relation,
    /// Than what, in the unit of the figure.
    pub value: f64,
}

/// What stands between a figure and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `=`
    Equal,
}

/// Longer ones first, so that `<=` is not taken for `<`.
const RELATIONS: [(&str, Relation); 5] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("<", Relation::Below),
    (">", Relation::Above),
    ("=", Relation::Equal),
];

/// Several of them, with commas between.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraints(pub Vec<Constraint>);

/// Whose figures may be limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Exchanges,
    Streams,
    Control,
    Cycles,
    Any,
}

impl Of {
    fn has(self, figure: Figure) -> bool {
        match self {
            Of::Exchanges => figure.is_of_exchanges() && !figure.is_of_control(),
            Of::Control => figure.is_of_control(),
            Of::Streams => figure.is_of_streams(),
            Of::Cycles => figure.is_of_cycles(),
            Of::Any => !figure.is_of_control(),
        }
    }

    /// What has them, their names and a limit on one.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Of::Exchanges => ("exchanges", OF_EXCHANGES, "p99<2ms"),
            Of::Streams => ("streams", OF_STREAMS, "in.rate>1MB/s"),
            Of::Control => ("a control loop", OF_CONTROL, "control.cost<20"),
            Of::Cycles => ("cycles", OF_CYCLES, "missed<0.1%"),
            Of::Any => ("any run", "", "p99<2ms"),
        }
    }

    /// What to say of a name that is no figure.
    fn unknown(self, name: &str) -> String {
        let known = match self {
            Of::Any => format!("exchanges have {OF_EXCHANGES}; streams have {OF_STREAMS}"),
            _ => format!("figures are {}", self.words().1),
        };
        format!("unknown figure `{name}`; {known}")
    }

    /// What to say of a figure of something else.
    fn foreign(self, name: &str, limit: &Constraint) -> String {
        let (what, names, _) = self.words();
        let instead = match (self, limit.figure) {
            // They come from the delays and the model of a loop.
            (Of::Exchanges | Of::Streams | Of::Any, Figure::Control(_)) => {
                return format!(
                    "`{0}` requires the model of a control loop: measure, then use wiregauge control RUN --model FILE \
                     --require '{1}'",
                    limit.figure, limit.text
                );
            }
            (Of::Streams, Figure::Time(Times::Answer, _)) => {
                format!(": use gap.{0} or transfer.{0}", limit.figure)
            }
            (Of::Control | Of::Cycles, _) => format!("; figures are {names}"),
            _ => String::new(),
        };
        format!("`{name}` is not a figure of {what}{instead}")
    }

    /// True of a figure that nobody wants to be large: a lower limit is a slip of the keyboard.
    fn needs_upper(self, figure: Figure) -> bool {
        let is_time = figure.unit() == Unit::Time && self != Of::Streams;
        is_time || figure.is_of_control() || self == Of::Cycles
    }
}

/// A limit of `exchange --require`: `p99<2ms`, `lost<0.1%`.
pub fn of_exchanges(text: &str) -> Result<Constraint, String> {
    limit(text, Of::Exchanges)
}

/// A limit of `stream --require`: `in.rate>1MB/s`, `lost=0`, `gap.max<5ms`.
pub fn of_streams(text: &str) -> Result<Constraint, String> {
    limit(text, Of::Streams)
}

/// A limit of `control --require` on a figure: `control.cost<20`, `control.growth<1`.
pub fn of_control(text: &str) -> Result<Constraint, String> {
    limit(text, Of::Control)
}

/// A limit of `deadline --require`: `missed<0.1%`, `longest<3`.
pub fn of_cycles(text: &str) -> Result<Constraint, String> {
    limit(text, Of::Cycles)
}

/// Constraints of `tune`, of exchanges or of streams: `rtt.p99.9 < 2ms, lost = 0`.
pub fn several(text: &str) -> Result<Constraints, String> {
    let one = |part: &str| {
        let found = limit(part, Of::Any).and_then(|found| {
            match found.relation == Relation::Equal && found.value != 0.0 {
                true => Err("a measured value never equals a limit exactly: use <= or >=".into()),
                false => Ok(found),
            }
        });
        found.map_err(|why| format!("`{}`: {why}", part.trim()))
    };
    let all: Result<Vec<Constraint>, String> = text.split(',').map(one).collect();
    Ok(Constraints(all?))
}

fn limit(text: &str, of: Of) -> Result<Constraint, String> {
    let limit = parse(text, of)?;
    let has_way = limit.way.is_some() && !matches!(of, Of::Streams | Of::Any);
    if has_way || !of.has(limit.figure) {
        let end = text.find(['<', '>', '=']).unwrap_or(text.len());
        return Err(of.foreign(text[..end].trim(), &limit));
    }
    let is_upper = match limit.figure {
        Figure::Control(_) => !limit.is_lower() && limit.relation != Relation::Equal,
        _ => !limit.is_lower(),
    };
    match of.needs_upper(limit.figure) && !is_upper {
        true => Err(format!(
            "`{}` needs an upper limit: use < or <=",
            limit.figure
        )),
        false => Ok(limit),
    }
}

/// A figure by its name, with what to say of a wrong one.
pub fn figure(text: &str) -> Result<Figure, String> {
    let name = text.trim();
    match Figure::parse(name) {
        Some(figure) if figure.is_of_control() => Err(format!(
            "`{name}` requires the model of a control loop: measure, then use wiregauge control RUN --model FILE"
        )),
        found => found.ok_or_else(|| Of::Any.unknown(name)),
    }
}

fn parse(text: &str, of: Of) -> Result<Constraint, String> {
    let no_relation = || {
        let (.., example) = of.words();
        format!(
            "the relation is missing: use FIGURE and <, <=, >, >= or = VALUE, such as {example}"
        )
    };
    let at = text.find(['<', '>', '=']).ok_or_else(no_relation)?;
    let (sign, relation) = RELATIONS
        .into_iter()
        .find(|(sign, _)| text[at..].starts_with(sign))
        .ok_or_else(no_relation)?;
    let (name, value) = (text[..at].trim(), text[at + sign.len()..].trim());
    let (way, name) = match name.split_once('.') {
        Some(("in", rest)) => (Some(Way::In), rest),
        Some(("out", rest)) => (Some(Way::Out), rest),
        _ => (None, name),
    };
    let figure = Figure::parse(name).ok_or_else(|| of.unknown(name))?;
    let (figure, value) = valued(figure, value)?;
    if way.is_some() && !figure.is_of_streams() {
        return Err("only streams have directions".into());
    }
    Ok(Constraint {
        text: text.trim().to_owned(),
        way,
        figure,
        relation,
        value,
    })
}

/// The value in the unit of the figure. A problem is limited as a share, `0.1%` or `1e-6`, or as a whole number of cases.
fn valued(figure: Figure, text: &str) -> Result<(Figure, f64), String> {
    let percent = || {
        let number = text.strip_suffix('%')?.trim().parse::<f64>().ok()?;
        (0.0..=100.0).contains(&number).then_some(number / 100.0)
    };
    let whole = || text.parse::<u64>().ok().map(|number| number as f64);
    let part = || {
        let number = text.parse::<f64>().ok();
        number.filter(|&number| number > 0.0 && number < 1.0)
    };
    let positive = |text: &str| {
        let number = text.trim().parse::<f64>().ok();
        number.filter(|number| number.is_finite() && *number >= 0.0)
    };
    let wrong = |what: &str, such_as: &str| {
        format!("`{text}` is not {what}: use a value such as {such_as}")
    };
    Ok(match figure {
        Figure::Time(..) => (figure, values::duration(text)?.as_nanos() as f64),
        Figure::Rate(_) => (figure, values::byte_rate(text)? as f64),
        Figure::LimitUsed => (figure, percent().ok_or_else(|| wrong("a share", "90%"))?),
        Figure::Exchanges => {
            let number = text.strip_suffix("/s").and_then(|number| {
                match number.trim_end().strip_suffix(['k', 'K']) {
                    Some(thousands) => positive(thousands).map(|number| number * 1e3),
                    None => positive(number),
                }
            });
            (
                figure,
                number.ok_or_else(|| wrong("a number per second", "500/s"))?,
            )
        }
        Figure::AchievedDepth | Figure::Control(_) => (
            figure,
            positive(text).ok_or_else(|| wrong("a number", "3.5"))?,
        ),
        Figure::Share(problem) => match (percent().or_else(part), whole()) {
            (Some(part), _) => (figure, part),
            (None, Some(number)) => (Figure::Count(problem), number),
            (None, None) => return Err(wrong("a share or a whole number", "0.1% or 0")),
        },
        Figure::Count(_) | Figure::Longest => {
            (figure, whole().ok_or_else(|| wrong("a whole number", "0"))?)
        }
    })
}

impl Constraint {
    /// True if it bounds from below.
    pub fn is_lower(&self) -> bool {
        matches!(self.relation, Relation::Above | Relation::AtLeast)
    }

    /// The part of the exchanges of a point that were not answered, where it reaches beyond the
    /// percentile that this limits.
    pub fn unanswered_share(&self, point: &PointSummary) -> Option<f64> {
        self.figure.unanswered_share(point)
    }

    /// Whether the samples of a point show that it is met: a percentile among the exchanges that were not answered is
    /// none.
    pub fn of_point(&self, point: &PointSummary) -> Compliance {
        match self.unanswered_share(point) {
            Some(_) => Compliance::Violated,
            None => self.judge(self.figure.of_point(point)),
        }
    }

    /// Whether a value with its interval meets it. What was not measured meets no limit.
    pub fn judge(&self, found: Option<Estimate>) -> Compliance {
        match found {
            None => Compliance::Violated,
            Some(found) if self.relation == Relation::Equal => match found.value == self.value {
                true => Compliance::Met,
                false => Compliance::Violated,
            },
            Some(_) => Verdict::of(self.bound(), found).compliance,
        }
    }

    /// As a search takes it. Of what it may equal only `= 0` is read there, of what cannot be less.
    pub fn bound(&self) -> Bound {
        match self.relation {
            Relation::Below => Bound::Below(self.value),
            Relation::Above => Bound::Above(self.value),
            Relation::AtLeast => Bound::AtLeast(self.value),
            Relation::AtMost | Relation::Equal => Bound::AtMost(self.value),
        }
    }

    /// True if it limits the streams in this direction.
    pub fn is_of(&self, way: Way) -> bool {
        self.way.is_none_or(|own| own == way) && self.figure.is_of_way(way)
    }

    /// Whether the samples of one way of a point show that it is met; a way that it does not speak of meets it.
    /// Without the device's word no byte is known to have arrived.
    pub fn of_flow(&self, flow: &FlowSummary) -> Compliance {
        match self.is_of(flow.way) {
            true => self.judge(self.figure.of_flow(flow)),
            false => Compliance::Met,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_record::{Carried, LoopFigure, Part, Problem};

    #[test]
    fn limits_name_a_figure_and_a_value() {
        assert_eq!(of_exchanges("p99.9 < 2ms").unwrap().value, 2e6);
        assert_eq!(of_exchanges("lost<0.1%").unwrap().value, 0.001);
        let limit = of_exchanges("exchanges >= 2.5k/s").unwrap();
        assert_eq!((limit.relation, limit.value), (Relation::AtLeast, 2500.0));
        for text in [
            "p98<2ms",
            "p99>2ms",
            "p99<2",
            "lost<2ms",
            "p99",
            "gap.p99<2ms",
            "in.lost=0",
            "exchanges>500",
            "in-throughput>5",
        ] {
            assert!(of_exchanges(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_error_is_short_and_says_what_to_use() {
        let exchanges = |text: &str| of_exchanges(text).unwrap_err();
        assert_eq!(
            exchanges("gap.p99<2ms"),
            "`gap.p99` is not a figure of exchanges"
        );
        let listed = exchanges("speed>2");
        assert!(
            listed.starts_with("unknown figure `speed`; figures are p50, p90"),
            "{listed}"
        );
        assert_eq!(
            exchanges("lost<2ms"),
            "`2ms` is not a share or a whole number: use a value such as 0.1% or 0"
        );
        assert_eq!(
            of_streams("p99<5ms").unwrap_err(),
            "`p99` is not a figure of streams: use gap.p99 or transfer.p99"
        );
        let listed = several("lost=0, p98<2ms").unwrap_err();
        assert!(
            listed.starts_with("`p98<2ms`: unknown figure `p98`; exchanges have p50"),
            "{listed}"
        );
        let listed = figure("throughputt").unwrap_err();
        assert!(listed.contains("; streams have in-throughput"), "{listed}");
    }

    #[test]
    fn a_limit_of_streams_names_a_way_a_figure_and_a_value() {
        let limit = of_streams("in.rate > 1MB/s").unwrap();
        assert_eq!(limit.figure, Figure::Rate(Carried::Both));
        assert_eq!((limit.way, limit.value), (Some(Way::In), 1e6));
        assert_eq!(limit.relation, Relation::Above);
        let limit = of_streams("gap.p99.9<5ms").unwrap();
        assert_eq!(limit.figure, Figure::Time(Times::Gap, Part::P999));
        assert_eq!((limit.way, limit.value), (None, 5e6));
        let figure = |text: &str| of_streams(text).unwrap().figure;
        assert_eq!(figure("lost=0"), Figure::Count(Problem::Lost));
        assert_eq!(figure("lost<0.1%"), Figure::Share(Problem::Lost));
        assert_eq!(figure("used>50%"), Figure::LimitUsed);
        assert_eq!(figure("stalls<=3"), Figure::Count(Problem::Stalls));
    }

    #[test]
    fn a_limit_of_a_control_loop_is_refused_where_there_is_no_model() {
        fn any(text: &str) -> Result<Constraint, String> {
            several(text).map(|mut all| all.0.remove(0))
        }
        let limit = of_control("control.cost < 20").unwrap();
        assert_eq!(limit.figure, Figure::Control(LoopFigure::Cost));
        assert_eq!((limit.relation, limit.value), (Relation::Below, 20.0));
        for refused in [of_exchanges, of_streams, any] {
            let why = refused("control.cost<20").unwrap_err();
            assert!(
                why.contains("requires the model of a control loop"),
                "{why}"
            );
        }
        for text in [
            "control.cost>20",
            "control.growth=0",
            "p99<2ms",
            "control.cost<2ms",
            "control.p99<1",
        ] {
            assert!(of_control(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_limit_of_cycles_is_a_share_a_count_or_a_burst() {
        let limit = |text: &str| of_cycles(text).map(|limit| (limit.figure, limit.value));
        let missed = Figure::Share(Problem::Missed);
        assert_eq!(limit("missed < 0.1%"), Ok((missed, 0.001)));
        assert_eq!(limit("missed<1e-6"), Ok((missed, 1e-6)));
        assert_eq!(limit("missed<3"), Ok((Figure::Count(Problem::Missed), 3.0)));
        assert_eq!(limit("longest<=3"), Ok((Figure::Longest, 3.0)));
        for text in [
            "missed",
            "missed<200%",
            "missed<x",
            "missed>1%",
            "p99<2ms",
            "lost<1%",
            "longest<1.5",
        ] {
            assert!(of_cycles(text).is_err(), "{text}");
        }
        for refused in [of_exchanges, of_streams] {
            assert!(refused("longest<3").is_err());
        }
    }

    #[test]
    fn what_is_no_limit_is_refused() {
        for text in [
            "rate",
            "rate>1",
            "gap<5ms",
            "gap.p98<5ms",
            "used>5",
            "stalls<1%",
            "up.rate>1MB/s",
            "lost=-1",
            "p99<5ms",
        ] {
            assert!(of_streams(text).is_err(), "{text}");
        }
    }

    #[test]
    fn constraints_stand_behind_each_other_with_commas_between() {
        let Constraints(all) = several("rtt.p99.9 < 2ms, lost = 0,in-throughput>=1MB/s").unwrap();
        let relations: Vec<Relation> = all.iter().map(|one| one.relation).collect();
        assert_eq!(
            relations,
            [Relation::Below, Relation::Equal, Relation::AtLeast]
        );
        assert_eq!(all[0].text, "rtt.p99.9 < 2ms");
        for text in ["", "p99<2ms,", "p99<2", "trt=2ms", "p99>2ms", "p98<2ms"] {
            assert!(several(text).is_err(), "{text}");
        }
    }
}
