//! Stages without a memory: each sample becomes another, whatever came before.

use super::convert::{HIGHEST, saturated};
use super::planes::{Planes, Process};

/// Times a factor, saturated. The product is a 32-bit float: the result is the integer nearest to the
/// true product, save that one closer than 0.002 of a step to the middle may go either way.
pub(super) struct Gain {
    factor: f32,
}

impl Gain {
    pub(super) fn new(factor: f32) -> Gain {
        Gain { factor }
    }
}

impl Process for Gain {
    fn run(&mut self, samples: &mut Planes<'_>) {
        for plane in samples.each() {
            for sample in plane {
                *sample = saturated(*sample * self.factor);
            }
        }
    }

    fn needs_whole_blocks(&self) -> bool {
        false
    }

    fn is_pointwise(&self) -> bool {
        true
    }
}

/// Full scale while above the level, else zero: the quickest decision that there is.
pub(super) struct Threshold {
    level: f32,
}

impl Threshold {
    pub(super) fn new(level: f32) -> Threshold {
        Threshold { level }
    }
}

impl Process for Threshold {
    fn run(&mut self, samples: &mut Planes<'_>) {
        for plane in samples.each() {
            for sample in plane {
                *sample = if *sample > self.level { HIGHEST } else { 0.0 };
            }
        }
    }

    fn needs_whole_blocks(&self) -> bool {
        false
    }

    fn is_pointwise(&self) -> bool {
        true
    }
}
