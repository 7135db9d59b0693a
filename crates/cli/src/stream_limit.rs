//! `--require` of `wiregauge stream`: a limit that every point must keep.

use crate::values;
use wiregauge_record::{FlowSummary, Way};
use wiregauge_stats::Distribution;

/// A limit that a run must keep.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamLimit {
    /// As it was written.
    pub text: String,
    way: Option<Way>,
    figure: Figure,
    relation: Relation,
    value: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Relation {
    Below,
    Above,
    Equal,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    /// Bytes a second.
    Rate,
    /// Part of the physical limit.
    Used,
    Time(Times, Part),
    /// Bytes, or stalls.
    Count(Count),
    /// Bytes as a part of those sent.
    Share(Count),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Times {
    Gap,
    HostGap,
    Transfer,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Mean,
    P50,
    P90,
    P99,
    P999,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Count {
    Lost,
    Duplicated,
    Corrupted,
    Stray,
    Stalls,
}

/// `in.rate>1MB/s`, `lost=0`, `gap.max<5ms`.
pub fn parse(text: &str) -> Result<StreamLimit, String> {
    let wrong = |why: &str| {
        format!(
            "`{text}` is no limit: {why} ([in.|out.]FIGURE and <, > or = VALUE; figures are rate, \
             used, lost, duplicated, corrupted, stray, stalls, and gap, host-gap or transfer with \
             .mean, .p50, .p90, .p99, .p99.9 or .max; such as in.rate>1MB/s, lost=0, gap.max<5ms)"
        )
    };
    let at = text
        .find(['<', '>', '='])
        .ok_or_else(|| wrong("there is no <, > or = in it"))?;
    let (name, value) = (text[..at].trim(), text[at + 1..].trim());
    let relation = match &text[at..=at] {
        "<" => Relation::Below,
        ">" => Relation::Above,
        _ => Relation::Equal,
    };
    let (way, name) = match name.split_once('.') {
        Some(("in", rest)) => (Some(Way::In), rest),
        Some(("out", rest)) => (Some(Way::Out), rest),
        _ => (None, name),
    };
    let figure = figure(name).ok_or_else(|| wrong("there is no such figure"))?;
    let share = |value: &str| {
        let number = value.strip_suffix('%')?.trim().parse::<f64>().ok()?;
        (0.0..=100.0).contains(&number).then_some(number / 100.0)
    };
    let (figure, value) = match figure {
        Figure::Rate => (
            figure,
            values::byte_rate(value).map_err(|why| wrong(&why))?.0 as f64,
        ),
        Figure::Used => (
            figure,
            share(value).ok_or_else(|| wrong("it is given in %"))?,
        ),
        Figure::Time(..) => {
            let time = values::duration(value).map_err(|why| wrong(&why))?;
            (figure, time.as_nanos() as f64)
        }
        Figure::Count(count) | Figure::Share(count) => match share(value) {
            Some(part) if count != Count::Stalls => (Figure::Share(count), part),
            _ => {
                let number: u64 = value
                    .parse()
                    .map_err(|_| wrong("it is given as a number of bytes or in %"))?;
                (Figure::Count(count), number as f64)
            }
        },
    };
    Ok(StreamLimit {
        text: text.to_string(),
        way,
        figure,
        relation,
        value,
    })
}

fn figure(name: &str) -> Option<Figure> {
    let (times, part) = match name.split_once('.') {
        Some((times, part)) => (times, Some(part)),
        None => (name, None),
    };
    let times = match times {
        "gap" => Times::Gap,
        "host-gap" => Times::HostGap,
        "transfer" => Times::Transfer,
        _ => {
            return Some(match name {
                "rate" => Figure::Rate,
                "used" => Figure::Used,
                "lost" => Figure::Count(Count::Lost),
                "duplicated" => Figure::Count(Count::Duplicated),
                "corrupted" => Figure::Count(Count::Corrupted),
                "stray" => Figure::Count(Count::Stray),
                "stalls" => Figure::Count(Count::Stalls),
                _ => return None,
            });
        }
    };
    let part = match part? {
        "mean" => Part::Mean,
        "p50" => Part::P50,
        "p90" => Part::P90,
        "p99" => Part::P99,
        "p99.9" => Part::P999,
        "max" => Part::Max,
        _ => return None,
    };
    Some(Figure::Time(times, part))
}

impl StreamLimit {
    /// True if one way of a point keeps it, or is none that it speaks of. What was not measured
    /// keeps no limit, and without the device's word no byte is known to have arrived.
    pub fn is_kept_by(&self, flow: &FlowSummary) -> bool {
        if self.way.is_some_and(|way| way != flow.way) {
            return true;
        }
        let Some(value) = self.value_of(flow) else {
            return false;
        };
        match self.relation {
            Relation::Below => value < self.value,
            Relation::Above => value > self.value,
            Relation::Equal => value == self.value,
        }
    }

    fn value_of(&self, flow: &FlowSummary) -> Option<f64> {
        let count = |count: Count| {
            let counts = &flow.counts;
            let unknown = flow.way == Way::Out && counts.received == 0 && flow.device.is_none();
            (!unknown).then_some(match count {
                Count::Lost => counts.lost,
                Count::Duplicated => counts.duplicated,
                Count::Corrupted => counts.corrupted,
                Count::Stray => counts.stray,
                Count::Stalls => flow.stalls,
            } as f64)
        };
        match self.figure {
            Figure::Rate => Some(flow.rate.as_ref()?.value),
            Figure::Used => Some(flow.limit.as_ref()?.used),
            Figure::Count(which) => count(which),
            Figure::Share(which) => Some(count(which)? / flow.counts.sent.max(1) as f64),
            Figure::Time(times, part) => {
                let times = match times {
                    Times::Gap => flow.gap.as_ref(),
                    Times::HostGap => flow.host_gap.as_ref(),
                    Times::Transfer => flow.transfer_time.as_ref(),
                };
                times.map(|times| of_distribution(times, part))
            }
        }
    }
}

fn of_distribution(times: &Distribution, part: Part) -> f64 {
    match part {
        Part::Mean => times.mean.value,
        Part::P50 => times.p50.value,
        Part::P90 => times.p90.value,
        Part::P99 => times.p99.value,
        Part::P999 => times.p999.value,
        Part::Max => times.max,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_names_a_way_a_figure_and_a_value() {
        let limit = parse("in.rate > 1MB/s").unwrap();
        assert_eq!((limit.way, limit.figure), (Some(Way::In), Figure::Rate));
        assert_eq!((limit.relation, limit.value), (Relation::Above, 1e6));
        let limit = parse("gap.p99.9<5ms").unwrap();
        assert_eq!(limit.figure, Figure::Time(Times::Gap, Part::P999));
        assert_eq!((limit.way, limit.value), (None, 5e6));
        assert_eq!(parse("lost=0").unwrap().figure, Figure::Count(Count::Lost));
        assert_eq!(
            parse("lost<0.1%").unwrap().figure,
            Figure::Share(Count::Lost)
        );
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
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
