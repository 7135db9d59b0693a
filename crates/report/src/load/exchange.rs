//! One point of an exchange run: its RTTs over time and in a histogram.

use super::Room;
use super::points::{Collector, Gather, TIMED, histogram, record};
use super::types::ExchangePoint;
use wiregauge_record::{Phase, Sample, Schedule, StartOrder, Status};
use wiregauge_run::{Exchange, RunFile};

pub(crate) struct Gatherer {
    series: Collector,
    scheduled: bool,
    from_intended: hdrhistogram::Histogram<u64>,
    starts: StartOrder,
    trt: Collector,
}

impl Gather<Exchange> for Gatherer {
    type Point = ExchangePoint;

    fn new(file: &RunFile, at: usize, room: Room) -> Gatherer {
        let first = file.plan.first_of_trt(file.points[at].point.depth);
        Gatherer {
            series: Collector::new(room),
            scheduled: matches!(file.plan.schedule, Schedule::EveryNs(_)),
            from_intended: histogram(),
            starts: StartOrder::from_sequence(first),
            trt: Collector::new(room),
        }
    }

    fn columns(&self) -> Vec<&'static str> {
        let intended = &["intended_ns"][..usize::from(self.scheduled)];
        [&TIMED[..], intended].concat()
    }

    /// As `wiregauge_record::Summariser` counts.
    fn push(&mut self, sample: &Sample) {
        let (at_ns, value_ns) = (sample.start_ns, sample.rtt_ns);
        if sample.phase != Phase::Measured {
            return;
        }
        if sample.status != Status::Ok {
            // A late answer was first counted as lost.
            if sample.status == Status::Late {
                self.series.bad.take_back(at_ns, Status::Lost.name());
            }
            self.series.bad.push(at_ns, sample.status.name());
        }
        if !matches!(sample.status, Status::Late | Status::Duplicated) {
            let trt = &mut self.trt;
            self.starts
                .push(sample.sequence, at_ns, &mut |start_ns, trt_ns| {
                    trt.push(start_ns, trt_ns);
                });
        }
        if sample.status.is_timed() {
            self.series.push(at_ns, value_ns);
            if self.scheduled {
                let end_ns = at_ns.saturating_add(value_ns);
                record(
                    &mut self.from_intended,
                    end_ns.saturating_sub(sample.intended_ns),
                );
            }
        }
    }

    fn finish(self, missing: Option<String>) -> ExchangePoint {
        let mut trt = self.trt;
        self.starts
            .finish(&mut |start_ns, trt_ns| trt.push(start_ns, trt_ns));
        let (trt_series, trt) = trt.finish();
        let (series, rtt) = self.series.finish();
        ExchangePoint {
            missing,
            series,
            rtt,
            from_intended: self.from_intended,
            trt_series,
            trt,
        }
    }
}
