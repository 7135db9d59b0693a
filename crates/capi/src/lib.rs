//! The C ABI: what C, C++, LabVIEW, MATLAB and Octave call. Each function checks what it is given, claims the handle,
//! calls the engine, and turns whatever happens into a code and a text; nothing is decided or measured here.
//!
//! The documentation of a function here is the one in include/wiregauge.h, which is made of it: it speaks to a C
//! programmer. What must hold for pointers is said there once for all, so no function repeats it under "Safety".

#![allow(non_camel_case_types, clippy::missing_safety_doc)]

// A panic that cannot unwind cannot be caught before it reaches C.
#[cfg(panic = "abort")]
compile_error!("the C ABI needs panics that unwind: do not set panic = \"abort\"");

mod about_library;
mod code;
mod failure;
mod pointers;
mod text;

mod handles;

mod options;

mod query_options;

mod device;

mod exchanges;

mod queries;

mod batches;

mod control;

mod streams;

mod about_device;

mod runs;

pub use about_device::*;
pub use about_library::*;
pub use batches::*;
pub use code::*;
pub use control::*;
pub use device::*;
pub use exchanges::*;
pub use failure::wg_last_error;
pub use options::*;
pub use queries::*;
pub use query_options::*;
pub use runs::*;
pub use streams::*;
