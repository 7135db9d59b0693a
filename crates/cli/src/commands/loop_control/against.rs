//! The exchange run that a loop is compared with.

use crate::commands::refused::exchange_run;
use anyhow::bail;
use std::time::Duration;
use wiregauge_record::Schedule;
use wiregauge_report::load;
use wiregauge_run::{Exchange, Run};

/// The delays that another run measured on the same link.
pub struct Against {
    /// Its name.
    pub run: String,
    /// For each cycle the nanoseconds from its tick to its response; `None`: there was none.
    pub delays: Vec<Option<u64>>,
}

/// An exchange run that was found.
pub struct Found(Run<Exchange>);

/// The run that `--against` means.
pub fn found(name: &str) -> anyhow::Result<Found> {
    let run = wiregauge_run::find(&wiregauge_run::runs_home(), name)?;
    Ok(Found(exchange_run(&run, "predict a loop from")?.clone()))
}

impl Found {
    /// The period that it was measured with.
    pub fn period(&self) -> Option<Duration> {
        match self.0.file.plan.schedule {
            Schedule::EveryNs(every_ns) => Some(Duration::from_nanos(every_ns)),
            Schedule::AsFastAsPossible => None,
        }
    }

    /// What makes the run another link or another loop than that of this address and period.
    pub fn differs(&self, address: &str, period_ns: u64) -> Option<String> {
        let plan = &self.0.file.plan;
        let name = self.0.name();
        let every_ns = match plan.schedule {
            Schedule::EveryNs(every_ns) => every_ns,
            Schedule::AsFastAsPossible => period_ns,
        };
        if plan.address != address {
            return Some(format!("{name} measured {}, not {address}", plan.address));
        }
        (every_ns != period_ns).then(|| {
            format!(
                "{name} was measured every {:?}, and the loop has a period of {:?}",
                Duration::from_nanos(every_ns),
                Duration::from_nanos(period_ns)
            )
        })
    }

    /// The delays of a point for a loop with this period.
    pub fn delays(&self, point: Option<u32>, period_ns: u64) -> anyhow::Result<Against> {
        let run = &self.0;
        let name = run.name();
        let points = &run.file.points;
        let at = match (point, points.len()) {
            (_, 0) => bail!("{name} has no finished point"),
            (None, 1) => 0,
            (None, count) => bail!(
                "{name} has {count} points\n  hint: choose one with --point 0 to --point {}",
                count - 1
            ),
            (Some(wanted), _) => match points.iter().position(|done| done.point.index == wanted) {
                Some(at) => at,
                None => bail!("{name} has no point {wanted} (wiregauge show {name})"),
            },
        };
        let delays = load::cycle_delays(run, at, period_ns)?.delays;
        if delays.iter().all(Option::is_none) {
            bail!("{name}: no exchange was answered, so there is no delay to compute with");
        }
        Ok(Against { run: name, delays })
    }
}
