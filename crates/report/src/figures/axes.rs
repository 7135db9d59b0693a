//! Axes whose ticks are what people expect to read. Values stay in the unit in which they are stored
//! (nanoseconds, bytes, bytes a second, shares of 1); only labels are in the unit that is shown.

use wiregauge_quantity::{exact_time, grouped_digits};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    Linear,
    /// Linear, each label between two whole numbers.
    Slots,
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
}

impl Tick {
    fn new(at: f64, label: String) -> Tick {
        Tick { at, label }
    }
}

/// An axis: a range, a scale, ticks, a title with the unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    /// What it shows, with the unit.
    pub(crate) title: String,
    /// Where labels stand.
    pub(crate) ticks: Vec<Tick>,
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

/// A range that is no narrower than a tenth of its values: what hardly varies shall look so.
pub(crate) fn roomy(low: f64, high: f64) -> (f64, f64) {
    let missing = (0.1 * high - (high - low)).max(0.0);
    ((low - missing / 2.0).max(0.0), high + missing / 2.0)
}

/// Units of an axis, the smallest first: how many of the stored unit each is, and its name.
type Units = [(f64, &'static str)];

const TIMES: [(f64, &str); 3] = [(1e3, "us"), (1e6, "ms"), (1e9, "s")];
const RATES: [(f64, &str); 2] = [(1e3, "kB/s"), (1e6, "MB/s")];
const BYTES: [(f64, &str); 3] = [(1.0, "B"), (1e3, "kB"), (1e6, "MB")];

/// The largest unit of which `high` is at least one.
fn unit_of(high: f64, units: &Units) -> (f64, &'static str) {
    let largest = units.iter().rfind(|(unit, _)| high >= *unit);
    *largest.unwrap_or(&units[0])
}

impl Axis {
    fn new(title: String, scale: Scale, (low, high): (f64, f64), ticks: Vec<Tick>) -> Axis {
        Axis {
            title,
            ticks,
            scale,
            low,
            high,
        }
    }

    fn linear_in(name: &str, low: f64, high: f64, units: &Units) -> Axis {
        let (unit, named) = unit_of(high, units);
        Axis::linear(&format!("{name} ({named})"), low, high, unit)
    }

    fn log_in(name: &str, low: f64, high: f64, units: &Units) -> Axis {
        let (unit, named) = unit_of(high, units);
        let label = |value: f64| number(value, value);
        Axis::log(&format!("{name} ({named}, log)"), low, high, unit, label)
    }

    /// Times in nanoseconds from 0 up.
    pub(crate) fn time(name: &str, high: f64) -> Axis {
        Axis::time_between(name, 0.0, high)
    }

    /// Times in nanoseconds in a range that need not begin at 0.
    pub(crate) fn time_between(name: &str, low: f64, high: f64) -> Axis {
        Axis::linear_in(name, low, high, &TIMES[..2])
    }

    /// Times in nanoseconds, logarithmic; over more than four decades every label has its own unit.
    pub(crate) fn log_time(name: &str, low: f64, high: f64) -> Axis {
        if finite(high) > 2e4 * finite(low).max(1.0) {
            return Axis::log(&format!("{name} (log)"), low, high, 1.0, log_time_label);
        }
        Axis::log_in(name, low, high, &TIMES[..2])
    }

    /// Moments in nanoseconds since a start, up to the end, where the axis ends.
    pub(crate) fn elapsed(name: &str, end: f64) -> Axis {
        let end = finite(end).max(1.0);
        let mut axis = Axis::linear_in(name, 0.0, end, &TIMES);
        axis.high = end;
        axis.ticks.retain(|tick| tick.at <= end);
        axis
    }

    /// Bytes a second from 0 up.
    pub(crate) fn rate(name: &str, high: f64) -> Axis {
        Axis::linear_in(name, 0.0, high, &RATES)
    }

    /// Bytes a second, logarithmic.
    pub(crate) fn log_rate(name: &str, low: f64, high: f64) -> Axis {
        Axis::log_in(name, low, high, &RATES)
    }

    /// Sizes in bytes, logarithmic to base 2. Those that were measured are named; of many every second, third ...
    pub(crate) fn sizes(name: &str, sizes: &[u32]) -> Axis {
        // Nothing at all has its place half an octave below one byte.
        let place = |size: u32| f64::from(size).max(0.7);
        let mut sizes = sizes.to_vec();
        sizes.sort_unstable();
        sizes.dedup();
        let range = bounds(sizes.iter().map(|size| place(*size)));
        let (low, high) = range.unwrap_or((1.0, 2.0));
        let margin = ((high / low).log2().max(1.0) * 0.05).exp2();
        let every = sizes.len().div_ceil(MOST_NAMED).max(1);
        let tick = |size: u32| Tick::new(place(size), size_label(size));
        let ticks: Vec<Tick> = sizes.into_iter().step_by(every).map(tick).collect();
        let unit = size_unit(ticks.iter().map(|tick| &tick.label));
        let title = format!("{name} ({unit}, log)");
        Axis::new(title, Scale::Log, (low / margin, high * margin), ticks)
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

    /// Percentiles of `n` samples on a percentile axis; values are shares, 0 to below 1.
    pub(crate) fn percentiles(name: &str, n: u64) -> Axis {
        let decades = (n.max(1) as f64).log10().clamp(1.0, 12.0);
        let nines = (1..=(decades + 1e-9) as usize).map(|nines| {
            let share = 1.0 - 10_f64.powf(-(nines as f64));
            let digits = nines.saturating_sub(2);
            Tick::new(share, format!("{:.digits$} %", 100.0 * share))
        });
        let bulk = [(0.0, "0 %"), (0.5, "50 %")];
        let bulk = bulk.map(|(at, label)| Tick::new(at, label.to_owned()));
        let ticks = bulk.into_iter().chain(nines).collect();
        let high = 1.0 - 10_f64.powf(-decades);
        Axis::new(name.to_owned(), Scale::Nines, (0.0, high), ticks)
    }

    /// Bytes, logarithmic.
    pub(crate) fn log_bytes(name: &str, low: f64, high: f64) -> Axis {
        Axis::log_in(name, low, high, &BYTES)
    }

    /// Places side by side, each with a name; place `n` goes from `n` to `n + 1`.
    pub(crate) fn slots(name: &str, labels: &[String]) -> Axis {
        let tick = |(slot, label): (usize, &String)| Tick::new(slot as f64 + 0.5, label.clone());
        let ticks = labels.iter().enumerate().map(tick).collect();
        let high = labels.len().max(1) as f64;
        Axis::new(name.to_owned(), Scale::Slots, (0.0, high), ticks)
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
        let range = (first * step * unit, last * step * unit);
        Axis::new(title.to_owned(), Scale::Linear, range, ticks)
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
        let exponent = |value: f64| (value / unit).log10().floor() as i32;
        let powers = exponent(low)..=exponent(high);
        let values = powers.flat_map(|power| {
            let scale = 10_f64.powi(power);
            parts.iter().map(move |part| part * scale)
        });
        let inside = values.filter(|value| (low..=high).contains(&(value * unit)));
        let ticks = inside.map(|value| Tick::new(value * unit, label(value)));
        Axis::new(title.to_owned(), Scale::Log, (low, high), ticks.collect())
    }

    /// A logarithmic axis on which 0 stands at `at`, apart from all values, which begin beyond `from`.
    pub(crate) fn with_zero(mut self, at: f64, from: f64) -> Axis {
        self.ticks.retain(|tick| tick.at > from);
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

    /// Where grid lines stand: at the labels, unless these name what lies between two places.
    pub(crate) fn grid(&self) -> impl Iterator<Item = f64> {
        let ticks = self.ticks.iter().filter(|_| self.scale != Scale::Slots);
        ticks.map(|tick| tick.at)
    }

    fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear | Scale::Slots => value,
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

fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
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
    // Steps of 2.5 need one decimal more than their power of ten.
    let is_enough = |decimals: &i32| {
        let scaled = step * 10_f64.powi(*decimals);
        (scaled - scaled.round()).abs() < 1e-6
    };
    let decimals = (0..9).find(is_enough).unwrap_or(9);
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
        for (end, title) in [(125e3, "t (us)"), (20e6, "t (ms)"), (3e9, "t (s)")] {
            let axis = Axis::elapsed("t", end);
            assert_eq!((axis.title.as_str(), axis.range().1), (title, end));
        }
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
        assert!(axis.ticks.len() <= MOST_NAMED, "{axis:?}");
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
