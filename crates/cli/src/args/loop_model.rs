//! The flags that describe a control loop: plant, controller, period, noise, and what becomes of a late response.

use super::shared::same_as;
use crate::values;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use wiregauge_control::{OnMiss, Order};

/// A plant and its controller, from flags or from a file.
#[derive(Clone, Debug, Args)]
pub struct ModelArgs {
    /// Model of the loop (.toml or .json); flags override its keys.
    #[arg(long, value_name = "FILE", help_heading = "Control loop")]
    pub model: Option<PathBuf>,
    /// Plant as a transfer function in s, such as '1000/(s^2+s)'.
    #[arg(
        long,
        value_name = "TF",
        allow_hyphen_values = true,
        help_heading = "Control loop"
    )]
    pub plant: Option<String>,
    /// PID controller: gain K, integral time Ti and derivative time Td in seconds; Ti or Td 0: none. The
    /// derivative is filtered with N = 10.
    #[arg(long, value_name = "K,Ti,Td", value_parser = values::pid, allow_hyphen_values = true,
          conflicts_with = "controller", help_heading = "Control loop")]
    pub pid: Option<[f64; 3]>,
    /// Controller as a transfer function in z from the control error to the command, such as '(z-0.5)/(z-1)'.
    #[arg(
        long,
        value_name = "TF",
        allow_hyphen_values = true,
        help_heading = "Control loop"
    )]
    pub controller: Option<String>,
    /// Period of the loop [default: that of the model, else that of the stored run, if there is one].
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Control loop")]
    pub period: Option<Duration>,
    /// Intensity (variance per second) of the white noise that adds to the command at the plant's input
    /// [default: that of the model, else 1; loop-control: else 0].
    #[arg(long, value_name = "NUMBER", value_parser = values::intensity, help_heading = "Control loop", allow_hyphen_values = true)]
    pub noise: Option<f64>,
}

/// Which responses become commands.
#[derive(Clone, Debug, Args)]
pub struct MissArgs {
    /// Which response counts if one overtakes another [default: newest].
    #[arg(
        long,
        value_name = "WHICH",
        help_heading = "Control loop: late and lost responses"
    )]
    pub order: Option<OrderArg>,
    /// What the actuator does in a cycle whose response is lost or misses the deadline [default: hold].
    #[arg(
        long,
        value_name = "ACTION",
        help_heading = "Control loop: late and lost responses"
    )]
    pub on_miss: Option<OnMissArg>,
    /// Ignore responses that take longer [default: none are ignored].
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Control loop: late and lost responses")]
    pub deadline: Option<Duration>,
}

/// `--order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OrderArg {
    /// The response to the newest request; one that a newer one has overtaken is ignored.
    Newest,
    /// The response that arrived last.
    Arrival,
}

/// `--on-miss`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnMissArg {
    /// Keep the last command.
    Hold,
    /// Set the command to zero at the deadline (without one: at the end of the cycle).
    ZeroAtDeadline,
    /// Set the command to zero from the start of the cycle.
    ZeroAtOnce,
    /// Keep the last command, and the controller does not run: the request was lost, not the response.
    Skip,
}

same_as!(OrderArg => Order: Newest, Arrival);
same_as!(OnMissArg => OnMiss: Hold, ZeroAtDeadline, ZeroAtOnce, Skip);
