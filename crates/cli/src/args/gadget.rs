//! The flags of `serve usb-gadget`.

use clap::{Args, ValueEnum};
use wiregauge_responder::gadget::{Function, GadgetPlan, Speed, Transfers, parse_usb_id};

/// Heading of the flags that `usb-gadget` and `usb-virtual` have in common.
const SHARED: &str = "USB device (usb-gadget, usb-virtual)";

/// `--speed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SpeedArg {
    /// 12 Mbit/s.
    Full,
    /// 480 Mbit/s.
    High,
    /// 5 Gbit/s.
    Super,
}

/// What is read from `--function`.
#[derive(Clone, Debug)]
pub struct Functions(pub Vec<Function>);

fn functions(text: &str) -> Result<Functions, String> {
    Function::parse_list(text).map(Functions)
}

/// `wiregauge serve usb-gadget`.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "USB gadget")]
pub struct GadgetArgs {
    /// USB functions: bulk or interrupt (a vendor interface with one endpoint in each direction), acm (a
    /// serial port); bulk=N for several [default: bulk,acm].
    #[arg(long, value_name = "LIST", value_parser = functions, help_heading = SHARED)]
    pub function: Option<Functions>,
    /// USB device controller [default: the first free one].
    #[arg(long, value_name = "NAME")]
    pub udc: Option<String>,
    /// Vendor and product ID [default: 1d6b:0104].
    #[arg(long, value_name = "VID:PID", value_parser = parse_usb_id, help_heading = SHARED)]
    pub usb_id: Option<(u16, u16)>,
    /// Serial number [default: this computer's name; of a virtual device: virtual].
    #[arg(long, value_name = "TEXT", help_heading = SHARED)]
    pub serial: Option<String>,
    /// Maximum speed [default: that of the controller; of a virtual device: full].
    #[arg(long, value_enum, help_heading = SHARED)]
    pub speed: Option<SpeedArg>,
    /// How transfers are submitted to the kernel: queued=N (N at once in each direction) or sync (one at a
    /// time, to measure its cost) [default: queued=16].
    #[arg(long, value_name = "HOW", value_parser = Transfers::parse)]
    pub transfers: Option<Transfers>,
}

impl GadgetArgs {
    /// A flag that was given, if there is one.
    pub fn given(&self) -> Option<&'static str> {
        [
            (self.function.is_some(), "--function"),
            (self.udc.is_some(), "--udc"),
            (self.usb_id.is_some(), "--usb-id"),
            (self.serial.is_some(), "--serial"),
            (self.speed.is_some(), "--speed"),
            (self.transfers.is_some(), "--transfers"),
        ]
        .into_iter()
        .find_map(|(given, name)| given.then_some(name))
    }

    /// The device that they describe.
    pub fn plan(&self) -> GadgetPlan {
        let default = GadgetPlan::default();
        let (vendor, product) = self.usb_id.unwrap_or((default.vendor, default.product));
        GadgetPlan {
            functions: self
                .function
                .clone()
                .map_or(default.functions, |functions| functions.0),
            udc: self.udc.clone(),
            vendor,
            product,
            serial: self.serial.clone(),
            speed: self.speed.map(|speed| match speed {
                SpeedArg::Full => Speed::Full,
                SpeedArg::High => Speed::High,
                SpeedArg::Super => Speed::Super,
            }),
            transfers: self.transfers.unwrap_or_default(),
        }
    }
}
