//! Several runs side by side, in words: the figures that matter at points that all of them have, and
//! the conditions in which they differ. Whether the figures differ is for `wiregauge_compare` to say.

use super::card::{best, smallest};
use super::measure::{Measure, Named, places};
use crate::Subject;
use wiregauge_record::Way;

/// A figure of every run at the same point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// Which figure, at which point.
    pub(super) name: (String, String),
    /// One a run: value and interval.
    pub(super) values: Vec<(String, String)>,
}

/// What several runs differ in.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Differences {
    /// Side by side.
    pub(super) rows: Vec<Row>,
    /// Why there are none.
    pub(super) note: Option<String>,
    /// Conditions that are not the same in all: name, one value a run.
    pub(super) conditions: Vec<(String, Vec<String>)>,
}

/// Compares what the runs say; nothing to say of fewer than two.
pub(super) fn of(subjects: &[Subject]) -> Option<Differences> {
    if subjects.len() < 2 {
        return None;
    }
    let runs: Vec<Vec<Named<'_>>> = subjects.iter().map(|s| places(&s.run)).collect();
    let rows = rows(&runs);
    let note = rows.is_empty().then(|| {
        "The runs have no point in common (same sizes, same depth or queue; for a loop: same rate, channels \
         and block size), so their figures are not compared here."
            .into()
    });
    Some(Differences {
        rows,
        note,
        conditions: conditions(subjects),
    })
}

fn rows(runs: &[Vec<Named<'_>>]) -> Vec<Row> {
    let Some((first, rest)) = runs.split_first() else {
        return Vec::new();
    };
    let common = |named: &Named<'_>| rest.iter().all(|run| find(run, &named.name).is_some());
    let mut chosen: Vec<(Measure, &str)> = Vec::new();
    let shared: Vec<Named<'_>> = first
        .iter()
        .filter(|named| common(named))
        .cloned()
        .collect();
    if let Some(named) = smallest(&shared) {
        chosen.push((Measure::RttMedian, &named.name));
        chosen.push((Measure::RttTail, &named.name));
    }
    for measure in [Measure::Trt, Measure::Throughput, Measure::Latency] {
        chosen
            .extend(best(&shared, measure, |_| true).map(|(named, _)| (measure, &named.name[..])));
    }
    for way in [Way::In, Way::Out] {
        let found = best(&shared, Measure::Rate, |named| {
            named.place.way() == Some(way)
        });
        chosen.extend(found.map(|(named, _)| (Measure::Rate, &named.name[..])));
    }
    chosen
        .into_iter()
        .map(|(measure, name)| row(runs, measure, name))
        .collect()
}

fn find<'a>(run: &'a [Named<'a>], name: &str) -> Option<&'a Named<'a>> {
    run.iter().find(|named| named.name == name)
}

fn row(runs: &[Vec<Named<'_>>], measure: Measure, name: &str) -> Row {
    let estimates = runs.iter().map(|run| {
        let place = find(run, name)?.place;
        Some((place.measure(measure)?, place.missing()))
    });
    let values = estimates
        .map(|estimate| match estimate {
            Some((estimate, missing)) => (
                measure.value(&estimate),
                measure.interval(&estimate, missing),
            ),
            None => ("-".into(), "not measured".into()),
        })
        .collect();
    Row {
        name: (measure.name().into(), name.into()),
        values,
    }
}

fn conditions(subjects: &[Subject]) -> Vec<(String, Vec<String>)> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for (group, pairs) in subjects.iter().flat_map(|s| &s.tables.conditions) {
        for (name, _) in pairs {
            if !names.contains(&(group, name)) {
                names.push((group, name));
            }
        }
    }
    let value = |subject: &Subject, group: &str, name: &str| {
        let groups = subject.tables.conditions.iter();
        let mut pairs = groups
            .filter(|(title, _)| title == group)
            .flat_map(|(_, pairs)| pairs);
        let found = pairs.find(|(other, _)| other == name);
        found.map_or("-".into(), |(_, value)| value.clone())
    };
    names
        .into_iter()
        .filter_map(|(group, name)| {
            let values: Vec<String> = subjects.iter().map(|s| value(s, group, name)).collect();
            let differ = values.iter().any(|value| *value != values[0]);
            differ.then(|| {
                let whole = match name {
                    "" => group.to_owned(),
                    name => format!("{group}: {name}"),
                };
                (whole, values)
            })
        })
        .collect()
}
