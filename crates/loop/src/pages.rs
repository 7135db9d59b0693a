//! Memory of a ring that begins on a page and shares none: a GPU's driver can register it, whatever else
//! lies beside it. Pages of the host's memory are registered whole.

use std::ops::{Deref, DerefMut};

/// No page of a host that this runs on is larger (64 KiB on some 64-bit ARMs).
const PAGE: usize = 64 << 10;

/// Samples of a page.
const SAMPLES: usize = PAGE / size_of::<i16>();

/// So many samples, alone on their pages.
#[derive(Debug, Default)]
pub(super) struct Pages {
    memory: Vec<i16>,
    begin: usize,
    samples: usize,
}

impl Pages {
    /// Makes it so long. Stays where it is if it was so long before.
    pub(super) fn lay_out(&mut self, samples: usize) {
        if self.samples == samples {
            return;
        }
        // What was there goes first: both at once may not fit.
        *self = Pages::default();
        let memory = vec![0_i16; samples.next_multiple_of(SAMPLES) + SAMPLES];
        self.begin = memory.as_ptr().align_offset(PAGE);
        self.memory = memory;
        self.samples = samples;
    }
}

impl Deref for Pages {
    type Target = [i16];

    fn deref(&self) -> &[i16] {
        &self.memory[self.begin..self.begin + self.samples]
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [i16] {
        &mut self.memory[self.begin..self.begin + self.samples]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_begins_on_a_page_and_ends_before_the_last_one_of_its_memory() {
        for samples in [1, SAMPLES - 1, SAMPLES, SAMPLES + 1, 5 * SAMPLES] {
            let mut ring = Pages::default();
            ring.lay_out(samples);
            assert_eq!(ring.len(), samples);
            assert_eq!(ring.as_ptr() as usize % PAGE, 0);
            assert!(ring.begin + samples.next_multiple_of(SAMPLES) <= ring.memory.len());
        }
    }

    #[test]
    fn it_stays_where_it_is_while_its_length_does() {
        let mut ring = Pages::default();
        ring.lay_out(1_000);
        ring[0] = 7;
        let place = ring.as_ptr();
        ring.lay_out(1_000);
        assert_eq!((ring.as_ptr(), ring[0]), (place, 7));
        ring.lay_out(2_000);
        assert_eq!(ring[0], 0);
    }
}
