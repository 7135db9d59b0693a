//! `--require` of `wiregauge deadline`: what must be shown to be kept at every point.

use crate::values::decimal_unit;
use wiregauge_quantity::grouped;
use wiregauge_report::load::DeadlinePoint;
use wiregauge_report::tables::missed_share;
use wiregauge_tune::{Bound, Compliance, Verdict};

/// A limit that a control loop must keep.
#[derive(Clone, Debug, PartialEq)]
pub struct DeadlineLimit {
    /// As it was written.
    pub text: String,
    figure: Figure,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    /// The share of cycles that miss.
    Missed(f64),
    /// Consecutive misses.
    Longest(u64),
}

/// `missed<0.1%`, `longest<3`.
pub fn parse(text: &str) -> Result<DeadlineLimit, String> {
    let wrong = |why: &str| {
        format!(
            "`{text}` is not a valid limit: {why} (missed<SHARE or longest<CYCLES; such as missed<0.1%, \
             missed<1e-6 or longest<3)"
        )
    };
    let (name, value) = text
        .split_once('<')
        .ok_or_else(|| wrong("`<` is missing"))?;
    let value = value.trim();
    let figure = match name.trim() {
        "missed" => {
            let share = share(value).ok_or_else(|| wrong("the share must be between 0 and 1"))?;
            Figure::Missed(share)
        }
        "longest" => {
            let cycles = value.parse().ok().filter(|&cycles: &u64| cycles > 0);
            Figure::Longest(
                cycles
                    .ok_or_else(|| wrong("the number of cycles must be a positive whole number"))?,
            )
        }
        other => return Err(wrong(&format!("unknown figure `{other}`"))),
    };
    Ok(DeadlineLimit {
        text: text.to_owned(),
        figure,
    })
}

fn share(text: &str) -> Option<f64> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
        None => text.parse().ok()?,
    };
    (share > 0.0 && share <= 1.0).then_some(share)
}

/// `1e6`, `100000`, `5M`; one in how many.
pub fn one_in(text: &str) -> Result<f64, String> {
    let (digits, unit) = decimal_unit(text);
    let number = digits
        .parse::<f64>()
        .ok()
        .map(|number| number * unit as f64);
    number
        .filter(|number| (2.0..=1e15).contains(number))
        .ok_or_else(|| {
            format!(
                "`{text}` is not a valid number of responses: use a number such as 1e6, 500k or 5M"
            )
        })
}

impl DeadlineLimit {
    /// What was measured at a point of what this limits.
    pub fn found(&self, point: &DeadlinePoint) -> String {
        match self.figure {
            Figure::Missed(_) => missed_share(point),
            Figure::Longest(_) => match point.cycles.longest_run {
                1 => "1 cycle".into(),
                longest => format!("{} cycles", grouped(longest)),
            },
        }
    }

    /// Whether a point meets it. One without a cycle meets nothing.
    pub fn judge(&self, point: &DeadlinePoint) -> Compliance {
        let cycles = &point.cycles;
        match self.figure {
            _ if cycles.cycles == 0 => Compliance::Violated,
            Figure::Missed(most) => Verdict::of(Bound::Below(most), Some(cycles.share)).compliance,
            Figure::Longest(most) if cycles.longest_run >= most => Compliance::Violated,
            Figure::Longest(_) => Compliance::Met,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_names_a_figure_and_a_value() {
        assert_eq!(
            parse("missed < 0.1%").unwrap().figure,
            Figure::Missed(0.001)
        );
        assert_eq!(parse("missed<1e-6").unwrap().figure, Figure::Missed(1e-6));
        assert_eq!(parse("longest<3").unwrap().figure, Figure::Longest(3));
        for text in [
            "missed",
            "missed<0",
            "missed<200%",
            "missed<x",
            "longest<0",
            "p99<2ms",
            "longest<1.5",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(one_in("1e6"), Ok(1e6));
        assert_eq!(one_in("5M"), Ok(5e6));
        for text in ["", "M", "1", "-5", "nan", "1e99"] {
            assert!(one_in(text).is_err(), "{text}");
        }
    }
}
