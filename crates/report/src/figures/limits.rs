//! Physical limits of links as lines in a figure, or in words where they lie far above it.

use super::canvas::Frame;
use super::cells::{distinct, listed};
use crate::Subject;
use std::collections::BTreeSet;
use wiregauge_quantity::rate;
use wiregauge_record::BusLimit;

/// The limits that concern a figure.
pub(super) struct Limits {
    drawn: Vec<Known>,
    beyond: Vec<Known>,
    /// The points are of one run.
    is_one_run: bool,
}

/// A run and its link.
type Link = (usize, u32);

/// A limit and the links that have it.
struct Known {
    limit: BusLimit,
    links: Vec<Link>,
    /// ` of link 0`, ` of RUN`; nothing if all links have it.
    owner: String,
}

/// Those of `all` links that have a limit in words, by what tells them apart from the others.
fn owner(subjects: &[Subject], having: &[Link], all: &BTreeSet<Link>) -> String {
    let runs = distinct(all.iter().map(|link| link.0));
    let of_run = |run: usize| -> Vec<u32> {
        let links = having.iter().filter(|link| link.0 == run);
        links.map(|link| link.1).collect()
    };
    let named = |links: &[u32]| match links {
        [link] => format!("link {link}"),
        links => format!("links {}", listed(links)),
    };
    let first = of_run(runs[0]);
    // The same links of all runs.
    if runs.iter().all(|run| of_run(*run) == first) {
        return format!(" of {}", named(&first));
    }
    let of_runs = runs.iter().map(|run| {
        let (label, links) = (&subjects[*run].label, of_run(*run));
        match all.iter().filter(|link| link.0 == *run).count() {
            _ if links.is_empty() => None,
            count if count == links.len() => Some(label.clone()),
            _ => Some(format!("{} of {label}", named(&links))),
        }
    });
    format!(" of {}", listed(&of_runs.flatten().collect::<Vec<_>>()))
}

impl Limits {
    /// Those of some points, each once, by the links of the points; drawn if they are at most `reach` times what was
    /// measured.
    pub(super) fn of<'a>(
        subjects: &[Subject],
        points: impl IntoIterator<Item = (Link, Option<&'a BusLimit>)>,
        measured: f64,
        reach: f64,
    ) -> Limits {
        let mut all: Vec<Known> = Vec::new();
        let mut links = BTreeSet::new();
        for (link, limit) in points {
            links.insert(link);
            let sound = |limit: &&BusLimit| limit.bytes_s.is_finite() && limit.bytes_s > 0.0;
            let Some(limit) = limit.filter(sound) else {
                continue;
            };
            let same = |other: &&mut Known| {
                other.limit.bytes_s == limit.bytes_s && other.limit.source == limit.source
            };
            match all.iter_mut().find(same) {
                Some(known) if known.links.contains(&link) => {}
                Some(known) => known.links.push(link),
                None => all.push(Known {
                    limit: limit.clone(),
                    links: vec![link],
                    owner: String::new(),
                }),
            }
        }
        let is_one_run = distinct(links.iter().map(|link: &Link| link.0)).len() < 2;
        let for_all = all.iter().all(|known| known.links.len() == links.len());
        for known in all.iter_mut().filter(|_| !for_all) {
            known.links.sort_unstable();
            known.owner = owner(subjects, &known.links, &links);
        }
        let (drawn, beyond) = all
            .into_iter()
            .partition(|known| known.limit.bytes_s <= measured * reach);
        Limits {
            drawn,
            beyond,
            is_one_run,
        }
    }

    /// The highest that is drawn; 0 if none is.
    pub(super) fn highest(&self) -> f64 {
        self.drawn
            .iter()
            .map(|known| known.limit.bytes_s)
            .fold(0.0, f64::max)
    }

    /// Those of some links, as lines with their names.
    pub(super) fn draw(&self, frame: &Frame, links: &[u32]) {
        for known in self.of_links(links) {
            // Where each link has its own panel, the panel names it.
            let owner = if self.is_one_run { "" } else { &known.owner };
            let limit = &known.limit;
            frame.limit(limit.bytes_s, &name(limit, owner), short(&limit.source));
        }
    }

    fn of_links(&self, links: &[u32]) -> impl Iterator<Item = &Known> {
        let of_them = |known: &&Known| known.links.iter().any(|link| links.contains(&link.1));
        self.drawn.iter().filter(of_them)
    }

    /// What a reader must know of them.
    pub(super) fn caption(&self) -> String {
        let mut caption = String::new();
        for known in self.drawn.iter().take(4) {
            let (limit, owner) = (&known.limit, &known.owner);
            let shared = if limit.shared {
                ", shared by both directions"
            } else {
                ""
            };
            // Of several, by which the lines are known.
            let rate = match owner.is_empty() {
                true => String::new(),
                false => format!(", {}", rate(limit.bytes_s)),
            };
            caption.push_str(&format!(
                " The limit{owner}{rate}: {}{shared}.",
                limit.source
            ));
        }
        for known in self.beyond.iter().take(4) {
            let (limit, owner) = (&known.limit, &known.owner);
            let owner = match owner.is_empty() {
                true => String::new(),
                false => format!(" the limit{owner},"),
            };
            caption.push_str(&format!(
                " Not shown, because it is far above:{owner} {}, {}.",
                rate(limit.bytes_s),
                limit.source
            ));
        }
        caption
    }
}

fn name(limit: &BusLimit, owner: &str) -> String {
    format!("limit{owner} {}", rate(limit.bytes_s))
}

/// What comes before the place where it is written.
fn short(source: &str) -> &str {
    source.split([',', ';']).next().unwrap_or(source)
}
