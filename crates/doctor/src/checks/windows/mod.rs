//! The checks of Windows. Costs without a published measurement are marked as not measured: this project has no
//! Windows computer.

pub(super) mod antivirus;
pub(super) mod core_parking;
pub(super) mod ftdi_latency;
pub(super) mod indexing;
pub(super) mod nagle;
pub(super) mod power_plan;
pub(super) mod selective_suspend;
pub(super) mod timer_resolution;
