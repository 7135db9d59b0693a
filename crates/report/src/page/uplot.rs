//! uPlot, if it was there when this was built.

/// What may be drawn with where scripts run.
pub(super) struct Uplot {
    pub(super) script: &'static str,
    /// Of the script, as a Content-Security-Policy names it.
    pub(super) hash: &'static str,
    pub(super) style: &'static str,
    pub(super) licence: &'static str,
}

// `UPLOT`, and of the scripts of pages `PAGE_SCRIPT`, `PAGE_HASH`, `BUS_SCRIPT`, `BUS_HASH`, by build.rs.
include!(concat!(env!("OUT_DIR"), "/scripts.rs"));
