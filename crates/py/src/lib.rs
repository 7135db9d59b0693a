//! The native half of the Python package: the commands, called with the interpreter's lock released;
//! open devices; samples in memory that numpy looks at; figures. What a Python user sees is in python/wiregauge.

mod buffer;
mod call;
mod device;
mod errors;
mod figures;
mod responder;
mod samples;
mod tables;

use pyo3::prelude::*;

/// What python/wiregauge is made of; not for others.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::call::{Called, call, declared, find, main, runs_home};
    #[pymodule_export]
    use super::device::RawDevice;
    #[pymodule_export]
    use super::figures::{Figure, figures};
    #[pymodule_export]
    use super::responder::Responder;
    #[pymodule_export]
    use super::samples::{Rows, answers, layout, names, samples};
    #[pymodule_export]
    use super::tables::{RunTables, run_tables};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
