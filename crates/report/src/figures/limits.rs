//! Physical limits of links as lines in a figure, or in words where they lie far above it.

use super::canvas::Frame;
use super::cells::{distinct, joined, label, listed};
use crate::Subject;
use wiregauge_quantity::rate;
use wiregauge_record::BusLimit;

/// A run and its link.
type Link = (usize, u32);

/// A limit and the links that have it.
struct Known {
    limit: BusLimit,
    links: Vec<Link>,
    /// ` of link 0`, ` of RUN`; nothing if all links of the figure have it.
    owner: String,
    is_drawn: bool,
}

impl Known {
    /// `1.216 MB/s of link 0`.
    fn name(&self) -> String {
        format!("{}{}", rate(self.limit.bytes_s), self.owner)
    }
}

/// The limits that concern a figure.
pub(super) struct Limits(Vec<Known>);

/// Links in words, by what tells them apart in `all`.
fn owner(subjects: &[Subject], having: &[Link], all: &[Link]) -> String {
    let runs = distinct(all.iter().map(|link| link.0)).len();
    let links = distinct(all.iter().map(|link| link.1)).len();
    let name = |(run, link): &Link| {
        let run = label(subjects, *run, runs);
        let link = if links > 1 {
            format!("link {link}")
        } else {
            String::new()
        };
        joined([run, link], " ")
    };
    let names: Vec<String> = having.iter().map(name).collect();
    format!(" of {}", listed(&names))
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
        let mut limits: Vec<Known> = Vec::new();
        let mut links = Vec::new();
        for (link, limit) in points {
            links.push(link);
            let sound = |limit: &&BusLimit| limit.bytes_s.is_finite() && limit.bytes_s > 0.0;
            let Some(limit) = limit.filter(sound) else {
                continue;
            };
            let same = |other: &&mut Known| {
                other.limit.bytes_s == limit.bytes_s && other.limit.source == limit.source
            };
            match limits.iter_mut().find(same) {
                Some(known) => known.links.push(link),
                None => limits.push(Known {
                    limit: limit.clone(),
                    links: vec![link],
                    owner: String::new(),
                    is_drawn: limit.bytes_s <= measured * reach,
                }),
            }
        }
        let links = distinct(links);
        for known in &mut limits {
            known.links = distinct(known.links.iter().copied());
            if known.links != links {
                known.owner = owner(subjects, &known.links, &links);
            }
        }
        Limits(limits)
    }

    fn drawn(&self) -> impl Iterator<Item = &Known> {
        self.0.iter().filter(|known| known.is_drawn)
    }

    /// The highest that is drawn; 0 if none is.
    pub(super) fn highest(&self) -> f64 {
        let rates = self.drawn().map(|known| known.limit.bytes_s);
        rates.fold(0.0, f64::max)
    }

    /// Those of some links, as lines with their names.
    pub(super) fn draw(&self, frame: &Frame, links: &[u32]) {
        for known in self.drawn() {
            if known.links.iter().any(|link| links.contains(&link.1)) {
                frame.limit(known.limit.bytes_s, &format!("limit {}", known.name()));
            }
        }
    }

    /// What a reader must know of them.
    pub(super) fn caption(&self) -> String {
        let mut caption = String::new();
        for known in self.0.iter().take(8) {
            let (name, source) = (known.name(), &known.limit.source);
            let what = match known.is_drawn {
                true => "The limit",
                false => "Not shown, because it is far above: the limit",
            };
            let shared = match known.limit.shared {
                true => ", shared by both directions",
                false => "",
            };
            caption += &format!(" {what} {name}: {source}{shared}.");
        }
        caption
    }
}
