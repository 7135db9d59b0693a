//! A warning as it is printed.

use super::codes::Code;
use std::fmt;

/// A warning: one line, and what it means for this run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Such as `W07`; [`WARNINGS`](super::WARNINGS) explains it.
    pub code: &'static str,
    /// What was found, and where.
    pub finding: String,
    /// Consequence and remedy, with the punctuation before it; may be empty.
    advice: String,
    /// False if it changes no answer.
    pub is_printed: bool,
}

impl Warning {
    pub(in crate::tables) fn new(
        code: Code,
        finding: String,
        advice: impl Into<String>,
    ) -> Warning {
        Warning {
            code: code.name(),
            finding,
            advice: advice.into(),
            is_printed: code.is_printed(),
        }
    }
}

/// Names points or rows: in brackets, with a blank before them.
pub(super) type Name<'a> = &'a dyn Fn(&[u32]) -> String;

/// These points or rows by their name; `None` if there are none.
pub(super) fn named(name: Name<'_>, indices: Vec<u32>) -> Option<String> {
    (!indices.is_empty()).then(|| name(&indices))
}

/// `3 %`, or `1 to 3 %`: from the lowest to the highest of these values.
pub(in crate::tables) fn spread(
    values: impl Iterator<Item = f64>,
    show: impl Fn(f64) -> String,
) -> String {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let (low, high) = (show(low), show(high));
    let unit = |text: &str| text.find(' ').map_or("", |at| &text[at..]).to_owned();
    match (low == high, unit(&low) == unit(&high)) {
        (true, _) => high,
        (false, true) => format!("{} to {high}", low.trim_end_matches(&unit(&high))),
        (false, false) => format!("{low} to {high}"),
    }
}

/// Finding, consequence and remedy.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}{}", self.finding, self.advice);
        let stop = match text.ends_with(['.', '?', '!']) {
            true => "",
            false => ".",
        };
        write!(f, "{text}{stop}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_of_several_points_is_a_range_where_they_differ() {
        let share = |values: &[f64]| spread(values.iter().copied(), wiregauge_quantity::percent);
        assert_eq!(share(&[0.03, 0.03]), "3 %");
        assert_eq!(share(&[0.03, 0.01, 0.02]), "1 to 3 %");
        let time = |values: &[f64]| spread(values.iter().copied(), wiregauge_quantity::time);
        assert_eq!(time(&[2e6, 300e3]), "300.0 us to 2.000 ms");
    }

    #[test]
    fn a_warning_is_a_sentence_with_or_without_advice() {
        let alone = Warning::new(Code::Cut, "not measured to the end (row 1)".into(), "");
        assert_eq!(alone.to_string(), "not measured to the end (row 1).");
        let advised = Warning::new(Code::Cut, "cut short".into(), ": repeat it.");
        assert_eq!(advised.to_string(), "cut short: repeat it.");
    }
}
