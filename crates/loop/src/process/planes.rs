//! What a stage is, and what it is given: the floats of each channel in a plane of their own.

use wiregauge_link::LinkError;

/// What a stage will be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Planes: one a channel, or a single one with the samples of all channels if every stage of the
    /// chain is pointwise.
    pub channels: usize,
    /// Samples a second of each channel.
    pub rate_hz: u64,
    /// Frames of one call at most.
    pub frames: usize,
}

/// A stage of the processing. A user's function becomes one by this, whatever language it is in: it
/// sees one slice of floats a channel, full scale being -1 to 1.
pub trait Process: Send {
    /// Lays out and touches what `run` will need. Called before the first block, and again when a
    /// stage is added.
    fn prepare(&mut self, format: &Format) -> Result<(), LinkError> {
        let _ = format;
        Ok(())
    }

    /// Processes in place. Must not allocate, lock or log: a block is waiting.
    fn run(&mut self, samples: &mut Planes<'_>);

    /// Forgets what came before.
    fn reset(&mut self) {}

    /// Frames by which it delays the signal.
    fn delay_frames(&self) -> f64 {
        0.0
    }

    /// True if it must see a block of the loop as one. Else it is given parts of it that fit the
    /// processor's innermost cache, which is faster.
    fn needs_whole_blocks(&self) -> bool {
        true
    }

    /// True if each output sample depends on the same input sample alone, whichever its channel.
    fn is_pointwise(&self) -> bool {
        false
    }
}

/// Samples between two stages: a plane of floats for each channel.
pub struct Planes<'a> {
    floats: &'a mut [f32],
    stride: usize,
    frames: usize,
}

impl<'a> Planes<'a> {
    /// Planes that begin `stride` floats apart, of which `frames` are used.
    pub(super) fn new(floats: &'a mut [f32], stride: usize, frames: usize) -> Planes<'a> {
        Planes {
            floats,
            stride,
            frames,
        }
    }

    /// Frames in this call.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Planes.
    pub fn channels(&self) -> usize {
        self.floats.len() / self.stride
    }

    /// The samples of each channel in turn.
    pub fn each(&mut self) -> impl Iterator<Item = &mut [f32]> {
        let frames = self.frames;
        self.floats
            .chunks_exact_mut(self.stride)
            .map(move |plane| &mut plane[..frames])
    }

    /// All floats and the distance of two channels, for the conversion.
    pub(super) fn floats(&mut self) -> (&mut [f32], usize) {
        (self.floats, self.stride)
    }
}

/// Zeros whose every page is there: pages that come as zeros from the kernel come only when written.
pub(super) fn touched(floats: usize) -> Vec<f32> {
    let mut memory = std::hint::black_box(vec![1.0; floats]);
    memory.fill(0.0);
    memory
}
