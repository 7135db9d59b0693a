//! Why the exchanges of a schedule started late: all places were taken, or the host was late.

use super::cycle_answers::InOrder;
use super::points::{TIMED, read_rows};
use std::ops::ControlFlow;
use wiregauge_explain::silence_ns;
use wiregauge_record::{Phase, Sample, Schedule};
use wiregauge_run::{Exchange, Run, RunError};

/// The measured exchanges of a point that started more than a period late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LateStarts {
    /// All of them.
    pub(crate) late: u64,
    /// Those that waited for earlier ones: when they were due, as many as --depth allows were outstanding, or had
    /// ended less than the silence ago that the plan requires.
    pub(crate) waited: u64,
}

/// Reads the point at this place of `run.file.points`.
pub(crate) fn late_starts(run: &Run<Exchange>, at: usize) -> Result<LateStarts, RunError> {
    let Schedule::EveryNs(period_ns) = run.file.plan.schedule else {
        return Ok(LateStarts::default());
    };
    let depth = run.file.points[at].point.depth as usize;
    let mut count = Counted {
        period_ns,
        depth,
        silence_ns: silence_ns(&run.file.plan),
        ends: Vec::new(),
        found: LateStarts::default(),
    };
    let mut in_order = InOrder::from_sequence(0);
    let columns = [&TIMED[..], &["intended_ns"]].concat();
    read_rows(run, at, &columns, |rows| {
        for row in rows {
            in_order.push(row, |sample| count.take(sample));
        }
        ControlFlow::Continue(())
    })?;
    in_order.finish(|sample| count.take(sample));
    Ok(count.found)
}

/// Counts exchanges in the order of their starts.
struct Counted {
    period_ns: u64,
    depth: usize,
    silence_ns: u64,
    /// Ends of earlier exchanges that were outstanding when the last one was due, silence included.
    ends: Vec<u64>,
    found: LateStarts,
}

impl Counted {
    fn take(&mut self, sample: &Sample) {
        self.ends.retain(|&end_ns| end_ns > sample.intended_ns);
        if sample.phase == Phase::Measured && sample.start_delay_ns() > self.period_ns {
            self.found.late += 1;
            self.found.waited += u64::from(self.ends.len() >= self.depth);
        }
        let end_ns = sample.start_ns.saturating_add(sample.rtt_ns);
        self.ends.push(end_ns.saturating_add(self.silence_ns));
    }
}
