//! macOS. This compiles and has never run.

mod mapping;

pub(crate) use super::not_linux::*;
pub use super::not_linux::{
    be_device_if_asked, be_device_if_asked_with, serve_devices_with, serve_devices_with_program,
};
pub(crate) use super::unix::{INVALID, Mapping, OUT_OF_MEMORY};

/// How CUDA's driver is named; this system has none.
#[cfg(feature = "gpu")]
pub(crate) const CUDA: &str = "libcuda.dylib";
