//! A warning as it is printed.

use super::codes::Code;
use std::fmt;
use wiregauge_quantity::grouped;
use wiregauge_record::PointSummary;

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
        let explained = code.explained();
        Warning {
            code: explained.code,
            finding,
            advice: advice.into(),
            is_printed: explained.is_printed,
        }
    }
}

/// Names points or rows, with a blank before.
pub(super) type Name<'a> = &'a dyn Fn(&[u32]) -> String;

/// The points (or flows) of a run, and what was found at some of them.
pub(super) struct Search<'a, R> {
    rows: Vec<(u32, R)>,
    /// Names rows by their numbers.
    pub(super) name: Name<'a>,
    pub(super) found: Vec<Warning>,
}

/// The points of an exchange run.
pub(super) type Points<'a> = Search<'a, &'a PointSummary>;

impl<'a, R: Copy> Search<'a, R> {
    /// Of rows with their numbers.
    pub(super) fn new(rows: impl Iterator<Item = (u32, R)>, name: Name<'a>) -> Search<'a, R> {
        Search {
            rows: rows.collect(),
            name,
            found: Vec::new(),
        }
    }

    /// A warning about the rows of which this is true; `finding` is given their name.
    pub(super) fn at(
        &mut self,
        code: Code,
        is_so: impl Fn(R) -> bool,
        finding: impl FnOnce(&str) -> String,
        advice: impl Into<String>,
    ) {
        let rows = self.rows.iter().filter(|(_, row)| is_so(*row));
        let numbers: Vec<u32> = rows.map(|(number, _)| *number).collect();
        if !numbers.is_empty() {
            let finding = finding(&(self.name)(&numbers));
            self.found.push(Warning::new(code, finding, advice));
        }
    }

    /// A warning about the rows that have this figure; `finding` is given its range and their name.
    pub(super) fn range(
        &mut self,
        code: Code,
        figure: impl Fn(R) -> Option<f64>,
        show: impl Fn(f64) -> String,
        finding: impl FnOnce(&str, &str) -> String,
        advice: impl Into<String>,
    ) {
        let range = self.spread(&figure, show);
        let has_it = |row| figure(row).is_some();
        self.at(code, has_it, |at| finding(&range, at), advice);
    }

    /// The range of a figure of the rows that have it.
    pub(super) fn spread(
        &self,
        figure: impl Fn(R) -> Option<f64>,
        show: impl Fn(f64) -> String,
    ) -> String {
        spread(self.rows().filter_map(figure), show)
    }

    /// The largest figure of all rows.
    pub(super) fn most(&self, figure: impl Fn(R) -> Option<f64>) -> f64 {
        self.rows().filter_map(figure).fold(0.0, f64::max)
    }

    /// The rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = R> {
        self.rows.iter().map(|(_, row)| *row)
    }
}

/// `count` of `all`, if there are any.
pub(super) fn share(count: u64, all: u64) -> Option<f64> {
    (count > 0).then(|| count as f64 / all.max(1) as f64)
}

/// A number of events, if there were any.
pub(super) fn some(count: u64) -> Option<f64> {
    (count > 0).then_some(count as f64)
}

/// `12 times`.
pub(super) fn times_of(count: f64) -> String {
    format!("{} times", grouped(count as u64))
}

/// `once`, `1 to 12 times`: a range of numbers of times.
pub(super) fn once(times: &str) -> &str {
    match times == "1 times" {
        true => "once",
        false => times,
    }
}

/// `3 %`, or `1 to 3 %`: a figure of all points that a warning names; empty if there are none.
pub(in crate::tables) fn spread(
    values: impl Iterator<Item = f64>,
    show: impl Fn(f64) -> String,
) -> String {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low > high {
        return String::new();
    }
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
