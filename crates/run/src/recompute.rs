//! The figures of a run, computed again from its stored samples.

use crate::error::RunError;
use crate::exchange::Exchange;
use crate::point_writer::file_name;
use crate::run::Run;
use crate::run_file::RunFile;
use wiregauge_record::{PointSummary, Responder, Sample, Summariser};

/// `run.json` with the figures of each finished point computed from its samples, with the statistics of this
/// version. What the samples do not contain is kept as stored: how a point ended, stray and surplus bytes, what unexpected replies said, the time to open
/// the link, the use of the host, disturbances, the limit of the link.
pub fn recompute(run: &Run<Exchange>) -> Result<RunFile<Exchange>, RunError> {
    let mut file = run.file.clone();
    for (at, summary) in file.points.iter_mut().enumerate() {
        let responder = responder_of(&run.file, summary.point.link);
        let mut summariser = Summariser::new(&run.file.plan, summary.point, responder);
        let mut samples = run.samples(at)?;
        while let Some(rows) = samples.next_rows() {
            for sample in rows? {
                check_times(run, summary.point.index, sample)?;
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

/// Sums of two such times still fit.
const LONGEST_NS: u64 = 1 << 62;

/// A file may hold anything; what no clock shows is not added up.
fn check_times(run: &Run<Exchange>, point: u32, sample: &Sample) -> Result<(), RunError> {
    let times = [
        sample.start_ns,
        sample.intended_ns,
        sample.rtt_ns,
        sample.connect_ns,
        sample.access_ns,
    ];
    match times.into_iter().max() {
        Some(longest) if longest > LONGEST_NS => Err(RunError::BadSamples {
            path: run.dir.join("samples").join(file_name(point)),
            problem: format!("exchange {} has a time of {longest} ns", sample.sequence),
        }),
        _ => Ok(()),
    }
}

fn responder_of(file: &RunFile<Exchange>, link: u32) -> Option<&Responder> {
    match (link as usize).checked_sub(1) {
        None => file.conditions.responder.as_ref(),
        Some(further) => file.conditions.more_links.get(further)?.responder.as_ref(),
    }
}
