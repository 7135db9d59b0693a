//! What is one operating system's own. Each folder has the same modules with the same items; everything else calls them
//! here. `unix` holds what Linux and macOS share, `unsupported` what only Linux has.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(unix)]
mod unix;
#[cfg(not(target_os = "linux"))]
mod unsupported;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(target_os = "macos")]
pub use macos::*;
#[cfg(windows)]
pub use windows::*;
