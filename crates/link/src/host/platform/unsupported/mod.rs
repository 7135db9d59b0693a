//! What only Linux can do, for the other systems. Each item says so, or does nothing where nothing is lost by it.

mod resources;
mod usbmon;

pub use resources::{Machine, Thread, tick_ns};
pub use usbmon::UsbMon;

/// None: the threads of this process are not listed by name here.
pub fn find_thread(_name: &str) -> Option<i32> {
    None
}

/// Does nothing: only Linux can give a thread a table of descriptors of its own.
pub fn own_descriptors() {}
