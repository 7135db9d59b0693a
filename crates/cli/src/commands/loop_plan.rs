//! What `wiregauge loop` will run, from what was typed: every default is filled in here.

use super::plan::host;
use crate::args::LoopArgs;
use crate::stage_list::{PathList, SampleRates};
use crate::values::Sizes;
use wiregauge_record::{Aim, LoopPath, LoopPlan, LoopPoint};

/// Rings of a loop when nothing is said: larger than a cache, smaller than a small host's memory.
const LEAST_RING: u64 = 1 << 20;
const MOST_RING: u64 = 256 << 20;

/// The plan for `wiregauge loop`.
pub fn of_loop(args: &LoopArgs) -> LoopPlan {
    let SampleRates(rates) = &args.rate;
    let (Sizes(channels), Sizes(notifies)) = (&args.channels, &args.notify);
    let paths = match &args.gpu {
        Some(PathList(paths)) => paths.clone(),
        None => vec![LoopPath::Cpu],
    };
    let paths = &paths;
    let cells = rates.iter().flat_map(|&rate_hz| {
        let of_rate = channels.iter().map(move |&channels| (rate_hz, channels));
        of_rate.flat_map(move |(rate_hz, channels)| {
            let of_block =
                move |&notify| paths.iter().map(move |&p| (rate_hz, channels, notify, p));
            notifies.iter().flat_map(of_block)
        })
    });
    let points = (0..)
        .zip(cells)
        .map(|(index, (rate_hz, channels, notify_bytes, path))| {
            let mut point = LoopPoint {
                index,
                rate_hz,
                channels,
                notify_bytes,
                ring_bytes: 0,
                preload_bytes: 0,
                aim: Aim::Curve,
                path,
            };
            let block = u64::from(notify_bytes);
            // A sound card's ring is small, and a quarter of a second long for its rates.
            let least = match args.device.starts_with("alsa:") {
                true => 0,
                false => LEAST_RING,
            };
            let quarter = ((point.bytes_s() / 4.0) as u64).clamp(least, MOST_RING);
            let whole = (quarter - quarter % block.max(1)).max(4 * block);
            // What was asked for is taken as it is: the engine says what is wrong with it.
            point.ring_bytes = args.ring.map_or(whole, u64::from);
            // So long that nothing starves while the curve is taken.
            point.preload_bytes = point.ring_bytes.saturating_sub(block);
            if let Some(preload) = args.preload {
                point.preload_bytes = preload.into();
                point.aim = Aim::Hold;
            }
            point
        });
    let duration_ns = args.duration.as_nanos() as u64;
    LoopPlan {
        address: args.device.clone(),
        points: points.collect(),
        duration_ns,
        settle_ns: args.settle.as_nanos() as u64,
        find: args.find || args.hold.is_some(),
        hold_ns: args.hold.map_or(duration_ns, |hold| hold.as_nanos() as u64),
        process: args.process.0.clone(),
        wait: args.wait,
        calibrate: !args.no_calibration,
        gpu_device: args.gpu_device,
        host: host(&args.host),
    }
}
