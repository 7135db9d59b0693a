//! Axes: coordinates for plotters whose ticks are what people expect to read. Values stay in the
//! unit in which they are stored (nanoseconds, bytes, bytes a second, shares of 1); only labels are
//! in the unit that is shown.

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use std::ops::Range;
use wiregauge_quantity::{exact_time, grouped_digits};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    Linear,
    Log,
    /// -log10(1 - p): 0, 50, 90, 99, 99.9 % ... of the samples, the tail as wide as the bulk.
    Nines,
}

/// Measured sizes are named up to so many; the frame leaves out names that have no room.
const MOST_NAMED: usize = 12;

/// A place on an axis that has a label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) label: String,
    /// Key of the point that the label names; empty if it names none.
    pub(crate) point: String,
}

impl Tick {
    fn new(at: f64, label: String) -> Tick {
        Tick {
            at,
            label,
            point: String::new(),
        }
    }
}

/// An axis: a range, a scale, ticks, a title with the unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    /// What it shows, with the unit.
    pub(crate) title: String,
    /// Where labels stand.
    pub(crate) ticks: Vec<Tick>,
    /// Where grid lines stand.
    pub(crate) grid: Vec<f64>,
    scale: Scale,
    low: f64,
    high: f64,
}

/// The smallest and the largest finite value; `None` if there is none.
pub(crate) fn bounds(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .into_iter()
        .filter(|value| value.is_finite())
        .fold(None, |bounds, value| match bounds {
            None => Some((value, value)),
            Some((low, high)) => Some((f64::min(low, value), f64::max(high, value))),
        })
}

/// The unit in which a time axis up to `high` nanoseconds is read: nanoseconds a unit, and its name.
fn time_unit(high: f64) -> (f64, &'static str) {
    match high >= 1e6 {
        true => (1e6, "ms"),
        false => (1e3, "us"),
    }
}

fn rate_unit(high: f64) -> (f64, &'static str) {
    match high >= 1e6 {
        true => (1e6, "MB/s"),
        false => (1e3, "kB/s"),
    }
}

impl Axis {
    fn linear_in(name: &str, low: f64, high: f64, (unit, named): (f64, &str)) -> Axis {
        Axis::linear(&format!("{name} ({named})"), low, high, unit)
    }

    fn log_in(name: &str, low: f64, high: f64, (unit, named): (f64, &str)) -> Axis {
        let label = |value: f64| number(value, value);
        Axis::log(&format!("{name} ({named}, log)"), low, high, unit, label)
    }

    /// Times in nanoseconds from 0 up.
    pub(crate) fn time(name: &str, high: f64) -> Axis {
        Axis::linear_in(name, 0.0, high, time_unit(high))
    }

    /// Times in nanoseconds from 0 to the end of a period, where the axis ends.
    pub(crate) fn period(name: &str, high: f64) -> Axis {
        let mut axis = Axis::time(name, high);
        axis.high = high;
        axis.keep_within();
        axis
    }

    /// Times in nanoseconds in a range that need not begin at 0.
    pub(crate) fn time_between(name: &str, low: f64, high: f64) -> Axis {
        Axis::linear_in(name, low, high, time_unit(high))
    }

    /// Times in nanoseconds, logarithmic; over more than four decades every label has its own unit.
    pub(crate) fn log_time(name: &str, low: f64, high: f64) -> Axis {
        if finite(high) > 2e4 * finite(low).max(1.0) {
            return Axis::log(&format!("{name} (log)"), low, high, 1.0, log_time_label);
        }
        Axis::log_in(name, low, high, time_unit(high))
    }

    /// Moments in nanoseconds since a start, shown in seconds.
    pub(crate) fn elapsed(name: &str, high: f64) -> Axis {
        // A run of milliseconds is better read in them.
        let high = finite(high).max(1.0);
        let unit = if high < 1e8 { (1e6, "ms") } else { (1e9, "s") };
        let mut axis = Axis::linear_in(name, 0.0, high, unit);
        axis.high = high;
        axis.keep_within();
        axis
    }

    /// Bytes a second from 0 up.
    pub(crate) fn rate(name: &str, high: f64) -> Axis {
        Axis::linear_in(name, 0.0, high, rate_unit(high))
    }

    /// Bytes a second, logarithmic.
    pub(crate) fn log_rate(name: &str, low: f64, high: f64) -> Axis {
        Axis::log_in(name, low, high, rate_unit(high))
    }

    /// Sizes in bytes, logarithmic to base 2. The sizes that were measured are named where there is
    /// room.
    pub(crate) fn sizes(name: &str, sizes: &[u32]) -> Axis {
        // Nothing at all has its place half an octave below one byte.
        let place = |size: u32| f64::from(size).max(0.7);
        let (low, high) = bounds(sizes.iter().map(|size| place(*size))).unwrap_or((1.0, 2.0));
        let span = (high / low).log2().max(1.0);
        let margin = (span * 0.05).exp2();
        let mut marks = sizes.to_vec();
        marks.sort_unstable();
        marks.dedup();
        if marks.len() > MOST_NAMED {
            let step = (span / 9.0).ceil() as usize;
            let powers = (0..32).filter(|power| {
                let size = f64::from(*power).exp2();
                size >= low / margin && size <= high * margin
            });
            marks = powers
                .step_by(step.max(1))
                .map(|power| 1_u32 << power)
                .collect();
        }
        let ticks: Vec<Tick> = marks
            .into_iter()
            .map(|size| Tick::new(place(size), size_label(size)))
            .collect();
        let unit = size_unit(ticks.iter().map(|tick| &tick.label));
        Axis {
            title: format!("{name} ({unit}, log)"),
            grid: ticks.iter().map(|tick| tick.at).collect(),
            ticks,
            scale: Scale::Log,
            low: low / margin,
            high: high * margin,
        }
    }

    /// Depths or queues: whole numbers, logarithmic, each one named.
    pub(crate) fn depths(name: &str, depths: &[u32]) -> Axis {
        let mut axis = Axis::sizes(name, depths);
        axis.title = format!("{name} (log)");
        for tick in &mut axis.ticks {
            tick.label = grouped(tick.at.round());
        }
        axis
    }

    /// Percentiles of `n` samples on an axis of percentile_axis; values are shares, 0 to below 1.
    pub(crate) fn percentiles(name: &str, n: u64) -> Axis {
        let decades = (n.max(1) as f64).log10().clamp(1.0, 12.0);
        let mut ticks = vec![(0.0, "0 %".to_owned()), (0.5, "50 %".to_owned())];
        for count in 1..=decades.ceil() as usize {
            let label = match count {
                1 => "90 %".to_owned(),
                2 => "99 %".to_owned(),
                _ => format!("99.{} %", "9".repeat(count - 2)),
            };
            ticks.push((1.0 - 10_f64.powi(-(count as i32)), label));
        }
        let high = 1.0 - 10_f64.powf(-decades);
        ticks.retain(|(at, _)| *at <= high * (1.0 + 1e-15));
        Axis {
            title: name.to_owned(),
            grid: ticks.iter().map(|(at, _)| *at).collect(),
            ticks: ticks
                .into_iter()
                .map(|(at, label)| Tick::new(at, label))
                .collect(),
            scale: Scale::Nines,
            low: 0.0,
            high,
        }
    }

    /// Shares of 1, shown in percent.
    pub(crate) fn percent(name: &str, low: f64, high: f64) -> Axis {
        Axis::linear(&format!("{name} (%)"), low, high, 0.01)
    }

    /// Bytes, logarithmic.
    pub(crate) fn log_bytes(name: &str, low: f64, high: f64) -> Axis {
        Axis::log_in(name, low, high, bytes_unit(high))
    }

    /// Places side by side, each with a name; place `n` goes from `n` to `n + 1`.
    pub(crate) fn slots(name: &str, labels: &[String]) -> Axis {
        Axis {
            title: name.to_owned(),
            ticks: labels
                .iter()
                .enumerate()
                .map(|(slot, label)| Tick::new(slot as f64 + 0.5, label.clone()))
                .collect(),
            grid: Vec::new(),
            scale: Scale::Linear,
            low: 0.0,
            high: labels.len().max(1) as f64,
        }
    }

    /// Points one above the other, the first on top: label and key of each.
    pub(crate) fn points(points: impl DoubleEndedIterator<Item = (String, String)>) -> Axis {
        let (labels, keys): (Vec<String>, Vec<String>) = points.rev().unzip();
        let mut axis = Axis::slots("", &labels);
        for (tick, key) in axis.ticks.iter_mut().zip(keys) {
            tick.point = key;
        }
        axis
    }

    /// Any values: `unit` of them are one on the labels. The range grows to whole ticks.
    pub(crate) fn linear(title: &str, low: f64, high: f64, unit: f64) -> Axis {
        let (low, high) = (finite(low) / unit, finite(high) / unit);
        let high = if high > low { high } else { low + 1.0 };
        let step = nice_step((high - low) / 5.0);
        // What lies just above a tick must not stand in the last tenth of a step, and what lies on
        // it not on the edge of the figure: one is untidy, the other cut in half.
        let first = (low / step + 1e-9).floor();
        let last = (high / step + 0.05).ceil();
        let ticks: Vec<Tick> = (0..=(last - first).clamp(1.0, 20.0) as u32)
            .map(|n| {
                let value = (first + f64::from(n)) * step;
                Tick::new(value * unit, number(value, step))
            })
            .collect();
        Axis {
            title: title.to_owned(),
            grid: ticks.iter().map(|tick| tick.at).collect(),
            low: first * step * unit,
            high: last * step * unit,
            ticks,
            scale: Scale::Linear,
        }
    }

    /// Any positive values, logarithmic. What is not positive stands at the low end.
    pub(crate) fn log(
        title: &str,
        low: f64,
        high: f64,
        unit: f64,
        label: impl Fn(f64) -> String,
    ) -> Axis {
        let high = finite(high).max(unit * 1e-9);
        let low = finite(low).clamp(high * 1e-15, high);
        // Never less than a third of a decade: a flat line is no cliff.
        let spare = ((2.2 / (high / low)).log10() / 2.0).max(0.0);
        let margin = 10_f64.powf(spare + (high / low).log10() * 0.04);
        let (low, high) = (low / margin, high * margin);
        let decades = (high / low).log10();
        let parts: &[f64] = match decades {
            d if d < 1.2 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
            d if d < 3.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let every = (decades / 8.0).ceil().max(1.0) as i32;
        let exponent = |value: f64| (value / unit).log10().floor() as i32;
        let mut ticks = Vec::new();
        let mut grid = Vec::new();
        for power in exponent(low)..=exponent(high) {
            for part in parts {
                let at = part * 10_f64.powi(power) * unit;
                if at < low || at > high {
                    continue;
                }
                grid.push(at);
                if power.rem_euclid(every) == 0 {
                    ticks.push(Tick::new(at, label(at / unit)));
                }
            }
        }
        Axis {
            title: title.to_owned(),
            ticks,
            grid,
            scale: Scale::Log,
            low,
            high,
        }
    }

    /// A logarithmic axis on which 0 stands at `at`, apart from all values, which begin beyond `from`.
    pub(crate) fn with_zero(mut self, at: f64, from: f64) -> Axis {
        self.ticks.retain(|tick| tick.at > from);
        self.grid.retain(|grid| *grid > from);
        self.ticks.insert(0, Tick::new(at, "0".to_owned()));
        self
    }

    /// The range, in the unit of the values.
    pub(crate) fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// True if a value lies in the range.
    pub(crate) fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The same axis without the labels that stand outside its range.
    fn keep_within(&mut self) {
        let (low, high) = (self.low, self.high);
        self.ticks.retain(|tick| low <= tick.at && tick.at <= high);
        self.grid.retain(|at| low <= *at && *at <= high);
    }

    fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log => value.max(f64::MIN_POSITIVE).log10(),
            Scale::Nines => -(1.0 - value.min(1.0)).max(1e-15).log10(),
        }
    }

    /// Where on the axis a value stands, 0 to 1; at the edge if it lies outside.
    pub(crate) fn part(&self, value: f64) -> f64 {
        let (low, high) = (self.place(self.low), self.place(self.high));
        let part = (self.place(value) - low) / (high - low);
        finite(part).clamp(0.0, 1.0)
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        start + (self.part(*value) * f64::from(end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        self.grid
            .iter()
            .copied()
            .take(hint.max_num_points())
            .collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

fn bytes_unit(high: f64) -> (f64, &'static str) {
    match high {
        h if h >= 1e6 => (1e6, "MB"),
        h if h >= 1e4 => (1e3, "kB"),
        _ => (1.0, "B"),
    }
}

/// 1, 2 or 5 times a power of ten, at least `step`.
fn nice_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|part| part * power)
        .find(|nice| *nice >= step * 0.999)
        .unwrap_or(10.0 * power)
}

/// A number with the decimals that steps of `step` need, its thousands set off.
pub(crate) fn number(value: f64, step: f64) -> String {
    let mut decimals = 0;
    // Steps of 2.5 need one decimal more than their power of ten.
    while decimals < 9
        && (step * 10_f64.powi(decimals)).fract().abs() > 1e-6
        && (step * 10_f64.powi(decimals)).fract().abs() < 1.0 - 1e-6
    {
        decimals += 1;
    }
    let text = format!("{:.*}", decimals as usize, value.abs());
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let mut out = String::new();
    if value < 0.0 && text.chars().any(|c| c.is_ascii_digit() && c != '0') {
        out.push('-');
    }
    out.push_str(&grouped_digits(whole));
    if !part.is_empty() {
        out.push('.');
        out.push_str(part);
    }
    out
}

fn grouped(value: f64) -> String {
    number(value, 1.0)
}

/// A size as it is written on the command line: 64, 1k, 64k, 1000.
pub(crate) fn size_label(size: u32) -> String {
    match size {
        s if s >= 1 << 20 && s.is_multiple_of(1 << 20) => format!("{}M", s >> 20),
        s if s >= 1 << 10 && s.is_multiple_of(1 << 10) => format!("{}k", s >> 10),
        s => grouped(f64::from(s)),
    }
}

/// A size in a text, as everywhere on the page: `4,096 B`.
pub(crate) fn size_text(size: u32) -> String {
    format!("{} B", grouped(f64::from(size)))
}

/// The unit of sizes with such labels.
fn size_unit<'a>(labels: impl IntoIterator<Item = &'a String>) -> &'static str {
    let plain = |label: &String| label.ends_with(|c: char| c.is_ascii_digit());
    match labels.into_iter().all(plain) {
        true => "B",
        false => "B, k = 1,024",
    }
}

/// Nanoseconds with the unit in which they are a short number: 500 ns, 20 us, 1 ms, 5 s.
pub(crate) fn log_time_label(ns: f64) -> String {
    exact_time(ns.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn times_are_read_in_round_numbers_of_one_unit() {
        let axis = Axis::time("RTT", 23_400_000.0);
        assert_eq!(axis.title, "RTT (ms)");
        assert_eq!(labels(&axis), ["0", "5", "10", "15", "20", "25"]);
        let axis = Axis::time("RTT", 1_000.0);
        assert_eq!(axis.title, "RTT (us)");
        assert_eq!(labels(&axis).first(), Some(&"0.0"));
    }

    #[test]
    fn a_value_on_a_tick_is_not_drawn_on_the_edge() {
        let axis = Axis::rate("Rate", 10e6);
        assert!(axis.range().1 > 10e6, "{axis:?}");
    }

    #[test]
    fn logarithmic_times_have_their_unit_in_the_title_or_at_every_label() {
        let axis = Axis::log_time("RTT", 1.0, 100e9);
        assert!(labels(&axis).contains(&"1 ms"), "{axis:?}");
        assert!(axis.ticks.len() >= 5 && axis.ticks.len() <= 12, "{axis:?}");
        let axis = Axis::log_time("RTT", 120e3, 480e3);
        assert!(labels(&axis).contains(&"200"), "{axis:?}");
        assert_eq!(axis.title, "RTT (us, log)");
    }

    #[test]
    fn measured_sizes_are_named_unless_they_are_too_many() {
        let axis = Axis::sizes("IN size", &[48, 100, 1000, 8000]);
        assert_eq!(labels(&axis), ["48", "100", "1,000", "8,000"]);
        assert_eq!(axis.title, "IN size (B, log)");
        let axis = Axis::sizes("Transfer size", &[64, 1024, 65536]);
        assert_eq!(labels(&axis), ["64", "1k", "64k"]);
        assert_eq!(axis.title, "Transfer size (B, k = 1,024, log)");
        let many: Vec<u32> = (1..=100).map(|n| n * 100).collect();
        let axis = Axis::sizes("IN size", &many);
        assert!(axis.ticks.len() <= 10, "{axis:?}");
    }

    #[test]
    fn percentiles_stand_at_equal_distances() {
        let axis = Axis::percentiles("Percentile", 10_000);
        assert_eq!(
            labels(&axis),
            ["0 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %"]
        );
        let at: Vec<f64> = axis.ticks.iter().map(|tick| axis.part(tick.at)).collect();
        for nine in 2..5 {
            let step = at[nine + 1] - at[nine];
            assert!((step - 0.25).abs() < 1e-6, "{at:?}");
        }
    }

    #[test]
    fn numbers_have_the_decimals_that_their_steps_need() {
        assert_eq!(number(2.5, 2.5), "2.5");
        assert_eq!(number(10.0, 2.5), "10.0");
        assert_eq!(number(1_234_567.0, 1.0), "1,234,567");
        assert_eq!(number(0.3, 0.1), "0.3");
        assert_eq!(number(-0.00001, 0.1), "0.0");
    }

    proptest! {
        #[test]
        fn every_axis_has_few_labels_within_its_range(
            low in prop_oneof![Just(0.0), Just(1.0), 0.0..1e12_f64],
            high in prop_oneof![Just(0.0), Just(1.0), 0.0..1e12_f64, Just(f64::NAN), Just(f64::INFINITY)],
            n in any::<u64>(),
            sizes in prop::collection::vec(any::<u32>(), 0..40),
        ) {
            let axes = [
                Axis::time("x", high),
                Axis::time_between("x", low, high),
                Axis::log_time("x", low, high),
                Axis::elapsed("x", high),
                Axis::rate("x", high),
                Axis::log_rate("x", low, high),
                Axis::log_bytes("x", low, high),
                Axis::percent("x", 0.0, 1.0),
                Axis::percentiles("x", n),
                Axis::sizes("x", &sizes),
                Axis::depths("x", &sizes),
            ];
            for axis in axes {
                let (low, high) = axis.range();
                prop_assert!(low < high && low.is_finite() && high.is_finite(), "{axis:?}");
                prop_assert!(axis.ticks.len() <= 25, "{axis:?}");
                for tick in &axis.ticks {
                    let part = axis.part(tick.at);
                    prop_assert!((0.0..=1.0).contains(&part), "{axis:?}");
                    prop_assert!(!tick.label.contains("NaN") && !tick.label.contains("inf"));
                    prop_assert!(tick.label.len() <= 24, "{axis:?}");
                }
            }
        }
    }
}
