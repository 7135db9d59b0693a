//! The figures of a run, computed again from its stored samples.

use crate::error::RunError;
use crate::exchange::Exchange;
use crate::run::Run;
use crate::run_file::RunFile;
use crate::segment::{PARQUET, file_name};
use crate::time_check::check_times;
use wiregauge_record::{PointSummary, Summariser};

/// `run.json` with the figures of each finished point computed from its samples, with the statistics of this
/// version. What the samples do not contain is kept as stored: how a point ended, stray and surplus bytes, what unexpected replies said, the time to open
/// the link, the use of the host, disturbances, the limit of the link.
pub fn recompute(run: &Run<Exchange>) -> Result<RunFile<Exchange>, RunError> {
    let mut file = run.file.clone();
    for (at, summary) in file.points.iter_mut().enumerate() {
        let responder = run.file.conditions.responder_of(summary.point.link);
        let mut summariser = Summariser::new(&run.file.plan, summary.point, responder);
        let mut samples = run.all_samples(at)?;
        while let Some(rows) = samples.read_rows() {
            for sample in rows? {
                check_times::<Exchange>(sample).map_err(|time_ns| {
                    let name = file_name(summary.point.index, 0, PARQUET);
                    RunError::BadSamples {
                        path: run.dir.join("samples").join(name),
                        problem: format!("exchange {} has a time of {time_ns} ns", sample.sequence),
                    }
                })?;
                summariser.push(sample);
            }
        }
        let (ending, stray_bytes) = (summary.ending.clone(), summary.counts.stray_bytes);
        let again = summariser.finish(ending, stray_bytes, summary.open_ns, summary.resources);
        let limit = summary.limit.take();
        *summary = PointSummary {
            limit: limit.map(|limit| limit.used_by(&again.throughput)),
            batch: summary.batch.take(),
            surplus: summary.surplus.take(),
            unexpected: std::mem::take(&mut summary.unexpected),
            instrument_errors: std::mem::take(&mut summary.instrument_errors),
            can: summary.can.take(),
            disturbances: std::mem::take(&mut summary.disturbances),
            ..again
        };
    }
    Ok(file)
}
