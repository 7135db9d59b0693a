//! The flags of the address usb-gadget.

use clap::{Args, ValueEnum};
use wiregauge_record::Protocol;
use wiregauge_responder::gadget::{Function, GadgetPlan, Speed, Transfers, parse_usb_id};
use wiregauge_responder::hid::{REPORT_BYTES, UhidPlan, check_reports, default_report_bytes};

/// Heading of the flags that `usb-gadget`, `usb-virtual` and `uhid` have in common.
const SHARED: &str = "USB device (usb-gadget, usb-virtual), HID device (uhid)";

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

/// Flags of the address usb-gadget.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "USB gadget")]
pub struct GadgetArgs {
    /// USB functions: bulk or interrupt (a vendor interface with one endpoint in each direction), acm (a
    /// serial port), hid (reports), tmc (a USBTMC instrument, usb-gadget only); ftdi, cp210x, ch341 (a serial
    /// adapter), iso (isochronous endpoints that send and take packets in every interval), these four usb-virtual only; bulk=N for several [default: bulk,acm].
    #[arg(long, value_name = "LIST", value_parser = functions, help_heading = SHARED)]
    pub function: Option<Functions>,
    /// USB device controller [default: the first free one].
    #[arg(long, value_name = "NAME")]
    pub udc: Option<String>,
    /// Vendor and product ID [default: 1d6b:0104; of an adapter: the chip's].
    #[arg(long, value_name = "VID:PID", value_parser = parse_usb_id, help_heading = SHARED)]
    pub usb_id: Option<(u16, u16)>,
    /// Serial number [default: this computer's name; of a virtual device: virtual; of uhid: uhid].
    #[arg(long, value_name = "TEXT", help_heading = SHARED)]
    pub serial: Option<String>,
    /// Maximum speed [default: that of the controller; of a virtual device: full].
    #[arg(long, value_enum, help_heading = SHARED)]
    pub speed: Option<SpeedArg>,
    /// Bytes of a HID report, up to 1024 (usb-gadget: 255) [default: 64; with the wiregauge protocol 128].
    #[arg(long, value_name = "N", value_parser = report_bytes, help_heading = SHARED)]
    pub report_bytes: Option<u16>,
    /// How transfers are submitted to the kernel: queued=N (N at once in each direction) or sync (one at a
    /// time, to measure its cost) [default: queued=16].
    #[arg(long, value_name = "HOW", value_parser = Transfers::parse)]
    pub transfers: Option<Transfers>,
}

/// Bytes of a report of the kernel's HID function, whose length is one byte.
const MOST_OF_GADGET: u16 = 255;

fn report_bytes(text: &str) -> Result<u16, String> {
    let (least, most) = (REPORT_BYTES.start(), REPORT_BYTES.end());
    let bytes = text
        .parse()
        .ok()
        .filter(|bytes| REPORT_BYTES.contains(bytes));
    bytes.ok_or_else(|| format!("`{text}` is not a valid report size ({least} to {most} B)"))
}

impl GadgetArgs {
    /// Bytes of a report; refuses a flag without an effect and a protocol that does not fit.
    pub fn report_bytes(&self, functions: &[Function], protocol: Protocol) -> anyhow::Result<u16> {
        let has_hid = functions.contains(&Function::Hid);
        if self.report_bytes.is_some() && !has_hid {
            anyhow::bail!("--report-bytes requires --function hid");
        }
        let bytes = self.report_bytes.unwrap_or(default_report_bytes(protocol));
        if has_hid {
            check_reports(protocol, bytes).map_err(anyhow::Error::msg)?;
        }
        Ok(bytes)
    }

    /// True if the device is a USBTMC instrument.
    pub fn is_instrument(&self) -> bool {
        let functions = self.function.as_ref();
        functions.is_some_and(|functions| functions.0.contains(&Function::Tmc))
    }

    /// The uhid device that they describe.
    pub fn uhid_plan(&self, protocol: Protocol) -> anyhow::Result<UhidPlan> {
        let default = UhidPlan::default();
        for (flag, is_given) in [
            ("--function", self.function.is_some()),
            ("--udc", self.udc.is_some()),
            ("--speed", self.speed.is_some()),
            ("--transfers", self.transfers.is_some()),
        ] {
            if is_given {
                anyhow::bail!("{flag} has no effect on uhid: it is a HID device without a bus");
            }
        }
        let (vendor, product) = self.usb_id.unwrap_or((default.vendor, default.product));
        Ok(UhidPlan {
            vendor,
            product,
            serial: self.serial.clone().unwrap_or(default.serial),
            report_bytes: self.report_bytes(&[Function::Hid], protocol)?,
        })
    }

    /// A flag that was given, if there is one.
    pub fn given(&self) -> Option<&'static str> {
        [
            (self.function.is_some(), "--function"),
            (self.udc.is_some(), "--udc"),
            (self.usb_id.is_some(), "--usb-id"),
            (self.serial.is_some(), "--serial"),
            (self.speed.is_some(), "--speed"),
            (self.transfers.is_some(), "--transfers"),
            (self.report_bytes.is_some(), "--report-bytes"),
        ]
        .into_iter()
        .find_map(|(given, name)| given.then_some(name))
    }

    /// The device that they describe; hints propose commands of `program`.
    pub fn plan(&self, protocol: Protocol, program: &str) -> anyhow::Result<GadgetPlan> {
        let default = GadgetPlan::default();
        let (vendor, product) = self.usb_id.unwrap_or((default.vendor, default.product));
        let functions = self.function.clone();
        let functions = functions.map_or(default.functions, |functions| functions.0);
        if let Some(adapter) = functions.iter().find(|f| f.is_virtual_only()) {
            let name = adapter.name();
            anyhow::bail!(
                "usb-gadget has no function {name}\n  hint: use {program} usb-virtual --function {name}"
            );
        }
        let report_bytes = self.report_bytes(&functions, protocol)?;
        if functions.contains(&Function::Hid) {
            if report_bytes > MOST_OF_GADGET {
                anyhow::bail!(
                    "the kernel's HID function has reports of up to {MOST_OF_GADGET} B\n  hint: use a smaller \
                     --report-bytes"
                );
            }
            if self.speed == Some(SpeedArg::Full) && report_bytes > 64 {
                anyhow::bail!(
                    "at full speed a HID report of the kernel's function has up to 64 B\n  hint: use --report-bytes 64 \
                     and --protocol echo, or omit --speed"
                );
            }
        }
        Ok(GadgetPlan {
            functions,
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
            report_bytes,
        })
    }
}
