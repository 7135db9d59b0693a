//! A way without copies: kernels read the input ring and write the output ring where they are, in the
//! host's memory, through PCIe.

use super::driver::Driver;
use super::memory::{Lent, Stream};
use super::method::Method;
use super::passes::Passes;
use std::rc::Rc;
use wiregauge_link::LinkError;
use wiregauge_record::{LoopPoint, Stage};

/// Both rings, as kernels find them.
pub(super) struct LentRings {
    pub(super) input: Lent,
    pub(super) output: Lent,
}

/// A launch of each pass for a block.
pub(super) struct Mapped {
    /// Goes first: what is still under way, after an error, uses the others.
    stream: Stream,
    passes: Passes,
    rings: Rc<LentRings>,
}

impl Mapped {
    pub(super) fn new(
        driver: &Driver,
        stages: &[Stage],
        point: &LoopPoint,
        rings: Rc<LentRings>,
    ) -> Result<Mapped, LinkError> {
        let stream = Stream::new()?;
        Ok(Mapped {
            passes: Passes::new(driver, stages, point, true, &stream)?,
            stream,
            rings,
        })
    }
}

impl Method for Mapped {
    fn run(&mut self, input: &[i16], output: &mut [i16]) -> Result<(), LinkError> {
        let (from, to) = (self.rings.input.of(input), self.rings.output.of(output));
        let passes = &self.passes;
        for number in 0..passes.len() {
            passes
                .launch(passes.turn(), number, from, to, passes.whole())
                .on(self.stream.0)?;
        }
        self.stream.finish("cannot wait for a kernel of the GPU")?;
        self.passes.next_turn();
        Ok(())
    }

    fn forget(&mut self) -> Result<(), LinkError> {
        self.passes.forget(&self.stream)?;
        self.stream.finish("cannot clear the GPU's memory")
    }
}
