//! A USB bus in virtual time, and a CAN bus (`can`): which packet of whom is carried when. Nothing here waits, reads a
//! clock or holds data; the same packets at the same times give the same result to the bit. Shared
//! by `serve --bus` and `--profile`, by `serve usb-virtual` and by the tables of docs/models.md.

mod calendar;
mod can;
mod host;
mod profiles;
mod timing;
mod traffic;

pub use calendar::Calendar;
pub use can::{CanBus, CarriedMessage, Node};
pub use host::{HostTiming, Program, Span, Writes};
pub use profiles::{PROFILES, Profile};
pub use timing::{BusTiming, DeviceTiming, NakRetry, Pickup, PipeTiming, UsbModel};
pub use traffic::{Carried, Direction, PipeId, PipeSpec, Refused, Step, Traffic};
