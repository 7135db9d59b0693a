//! The data types that all crates share: what is to be measured (`plan`), one measured
//! exchange (`sample`), what the samples of one point amount to (`summary`), and what it all ran on
//! (`conditions`). Nothing here opens, measures, draws or stores.

mod block;
mod by_query;
mod can;
mod conditions;
mod control_cycle;
mod control_plan;
mod control_summary;
mod direction;
mod figure;
mod figure_value;
mod grouped;
mod isochronous;
mod lateness;
mod loop_path;
mod loop_plan;
mod loop_summary;
mod names;
mod plan;
mod point_summary;
mod query;
mod sample;
mod stages;
mod stream_plan;
mod stream_summary;
mod summarise;
mod summarise_control;
mod summarise_loop;
mod summarise_stream;
mod transfer;

pub use block::{Block, Xrun};
pub use can::{CanCounts, CanId, CanOptions, IsoTp};
pub use conditions::{
    Calibration, Conditions, Floor, HostState, LinkConditions, LinkDetail, WakeUp,
};
pub use control_cycle::{ControlCycle, CycleStatus};
pub use control_plan::{ControlModel, ControlPlan, ControlPoint, Rows, SystemMatrices};
pub use control_summary::{ControlSummary, MeasuredStep, Predicted};
pub use direction::{Direction, Way};
pub use figure::{
    Better, Carried, Figure, LoopFigure, OF_CONTROL, OF_CYCLES, OF_EXCHANGES, OF_STREAMS, Part,
    Problem, Times, Unit,
};
pub use grouped::{grouped, grouped_digits};
pub use isochronous::{IsochronousCounts, IsochronousOptions, PacketErrors};
pub use lateness::{Keeping, Lateness};
pub use loop_path::{LoopPath, NoSuchPath};
pub use loop_plan::{Aim, LoopPlan, LoopPoint, LoopWait, SAMPLE_BYTES, Stage};
pub use loop_summary::{LoopSummary, StageSpeed, Stall, StallRate, TimerThread, Verified};
pub use plan::{
    Connect, HostLoad, HostPlan, Limit, LinkOptions, Plan, Point, Protocol, Schedule, Wait,
    is_on_this_host,
};
pub use point_summary::{
    BatchRate, BatchTrial, BusLimit, Counts, DeviceLate, Disturbance, Ending, PointSummary,
    QuerySummary, ResourceUse, Responder, Surplus, Throughput, UnexpectedReply,
};
pub use query::{ModbusLine, Queries, Query, ReplyEnd, ReplyLength, escape, unescape};
pub use sample::{Phase, Sample, Status};
pub use stages::Stages;
pub use stream_plan::{Pattern, StreamPlan, StreamPoint, StreamProtocol};
pub use stream_summary::{
    BufferNeed, BusCount, ByteCounts, DeviceCount, FlowSummary, Recording, StreamSummary,
};
pub use summarise::{StartOrder, Starts, Summariser};
pub use summarise_control::ControlSummariser;
pub use summarise_loop::{LoopFacts, LoopSummariser};
pub use summarise_stream::{FlowFacts, FlowSeries, StreamSummariser};
pub use transfer::{Transfer, TransferStatus};
