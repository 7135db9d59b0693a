//! `stream --record`: what can be recorded, and the file that it goes to.

use crate::args::StreamArgs;
use crate::caller::Session;
use crate::failure::StorageFailed;
use crate::output::files;
use anyhow::bail;
use std::path::Path;
use wiregauge_measure::stream::recording::RecordFile;
use wiregauge_record::{StreamPoint, Way};

/// Refuses what cannot be recorded; then creates the file, if one is wanted. With `-`, words go to standard error from
/// then on.
pub fn file(
    args: &StreamArgs,
    points: &[StreamPoint],
    session: &Session<'_>,
) -> anyhow::Result<Option<RecordFile>> {
    let Some(path) = &args.record else {
        return Ok(None);
    };
    check_points(args, points)?;
    let Some(name) = path.to_str() else {
        bail!("--record {}: the name is not valid UTF-8", path.display());
    };
    if path == Path::new("-") {
        if args.look.json {
            bail!("--record - and --json both need standard output: use --record FILE");
        }
        let Some(out) = session.caller.yield_stdout() else {
            bail!("--record -: standard output is not possible here: name a file");
        };
        return Ok(Some(RecordFile::open("-", out.map_err(StorageFailed)?)));
    }
    if args.csv.as_deref() == Some(path) {
        bail!("--record and --csv name the same file");
    }
    files::check(path, args.keep.force.force)?;
    Ok(Some(RecordFile::create(name).map_err(StorageFailed)?))
}

/// A recording is that of one point.
fn check_points(args: &StreamArgs, points: &[StreamPoint]) -> anyhow::Result<()> {
    if args.addresses.len() > 1 {
        bail!("--record is for one device: name one ADDRESS");
    }
    let receive = points
        .iter()
        .filter(|point| point.direction.ways().contains(&Way::In));
    match receive.count() {
        0 => bail!("--record needs received data: use --direction in or both"),
        1 => Ok(()),
        count => bail!(
            "--record is for one point that receives, and this run has {count}: use one --direction (in or both), \
             one --transfer and one --queue"
        ),
    }
}
