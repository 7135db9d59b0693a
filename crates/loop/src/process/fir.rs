//! A low-pass filter of finite impulse response, per channel: a windowed sinc, computed tap by tap.

use super::planes::touched;
use super::planes::{Format, Planes, Process};
use multiversion::multiversion;
use std::f64::consts::PI;
use wiregauge_link::LinkError;

/// The corner (half amplitude), as a part of the sample rate.
pub(super) const CORNER: f64 = 0.1;

/// Outputs that are computed together: their sums fill half of the sixteen vector registers of AVX2,
/// which leaves room for the samples and is enough to hide how long an addition takes.
const TILE: usize = 64;

/// The same for what is left of a block.
const SMALL: usize = 8;

/// Symmetric: the group delay is (N-1)/2 frames at every frequency. Sums are 32-bit floats, in the order
/// of the taps.
pub(super) struct Fir {
    taps: Vec<f32>,
    /// One a channel: the `taps - 1` samples before, those of this call, and room for the last tile.
    lines: Vec<Vec<f32>>,
}

impl Fir {
    pub(super) fn new(taps: usize) -> Fir {
        Fir {
            taps: windowed_sinc(taps),
            lines: Vec::new(),
        }
    }
}

/// Hamming's window on the ideal low-pass, scaled to a gain of 1 at DC (Oppenheim and Schafer,
/// Discrete-Time Signal Processing, section 7.5; scipy.signal.firwin by default).
pub(super) fn windowed_sinc(taps: usize) -> Vec<f32> {
    let last = (taps - 1) as f64;
    let tap = |n: usize| {
        let from_middle = n as f64 - last / 2.0;
        let ideal = if from_middle == 0.0 {
            2.0 * CORNER
        } else {
            (2.0 * PI * CORNER * from_middle).sin() / (PI * from_middle)
        };
        let window = if taps == 1 {
            1.0
        } else {
            0.54 - 0.46 * (2.0 * PI * n as f64 / last).cos()
        };
        ideal * window
    };
    let sum: f64 = (0..taps).map(tap).sum();
    // Both halves from the first, so that they are equal to the bit.
    (0..taps)
        .map(|n| (tap(n.min(taps - 1 - n)) / sum) as f32)
        .collect()
}

impl Process for Fir {
    fn prepare(&mut self, format: &Format) -> Result<(), LinkError> {
        let line = self.taps.len() - 1 + format.frames + SMALL;
        self.lines = (0..format.channels).map(|_| touched(line)).collect();
        Ok(())
    }

    fn run(&mut self, samples: &mut Planes<'_>) {
        let before = self.taps.len() - 1;
        for (plane, line) in samples.each().zip(&mut self.lines) {
            let frames = plane.len();
            line[before..before + frames].copy_from_slice(plane);
            let whole = frames - frames % TILE;
            let (tiles, rest) = plane.split_at_mut(whole);
            filter::<TILE>(&self.taps, line, tiles);
            filter::<SMALL>(&self.taps, &line[whole..], rest);
            line.copy_within(frames..frames + before, 0);
        }
    }

    fn reset(&mut self) {
        for line in &mut self.lines {
            line.fill(0.0);
        }
    }

    fn delay_frames(&self) -> f64 {
        (self.taps.len() - 1) as f64 / 2.0
    }

    fn needs_whole_blocks(&self) -> bool {
        false
    }
}

/// Each output is the sum over its own window of the line. The taps are symmetric: they need not be
/// turned round. The line reaches `N` beyond the last window.
///
/// Compiled for wider vectors too, which doubles its speed; without fused multiply and add, so that the
/// result is the same to the bit on every processor.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn filter<const N: usize>(taps: &[f32], line: &[f32], output: &mut [f32]) {
    let (tiles, rest) = output.as_chunks_mut::<N>();
    let whole = tiles.len() * N;
    for (at, sums) in tiles.iter_mut().enumerate() {
        *sums = tile(taps, &line[at * N..]);
    }
    if !rest.is_empty() {
        let sums: [f32; N] = tile(taps, &line[whole..]);
        rest.copy_from_slice(&sums[..rest.len()]);
    }
}

/// One tile. The sums are of a fixed number and seen by nobody until they are complete, so that they can
/// stay in vector registers.
#[inline(always)]
fn tile<const N: usize>(taps: &[f32], line: &[f32]) -> [f32; N] {
    let mut sums = [0.0; N];
    for (window, tap) in line.windows(N).zip(taps) {
        let window: &[f32; N] = window.first_chunk().expect("windows are of N");
        for n in 0..N {
            sums[n] += window[n] * tap;
        }
    }
    sums
}
