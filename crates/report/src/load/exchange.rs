//! One point of an exchange run: its RTTs over time and in a histogram.

use super::Room;
use super::points::{Collector, Progress, TIMED, histogram, record};
use super::types::{ExchangePoint, Spot};
use wiregauge_record::{Phase, Plan, Sample, Schedule, StartOrder, Status};
use wiregauge_run::{Exchange, Run, RunError};

/// Reads a point.
pub(crate) fn point(
    run: &Run<Exchange>,
    at: usize,
    room: Room,
    progress: &Progress,
) -> ExchangePoint {
    let new = || Gatherer::new(room, &run.file.plan, run.file.points[at].point.depth);
    let mut point = new();
    let missing = point.read(run, at, progress).err();
    match missing {
        None => point.finish(),
        Some(error) => ExchangePoint {
            missing: Some(error.to_string()),
            ..new().finish()
        },
    }
}

struct Gatherer {
    first: Option<Spot>,
    series: Collector,
    scheduled: bool,
    from_intended: hdrhistogram::Histogram<u64>,
    starts: StartOrder,
    trt: Collector,
}

impl Gatherer {
    fn new(room: Room, plan: &Plan, depth: u32) -> Gatherer {
        Gatherer {
            first: None,
            series: Collector::new(room),
            scheduled: matches!(plan.schedule, Schedule::EveryNs(_)),
            from_intended: histogram(),
            starts: StartOrder::from_sequence(plan.first_of_trt(depth)),
            trt: Collector::new(room),
        }
    }

    fn read(
        &mut self,
        run: &Run<Exchange>,
        at: usize,
        progress: &Progress,
    ) -> Result<(), RunError> {
        let intended = &["intended_ns"][..usize::from(self.scheduled)];
        let mut reader = run.samples_of(at, &[&TIMED[..], intended].concat())?;
        while let Some(samples) = reader.next_rows() {
            let samples = samples?;
            samples.iter().for_each(|sample| self.push(sample));
            progress.add(samples.len() as u64);
        }
        Ok(())
    }

    /// As `wiregauge_record::Summariser` counts.
    fn push(&mut self, sample: &Sample) {
        let (at_ns, value_ns) = (sample.start_ns, sample.rtt_ns);
        if sample.phase != Phase::Measured {
            if sample.phase == Phase::First && sample.status.is_timed() {
                self.first = Some(Spot { at_ns, value_ns });
            }
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

    fn finish(self) -> ExchangePoint {
        let mut trt = self.trt;
        self.starts
            .finish(&mut |start_ns, trt_ns| trt.push(start_ns, trt_ns));
        let (trt_series, trt) = trt.finish();
        let (series, rtt) = self.series.finish();
        ExchangePoint {
            missing: None,
            first: self.first,
            series,
            rtt,
            from_intended: self.from_intended,
            trt_series,
            trt,
        }
    }
}
