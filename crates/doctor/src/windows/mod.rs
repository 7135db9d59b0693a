//! Windows as the checks see it. Nothing here calls the system, so it is compiled and tested on every system; the calls
//! are in `platform/windows/`.

mod com_ports;
mod devices;
mod host;
mod made_up;
mod plans;
mod setting;
mod settings;

pub(crate) use com_ports::is_present;
pub(crate) use devices::{Port, attached_usb, connection, ports};
pub use host::{PlanSetting, Supply, TimerResolution, Value, WindowsHost};
pub use made_up::MadeUpWindows;
pub(crate) use plans::{
    BALANCED, HIGH_PERFORMANCE, POWER_SAVER, ULTIMATE_PERFORMANCE, active_and_fixed, is_installed,
};
pub(crate) use setting::Setting;
pub(crate) use setting::supply_name;
pub(crate) use settings::NOT_CONTENT_INDEXED;
pub use settings::WindowsSettings;
