//! Memory whose pages come when they are touched.

use crate::platform::unix::Mapping;
use rustix::mm::MapFlags;
use std::io;

impl Mapping {
    /// Memory of this process.
    pub(crate) fn anonymous(bytes: usize) -> io::Result<Mapping> {
        Mapping::private(bytes, MapFlags::empty())
    }
}
