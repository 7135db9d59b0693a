//! How often a cycle gets its response later than a time or never, on logarithmic axes: what was measured, the
//! deadline, and the upper bound of the fitted tail of the responses as far as it is supported.

use super::Figure;
use super::axes::{Axis, bounds};
use super::canvas::{Canvas, Entry, Key, Limit};
use super::cells::{joined, of_each};
use super::look::{HEIGHT, LINE, Series};
use crate::Subject;
use crate::load::{DeadlinePoint, Deadlines};
use hdrhistogram::Histogram;
use wiregauge_compare::Settings;
use wiregauge_quantity::{exact_time, time};

/// More curves cannot be distinguished.
const MOST_CURVES: usize = 4;

/// Of the runs with a schedule, the cycles being its periods.
pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    of_each(subjects, |one| of_deadlines(one.deadlines.as_ref()?))
}

/// Those with the most missed cycles, in the order of the sweep; and how many have cycles.
fn worst(points: &[DeadlinePoint]) -> (Vec<&DeadlinePoint>, usize) {
    let measured: Vec<&DeadlinePoint> = points.iter().filter(|p| p.cycles.cycles > 0).collect();
    let mut worst: Vec<usize> = (0..measured.len()).collect();
    let share = |at: usize| measured[at].cycles.share.value;
    worst.sort_by(|a, b| share(*b).total_cmp(&share(*a)));
    worst.truncate(MOST_CURVES);
    worst.sort_unstable();
    let drawn = worst.into_iter().map(|at| measured[at]).collect();
    (drawn, measured.len())
}

/// Draws the points of a run, those with the most missed cycles if they are many.
pub fn of_deadlines(deadlines: &Deadlines) -> Option<Figure> {
    let (drawn, of) = worst(&deadlines.points);
    let drawn = &drawn[..];
    let answered = || drawn.iter().filter(|point| !point.responses.is_empty());
    answered().next()?;
    let mut legend: Vec<Entry> = Vec::new();
    for (number, point) in drawn.iter().enumerate() {
        legend.push(Key::Line(Series::of(number)).named(name(drawn, point)));
    }
    if drawn.iter().any(|point| !point.beyond.curve.is_empty()) {
        legend.push(Key::Line(fitted(0)).named("fitted tail at most"));
    }
    let canvas = Canvas::new(HEIGHT, &legend);
    let limits = limits(drawn, deadlines.control_loop.deadline_ns as f64);
    let lows = answered().map(|point| point.responses.min() as f64);
    let highs = answered().flat_map(|point| {
        let reach = point.beyond.curve.last().map(|(_, level)| *level);
        // A heavy tail's bound would push all else to the left.
        let most = point.responses.max() as f64;
        [most, reach.unwrap_or(most).min(20.0 * most)]
    });
    let of_limits = limits.iter().map(|limit| limit.at);
    let (low, high) = bounds(lows.chain(highs).chain(of_limits))?;
    let rarest = drawn.iter().map(|point| {
        let rarest = tail(point).last().map_or(1.0, |(share, _)| *share);
        rarest.min(1.0 / point.cycles.cycles as f64)
    });
    let rarest = rarest.fold(1.0, f64::min);
    let x = Axis::log_time("Response time", low.max(1.0), high * 1.15);
    let (first, last) = x.range();
    let y = Axis::log(
        "Cycles with a later response or none (log)",
        rarest * 0.5,
        // Room for the deadline's name above the curves, which all begin at 1.
        2.5,
        1.0,
        share,
    );
    let frame = canvas.frame(canvas.place(), "", x, y);
    for (number, point) in drawn.iter().enumerate() {
        frame.open("tail");
        let line = tail(point).into_iter().map(|(share, level)| (level, share));
        let inside: Vec<_> = line.take_while(|at| frame.holds(*at)).collect();
        frame.line_of(&inside, fitted(number), 1.2);
        frame.close();
        frame.open("measured");
        let line = survival(&point.responses, point.cycles.cycles, (first, last));
        frame.line_of(&line, Series::of(number), LINE);
        frame.close();
    }
    frame.limits_x(&limits);
    let mut caption = String::from(
        "Share of all cycles, as in the table: at its limit each line is at the cycles whose response came too \
         late or never.",
    );
    if drawn.iter().any(|point| point.beyond.curve.is_empty()) {
        caption += " Without a fitted tail there is no extrapolation.";
    }
    if drawn.len() < of {
        caption += &format!(
            " Shown: the {} points with the highest share of missed cycles, of {of}.",
            drawn.len()
        );
    }
    let asked = &deadlines.control_loop;
    let jitter = asked.jitter_ns.map_or(String::new(), |jitter| {
        format!(" and a jitter limit of {}", exact_time(jitter))
    });
    let title = format!(
        "Responses against a deadline of {}{jitter}",
        exact_time(asked.deadline_ns)
    );
    Some(canvas.finish("deadline", &title, &caption))
}

/// The deadline, and of each point the response time that its jitter limit allows, if that is less.
fn limits(drawn: &[&DeadlinePoint], deadline_ns: f64) -> Vec<Limit> {
    let settings = |point: &DeadlinePoint| Settings::of_exchange(&point.point);
    let all: Vec<Settings> = drawn.iter().map(|point| settings(point)).collect();
    let of_point = |point: &DeadlinePoint| {
        let limit = format!("jitter limit {}", time(point.limit_ns));
        Limit {
            at: point.limit_ns,
            name: joined([limit, settings(point).name_among(&all)], ", "),
        }
    };
    let stricter = drawn.iter().filter(|point| point.limit_ns < deadline_ns);
    let mut limits: Vec<Limit> = stricter.map(|point| of_point(point)).collect();
    limits.push(Limit {
        at: deadline_ns,
        name: format!("deadline {}", exact_time(deadline_ns as u64)),
    });
    limits
}

fn name(drawn: &[&DeadlinePoint], point: &DeadlinePoint) -> String {
    match drawn.len() {
        1 => "measured".to_owned(),
        _ => point.point.to_string(),
    }
}

/// The same colour as the samples it was fitted to, thinner.
fn fitted(number: usize) -> Series {
    Series {
        colour: Series::of(number).colour,
        ..Series::limit()
    }
}

/// The bound of the fitted tail: which share of the cycles has a response later than which time, or none, at most.
fn tail(point: &DeadlinePoint) -> Vec<(f64, f64)> {
    let responses = point.responses.len() as f64;
    let cycles = responses.max(point.cycles.cycles as f64);
    let share = |one_in: f64| (cycles - responses + responses / one_in) / cycles;
    let curve = point.beyond.curve.iter();
    curve
        .map(|(one_in, level)| (share(*one_in), *level))
        .collect()
}

/// Which share of the cycles has a later response or none, as the steps that the responses make. From one end of the
/// axis to the other if some have none.
fn survival(values: &Histogram<u64>, cycles: u64, (first, last): (f64, f64)) -> Vec<(f64, f64)> {
    let n = cycles.max(values.len()) as f64;
    let mut left = n;
    let mut line = Vec::new();
    if values.is_empty() {
        line.push((first, left / n));
    }
    for step in values.iter_recorded() {
        let value = step.value_iterated_to() as f64;
        line.push((value, left / n));
        left -= step.count_at_value() as f64;
        if left > 0.0 {
            line.push((value, left / n));
        }
    }
    if left > 0.0 {
        line.push((last, left / n));
    }
    line
}

/// A share on the axis: in percent while that is readable, then as a power of ten.
fn share(share: f64) -> String {
    match share {
        s if s >= 0.99e-6 => format!("{} %", super::axes::number(s * 100.0, s * 100.0)),
        s => format!("{s:.0e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Beyond, ControlLoop, Taken};
    use crate::tables::Places;
    use wiregauge_record::Point;
    use wiregauge_stats::{Confidence, Estimate, Missed, Responses};

    const MS: u64 = 1_000_000;

    /// A point of this size with these responses, of so many cycles, that misses 2 ms.
    fn point(in_bytes: u32, responses: &[u64], cycles: u64) -> DeadlinePoint {
        let mut values = Histogram::new(3).expect("three digits");
        responses.iter().for_each(|value| values += *value);
        let in_time = responses.iter().filter(|value| **value <= 2 * MS).count() as u64;
        let missed = cycles - in_time;
        DeadlinePoint {
            point: Point {
                index: in_bytes,
                out_bytes: 16,
                in_bytes,
                depth: 1,
                link: 0,
                together: false,
            },
            unanswered: cycles - responses.len() as u64,
            response: None,
            cycles: Missed {
                cycles,
                missed,
                share: Estimate {
                    value: missed as f64 / cycles.max(1) as f64,
                    low: None,
                    high: None,
                },
                effective_cycles: cycles as f64,
                runs: 0,
                longest_run: 0,
                mean_run: None,
            },
            limit_ns: (2 * MS) as f64,
            beyond: Beyond {
                refused: None,
                why: None,
                tail: None,
                one_in: None,
                late: None,
                level: None,
                curve: Vec::new(),
            },
            responses: values,
        }
    }

    fn of(points: Vec<DeadlinePoint>) -> Deadlines {
        Deadlines {
            control_loop: ControlLoop {
                period_ns: 2 * MS,
                deadline_ns: 2 * MS,
                jitter_ns: None,
                beyond: None,
            },
            taken: Taken::AsScheduled,
            places: Places::new(points.iter().map(|point| point.point)),
            points,
        }
    }

    #[test]
    fn of_many_points_those_with_the_most_misses_are_drawn() {
        let points = (1..=12).map(|size| {
            let late = if size > 8 { 20 } else { size as usize };
            let mut responses = vec![MS; 100 - late];
            responses.resize(100, 5 * MS);
            point(size, &responses, 100)
        });
        let figure = of_deadlines(&of(points.collect())).expect("it is drawn");
        for size in 9..=12 {
            assert!(figure.svg.contains(&format!("IN {size} B")), "{size}");
        }
        assert!(!figure.svg.contains("IN 1 B"));
        let words = "the 4 points with the highest share of missed cycles, of 12";
        assert!(figure.caption.contains(words), "{}", figure.caption);
    }

    #[test]
    fn a_line_is_at_the_share_of_the_table_at_the_deadline_and_never_below_what_got_no_response() {
        let mut responses = vec![MS; 80];
        responses.resize(90, 5 * MS);
        let point = point(48, &responses, 100);
        let line = survival(&point.responses, point.cycles.cycles, (1.0, 1e9));
        let at_deadline = line.iter().rev().find(|(time, _)| *time <= point.limit_ns);
        assert_eq!(at_deadline.map(|at| at.1), Some(point.cycles.share.value));
        assert_eq!(line.first().map(|at| at.1), Some(1.0));
        assert_eq!(line.last(), Some(&(1e9, 0.1)));
        // All answered: the line ends at the longest response.
        let line = survival(&point.responses, 90, (1.0, 1e9));
        assert!(line.last().is_some_and(|at| at.0 < 6e6), "{line:?}");
    }

    #[test]
    fn a_fitted_tail_is_at_the_share_of_all_cycles_like_the_line_that_it_continues() {
        // Exponential beyond 1 ms, and in every fifth cycle no response.
        let mut random = fastrand::Rng::with_seed(3);
        let responses: Vec<u64> = (0..20_000)
            .map(|_| MS + (-random.f64().max(1e-12).ln() * 2e5) as u64)
            .collect();
        let mut fitted = Responses::new();
        responses.iter().for_each(|value| fitted.push(*value));
        let tail_of_it = fitted.tail().expect("enough responses");
        let mut point = point(48, &responses, 25_000);
        let curve = tail_of_it.curve(5_000.0, 24, Confidence::NINETY_FIVE);
        point.beyond.curve = curve;
        let tail = tail(&point);
        let measured = survival(&point.responses, point.cycles.cycles, (1.0, 1e9));
        let shares = tail.iter().filter(|(_, level)| *level < 2e6);
        let mut compared = 0;
        for (share, level) in shares {
            let after = measured.iter().rev().find(|at| at.0 <= *level);
            let (_, found) = after.expect("all are later");
            assert!((0.0..1e-2).contains(&(share - found)), "{share} {found}");
            compared += 1;
        }
        assert!(compared > 3, "{compared}");
        let figure = of_deadlines(&of(vec![point])).expect("it is drawn");
        assert_eq!(figure.svg.matches("class=\"tail\"").count(), 1);
        assert!(figure.svg.contains(">fitted tail at most<"));
        assert!(!figure.caption.contains("no extrapolation"));
    }

    #[test]
    fn each_point_has_its_own_jitter_limit_and_the_deadline_is_there() {
        let near = |in_bytes, limit_ns| DeadlinePoint {
            limit_ns,
            ..point(in_bytes, &[MS; 50], 50)
        };
        let mut both = of(vec![near(48, 1.2e6), near(4000, 1.5e6)]);
        both.control_loop.jitter_ns = Some(200_000);
        let figure = of_deadlines(&both).expect("it is drawn");
        for name in [
            "jitter limit 1.200 ms, IN 48 B",
            "jitter limit 1.500 ms, IN 4,000 B",
            "deadline 2 ms",
        ] {
            assert!(figure.svg.contains(name), "{name}: {}", figure.svg);
        }
        let title = &figure.title;
        assert!(title.contains("deadline of 2 ms"), "{title}");
        assert!(title.contains("jitter limit of 200 "), "{title}");
        // Where the deadline is stricter than the jitter it is the only limit.
        let mut strict = of(vec![near(48, 2e6)]);
        strict.control_loop.jitter_ns = Some(5 * MS);
        let figure = of_deadlines(&strict).expect("it is drawn");
        assert!(!figure.svg.contains(">jitter limit"), "{}", figure.svg);
        assert!(figure.svg.contains(">deadline 2 ms"));
    }

    #[test]
    fn a_point_without_any_response_is_a_line_at_all_of_its_cycles() {
        let figure = of_deadlines(&of(vec![point(48, &[MS; 50], 50), point(500, &[], 50)]));
        let figure = figure.expect("it is drawn");
        assert!(figure.svg.contains("IN 500 B"));
        assert_eq!(figure.svg.matches("class=\"measured\"").count(), 2);
        assert!(of_deadlines(&of(vec![point(48, &[], 50)])).is_none());
    }
}
