//! uPlot, if it was there when this was built.

/// What may be drawn with where scripts run.
pub(super) struct Uplot {
    pub(super) script: &'static str,
    /// Of the script, as a Content-Security-Policy names it.
    pub(super) hash: &'static str,
    pub(super) style: &'static str,
    pub(super) licence: &'static str,
}

// `UPLOT`, `PAGE_HASH` and `BUS_HASH`, by build.rs.
include!(concat!(env!("OUT_DIR"), "/scripts.rs"));
