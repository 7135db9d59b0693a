//! What differs between runs, and how sure that is. Runs go in, plain data comes out; what it looks
//! like is decided elsewhere. docs/compare.md has the method.

#![forbid(unsafe_code)]

mod conditions;
mod error;
mod exchange;
mod figure;
mod hosts;
mod key;
mod matching;
mod outcome;
mod portion;
mod setting;
mod side;
mod stream;

pub use conditions::Changed;
pub use error::CompareError;
pub use figure::{Figure, Statistic};
pub use key::{Key, Place};
pub use outcome::{
    Compared, ComparedPoint, Comparison, HostDifference, HostSide, RunNote, Unmatched, Verdict,
};
pub use portion::Portion;
pub use setting::{Setting, Settings, alone_or_together, link_name};
pub use side::{Comparable, Found, Read};

use wiregauge_run::{Exchange, Run, RunError, RunKind, Stored, Stream};
use wiregauge_stats::{Confidence, Estimate, difference};

/// Compares runs of one kind, one or more a side. To the figures that are always compared it adds those that are `asked` for,
/// where the runs have them; `wanted` keeps the figures down to those for which
/// it is true: the fewer are compared, the smaller a difference can be shown, so they should be
/// chosen before looking. Reads every sample; `progress` is given the part that is done.
pub fn compare(
    before: &[&dyn Stored],
    after: &[&dyn Stored],
    asked: &[Figure],
    wanted: &dyn Fn(&Figure) -> bool,
    progress: &dyn Fn(f64),
) -> Result<Comparison, CompareError> {
    let all = || before.iter().chain(after);
    let Some(first) = all().next() else {
        return Err(CompareError::NothingToCompare);
    };
    let (kind, name) = (first.kind(), first.name());
    if let Some(other) = all().find(|run| run.kind() != kind) {
        return Err(CompareError::Kinds {
            one: name,
            kind,
            other: other.name(),
            other_kind: other.kind(),
        });
    }
    if let (Some(before), Some(after)) = (each::<Exchange>(before), each::<Exchange>(after)) {
        return compare_kind(&before, &after, asked, wanted, progress);
    }
    if let (Some(before), Some(after)) = (each::<Stream>(before), each::<Stream>(after)) {
        return compare_kind(&before, &after, asked, wanted, progress);
    }
    Err(CompareError::Kind { kind })
}

fn each<'a, K: RunKind>(runs: &[&'a dyn Stored]) -> Option<Vec<&'a Run<K>>> {
    runs.iter().map(|run| run.as_kind()).collect()
}

/// The same for runs whose kind is known: [`compare`] is this for each kind that can be compared.
pub fn compare_kind<K: Comparable>(
    before: &[&Run<K>],
    after: &[&Run<K>],
    asked: &[Figure],
    wanted: &dyn Fn(&Figure) -> bool,
    progress: &dyn Fn(f64),
) -> Result<Comparison, CompareError> {
    let all: Vec<&Run<K>> = before.iter().chain(after).copied().collect();
    let mut figures = K::figures(&all, asked);
    let mut seen = Vec::new();
    figures.retain(|figure| {
        let is_new = !seen.contains(figure);
        seen.push(*figure);
        is_new && wanted(figure)
    });
    let (keys, unmatched) = matching::matched(
        &places(before),
        &places(after),
        &names(before),
        &names(after),
    );
    if keys.is_empty() {
        return Err(CompareError::NoPointInCommon {
            before: names(before).join(", "),
            after: names(after).join(", "),
        });
    }
    if figures.is_empty() {
        return Err(CompareError::NoFigure { kind: K::NAME });
    }
    let points_compared = keys.len();
    let bounded = figures.iter().filter(|figure| figure.has_interval());
    let family = points_compared * bounded.count();
    let sure = Confidence::NINETY_FIVE.shared_by(family);
    let scheduled = all.iter().all(|run| K::is_scheduled(run));
    let mut notes = Vec::new();
    let mut points = Vec::new();
    let mut disturbed = [Disturbed::default(), Disturbed::default()];
    for (at, (key, places_before, places_after)) in keys.into_iter().enumerate() {
        let read = |runs: &[&Run<K>], places: &[usize]| -> Result<Vec<Read>, RunError> {
            let each = runs.iter().zip(places);
            each.map(|(run, &place)| K::read(run, place, &figures, scheduled, sure))
                .collect()
        };
        let (of_before, of_after) = (read(before, &places_before)?, read(after, &places_after)?);
        for (side, read) in [("before", &of_before), ("after", &of_after)] {
            let printed = read.iter().flat_map(|read| &read.notes);
            notes.extend(printed.map(|note| format!("{key}, {side}: {note}")));
        }
        for (disturbed, reads) in disturbed.iter_mut().zip([&of_before, &of_after]) {
            reads.iter().for_each(|read| disturbed.hear(read));
        }
        points.push(ComparedPoint {
            samples_before: of_before.iter().map(|read| read.samples).sum(),
            samples_after: of_after.iter().map(|read| read.samples).sum(),
            figures: (0..figures.len())
                .map(|i| compared(figures[i], i, &of_before, &of_after, sure))
                .collect(),
            point: key,
        });
        progress((at + 1) as f64 / points_compared as f64);
    }
    for (side, disturbed) in ["before", "after"].into_iter().zip(&disturbed) {
        notes.extend(disturbed.printed(side));
    }
    notes.extend(K::notes(&all));
    Ok(Comparison {
        kind: K::NAME,
        before: before.iter().map(|run| RunNote::of(*run)).collect(),
        after: after.iter().map(|run| RunNote::of(*run)).collect(),
        confidence: 1.0 - Confidence::NINETY_FIVE.missed(),
        compared: family,
        hosts: K::hosts(before, after, &points),
        changed: K::changed(before, after),
        points,
        unmatched,
        notes,
    })
}

fn compared(
    figure: Figure,
    at: usize,
    before: &[Read],
    after: &[Read],
    sure: Confidence,
) -> Compared {
    let all = before.iter().chain(after);
    let per_event = all.filter_map(|read| read.found[at].as_ref()?.per_event());
    let per_event = per_event.fold(1.0, f64::max);
    let side = |reads: &[Read]| -> Option<Vec<Estimate>> {
        let found = reads.iter().map(|read| read.found[at].as_ref());
        let estimate = |found: Option<&Found>| found?.estimate(per_event, reads.len(), sure);
        found.map(estimate).collect()
    };
    let sides = side(before).zip(side(after));
    let difference = sides.and_then(|(before, after)| difference(&before, &after, sure));
    Compared {
        figure,
        verdict: Verdict::of(figure, difference.as_ref()),
        difference,
    }
}

/// How many points of a side were disturbed, and by what.
#[derive(Default)]
struct Disturbed {
    points: usize,
    of: usize,
    by: Vec<&'static str>,
}

impl Disturbed {
    fn hear(&mut self, read: &Read) {
        self.of += 1;
        self.points += usize::from(!read.disturbed.is_empty());
        for by in &read.disturbed {
            if !self.by.contains(by) {
                self.by.push(by);
            }
        }
    }

    fn printed(&self, side: &str) -> Option<String> {
        (self.points > 0).then(|| {
            format!(
                "{side}: disturbances at {} of {} points ({}), which may cause a difference",
                self.points,
                self.of,
                self.by.join(", ")
            )
        })
    }
}

fn names<K: Comparable>(runs: &[&Run<K>]) -> Vec<String> {
    runs.iter().map(|run| run.name()).collect()
}

fn places<K: Comparable>(runs: &[&Run<K>]) -> Vec<Vec<Place>> {
    runs.iter().map(|run| K::places(run)).collect()
}
