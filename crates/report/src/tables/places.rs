//! The points that a sentence is about, named by the settings that vary in their run.

use super::flow_rows::{Row, flow_number};
use std::collections::{BTreeMap, BTreeSet};
use wiregauge_compare::{Setting, Settings};
use wiregauge_record::{
    LoopPoint, LoopSummary, Plan, Point, PointSummary, StreamPlan, StreamPoint, Way,
};

/// More groups, or more points, are counted instead of named.
const MOST_GROUPS: usize = 3;
const MOST_POINTS: usize = 6;

/// Names the points of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Places {
    points: Vec<Named>,
    /// The settings that vary.
    varying: Vec<Setting>,
}

/// A point with the values of its settings.
#[derive(Clone, Debug, PartialEq)]
struct Named {
    index: u32,
    /// The number of its point, from 1.
    number: u32,
    values: Vec<(Setting, String)>,
}

impl Named {
    fn new((index, number): (u32, u32), settings: Settings) -> Named {
        Named {
            index,
            number: number + 1,
            values: settings.0,
        }
    }

    /// A point of an exchange run; `equal`: OUT and IN always are.
    fn of_exchange(point: &Point, equal: bool) -> Named {
        let settings = Settings::of_exchange(point);
        let mut named = Named::new((point.index, point.index), settings);
        if equal {
            named.values.retain(|(setting, _)| *setting != Setting::In);
            for (setting, _) in &mut named.values {
                if *setting == Setting::Out {
                    *setting = Setting::Size;
                }
            }
        }
        named
    }

    fn value(&self, setting: Setting) -> &str {
        let value = self.values.iter().find(|(of, _)| *of == setting);
        value.map_or("", |(_, value)| value)
    }
}

impl Places {
    /// Of all points of the plan of an exchange run, as far as they were measured as they were measured.
    pub fn of_run(plan: &Plan, points: &[PointSummary]) -> Places {
        let mut all: BTreeMap<u32, Point> = plan.points.iter().map(|p| (p.index, *p)).collect();
        all.extend(points.iter().map(|p| (p.point.index, p.point)));
        Places::new(all.into_values())
    }

    /// Of all points of an exchange run.
    pub fn new(points: impl Iterator<Item = Point>) -> Places {
        let points: Vec<Point> = points.collect();
        let equal = points.iter().all(|point| point.out_bytes == point.in_bytes);
        let named = points.iter().map(|point| Named::of_exchange(point, equal));
        Places::of(named.collect())
    }

    /// Of all flows of the plan of a stream run by their numbers, as far as they were measured as they were measured.
    pub(super) fn of_flows(plan: &StreamPlan, rows: &[Row<'_>]) -> Places {
        let ways = |point: &StreamPoint| {
            let point = *point;
            point.direction.ways().iter().map(move |&way| (point, way))
        };
        let measured = rows.iter().map(|(summary, flow)| (summary.point, flow.way));
        let all = plan.points.iter().flat_map(ways).chain(measured);
        let all: BTreeMap<u32, (StreamPoint, Way)> = all
            .map(|(point, way)| (flow_number(&point, way), (point, way)))
            .collect();
        let named = all.into_iter().map(|(index, (point, way))| {
            Named::new((index, point.index), Settings::of_flow(&point, way))
        });
        Places::of(named.collect())
    }

    /// Of all points of a loop run.
    pub(super) fn of_loop(points: &[LoopSummary]) -> Places {
        Places::of_loop_points(points.iter().map(|point| point.point))
    }

    fn of_loop_points(points: impl Iterator<Item = LoopPoint>) -> Places {
        let points: Vec<LoopPoint> = points.collect();
        let by_gpu = points.iter().any(|point| point.path.is_gpu());
        let named = points.iter().map(|point| {
            let is_wanted = |setting: Setting| by_gpu || setting != Setting::Path;
            let settings = Settings::of_loop(point).only(is_wanted);
            Named::new((point.index, point.index), settings)
        });
        Places::of(named.collect())
    }

    fn of(mut points: Vec<Named>) -> Places {
        points.sort_by_key(|point| point.index);
        let mut seen = BTreeSet::new();
        if !points.iter().all(|point| seen.insert(&point.values)) {
            for point in &mut points {
                let number = (Setting::Number, point.number.to_string());
                point.values.insert(0, number);
            }
        }
        let settings = points.first().map_or_else(Vec::new, |first| {
            first.values.iter().map(|(setting, _)| *setting).collect()
        });
        let varies = |setting: &Setting| {
            let mut values = points.iter().map(|point| point.value(*setting));
            let first = values.next();
            values.any(|value| Some(value) != first)
        };
        let varying = settings.into_iter().filter(varies).collect();
        Places { points, varying }
    }

    /// The same without the tested preload, which tables of loops have among their figures.
    pub(super) fn without_preload(mut self) -> Places {
        self.varying.retain(|setting| *setting != Setting::Preload);
        self
    }

    /// Of those points alone whose number is like this: settings that they share do not vary.
    pub(super) fn only(&self, is_like: impl Fn(u32) -> bool) -> Places {
        let like = self.points.iter().filter(|point| is_like(point.index));
        Places::of(like.cloned().collect())
    }

    /// Heads of the columns that tell points apart.
    pub(super) fn heads(&self) -> Vec<&'static str> {
        self.varying.iter().map(|setting| setting.head()).collect()
    }

    /// Heads of the columns that tell points apart, and of the others of a table.
    pub(super) fn heads_and(&self, rest: &[&'static str]) -> Vec<&'static str> {
        let mut heads = self.heads();
        heads.extend(rest);
        heads
    }

    /// The cells of a point in these columns.
    pub(super) fn cells(&self, index: u32) -> Vec<String> {
        let at = self
            .points
            .binary_search_by_key(&index, |point| point.index);
        let point = at.ok().map(|at| &self.points[at]);
        let value = |setting: &Setting| match (point.map(|p| p.value(*setting)), setting) {
            // The head says what it is.
            (Some(value), Setting::Link) => value.trim_start_matches("link ").to_owned(),
            (Some(""), _) | (None, _) => "-".to_owned(),
            (Some(value), _) => value.to_owned(),
        };
        self.varying.iter().map(value).collect()
    }

    /// `OUT 16 B, IN 48 B, depth 1`: the settings that all points share; without the only link.
    pub(super) fn shared(&self) -> String {
        let Some(first) = self.points.first() else {
            return String::new();
        };
        let shared = first.values.iter().filter(|(setting, value)| {
            let is_given = *setting != Setting::Link && !value.is_empty();
            is_given && !self.varying.contains(setting)
        });
        let texts = shared.map(|(setting, value)| setting.text(std::slice::from_ref(value)));
        texts.collect::<Vec<_>>().join(", ")
    }

    /// `depth 1 to 3`, `all points`, `5 of 12 points`: in a sentence, which no semicolon may break.
    pub fn in_sentence(&self, indices: &[u32]) -> String {
        let chosen = self.points.iter().filter(|p| indices.contains(&p.index));
        let chosen: Vec<&Named> = chosen.collect();
        let range = match self.varying[..] {
            [setting] if chosen.len() < self.points.len() => self.range(setting, &chosen),
            _ => None,
        };
        let name = range.unwrap_or_else(|| self.name(indices));
        match name.contains(';') {
            true => format!("{} of {} points", chosen.len(), self.points.len()),
            false => name,
        }
    }

    /// Three values and more that follow each other in the run: `depth 1 to 4`.
    fn range(&self, setting: Setting, chosen: &[&Named]) -> Option<String> {
        let first = self
            .points
            .iter()
            .position(|point| Some(point.index) == chosen.first().map(|p| p.index))?;
        let follow = self.points[first..]
            .iter()
            .zip(chosen)
            .all(|(a, b)| a.index == b.index);
        let number =
            |point: &Named| -> Option<u64> { point.value(setting).replace(',', "").parse().ok() };
        let numbers: Option<Vec<u64>> = self.points.iter().map(number).collect();
        let ascend = numbers?.is_sorted_by(|a, b| a < b);
        let [low, _, .., high] = chosen else {
            return None;
        };
        (follow && ascend)
            .then(|| setting.text(&[format!("{} to {}", low.value(setting), high.value(setting))]))
    }

    /// `IN 48 B, depth 1 and 4`, `all points`, `7 of 12 points`; nothing if the run has no other point.
    pub fn name(&self, indices: &[u32]) -> String {
        let chosen = self.points.iter();
        let chosen: Vec<&Named> = chosen.filter(|p| indices.contains(&p.index)).collect();
        match (chosen.len(), self.points.len()) {
            _ if self.varying.is_empty() => String::new(),
            (count, all) if count == all => "all points".into(),
            (count, all) => self
                .listed(&chosen)
                .unwrap_or_else(|| format!("{count} of {all} points")),
        }
    }

    /// The same in brackets, with a blank before them.
    pub fn bracketed(&self, indices: &[u32]) -> String {
        self.within(indices, " (", ")")
    }

    /// ` at IN 48 B, depth 4`: one of them, after what is said of it.
    pub fn at(&self, index: u32) -> String {
        self.at_all(&[index])
    }

    /// The same of several.
    pub(super) fn at_all(&self, indices: &[u32]) -> String {
        self.within(indices, " at ", "")
    }

    /// `-1-depth-2`: how the name of a file ends that is about one of several points.
    pub fn ending(&self, index: u32) -> String {
        if self.points.len() < 2 {
            return String::new();
        }
        let name = self.name(&[index]).to_lowercase().replace(',', "");
        let words = name.split(|c: char| !c.is_ascii_alphanumeric());
        let words = words.filter(|word| !word.is_empty());
        words.fold(format!("-{index}"), |ending, word| ending + "-" + word)
    }

    fn within(&self, indices: &[u32], before: &str, after: &str) -> String {
        match self.name(indices) {
            name if name.is_empty() => name,
            name => format!("{before}{name}{after}"),
        }
    }

    /// Points that differ in one setting only are named together; `None` if there are too many.
    fn listed(&self, chosen: &[&Named]) -> Option<String> {
        if chosen.len() > MOST_POINTS {
            return None;
        }
        let groups = |listed: &Setting| {
            let mut groups: Vec<(Vec<String>, Vec<String>)> = Vec::new();
            for point in chosen {
                let others = self.varying.iter().filter(|setting| *setting != listed);
                let others: Vec<String> = others
                    .map(|setting| point.value(*setting).to_owned())
                    .collect();
                let value = point.value(*listed).to_owned();
                match groups.iter_mut().find(|(known, _)| *known == others) {
                    Some((_, values)) if values.contains(&value) => {}
                    Some((_, values)) => values.push(value),
                    None => groups.push((others, vec![value])),
                }
            }
            (*listed, groups)
        };
        let all = self.varying.iter().rev().map(groups);
        let (listed, groups) = all.min_by_key(|(_, groups)| groups.len())?;
        let name = |(others, values): &(Vec<String>, Vec<String>)| {
            let mut others = others.iter();
            let parts = self
                .varying
                .iter()
                .filter_map(|setting| match *setting == listed {
                    true => Some(setting.text(values)),
                    false => Some(setting.text(std::slice::from_ref(others.next()?))),
                });
            parts.collect::<Vec<_>>().join(", ")
        };
        let names: Vec<String> = groups.iter().map(name).collect();
        (names.len() <= MOST_GROUPS).then(|| names.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_record::Aim;

    #[test]
    fn a_file_about_a_point_has_its_number_and_its_settings_in_its_name() {
        let places = Places::new([point(0, 16, 48, 1), point(1, 16, 1000, 2)].into_iter());
        assert_eq!(places.ending(1), "-1-in-1000-b-depth-2");
        assert_eq!(Places::new([point(0, 16, 48, 1)].into_iter()).ending(0), "");
    }

    fn point(index: u32, out_bytes: u32, in_bytes: u32, depth: u32) -> Point {
        Point {
            index,
            out_bytes,
            in_bytes,
            depth,
            link: 0,
            together: false,
        }
    }

    /// A run of every size of a response with every depth.
    fn places(sizes: &[u32], depths: &[u32]) -> Places {
        let points = sizes
            .iter()
            .flat_map(|&size| depths.iter().map(move |&depth| (size, depth)));
        Places::new(
            (0..)
                .zip(points)
                .map(|(index, (size, depth))| point(index, 16, size, depth)),
        )
    }

    #[test]
    fn points_are_named_by_the_settings_that_vary() {
        assert_eq!(places(&[48], &[1]).name(&[0]), "");
        assert_eq!(places(&[48], &[1]).bracketed(&[0]), "");
        assert_eq!(places(&[48], &[1, 2, 4]).name(&[2]), "depth 4");
        assert_eq!(
            places(&[48], &[1, 2, 4]).bracketed(&[0, 2]),
            " (depth 1 and 4)"
        );
        assert_eq!(places(&[48, 100], &[1]).name(&[1]), "IN 100 B");
        let both = places(&[48, 100, 1000], &[1, 4]);
        assert_eq!(both.name(&[5]), "IN 1,000 B, depth 4");
        assert_eq!(both.name(&[0, 1]), "IN 48 B, depth 1 and 4");
        assert_eq!(both.name(&[1, 3, 5]), "IN 48, 100 and 1,000 B, depth 4");
        assert_eq!(
            both.name(&[0, 1, 3]),
            "IN 48 B, depth 1 and 4; IN 100 B, depth 4"
        );
        assert_eq!(both.name(&[0, 1, 2, 3, 4, 5]), "all points");
    }

    #[test]
    fn equal_sizes_are_named_once_and_links_by_their_number() {
        let echo = [point(0, 64, 64, 1), point(1, 128, 128, 1)];
        assert_eq!(Places::new(echo.into_iter()).name(&[1]), "128 B");
        let mut links = [
            point(0, 64, 64, 1),
            point(1, 64, 64, 1),
            point(2, 64, 64, 1),
        ];
        links[1].link = 1;
        links[2].together = true;
        let links = Places::new(links.into_iter());
        assert_eq!(links.name(&[0, 1]), "link 0 alone and link 1 alone");
    }

    #[test]
    fn a_point_of_a_loop_without_a_tested_preload_is_named_so_among_tested_ones() {
        let of = |index, rate_hz, preload: Option<u64>| LoopPoint {
            index,
            rate_hz,
            channels: 1,
            notify_bytes: 2_000,
            ring_bytes: 64_000,
            preload_bytes: preload.unwrap_or(64_000),
            path: wiregauge_record::LoopPath::Cpu,
            aim: if preload.is_some() {
                Aim::Hold
            } else {
                Aim::Curve
            },
        };
        let points = [
            of(0, 1_000_000, None),
            of(1, 1_000_000, Some(4_000)),
            of(2, 1_000_000, Some(8_000)),
        ];
        let one_rate = Places::of_loop_points(points.into_iter());
        assert_eq!(one_rate.name(&[0]), "no preload");
        assert_eq!(one_rate.name(&[1]), "preload 4,000 B");
        assert_eq!(one_rate.name(&[1, 2]), "preload 4,000 and 8,000 B");
        assert_eq!(one_rate.name(&[0, 2]), "no preload and preload 8,000 B");
        let two_rates = Places::of_loop_points(points.into_iter().chain([of(3, 2_000_000, None)]));
        assert_eq!(two_rates.name(&[0, 3]), "1 and 2 MS/s, no preload");
        assert_eq!(two_rates.name(&[1]), "1 MS/s, preload 4,000 B");
        // Without a tested one there is nothing to say of it.
        let untested = Places::of_loop_points([points[0], of(1, 2_000_000, None)].into_iter());
        assert_eq!(untested.name(&[0]), "1 MS/s");
    }

    #[test]
    fn points_that_would_take_too_long_to_name_are_counted() {
        let many = places(&[16, 32, 64, 128], &[1, 2, 4, 8]);
        let three = "IN 16 B, depth 1; IN 32 B, depth 2; IN 64 B, depth 4";
        assert_eq!(many.name(&[0, 5, 10]), three);
        assert_eq!(many.name(&[0, 5, 10, 15]), "4 of 16 points");
        assert_eq!(many.name(&[0, 1, 2, 3, 4, 5, 6]), "7 of 16 points");
    }
}
