//! The points of runs that `report --points` and a condition of `compare --fail-if` choose.

use crate::values;
use anyhow::bail;
use wiregauge_run::{AnyRun, Run, RunKind, with_run};

/// Names, and for each the values that a point may have.
#[derive(Clone, Debug, PartialEq)]
pub struct PointFilter {
    text: String,
    terms: Vec<(String, Vec<String>)>,
}

/// Parses `in=48,1000,depth=4`: a value without a name belongs to the name before it.
pub fn filter(text: &str) -> Result<PointFilter, String> {
    let text = text.trim();
    let wrong = || {
        format!(
            "`{text}` is not a valid selection of points: use names and values, separated by commas, such as in=48,depth=4"
        )
    };
    let mut terms: Vec<(String, Vec<String>)> = Vec::new();
    for part in text.split(',') {
        let (name, value) = match (part.split_once('='), terms.last()) {
            (Some((name, value)), _) => (name.trim().to_owned(), value.trim()),
            (None, Some((name, _))) => (name.clone(), part.trim()),
            (None, None) => return Err(wrong()),
        };
        if name.is_empty() || value.is_empty() || value.contains(char::is_whitespace) {
            return Err(wrong());
        }
        match terms.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(value.to_owned()),
            None => terms.push((name, vec![value.to_owned()])),
        }
    }
    Ok(PointFilter {
        text: text.to_owned(),
        terms,
    })
}

impl PointFilter {
    /// Refuses a value that no point of these runs has.
    pub fn check<'a>(&self, runs: impl Iterator<Item = &'a AnyRun>) -> anyhow::Result<()> {
        let mut known: Vec<(&'static str, String)> = Vec::new();
        for run in runs {
            let points = with_run!(run, run => settings(run));
            known.extend(points.into_iter().flatten());
        }
        for (name, values) in &self.terms {
            let of_name = || known.iter().filter(|(known, _)| known == name);
            let missing = |value: &&String| !of_name().any(|(_, is)| same(name, value, is));
            let Some(value) = values
                .iter()
                .find(missing)
                .filter(|_| of_name().count() > 0)
            else {
                continue;
            };
            let mut there: Vec<&str> = Vec::new();
            for (_, is) in of_name() {
                if !there.contains(&is.as_str()) {
                    there.push(is);
                }
            }
            bail!(
                "no point has {name}={value}; {name} is {}",
                there.join(", ")
            );
        }
        Ok(())
    }

    /// Keeps only the chosen points of a run; returns a sentence that says which they are.
    pub fn apply(&self, run: &mut AnyRun) -> anyhow::Result<String> {
        let (kept, all) = with_run!(run, run => self.keep(run))?;
        Ok(format!(
            "Shown: {kept} of {all} points, those with {} (--points).",
            self.text
        ))
    }

    /// How many points are kept, of how many.
    fn keep<K: RunKind>(&self, run: &mut Run<K>) -> anyhow::Result<(usize, usize)> {
        let (name, there) = (run.name(), settings(run));
        if let Some(known) = there.first() {
            for (wanted, _) in &self.terms {
                if !known.iter().any(|(known, _)| known == wanted) {
                    let names: Vec<&str> = known.iter().map(|(known, _)| *known).collect();
                    bail!(
                        "points of {name} have no `{wanted}`\n  hint: use one of {}",
                        names.join(", ")
                    );
                }
            }
        }
        let file = &mut run.file;
        let is_wanted = |point: &K::Point| self.wants(&K::settings(point));
        file.points.retain(|summary| is_wanted(&K::point(summary)));
        K::retain_points(&mut file.plan, &is_wanted);
        if file.points.is_empty() && !there.is_empty() {
            let shown = |settings: &PointSettings| {
                let shown = settings.iter().map(|(n, v)| format!("{n}={v}"));
                shown.collect::<Vec<_>>().join(",")
            };
            let listed: Vec<String> = there.iter().take(8).map(shown).collect();
            let more = match there.len().saturating_sub(8) {
                0 => String::new(),
                more => format!("; and {more} more"),
            };
            bail!(
                "{name} has no point with {}; it has {}{more}",
                self.text,
                listed.join("; ")
            );
        }
        Ok((file.points.len(), there.len()))
    }

    /// True of a point with these settings.
    pub fn wants(&self, settings: &[(&'static str, String)]) -> bool {
        self.terms.iter().all(|(name, values)| {
            settings.iter().any(|(known, is)| {
                known == name && values.iter().any(|value| same(name, value, is))
            })
        })
    }
}

/// The names of the settings of a point, with their values.
type PointSettings = Vec<(&'static str, String)>;

/// The settings of each point of a run.
fn settings<K: RunKind>(run: &Run<K>) -> Vec<PointSettings> {
    let points = run.file.points.iter().map(K::point);
    points.map(|point| K::settings(&point)).collect()
}

/// True if a typed value, such as `4k` or `48..100:4`, is or includes that of a point. In a rate k is 1000, as in the
/// flag `--rate`.
fn same(name: &str, typed: &str, is: &str) -> bool {
    if name == "rate" {
        return values::bit_rate(typed).is_ok_and(|hz| is.parse() == Ok(hz));
    }
    let number = is.parse::<u32>().ok();
    typed == is
        || values::sizes(typed)
            .is_ok_and(|sizes| number.is_some_and(|number| sizes.0.contains(&number)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_record::Point;
    use wiregauge_run::Exchange;

    fn settings(in_bytes: u32, depth: u32) -> PointSettings {
        let point = Point {
            index: 0,
            out_bytes: 16,
            in_bytes,
            depth,
            link: 0,
            together: false,
        };
        Exchange::settings(&point)
    }

    #[test]
    fn values_of_one_name_are_alternatives_and_names_go_together() {
        let asked = filter("in=48,4k,depth=4").unwrap();
        for (in_bytes, depth, wanted) in [
            (48, 4, true),
            (4096, 4, true),
            (48, 1, false),
            (8, 4, false),
        ] {
            assert_eq!(
                asked.wants(&settings(in_bytes, depth)),
                wanted,
                "{in_bytes} {depth}"
            );
        }
    }

    #[test]
    fn a_rate_is_typed_as_where_it_is_measured() {
        for (typed, is) in [("100k", "100000"), ("0.1M", "100000"), ("48000", "48000")] {
            assert!(same("rate", typed, is), "{typed}");
        }
        assert!(!same("rate", "100k", "102400"));
        assert!(same("notify", "1k", "1024"));
    }

    #[test]
    fn what_is_no_choice_is_refused() {
        for text in ["", "48", "in=", "=4", "in=48,,depth=4", "in=48 depth=4"] {
            assert!(filter(text).is_err(), "{text}");
        }
    }
}
