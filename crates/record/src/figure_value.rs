//! The numbers that the names of `figure` stand for, read out of the summaries of points.

use crate::direction::Way;
use crate::figure::{Carried, Figure, Part, Problem, Times};
use crate::point_summary::PointSummary;
use crate::stream_summary::{FlowSummary, StreamSummary};
use wiregauge_stats::{Confidence, Distribution, Estimate, share_of};

impl Times {
    /// The times of a point of exchanges, if it has them.
    pub fn of(self, point: &PointSummary) -> Option<&Distribution> {
        match self {
            Times::Answer => point.from_intended.as_ref().or(point.rtt.as_ref()),
            Times::Rtt => point.rtt.as_ref(),
            Times::FromIntended => point.from_intended.as_ref(),
            Times::Trt => point.trt.as_ref(),
            Times::Device => point.device.as_ref(),
            Times::Connect => point.connect.as_ref(),
            Times::Access => point.access.as_ref(),
            Times::Transfer => point.transfer.as_ref(),
            Times::Gap | Times::HostGap => None,
        }
    }
}

impl Figure {
    /// Its value at an exchange point; `None` if that was not measured, or is nothing of exchanges.
    pub fn of_point(self, point: &PointSummary) -> Option<Estimate> {
        let (counts, speed) = (&point.counts, &point.throughput);
        let count = |problem| {
            Some(match problem {
                Problem::Lost => counts.exchanges.saturating_sub(counts.answered),
                Problem::Late => counts.late,
                Problem::Duplicated => counts.duplicated,
                Problem::Reordered => counts.reordered,
                Problem::Corrupted => counts.corrupted,
                Problem::Unexpected => counts.unexpected,
                Problem::Stray | Problem::Stalls | Problem::Missed => return None,
            })
        };
        // Nothing was exchanged: neither is a rate of 0 a finding, nor that nothing went wrong.
        let something = counts.exchanges > 0;
        let paced = |value: f64| something.then(|| as_sure_as(point.trt.as_ref(), value));
        match self {
            Figure::Time(times, part) => {
                let times = times.of(point);
                times.map(|times| part.of(times))
            }
            Figure::Share(problem) if something => share(count(problem)?, counts.exchanges),
            Figure::Count(problem) if something => Some(bare(count(problem)? as f64)),
            Figure::Share(_) | Figure::Count(_) => None,
            Figure::Rate(Carried::In) => paced(speed.in_bytes_s),
            Figure::Rate(Carried::Out) => paced(speed.out_bytes_s),
            Figure::Rate(Carried::Both) => paced(speed.in_bytes_s + speed.out_bytes_s),
            Figure::Exchanges => paced(speed.exchanges_s),
            Figure::AchievedDepth => something.then(|| bare(point.achieved_depth)),
            Figure::LimitUsed => paced(point.limit.as_ref()?.used),
            // Their numbers come from the delays and a model or a period, not from the summary.
            Figure::Control(_) | Figure::Longest => None,
        }
    }

    /// The part of the exchanges of a point without a right answer in time, where that is so large
    /// that this percentile lies among them: over all exchanges it is then longer than any timeout.
    pub fn unanswered_share(self, point: &PointSummary) -> Option<f64> {
        let Figure::Time(times, part) = self else {
            return None;
        };
        // Starts are there whether or not an answer comes.
        let of_answers = !matches!(times, Times::Trt | Times::Gap | Times::HostGap);
        let beyond = part.beyond().filter(|_| of_answers)?;
        let counts = &point.counts;
        let unanswered = counts.exchanges.saturating_sub(counts.answered) as f64;
        let share = unanswered / counts.exchanges.max(1) as f64;
        (share > beyond).then_some(share)
    }

    /// Its value of one way of a stream point; `None` if that was not measured, if no end knows, or
    /// if it is nothing of this way.
    pub fn of_flow(self, flow: &FlowSummary) -> Option<Estimate> {
        let counts = &flow.counts;
        // Without the device's count no byte is known to have arrived.
        let unknown = flow.way == Way::Out && counts.received.is_none();
        let count = |problem| {
            if unknown && !matches!(problem, Problem::Stalls | Problem::Missed) {
                return None;
            }
            Some(match problem {
                Problem::Lost => counts.lost?,
                Problem::Duplicated => counts.duplicated,
                Problem::Corrupted => counts.corrupted,
                Problem::Stray => counts.stray,
                Problem::Stalls => flow.stalls,
                Problem::Missed => flow.isochronous.as_ref()?.missed(),
                Problem::Late | Problem::Reordered | Problem::Unexpected => return None,
            })
        };
        match self {
            Figure::Time(times, part) => {
                let times = match times {
                    Times::Gap => flow.gap.as_ref(),
                    Times::HostGap => flow.host_gap.as_ref(),
                    Times::Transfer => flow.transfer_time.as_ref(),
                    _ => None,
                };
                times.map(|times| part.of(times))
            }
            // Bytes are lost in stretches: they are no independent trials, so no interval is claimed.
            Figure::Share(problem) => {
                let all = match problem {
                    Problem::Missed => flow.isochronous.as_ref()?.intervals(),
                    _ => counts.counted(),
                };
                let part = count(problem)? as f64 / all.max(1) as f64;
                Some(bare(part))
            }
            Figure::Count(problem) => Some(bare(count(problem)? as f64)),
            Figure::Rate(Carried::Both) => flow.rate,
            Figure::Rate(Carried::In) => flow.rate.filter(|_| flow.way == Way::In),
            Figure::Rate(Carried::Out) => flow.rate.filter(|_| flow.way == Way::Out),
            Figure::Exchanges => {
                let gap = flow.gap.as_ref()?;
                Some(as_sure_as(Some(gap), 1e9 / gap.mean.value))
            }
            Figure::AchievedDepth => Some(bare(flow.achieved_queue)),
            Figure::LimitUsed => {
                let (rate, used) = (flow.rate?, flow.limit.as_ref()?.used);
                let scale = used / rate.value;
                Some(Estimate {
                    value: used,
                    low: rate.low.map(|low| low * scale),
                    high: rate.high.map(|high| high * scale),
                })
            }
            Figure::Control(_) | Figure::Longest => None,
        }
    }

    /// Its value at a stream point: rates of both ways are added, of all else the worse way counts.
    pub fn of_stream(self, point: &StreamSummary) -> Option<Estimate> {
        let mut found = point
            .flows
            .iter()
            .filter(|flow| self.is_of_way(flow.way))
            .map(|flow| self.of_flow(flow));
        let first = found.next()??;
        found.try_fold(first, |all, one| {
            let one = one?;
            Some(match self {
                Figure::Rate(_) | Figure::Exchanges => sum(&all, &one),
                _ if one.value > all.value => one,
                _ => all,
            })
        })
    }

    /// True if it can speak of this way.
    pub fn is_of_way(self, way: Way) -> bool {
        match self {
            Figure::Rate(Carried::In) => way == Way::In,
            Figure::Rate(Carried::Out) => way == Way::Out,
            _ => true,
        }
    }
}

impl Part {
    /// Of a percentile, the share of the values beyond it.
    fn beyond(self) -> Option<f64> {
        match self {
            Part::P50 => Some(0.5),
            Part::P90 => Some(0.1),
            Part::P99 => Some(0.01),
            Part::P999 => Some(0.001),
            Part::Max => Some(0.0),
            _ => None,
        }
    }

    fn of(self, times: &Distribution) -> Estimate {
        match self {
            Part::Min => bare(times.min),
            Part::Mean => times.mean,
            Part::Sd => bare(times.sd),
            Part::MeanPlusSd => bare(times.mean_plus_sd),
            Part::P50 => bounded(times.p50, None, &[times.p90, times.p99, times.p999]),
            Part::P90 => bounded(times.p90, None, &[times.p99, times.p999]),
            Part::P99 => bounded(times.p99, Some(times.p50), &[times.p999]),
            Part::P999 => bounded(times.p999, Some(times.p90), &[]),
            Part::Iqr => bare(times.iqr),
            Part::P99MinusP50 => bare(times.p99_minus_p50),
            Part::Max3 => bare(times.max3),
            Part::Max => bare(times.max),
        }
    }
}

/// A percentile; a bound that it lacks is one that others prove, however the samples depend on each other.
///
/// The upper bound of a higher percentile holds for it. It is at least the sample `below`: on average 1 % of the
/// samples lie above their true p99, so half of them do with a probability of at most 2 % (Markov's inequality), and
/// likewise a tenth above their true p99.9 with one of at most 1 %.
fn bounded(own: Estimate, below: Option<Estimate>, higher: &[Estimate]) -> Estimate {
    let seen = || Some(below?.value.min(own.value));
    let above = || higher.iter().find_map(|higher| higher.high);
    Estimate {
        value: own.value,
        low: own.low.or_else(seen),
        high: own.high.or_else(above).map(|high| high.max(own.value)),
    }
}

/// What was seen, and nothing beyond.
fn bare(value: f64) -> Estimate {
    Estimate {
        value,
        low: Some(value),
        high: Some(value),
    }
}

fn share(count: u64, of: u64) -> Option<Estimate> {
    let part = count as f64 / of as f64;
    Some(share_of(of, part, Confidence::NINETY_FIVE))
}

/// A rate with the relative interval of the times that it comes from: what is done in a time is as
/// unsure as the time.
fn as_sure_as(times: Option<&Distribution>, value: f64) -> Estimate {
    let mean = times.map(|times| times.mean);
    let scaled = |by: Option<f64>| {
        let mean = mean.as_ref()?;
        Some(value * mean.value / by.filter(|by| *by > 0.0)?)
    };
    Estimate {
        value,
        low: scaled(mean.and_then(|mean| mean.high)),
        high: scaled(mean.and_then(|mean| mean.low)),
    }
}

/// Of two ways at once, bounds that hold whether or not they depend on each other.
fn sum(a: &Estimate, b: &Estimate) -> Estimate {
    Estimate {
        value: a.value + b.value,
        low: a.low.zip(b.low).map(|(a, b)| a + b),
        high: a.high.zip(b.high).map(|(a, b)| a + b),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Plan, Point, ResourceUse, Sample, Summariser};

    pub(crate) const POINT: Point = Point {
        index: 0,
        out_bytes: 16,
        in_bytes: 100,
        depth: 1,
        link: 0,
        together: false,
    };

    pub(crate) fn plan() -> Plan {
        let text = r#"{"address": "null:", "protocol": "echo", "connect": "once",
            "points": [], "limit": {"count": 100}, "warmup": 0, "schedule": "as-fast-as-possible",
            "timeout_ns": 1000000, "give_up": 1, "wait": "block", "below_ns": [], "keep_data": false,
            "calibrate": false, "host": {"priority": null, "pin": null, "lock_memory": false,
            "load": {"cpu": 0, "memory": 0}}, "link": {"baud": null, "quick_ack": false}}"#;
        serde_json::from_str(text).unwrap()
    }

    /// Exchanges of 1 ms every 2 ms.
    fn measured(exchanges: u64) -> PointSummary {
        let mut summariser = Summariser::new(&plan(), POINT, None);
        for sequence in 0..exchanges {
            let start_ns = sequence * 2_000_000;
            summariser.push(&Sample {
                sequence,
                start_ns,
                rtt_ns: 1_000_000 + sequence % 7,
                bytes_out: 16,
                bytes_in: 100,
                outstanding: 1,
                ..Sample::default()
            });
        }
        summariser.finish(crate::Ending::Complete, 0, None, ResourceUse::default())
    }

    #[test]
    fn figures_of_a_point_are_those_of_its_summary() {
        let point = measured(1000);
        let value = |name: &str| Figure::parse(name).unwrap().of_point(&point);
        let rtt = point.rtt.as_ref().unwrap();
        assert_eq!(value("p99"), Some(rtt.p99));
        assert_eq!(value("rtt.mean"), Some(rtt.mean));
        assert_eq!(value("trt"), Some(point.trt.as_ref().unwrap().mean));
        assert_eq!(value("max3").unwrap().low, Some(rtt.max3));
        assert_eq!(value("device.p50"), None);
        assert_eq!(value("gap.p50"), None);
        let exchanges = value("exchanges").unwrap();
        assert!(
            (exchanges.value / 500.0 - 1.0).abs() < 0.01,
            "{exchanges:?}"
        );
        let speed = value("in-throughput").unwrap();
        assert!((speed.value / exchanges.value - 100.0).abs() < 1e-9);
        assert!(speed.low <= Some(speed.value) && speed.high >= Some(speed.value));
    }

    #[test]
    fn a_percentile_without_an_interval_has_the_bounds_that_others_prove() {
        let mut point = measured(1000);
        let rtt = point.rtt.as_mut().unwrap();
        for percentile in [&mut rtt.p50, &mut rtt.p90, &mut rtt.p99, &mut rtt.p999] {
            (percentile.low, percentile.high) = (None, None);
        }
        rtt.p90.high = Some(3e6);
        let (p50, p90) = (rtt.p50.value, rtt.p90.value);
        let bounds = |name: &str| {
            let found = Figure::parse(name).unwrap().of_point(&point).unwrap();
            (found.low, found.high)
        };
        assert_eq!(bounds("p50"), (None, Some(3e6)));
        assert_eq!(bounds("p90"), (None, Some(3e6)));
        assert_eq!(bounds("p99"), (Some(p50), None));
        assert_eq!(bounds("p99.9"), (Some(p90), None));
        // A bound of its own is kept.
        point.rtt.as_mut().unwrap().p99.low = Some(0.5);
        let p99 = Figure::parse("p99").unwrap().of_point(&point).unwrap();
        assert_eq!(p99.low, Some(0.5));
    }

    #[test]
    fn none_lost_of_a_thousand_does_not_show_that_none_ever_is() {
        let point = measured(1000);
        let share = Figure::parse("lost").unwrap().of_point(&point).unwrap();
        assert_eq!(share.value, 0.0);
        // The exact bound for 0 of n is 1 - 0.025^(1 / n), close to 3.69 / n.
        assert!(
            share
                .high
                .is_some_and(|high| (0.003..0.005).contains(&high)),
            "{share:?}"
        );
        let count = Figure::Count(Problem::Lost).of_point(&point).unwrap();
        assert_eq!((count.value, count.high), (0.0, Some(0.0)));
    }

    #[test]
    fn a_percentile_lies_among_the_lost_exchanges_where_their_share_reaches_beyond_it() {
        let mut point = measured(1000);
        let undefined = |point: &PointSummary| {
            let names = ["p50", "p90", "p99", "rtt.p99.9", "max", "trt.p99", "mean"];
            let found = names.map(|name| Figure::parse(name).unwrap().unanswered_share(point));
            found.map(|share| share.is_some())
        };
        assert_eq!(undefined(&point), [false; 7]);
        point.counts.answered = 990;
        assert_eq!(
            undefined(&point),
            [false, false, false, true, true, false, false]
        );
        point.counts.answered = 989;
        assert_eq!(
            undefined(&point),
            [false, false, true, true, true, false, false]
        );
        point.counts.answered = 499;
        assert_eq!(
            undefined(&point),
            [true, true, true, true, true, false, false]
        );
    }

    #[test]
    fn where_nothing_was_exchanged_nothing_is_known() {
        let point = measured(0);
        for name in [
            "lost",
            "exchanges",
            "in-throughput",
            "p99",
            "trt",
            "achieved-depth",
        ] {
            assert_eq!(
                Figure::parse(name).unwrap().of_point(&point),
                None,
                "{name}"
            );
        }
    }
}
