//! The ways of a block to the GPU and back.

use wiregauge_link::LinkError;

/// One way of a block to the GPU and back.
pub(super) trait Method {
    /// Takes a block there, has it processed, and waits until it is back. Both are of the rings that were
    /// lent, if the way needs them.
    fn run(&mut self, input: &[i16], output: &mut [i16]) -> Result<(), LinkError>;

    /// Forgets the blocks before, as if nothing had come yet.
    fn forget(&mut self) -> Result<(), LinkError>;
}
