//! A comparison in words and tables: first the answer, then each point and figure.

use super::columns::Columns;
use super::markdown::line_of;
use super::table::NO_INTERVAL;
use super::{Table, hosts};
use std::collections::BTreeMap;
use std::fmt::Write;
use wiregauge_compare::{Changed, Compared, ComparedPoint, Comparison, Figure, RunNote, Verdict};
use wiregauge_quantity::{grouped, of_unit, time};
use wiregauge_record::{Figure as Named, Part, Problem, Times, Unit};
use wiregauge_stats::Estimate;

/// Points that one side lacks, named in a note; more are counted.
const UNMATCHED_NAMED: usize = 3;

/// The figure that is divided into parts.
const MEDIAN: Figure = Figure::Named(Named::Time(Times::Answer, Part::P50));

/// Named where it differs: the times are of what was not lost.
const LOST: Figure = Figure::Named(Named::Share(Problem::Lost));

/// What there is to say about a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparisonTables {
    /// Which runs.
    pub heading: Vec<String>,
    /// The largest change of an important figure, which part of the exchange it is in, and how many figures have
    /// which verdict.
    pub answer: Vec<String>,
    /// What the number of runs leaves open: belongs directly after the answer.
    pub caveat: Option<String>,
    /// Which of two hosts is slower, and why; empty if both sides ran on one.
    pub hosts: Vec<String>,
    /// What else differs and may be the cause; empty if nothing does.
    pub changed: Option<Table>,
    /// Every point and figure.
    pub figures: Table,
    /// The important figures, whatever their verdict, and those that are worse or better.
    pub important: Table,
    /// How to read it, and what it does not know.
    pub notes: Vec<String>,
}

impl ComparisonTables {
    /// All of it in GitHub's Markdown, to be pasted into an issue or a pull request.
    pub fn markdown(&self) -> String {
        let mut out = String::from("## wiregauge compare\n\n");
        let list = |out: &mut String, lines: &[String]| {
            for line in lines {
                let _ = writeln!(out, "- {}", line_of(line));
            }
            out.push('\n');
        };
        list(&mut out, &self.heading);
        for (at, line) in self.answer.iter().enumerate() {
            let mark = if at == 0 { "**" } else { "" };
            let _ = writeln!(out, "{mark}{}{mark}\n", line_of(line));
        }
        if let Some(caveat) = &self.caveat {
            let _ = writeln!(out, "{}\n", line_of(caveat));
        }
        list(&mut out, &self.hosts);
        for table in self.changed.iter().chain([&self.figures]) {
            let _ = writeln!(out, "### {}\n\n{}", line_of(&table.title), table.markdown());
        }
        list(&mut out, &self.notes);
        out
    }
}

/// Tells of a comparison.
pub fn of_comparison(comparison: &Comparison) -> ComparisonTables {
    ComparisonTables {
        heading: vec![
            heading("before", &comparison.before),
            heading("after", &comparison.after),
        ],
        answer: answer(comparison),
        caveat: caveat(comparison),
        hosts: comparison.hosts.iter().flat_map(hosts::sentences).collect(),
        changed: changed(comparison),
        figures: figures(comparison, &|_| true),
        important: figures(comparison, &is_important(comparison)),
        notes: notes(comparison),
    }
}

fn heading(side: &str, runs: &[RunNote]) -> String {
    let run = |run: &RunNote| match run.state.as_str() {
        "complete" => format!("{} ({})", run.name, run.started),
        state => format!("{} ({}, {state})", run.name, run.started),
    };
    let runs: Vec<String> = runs.iter().map(run).collect();
    format!("{side}: {}", runs.join(", "))
}

/// A figure and its point.
type Place<'a> = (&'a ComparedPoint, &'a Compared);

fn places(comparison: &Comparison) -> impl Iterator<Item = Place<'_>> {
    let points = comparison.points.iter();
    points.flat_map(|point| point.figures.iter().map(move |compared| (point, compared)))
}

/// Places with the largest change first.
fn by_size<'a>(places: impl Iterator<Item = Place<'a>>) -> Vec<Place<'a>> {
    let mut places: Vec<Place<'_>> = places.collect();
    places.sort_by(|a, b| size(b.1).total_cmp(&size(a.1)));
    places
}

fn size(compared: &Compared) -> f64 {
    compared.judged().map_or(0.0, |found| found.value.abs())
}

/// What is shown by default: if only other figures were compared, all of them.
fn is_important(comparison: &Comparison) -> impl Fn(&Compared) -> bool {
    let is_any = places(comparison).any(|(_, compared)| compared.figure.is_important());
    move |compared| {
        let figure = compared.figure;
        !is_any || figure.is_important() || !figure.has_interval() || is_shown(compared)
    }
}

fn answer(comparison: &Comparison) -> Vec<String> {
    let largest = largest(comparison);
    let several = comparison.points.len() > 1;
    let change = |(point, compared): &Place<'_>| {
        let changed = changed_by(compared)?;
        Some(match several {
            true => format!("{}: {changed}", point.point),
            false => changed,
        })
    };
    let changes: Vec<String> = largest.iter().filter_map(change).collect();
    let first = (!changes.is_empty()).then(|| format!("{}.", changes.join("; ")));
    let origin = largest.first().and_then(|(point, _)| origin(point));
    let lines = first.into_iter().chain(origin);
    lines.chain(verdict(comparison)).collect()
}

/// The largest significant change of an important figure; the largest that is inconclusive, if that is larger; and
/// the largest significant change of the losses.
fn largest(comparison: &Comparison) -> Vec<Place<'_>> {
    let is_any = places(comparison).any(|(_, compared)| compared.figure.is_important());
    let open = places(comparison).filter(|(_, compared)| {
        let figure = compared.figure;
        let is_open = compared.verdict != Verdict::NoDifferenceShown && size(compared) > 0.0;
        is_open && figure.has_interval() && (!is_any || figure.is_important())
    });
    let open = by_size(open);
    let significant = open.iter().position(|place| is_shown(place.1));
    let mut chosen: Vec<Place<'_>> = significant.map(|at| open[at]).into_iter().collect();
    if significant != Some(0) {
        chosen.extend(open.first());
    }
    let lost = open
        .iter()
        .find(|place| is_shown(place.1) && place.1.figure == LOST);
    let is_new = |lost: &&Place<'_>| !chosen.iter().any(|place| std::ptr::eq(place.1, lost.1));
    let lost = lost.filter(is_new);
    chosen.extend(lost);
    chosen
}

/// `p50 1.038 to 2.043 ms (+96.77 %): slower`.
fn changed_by(compared: &Compared) -> Option<String> {
    let (figure, judged) = (compared.figure, compared.judged()?);
    let difference = compared.difference.as_ref()?;
    let before = show(figure, difference.before.value);
    let after = show(figure, difference.after.value);
    let before = match before.rsplit_once(' ') {
        Some((number, unit)) if after.ends_with(&format!(" {unit}")) => number,
        _ => before.as_str(),
    };
    let why = match (judged.low, judged.high) {
        (None, None) => ", no interval",
        _ => "",
    };
    Some(format!(
        "{figure} {before} to {after} ({}): {}{why}",
        change(figure, judged.value),
        compared.verdict.words(figure)
    ))
}

/// Which part of the exchange took longer, where its median did; each part with its own verdict. Medians of parts
/// do not add up to that of the whole.
fn origin(point: &ComparedPoint) -> Option<String> {
    let median = point.figures.iter().find(|of| of.figure == MEDIAN)?;
    let longer_ns = median.difference.as_ref()?.absolute.value;
    if median.verdict == Verdict::NoDifferenceShown || longer_ns == 0.0 {
        return None;
    }
    let mut parts: Vec<(f64, String)> = Vec::new();
    for compared in &point.figures {
        let Figure::Portion(portion) = compared.figure else {
            continue;
        };
        let ns = compared.difference.as_ref()?.absolute.value;
        let sign = if ns < 0.0 { "" } else { "+" };
        let verdict = compared.verdict.words(compared.figure);
        let words = format!("{} {sign}{} ({verdict})", portion.words(), time(ns));
        parts.push((ns.abs(), words));
    }
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    let parts: Vec<String> = parts.into_iter().map(|(_, words)| words).collect();
    let way = if longer_ns > 0.0 { "longer" } else { "shorter" };
    let whole = format!("p50 is {} {way}", time(longer_ns.abs()));
    match parts.is_empty() {
        true => is_shown(median).then(|| format!("{whole}; where: not known.")),
        false => Some(format!("{whole}: {}.", parts.join(", "))),
    }
}

/// How many figures have which verdict, in the words of the table; `None` if none can have one.
fn verdict(comparison: &Comparison) -> Option<String> {
    let all = places(comparison).map(|(_, compared)| compared);
    let all: Vec<&Compared> = all.filter(|c| c.figure.has_interval()).collect();
    if all.is_empty() {
        return None;
    }
    let of = |verdict| all.iter().filter(|c| c.verdict == verdict).count();
    let (open, equal) = (of(Verdict::CannotTell), of(Verdict::NoDifferenceShown));
    let compared = comparison.compared;
    let too_few = "too few independent samples, or drift";
    if !all.iter().any(|compared| is_shown(compared)) {
        return Some(match (open, equal) {
            (0, _) => format!("No significant difference in {compared} values."),
            (_, 0) => format!("All {compared} values are inconclusive: {too_few}."),
            _ => format!(
                "No significant difference in {equal} of {compared} values; {open} inconclusive: {too_few}."
            ),
        });
    }
    // Figures of speed come first, also if none of them differs.
    let mut counts = vec![("slower", 0), ("faster", 0)];
    for compared in all.iter().filter(|compared| is_shown(compared)) {
        let words = compared.verdict.words(compared.figure);
        match counts.iter_mut().find(|(known, _)| *known == words) {
            Some((_, count)) => *count += 1,
            None => counts.push((words, 1)),
        }
    }
    let mut parts: Vec<String> = counts
        .iter()
        .map(|(w, count)| format!("{w} {count}"))
        .collect();
    parts.extend((equal > 0).then(|| format!("no significant difference {equal}")));
    parts.extend((open > 0).then(|| format!("inconclusive {open} ({too_few})")));
    Some(format!("Of {compared} values: {}.", parts.join(", ")))
}

/// What the number of runs leaves open, for directly after the verdict.
fn caveat(comparison: &Comparison) -> Option<String> {
    let (before, after) = (comparison.before.len(), comparison.after.len());
    if before == 1 && after == 1 {
        let points = comparison.points.iter();
        let differs = points.flat_map(|point| &point.figures).any(is_shown);
        let finding = match differs {
            true => "these two runs differ, which does not prove that the setups do: ",
            false => "",
        };
        return Some(format!(
            "One run per side: {finding}the intervals include the scatter within a run, but not between runs \
             (boot, memory layout, temperature, other load). Measure each side several times and give all runs, \
             separated by commas."
        ));
    }
    (before + after < 6).then(|| {
        "Few runs: the scatter between runs is poorly known, so the intervals are wide. Use three or more \
         runs per side, or fewer figures (--only)."
            .to_owned()
    })
}

/// True where a difference is significant.
fn is_shown(compared: &Compared) -> bool {
    matches!(compared.verdict, Verdict::Worse | Verdict::Better)
}

fn changed(comparison: &Comparison) -> Option<Table> {
    comparison.changed.first()?;
    let mut columns = Columns::<&Changed>::new();
    columns.add("what", |changed| changed.what.as_str());
    columns.add("before", |changed| changed.before.as_str());
    columns.add("after", |changed| changed.after.as_str());
    let table = columns.of_rows("Other differences, possible causes", &comparison.changed);
    Some(table.quoting(&["before", "after"]))
}

fn figures(comparison: &Comparison, wanted: &dyn Fn(&Compared) -> bool) -> Table {
    let mut columns = Columns::<Place<'_>>::new();
    columns.add("point", |(point, _)| point.point.to_string());
    columns.add("figure", |(_, of)| of.figure.to_string());
    columns.some("before", |(_, of)| {
        Some(show(of.figure, of.difference.as_ref()?.before.value))
    });
    columns.some("after", |(_, of)| {
        Some(show(of.figure, of.difference.as_ref()?.after.value))
    });
    columns.some("difference", |(_, of)| {
        Some(change(of.figure, of.judged()?.value))
    });
    columns.some("interval", |(_, of)| {
        let judged = of.judged().filter(|_| of.figure.has_interval());
        Some(interval(of.figure, judged?))
    });
    columns.some("verdict", |(_, of)| {
        let has_verdict = of.figure.has_interval();
        has_verdict.then(|| of.verdict.words(of.figure))
    });
    let title = format!(
        "After against before; the {:.0} % intervals of all {} hold jointly",
        comparison.confidence * 100.0,
        comparison.compared
    );
    columns.of_rows(title, places(comparison).filter(|place| wanted(place.1)))
}

fn show(figure: Figure, value: f64) -> String {
    of_unit(figure.unit(), value)
}

/// A change of so much in percent; of a share, in points of percent.
fn change(figure: Figure, part: f64) -> String {
    format!("{} {}", signed(part), unit(figure))
}

fn unit(figure: Figure) -> &'static str {
    match figure.unit() {
        Unit::Share => "points",
        _ => "%",
    }
}

fn signed(part: f64) -> String {
    let value = part * 100.0;
    let decimals = match value.abs() {
        v if v >= 1000.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 1.0 || v == 0.0 => 2,
        _ => 3,
    };
    format!("{value:+.decimals$}")
}

/// The interval of a change, or the mark of one that has none.
fn interval(figure: Figure, found: Estimate) -> String {
    if found.low.is_none() && found.high.is_none() {
        return NO_INTERVAL.to_owned();
    }
    let bound = |bound: Option<f64>| bound.map_or_else(|| "?".to_owned(), signed);
    let unit = unit(figure);
    format!("{} to {} {unit}", bound(found.low), bound(found.high))
}

/// One note for all points that the same runs lack.
fn unmatched(comparison: &Comparison) -> Vec<String> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for unmatched in &comparison.unmatched {
        let points = groups.entry(unmatched.missing_in.join(", "));
        points.or_default().push(unmatched.point.to_string());
    }
    let note = |(runs, points): (String, Vec<String>)| match &points[..] {
        [only] => format!("{only} was not compared: {runs} did not measure it"),
        several => {
            let named = several[..several.len().min(UNMATCHED_NAMED)].join("; ");
            let more = match several.len().saturating_sub(UNMATCHED_NAMED) {
                0 => String::new(),
                more => format!("; and {} more", grouped(more as u64)),
            };
            format!(
                "{} points were not compared, because {runs} did not measure them: {named}{more}",
                grouped(several.len() as u64)
            )
        }
    };
    groups.into_iter().map(note).collect()
}

fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = comparison.notes.clone();
    notes.extend(unmatched(comparison));
    for run in comparison.before.iter().chain(&comparison.after) {
        if run.state != "complete" {
            notes.push(format!("{} is {}: it is incomplete", run.name, run.state));
        }
    }
    notes
}
