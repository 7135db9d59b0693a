//! What is done to the samples of a loop between input and output: a chain of stages, laid out before
//! the start. Stages work on 32-bit floats, one plane a channel; a chain of copies never leaves the
//! integers.

mod biquad;
mod bounds;
mod convert;
mod fir;
mod planes;
mod pointwise;
mod speed;

#[cfg(test)]
mod tests;

pub use bounds::{CORNER_LOWEST, TAPS_MOST, out_of_bounds};
pub use planes::{Format, Planes, Process};
pub use speed::speeds;

use planes::touched;
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::{SAMPLE_BYTES, Stage};

/// Samples that go through all stages before the next ones are converted, where every stage allows it:
/// they stay in the innermost cache (32 KiB as floats).
const AT_ONCE: usize = 8_192;

/// Frames that are worth a call of every stage, however many channels there are.
const FRAMES_LEAST: usize = 64;

/// The processing of one loop.
///
/// State carries over from block to block: the output does not depend, by a single bit, on where the
/// blocks begin.
pub struct Chain {
    stages: Vec<Box<dyn Process>>,
    channels: usize,
    rate_hz: u64,
    block_frames: usize,
    layout: Layout,
}

/// How the samples lie between the stages.
struct Layout {
    /// Planes; one where no stage cares which channel a sample is of.
    planes: usize,
    /// Frames of a plane.
    frames: usize,
    floats: Vec<f32>,
}

impl Chain {
    /// Lays out and touches all that the stages need for blocks of so many bytes. `rate_hz` goes to
    /// stages that ask for it; those of [`Stage`] count in parts of it.
    pub fn new(
        stages: &[Stage],
        channels: u32,
        rate_hz: u64,
        notify_bytes: u32,
    ) -> Result<Chain, LinkError> {
        let refuse = |said: String, hint: &str| {
            let doing = "cannot allocate the processing of a loop";
            Err(LinkError::new(LinkErrorKind::Usage, doing, said).hint(hint))
        };
        if let Some(said) = stages.iter().find_map(out_of_bounds) {
            return refuse(said, "use a value in this range");
        }
        let frame_bytes = channels.saturating_mul(SAMPLE_BYTES);
        if notify_bytes == 0 || !notify_bytes.is_multiple_of(frame_bytes) {
            return refuse(
                format!(
                    "a block of {notify_bytes} B is not a whole number of frames of {channels} channels"
                ),
                "use a --notify that is a multiple of 2 B x --channels",
            );
        }
        let mut chain = Chain {
            stages: stages.iter().filter_map(made).collect(),
            channels: channels as usize,
            rate_hz,
            block_frames: (notify_bytes / frame_bytes) as usize,
            layout: Layout::new(0, 0),
        };
        chain.lay_out()?;
        Ok(chain)
    }

    /// Adds a stage of one's own behind the others, before the first block.
    pub fn push(&mut self, stage: Box<dyn Process>) -> Result<(), LinkError> {
        self.stages.push(stage);
        self.lay_out()
    }

    fn lay_out(&mut self) -> Result<(), LinkError> {
        if self.stages.is_empty() {
            return Ok(());
        }
        let pointwise = self.stages.iter().all(|stage| stage.is_pointwise());
        let whole = self.stages.iter().any(|stage| stage.needs_whole_blocks());
        let frames = if whole {
            self.block_frames
        } else {
            let at_once = (AT_ONCE / self.channels).max(FRAMES_LEAST);
            self.block_frames.min(at_once)
        };
        self.layout = if pointwise {
            Layout::new(1, frames * self.channels)
        } else {
            Layout::new(self.channels, frames)
        };
        let format = Format {
            channels: self.layout.planes,
            rate_hz: self.rate_hz,
            frames: self.layout.frames,
        };
        for stage in &mut self.stages {
            stage.prepare(&format)?;
        }
        Ok(())
    }

    /// Processes interleaved samples: a whole number of frames, usually one block. Allocates nothing
    /// and locks nothing.
    ///
    /// # Panics
    /// If both are not equally long, or not a whole number of frames.
    pub fn run(&mut self, input: &[i16], output: &mut [i16]) {
        assert_eq!(input.len(), output.len(), "as much out as in");
        assert_eq!(input.len() % self.channels, 0, "whole frames");
        if self.is_copy() {
            output.copy_from_slice(input);
            return;
        }
        let Layout {
            planes,
            frames,
            floats,
        } = &mut self.layout;
        let at_once = *planes * *frames;
        for (input, output) in input.chunks(at_once).zip(output.chunks_mut(at_once)) {
            let mut samples = Planes::new(floats, *frames, input.len() / *planes);
            convert::from_interleaved(input, &mut samples);
            for stage in &mut self.stages {
                stage.run(&mut samples);
            }
            convert::to_interleaved(&mut samples, output);
        }
    }

    /// Forgets what came before, as if nothing had come yet.
    pub fn reset(&mut self) {
        for stage in &mut self.stages {
            stage.reset();
        }
    }

    /// Frames by which the stages delay the signal, beside the loop's preload: (N-1)/2 for a `fir:N`.
    /// A biquad's delay depends on the frequency and counts as 0.
    pub fn delay_frames(&self) -> f64 {
        self.stages.iter().map(|stage| stage.delay_frames()).sum()
    }

    /// True if nothing is done but to copy.
    pub fn is_copy(&self) -> bool {
        self.stages.is_empty()
    }
}

impl Layout {
    fn new(planes: usize, frames: usize) -> Layout {
        Layout {
            planes,
            frames,
            floats: touched(planes * frames),
        }
    }
}

/// The stage that works; none for a copy.
fn made(stage: &Stage) -> Option<Box<dyn Process>> {
    match *stage {
        Stage::Copy => None,
        Stage::Gain { factor } => Some(Box::new(pointwise::Gain::new(factor))),
        Stage::Fir { taps } => Some(Box::new(fir::Fir::new(taps as usize))),
        Stage::Biquad { corner } => Some(Box::new(biquad::Biquad::new(corner))),
        Stage::Threshold { level } => Some(Box::new(pointwise::Threshold::new(level))),
    }
}

/// The taps of a filter, for those who filter elsewhere.
#[cfg(feature = "gpu")]
pub(super) fn filter_taps(taps: usize) -> Vec<f32> {
    fir::windowed_sinc(taps)
}
