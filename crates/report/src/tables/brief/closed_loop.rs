//! A loop run in one table and one sentence.

use super::{Brief, Wide, sentence};
use crate::tables::closed_loop::{needed, of_aim, settings, tested};
use crate::tables::places::Places;
use crate::tables::table::Table;
use wiregauge_quantity::{TimeUnit, about_time, grouped};
use wiregauge_record::{Aim, LoopSummary};
use wiregauge_stats::poisson_high;

/// Columns that only `--full` has.
const LEFT_OUT: &[&str] = &[
    "MB/s per direction",
    "period",
    "duty",
    "lowest ms",
    "measured latency",
];

/// One table and one sentence; and the tested preloads, which a flag requested.
pub(in crate::tables) fn of_loop(points: &[LoopSummary]) -> Brief {
    let curves = of_aim(points, Aim::Curve);
    let held = of_aim(points, Aim::Hold);
    let places = &Places::of_loop(points).without_preload();
    let wide = |table: Table, points: &[&LoopSummary]| {
        let rows = points.iter().map(|point| point.point.index);
        Wide::new(table.without(LEFT_OUT), places, rows)
    };
    let mut tables = Vec::new();
    if !curves.is_empty() {
        tables.push(wide(needed(&curves, places), &curves));
    }
    if !held.is_empty() {
        tables.push(wide(tested(&held, places), &held));
    }
    Brief {
        answer: sentence(&answer(points, places)),
        tables,
    }
}

fn answer(points: &[LoopSummary], places: &Places) -> String {
    let curves = of_aim(points, Aim::Curve);
    let held = of_aim(points, Aim::Hold);
    let found = curves.iter().filter_map(|curve| Found::new(curve, &held));
    let best = found.min_by(|a, b| a.proven_ns().total_cmp(&b.proven_ns()));
    let parts = match best {
        Some(best) => best.answer(&places.name(&[best.curve.point.index])),
        None => Tests::new(held).answer(places).into_iter().collect(),
    };
    match parts.is_empty() {
        true => "no point was finished".into(),
        false => parts.join("; "),
    }
}

/// The lowest latency that a measurement found, and what tested preloads of the same settings say of it.
struct Found<'a> {
    curve: &'a LoopSummary,
    needed_ns: f64,
    tests: Tests<'a>,
}

impl<'a> Found<'a> {
    fn new(curve: &'a LoopSummary, tested: &[&'a LoopSummary]) -> Option<Found<'a>> {
        let like = |point: &&LoopSummary| settings(&curve.point) == settings(&point.point);
        Some(Found {
            curve,
            needed_ns: curve.needed_ns?,
            tests: Tests::new(tested.iter().copied().filter(like).collect()),
        })
    }

    /// True if a preload at least as long had a stall.
    fn is_refuted(&self) -> bool {
        let mut stalled = self.tests.stalled.iter();
        stalled.any(|test| test.point.preload_ns() >= self.needed_ns)
    }

    /// The lowest latency that no test refutes.
    fn proven_ns(&self) -> f64 {
        match (self.is_refuted(), self.tests.held) {
            (false, _) => self.needed_ns,
            (true, Some(test)) => test.point.preload_ns(),
            (true, None) => f64::INFINITY,
        }
    }

    fn answer(&self, place: &str) -> Vec<String> {
        let found = TimeUnit::Milli.show(self.needed_ns);
        let at = bracketed(&[place]);
        let mut parts = Vec::new();
        match (self.is_refuted(), self.tests.held) {
            (false, None) => {
                let (stalls, time) = (counted(&[self.curve]), lasted(self.curve));
                parts.push(format!(
                    "lowest latency without a stall {found} ms{at}, {stalls} in {time}"
                ));
            }
            (false, Some(test)) => {
                parts.push(format!("lowest latency without a stall {found} ms{at}"));
                parts.push(no_stall(test, ""));
            }
            (true, Some(test)) => parts.push(no_stall(test, place)),
            (true, None) => {
                let stalled = &self.tests.stalled;
                let longest = stalled.last().map_or_else(String::new, |test| ms(test));
                let stalls = counted(stalled);
                parts.push(format!(
                    "no tested preload was long enough{at}: {stalls} with up to {longest} ms"
                ));
            }
        }
        if self.is_refuted() {
            parts.push(format!("a test refuted the {found} ms found before"));
        }
        parts
    }
}

/// Tested preloads.
struct Tests<'a> {
    all: Vec<&'a LoopSummary>,
    /// Those with a stall, in ascending order.
    stalled: Vec<&'a LoopSummary>,
    /// The shortest without a stall that is longer than any of the same settings with one.
    held: Option<&'a LoopSummary>,
}

impl<'a> Tests<'a> {
    fn new(all: Vec<&'a LoopSummary>) -> Tests<'a> {
        let has_stalled = |point: &LoopSummary| point.overruns + point.underruns > 0;
        let stalled = all.iter().copied().filter(|point| has_stalled(point));
        let mut stalled: Vec<&'a LoopSummary> = stalled.collect();
        stalled.sort_by(|a, b| a.point.preload_ns().total_cmp(&b.point.preload_ns()));
        let is_long = |point: &LoopSummary| {
            let mut like = stalled
                .iter()
                .filter(|of| settings(&of.point) == settings(&point.point));
            like.all(|of| of.point.preload_bytes < point.point.preload_bytes)
        };
        let held = all
            .iter()
            .copied()
            .filter(|point| point.blocks > 0 && !has_stalled(point) && is_long(point));
        let held = held.min_by(|a, b| a.point.preload_ns().total_cmp(&b.point.preload_ns()));
        Tests { all, stalled, held }
    }

    /// What became of preloads that were requested.
    fn answer(&self, places: &Places) -> Option<String> {
        let (stalled, all) = (self.stalled.len(), self.all.len());
        if let Some(test) = self.held {
            return Some(no_stall(test, &places.name(&[test.point.index])));
        }
        match (stalled, all) {
            (0, _) => None,
            (1, 1) => Some(format!(
                "the preload of {} ms is too short ({}); try --find",
                ms(self.stalled[0]),
                counted(&self.stalled)
            )),
            _ if stalled == all => Some(format!("all {all} tested preloads had stalls")),
            _ => Some(format!("{stalled} of {all} tested preloads had stalls")),
        }
    }
}

/// That a tested preload had no stall; `place`: what else tells it from others.
fn no_stall(test: &LoopSummary, place: &str) -> String {
    let bytes = format!("{} B", grouped(test.point.preload_bytes));
    format!(
        "a preload of {} ms{} had no stall in {}",
        ms(test),
        bracketed(&[place, &bytes]),
        lasted(test)
    )
}

/// The latency of a tested preload.
fn ms(test: &LoopSummary) -> String {
    TimeUnit::Milli.show(test.point.preload_ns())
}

/// ` (2 MS/s, 8,000 B)`: those that are not empty.
fn bracketed(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|p| !p.is_empty()).collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(" ({})", parts.join(", ")),
    }
}

/// `10 s (95 %: fewer than 18.0 a minute)`: for how long a point ran, and how many stalls that does not exclude.
fn lasted(point: &LoopSummary) -> String {
    let minutes = point.elapsed_ns.max(1) as f64 / 60e9;
    let most = poisson_high(point.overruns + point.underruns) / minutes;
    let time = about_time(point.elapsed_ns as f64);
    format!("{time} (95 %: fewer than {most:.1} a minute)")
}

/// `1 stall`, `4,578 stalls`.
fn counted(points: &[&LoopSummary]) -> String {
    match points.iter().map(|p| p.overruns + p.underruns).sum() {
        1 => "1 stall".to_owned(),
        count => format!("{} stalls", grouped(count)),
    }
}
