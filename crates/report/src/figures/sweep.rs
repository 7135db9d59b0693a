//! Values against a setting, such as a size or a depth: panels side by side, in each a curve of every run, statistic
//! and further setting.

use super::Figure;
use super::axes::Axis;
use super::canvas::{Canvas, Entry, Frame, Key};
use super::cells::{distinct, few, joined, label, links, only, reach, shown, spread, wide};
use super::limits::Limits;
use super::look::{HEIGHT, Series};
use crate::Subject;
use wiregauge_compare::link_name;
use wiregauge_record::BusLimit;
use wiregauge_stats::Estimate;

/// More panels would be too small.
const MOST_PANELS: usize = 4;

/// More curves in a panel cannot be distinguished.
const MOST_CURVES: usize = 6;

/// What a panel is of: a link, and the settings `H` that are the same in all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Panel<H> {
    pub(super) together: bool,
    pub(super) link: u32,
    pub(super) held: H,
}

/// A value of a point.
pub(super) struct Value<'a, H> {
    /// Which of the subjects.
    pub(super) subject: usize,
    pub(super) panel: Panel<H>,
    /// Which of the statistics.
    pub(super) statistic: usize,
    /// The setting that tells the curves of a statistic apart.
    pub(super) curve: u32,
    pub(super) x: u32,
    pub(super) y: Estimate,
    /// The limit of the link, where the value is a rate.
    pub(super) limit: Option<&'a BusLimit>,
}

/// A statistic that is drawn.
pub(super) struct Statistic {
    pub(super) name: String,
    /// The number of its look; `None` of an ideal, which is a dashed line.
    pub(super) look: Option<usize>,
}

/// The vertical axis.
#[derive(Clone, Copy)]
pub(super) enum Vertical {
    Time(&'static str),
    Rate(&'static str),
}

impl Vertical {
    fn axis(self, low: f64, high: f64, is_log: bool) -> Axis {
        match (self, is_log) {
            (Vertical::Time(name), true) => Axis::log_time(name, low, high),
            (Vertical::Time(name), false) => Axis::time(name, high),
            (Vertical::Rate(name), true) => Axis::log_rate(name, low, high),
            (Vertical::Rate(name), false) => Axis::rate(name, high),
        }
    }
}

/// Makes an axis of this name for these values of a setting.
pub(super) type AxisOf = fn(&str, &[u32]) -> Axis;

/// A figure of values against a setting.
pub(super) struct Plot<'a, H> {
    /// Stem of the file's name.
    pub(super) name: String,
    pub(super) title: String,
    /// The first sentences of the caption.
    pub(super) caption: String,
    /// The name of the setting, and its axis.
    pub(super) x: (&'static str, AxisOf),
    pub(super) y: Vertical,
    /// The vertical axis is logarithmic if the largest value is so many times the smallest.
    pub(super) log_from: f64,
    pub(super) statistics: Vec<Statistic>,
    /// The name of the setting that tells curves apart, such as `depth`.
    pub(super) curve: &'static str,
    /// What is held in a panel, in words.
    pub(super) held: fn(H) -> String,
    pub(super) values: Vec<Value<'a, H>>,
}

/// A curve in all panels.
struct Curve<'b, 'a, H> {
    name: String,
    series: Series,
    is_ideal: bool,
    values: Vec<&'b Value<'a, H>>,
}

impl<H: Copy + Ord> Panel<H> {
    /// The link where there are several; what is held where it varies, or there is but one panel.
    fn name(&self, all: &[Panel<H>], held: impl Fn(H) -> String) -> String {
        let link = |panel: &Panel<H>| (panel.link, panel.together);
        let links = all.iter().any(|other| link(other) != link(self));
        let is_held = !links || all.iter().any(|other| other.held != self.held);
        let link = links.then(|| link_name(self.link, self.together));
        let held = is_held.then(|| held(self.held));
        joined([link, held].map(Option::unwrap_or_default), ", ")
    }

    /// Those that are drawn: of too many all links at one setting, so that what is left can be compared, then evenly.
    fn few(all: &[Panel<H>]) -> Vec<Panel<H>> {
        let links = distinct(all.iter().map(|panel| (panel.link, panel.together)));
        let mut kept = all.to_vec();
        if kept.len() > MOST_PANELS && links.len() > 1 {
            let first = all.iter().map(|panel| panel.held).min();
            kept.retain(|panel| Some(panel.held) == first);
        }
        spread(&kept, MOST_PANELS)
    }
}

impl<H: Copy + Ord> Curve<'_, '_, H> {
    fn entry(&self) -> Entry {
        let key = match self.is_ideal {
            true => Key::Line(self.series),
            false => Key::Points(self.series),
        };
        key.named(&self.name)
    }

    /// A line with markers and intervals; an ideal has a line only.
    fn draw(&self, frame: &Frame, panel: Panel<H>) {
        let of_it = self.values.iter().filter(|value| value.panel == panel);
        let values: Vec<(f64, Estimate)> =
            of_it.map(|value| (f64::from(value.x), value.y)).collect();
        if values.is_empty() {
            return;
        }
        let points: Vec<(f64, f64)> = values.iter().map(|(x, y)| (*x, y.value)).collect();
        if self.is_ideal {
            frame.open("ideal");
            frame.line_of(&points, self.series, 1.4);
            return frame.close();
        }
        let bounds = values.iter();
        let bounds = bounds.filter_map(|(x, y)| Some((*x, y.low?, y.high?)));
        frame.intervals(&bounds.collect::<Vec<_>>(), self.series.colour);
        frame.curve(&points, self.series);
    }
}

impl<'a, H: Copy + Ord> Plot<'a, H> {
    /// Draws it, if there are values.
    pub(super) fn draw(mut self, subjects: &[Subject]) -> Option<Figure> {
        let all = distinct(self.values.iter().map(|value| value.panel));
        let panels = Panel::few(&all);
        self.values.retain(|value| panels.contains(&value.panel));
        self.values.sort_by_key(|value| value.x);
        let runs = distinct(self.values.iter().map(|value| value.subject));
        let kinds = distinct(self.values.iter().map(|value| value.curve));
        let most = (MOST_CURVES / runs.len().max(1)).max(1);
        let what = format!("{}s", self.curve);
        let (kinds, left_out) = few(&kinds, most, &what, u32::to_string);
        self.values.retain(|value| kinds.contains(&value.curve));
        if self.values.is_empty() {
            return None;
        }
        let curves = self.curves(subjects, &runs, &kinds);
        let legend: Vec<Entry> = curves.iter().map(Curve::entry).collect();
        // A value of 0 has no place on a logarithmic axis, and need not press all others flat.
        let values = self.values.iter().map(|value| &value.y);
        let range = reach(values.filter(|y| y.value > 0.0));
        let is_log = wide(range, self.log_from);
        let known = self.values.iter();
        let known = known.map(|value| ((value.subject, value.panel.link), value.limit));
        let times = if is_log { 100.0 } else { 4.0 };
        let limits = Limits::of(subjects, known, range.1, times);
        let high = range.1.max(limits.highest());
        let settings: Vec<u32> = self.values.iter().map(|value| value.x).collect();

        let only_one = if panels.len() == 1 { HEIGHT } else { 280 };
        let (canvas, places) = Canvas::with_panels((panels.len(), 2), (only_one, 280), &legend);
        for (panel, place) in panels.iter().zip(places) {
            let title = (all.len() > 1).then(|| panel.name(&all, self.held));
            let (name, axis) = self.x;
            let (x, y) = (axis(name, &settings), self.y.axis(range.0, high, is_log));
            let frame = canvas.frame(place, &title.unwrap_or_default(), x, y);
            curves.iter().for_each(|curve| curve.draw(&frame, *panel));
            limits.draw(&frame, &[panel.link]);
        }
        let mut caption = self.caption.clone() + &only(&legend);
        let of_all = match &all[..] {
            [one] => one.name(&all, self.held),
            _ => String::new(),
        };
        if !of_all.is_empty() {
            caption += &format!(" Shown: {of_all}.");
        }
        let what = "combinations of setting and link";
        caption += &[left_out, shown(panels.len(), all.len(), what)].concat();
        caption += &limits.caption();
        caption += &links(subjects);
        Some(canvas.finish(&self.name, &self.title, &caption))
    }

    /// One for each run, further setting and statistic.
    fn curves(&self, subjects: &[Subject], runs: &[usize], kinds: &[u32]) -> Vec<Curve<'_, 'a, H>> {
        let mut curves = Vec::new();
        for (at_run, run) in runs.iter().enumerate() {
            for (at_kind, kind) in kinds.iter().enumerate() {
                for (at, statistic) in self.statistics.iter().enumerate() {
                    let of_it = self.values.iter().filter(|value| {
                        (value.subject, value.curve, value.statistic) == (*run, *kind, at)
                    });
                    let values: Vec<_> = of_it.collect();
                    if values.is_empty() {
                        continue;
                    }
                    let run = label(subjects, *run, runs.len());
                    let is_alone = run.is_empty() && statistic.name.is_empty();
                    let kind = match kinds.len() > 1 || is_alone {
                        true => format!("{} {kind}", self.curve),
                        false => String::new(),
                    };
                    let name = joined([statistic.name.clone(), kind], ", ");
                    curves.push(Curve {
                        name: joined([run, name], ": "),
                        series: match statistic.look {
                            Some(look) => Series::of_run(runs.len(), at_run, look + at_kind),
                            None => Series::limit(),
                        },
                        is_ideal: statistic.look.is_none(),
                        values,
                    });
                }
            }
        }
        curves
    }
}
