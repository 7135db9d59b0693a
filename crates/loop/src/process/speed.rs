//! How fast each stage is by itself, on the blocks of a loop: beside the speed at which the same host
//! copies memory, it tells whether the processing or the memory limits the loop.

use super::Chain;
use std::hint::black_box;
use wiregauge_link::LinkError;
use wiregauge_link::host::{Clock, beyond_cache_bytes};
use wiregauge_record::{SAMPLE_BYTES, Stage, StageSpeed};

/// Slices of time of which the best counts: one of them is spared by whatever else the host does.
const SLICES: u32 = 5;

/// Length of a slice, in nanoseconds.
const SLICE_NS: u64 = 10_000_000;

/// Bytes between two looks at the clock, which costs about as much as copying a few hundred.
const LOOK_BYTES: usize = 64 << 10;

/// The block of a stage so slow that one of the loop's blocks takes longer than a slice.
const SMALL_BYTES: usize = 2 << 10;

/// Runs each stage alone, as the only one of a chain, about 50 ms long. Its blocks come from a ring
/// larger than the last-level cache and go to another, one behind the other as in a loop. Counted are
/// bytes in; as many go out.
pub fn speeds(
    stages: &[Stage],
    channels: u32,
    rate_hz: u64,
    notify_bytes: u32,
) -> Result<Vec<StageSpeed>, LinkError> {
    let chains: Vec<Chain> = stages
        .iter()
        .map(|stage| Chain::new(&[*stage], channels, rate_hz, notify_bytes))
        .collect::<Result<_, _>>()?;
    if chains.is_empty() {
        return Ok(Vec::new());
    }
    let frame = channels as usize;
    let block = (notify_bytes / SAMPLE_BYTES) as usize;
    let mut rings = Rings::new(block);
    let measured = stages.iter().zip(chains).map(|(stage, mut chain)| {
        // A first taste also warms up code and state.
        let small = (SMALL_BYTES / SAMPLE_BYTES as usize / frame).max(1) * frame;
        let small = small.min(block);
        let clock = Clock::start();
        rings.next(&mut chain, small);
        let slow = is_slow(clock.now(), block / small);
        let block = if slow { small } else { block };
        let best = (0..SLICES).map(|_| rings.slice(&mut chain, block, slow));
        StageSpeed {
            stage: stage.to_string(),
            bytes_s: best.fold(0.0, f64::max),
        }
    });
    Ok(measured.collect())
}

/// Whether a block of the loop, so many times as large as one that took so long, takes longer than a slice.
fn is_slow(taken_ns: u64, times: usize) -> bool {
    taken_ns * times as u64 > SLICE_NS
}

/// Two rings and the place in them.
struct Rings {
    input: Vec<i16>,
    output: Vec<i16>,
    at: usize,
}

impl Rings {
    fn new(block: usize) -> Rings {
        let samples = beyond_cache_bytes() / SAMPLE_BYTES as usize;
        let samples = samples.next_multiple_of(block);
        // Noise of a size that no filter takes to its limits, and that compresses to nothing.
        let mut random = fastrand::Rng::with_seed(1);
        let noise: Vec<i16> = (0..4_096).map(|_| random.i16(-8_192..8_192)).collect();
        let mut input = vec![1; samples];
        for part in input.chunks_mut(noise.len()) {
            part.copy_from_slice(&noise[..part.len()]);
        }
        Rings {
            input: black_box(input),
            output: black_box(vec![1; samples]),
            at: 0,
        }
    }

    /// Processes the next so many samples.
    fn next(&mut self, chain: &mut Chain, samples: usize) {
        if self.at + samples > self.input.len() {
            self.at = 0;
        }
        let place = self.at..self.at + samples;
        chain.run(&self.input[place.clone()], &mut self.output[place]);
        self.at += samples;
    }

    /// Bytes a second in one slice.
    fn slice(&mut self, chain: &mut Chain, block: usize, slow: bool) -> f64 {
        let bytes = block * SAMPLE_BYTES as usize;
        let blocks_a_look = if slow { 1 } else { (LOOK_BYTES / bytes).max(1) };
        let (clock, mut blocks) = (Clock::start(), 0);
        loop {
            for _ in 0..blocks_a_look {
                self.next(chain, block);
            }
            blocks += blocks_a_look;
            let ns = clock.now();
            if ns >= SLICE_NS {
                black_box(&mut self.output);
                return (blocks * bytes) as f64 / ns as f64 * 1e9;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_link::host::memory_speed;

    fn speed(stages: &[Stage], channels: u32, notify_bytes: u32) -> Vec<f64> {
        let speeds = speeds(stages, channels, 1_000_000, notify_bytes).unwrap();
        let names: Vec<String> = stages.iter().map(|stage| stage.to_string()).collect();
        assert!(speeds.iter().map(|speed| &speed.stage).eq(&names));
        speeds.iter().map(|speed| speed.bytes_s).collect()
    }

    #[test]
    fn a_copy_is_about_as_fast_as_the_memory() {
        let copy = speed(&[Stage::Copy], 1, 64 << 10)[0];
        let memory = memory_speed().best_bytes_s;
        assert!((0.1..50.0).contains(&(copy / memory)), "{copy} of {memory}");
    }

    #[test]
    fn more_work_takes_longer() {
        let stages = [8, 64, 512].map(|taps| Stage::Fir { taps });
        let [short, middle, long] = speed(&stages, 2, 4 << 10)[..] else {
            panic!("three stages, three speeds")
        };
        assert!(long < middle && middle < short, "{short} {middle} {long}");
        assert!(long < short / 8.0, "64 times the taps: {short} {long}");
    }

    #[test]
    fn a_block_that_takes_longer_than_a_slice_is_not_waited_for() {
        assert!(is_slow(1_000, 10_001) && !is_slow(1_000, 10_000));
        // A whole block would be 33 thousand million products.
        let slow = speed(&[Stage::Fir { taps: 1_000 }], 1, 64 << 20)[0];
        assert!(slow > 0.0);
    }

    #[test]
    fn odd_blocks_and_many_channels_have_a_speed_too() {
        let stages = [Stage::Gain { factor: 0.5 }, Stage::Biquad { corner: 0.1 }];
        for speed in speed(&stages, 7, 14 * 3)
            .into_iter()
            .chain(speed(&stages, 64, 128))
        {
            assert!(speed > 1e3, "{speed}");
        }
        assert_eq!(speed(&[], 1, 64), [] as [f64; 0]);
    }
}
