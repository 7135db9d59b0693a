//! What is printed of a run by default: one table that fits the terminal, and one sentence.

mod answer;
mod closed_loop;
mod depths;
mod exchange;
mod points;
mod stream;

pub(super) use closed_loop::of_loop;
pub(super) use exchange::of_exchange;
pub(super) use stream::of_stream;

use super::Table;
use super::places::Places;
use super::sentence::sentence;
use wiregauge_record::Ending;
use wiregauge_stats::Estimate;

/// A faster point is one that is faster by more than the scatter of short runs.
const SATURATED: f64 = 0.95;

/// With so many samples, a rate is one also without an interval.
const MANY: u64 = 1_000;

/// Words of a sentence at most.
const MOST_WORDS: usize = 25;

/// What is printed of a run by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Brief {
    /// The answer in one sentence, from the summaries.
    pub answer: String,
    /// The table, and those that were requested by a flag.
    tables: Vec<Wide>,
}

/// A table whose settings stand in lines of their own where it is too wide.
#[derive(Clone, Debug, PartialEq)]
struct Wide {
    table: Table,
    /// The first columns, which tell the rows apart.
    settings: usize,
    /// The settings of each row in words.
    labels: Vec<String>,
}

impl From<Table> for Wide {
    fn from(table: Table) -> Wide {
        Wide {
            table,
            settings: 0,
            labels: Vec::new(),
        }
    }
}

impl Wide {
    /// A table with a row for each of these points, whose first columns name it.
    fn new(table: Table, places: &Places, rows: impl Iterator<Item = u32>) -> Wide {
        Wide {
            table,
            settings: places.heads().len(),
            labels: rows.map(|index| places.name(&[index])).collect(),
        }
    }

    fn table(&self, width: usize) -> Table {
        match self.table.width() > width {
            true => self.table.labelled(self.settings, &self.labels),
            false => self.table.clone(),
        }
    }
}

impl Brief {
    /// A sentence and its tables.
    pub fn of_tables(answer: String, tables: impl Iterator<Item = Table>) -> Brief {
        Brief {
            answer,
            tables: tables.map(Wide::from).collect(),
        }
    }

    /// A sentence and a table with a row for each of these points, whose first columns name it.
    pub(super) fn of_points(answer: String, table: Table, places: &Places, rows: &[u32]) -> Brief {
        Brief {
            answer,
            tables: vec![Wide::new(table, places, rows.iter().copied())],
        }
    }

    /// The tables, of so many columns where they can be.
    pub fn tables(&self, width: usize) -> impl Iterator<Item = Table> {
        self.tables.iter().map(move |wide| wide.table(width))
    }
}

/// A sentence of these parts, the most important first: those that fit in it.
pub(super) fn sentence_of(parts: impl IntoIterator<Item = String>) -> String {
    let mut words = 0;
    let mut fitting: Vec<String> = Vec::new();
    for part in parts {
        let more = part.split_whitespace().count();
        if fitting.is_empty() || words + more <= MOST_WORDS {
            words += more;
            fitting.push(part);
        }
    }
    sentence(&fitting.join("; "))
}

/// The rate at a depth (or queue).
struct Rated {
    /// Of its point.
    index: u32,
    setting: u32,
    /// `None` if nothing was measured.
    rate: Option<f64>,
    is_sure: bool,
}

/// True if a rate is more than that of a few samples.
fn is_sure(ending: &Ending, rate: Option<&Estimate>, samples: u64) -> bool {
    let has_interval = rate.is_some_and(|rate| rate.low.is_some() && rate.high.is_some());
    *ending == Ending::Complete && (has_interval || samples >= MANY)
}

/// From which depth (or queue) on it is as fast as at any other of the planned points; `None` for one depth, and
/// where a point is missing, is not whole or has few samples: it does not show where the rate ends.
fn saturation(
    name: &str,
    mut planned: impl Iterator<Item = u32>,
    measured: Vec<Rated>,
) -> Option<String> {
    let is_there = |index| measured.iter().any(|rated| rated.index == index);
    let is_whole = planned.all(is_there) && measured.iter().all(|rated| rated.is_sure);
    let rates = measured
        .iter()
        .filter_map(|rated| Some((rated.setting, rated.rate?)));
    let mut rates: Vec<(u32, f64)> = rates.filter(|_| is_whole).collect();
    rates.sort_by_key(|rate| rate.0);
    rates.dedup_by_key(|rate| rate.0);
    let deepest = rates.last()?.0;
    let highest = rates.iter().map(|rate| rate.1).fold(0.0, f64::max);
    let (first, _) = *rates.iter().find(|rate| rate.1 >= SATURATED * highest)?;
    match (rates.len() > 1, first < deepest) {
        (false, _) => None,
        (true, true) => Some(format!("saturated at {name} {first}")),
        (true, false) => Some(format!("no saturation up to {name} {deepest}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saturation_is_the_lowest_depth_that_is_as_fast_as_the_fastest() {
        let of = |rates: &[(u32, f64)]| {
            let rated = |&(setting, rate): &(u32, f64)| Rated {
                index: setting,
                setting,
                rate: Some(rate),
                is_sure: true,
            };
            saturation(
                "depth",
                rates.iter().map(|rate| rate.0),
                rates.iter().map(rated).collect(),
            )
        };
        assert_eq!(
            of(&[(4, 99.0), (1, 30.0), (8, 100.0)]).as_deref(),
            Some("saturated at depth 4")
        );
        assert_eq!(
            of(&[(1, 30.0), (2, 60.0), (8, 100.0)]).as_deref(),
            Some("no saturation up to depth 8")
        );
        // More is slower.
        assert_eq!(
            of(&[(1, 100.0), (2, 60.0)]).as_deref(),
            Some("saturated at depth 1")
        );
        assert_eq!(of(&[(4, 99.0)]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn a_part_that_does_not_fit_in_a_sentence_is_left_out() {
        let of = |count: usize| vec!["word"; count].join(" ");
        let parts = |counts: &[usize]| sentence_of(counts.iter().map(|&count| of(count)));
        assert_eq!(parts(&[20, 6, 5]), format!("W{}; {}.", &of(20)[1..], of(5)));
        assert_eq!(parts(&[30, 1]), format!("W{}.", &of(30)[1..]));
    }
}
