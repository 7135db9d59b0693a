//! Is the latency the preload? Where the samples were changed on their way, the last of the output
//! is compared with what a fresh chain makes of the same input.

use super::device::Rings;
use super::process::Chain;
use wiregauge_link::LinkError;
use wiregauge_record::{LoopPlan, LoopPoint, SAMPLE_BYTES, Verified};

/// Frames compared at least, if there are so many.
const COMPARED: usize = 4_096;

/// Samples that tell a place in the output from all others.
const NEEDLE: usize = 256;

/// Rounding may differ by so much, where there is any: a recursive filter does not forget its past altogether.
const TOLERANCE: i32 = 1;

/// Compares the last blocks of the output ring with the input ring. `None` where too few blocks ran.
pub(super) fn by_reference(
    plan: &LoopPlan,
    point: &LoopPoint,
    rings: Rings<'_>,
) -> Result<Option<Verified>, LinkError> {
    let block = (point.notify_bytes / SAMPLE_BYTES) as usize;
    let channels = point.channels as usize;
    let ring_blocks = rings.input.len() / block;
    let preload_blocks = (point.preload_bytes / u64::from(point.notify_bytes)) as usize;
    let wanted = 2 * (COMPARED * channels).div_ceil(block).max(1);
    // The oldest ones in the output ring were overwritten by those behind the preload, in the input ring
    // by those that came in meanwhile.
    let ahead = rings.begun.saturating_sub(rings.blocks) as usize;
    let kept = ring_blocks.saturating_sub(ahead);
    let blocks = wanted.min(kept).min(rings.blocks as usize);
    if blocks < 2 {
        return Ok(None);
    }
    let mut chain = Chain::new(
        &plan.process,
        point.channels,
        point.rate_hz,
        point.notify_bytes,
    )?;
    let first = rings.blocks as usize - blocks;
    let mut reference = vec![0; blocks * block];
    for (at, to) in reference.chunks_exact_mut(block).enumerate() {
        let from = (first + at) % ring_blocks * block;
        chain.run(&rings.input[from..from + block], to);
    }
    // The first half is for the filters to settle.
    let skipped = blocks / 2;
    let expected = &reference[skipped * block..];
    let begin = (first + skipped + preload_blocks) % ring_blocks * block;
    let played = |at: usize| rings.output[(begin + at) % rings.output.len()];
    let tolerance = match chain.is_copy() {
        true => 0,
        false => TOLERANCE,
    };
    let is_other = |at: &usize| !is_near(played(*at), expected[*at], tolerance);
    let wrong = (0..expected.len()).filter(is_other).count();
    let preload_frames = point.preload_bytes / u64::from(point.frame_bytes());
    let found = match wrong {
        0 => Some(preload_frames),
        // Where the first of them stand in their place, others do not: that is no latency.
        _ => search(&expected[..expected.len().min(NEEDLE)], rings.output)
            .map(|at| {
                let input_at = (first + skipped) % ring_blocks * block;
                let distance = (at + rings.output.len() - input_at) % rings.output.len();
                (distance / channels) as u64
            })
            .filter(|frames| *frames != preload_frames),
    };
    Ok(Some(Verified {
        method: "reference".into(),
        found_frames: found,
        cable_frames: None,
        preload_frames,
        compared: (expected.len() / channels) as u64,
        wrong: wrong as u64,
    }))
}

fn is_near(one: i16, other: i16, tolerance: i32) -> bool {
    (i32::from(one) - i32::from(other)).abs() <= tolerance
}

/// Where in a ring the samples stand, if they stand there once.
fn search(needle: &[i16], ring: &[i16]) -> Option<usize> {
    let stands = |at: &usize| {
        let mut pairs = needle.iter().enumerate();
        pairs.all(|(i, &sample)| is_near(ring[(at + i) % ring.len()], sample, TOLERANCE))
    };
    let mut places = (0..ring.len()).filter(stands);
    let place = places.next()?;
    places.next().is_none().then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_record::{Aim, HostPlan, LoopPath, LoopWait, Stage};

    /// Blocks of two samples in rings of ten, with a preload of four.
    fn point() -> LoopPoint {
        LoopPoint {
            index: 0,
            rate_hz: 1_000,
            channels: 1,
            notify_bytes: 4,
            ring_bytes: 40,
            preload_bytes: 16,
            aim: Aim::Hold,
            path: LoopPath::Cpu,
        }
    }

    fn plan() -> LoopPlan {
        LoopPlan {
            address: "virtual:thread".into(),
            points: vec![point()],
            duration_ns: 1,
            settle_ns: 0,
            find: false,
            hold_ns: 1,
            process: vec![Stage::Gain { factor: 0.5 }],
            wait: LoopWait::Sleep,
            calibrate: false,
            gpu_device: 0,
            host: HostPlan::default(),
        }
    }

    /// The rings after so many blocks, where the device had gone on to `begun`; the output `late` blocks
    /// off its place.
    fn looped(blocks: u64, begun: u64, late: usize) -> Option<Verified> {
        let (mut input, mut output) = ([0; 20], [0; 20]);
        for k in 0..begun as usize {
            for at in [2 * k, 2 * k + 1] {
                input[at % 20] = 100 * at as i16;
                if (k as u64) < blocks {
                    output[(at + 8 + 2 * late) % 20] = 50 * at as i16;
                }
            }
        }
        let rings = Rings {
            input: &input,
            output: &output,
            blocks,
            begun,
        };
        by_reference(&plan(), &point(), rings).expect("a plan that can be")
    }

    #[test]
    fn a_device_that_went_on_after_the_last_block_took_the_oldest_input_only() {
        for begun in 25..33 {
            let found = looped(25, begun, 0).expect("two blocks");
            assert_eq!((found.wrong, found.found_frames), (0, Some(8)), "{begun}");
            let blocks = 10 - (begun - 25);
            assert_eq!(found.compared, 2 * blocks.div_ceil(2), "{begun}");
        }
        // Of one block nothing can be said, nor of none.
        assert_eq!(looped(25, 34, 0), None);
        assert_eq!(looped(25, 90, 0), None);
    }

    #[test]
    fn an_output_that_leaves_late_is_found_where_it_is() {
        let found = looped(25, 27, 1).expect("eight blocks");
        assert!(found.wrong > 0);
        assert_eq!(found.found_frames, Some(10));
    }
}
