//! The flags of a CAN link.

use crate::values;
use clap::Args;
use std::time::Duration;
use wiregauge_record::{CanId, CanOptions, IsoTp};

/// The longest STmin (ISO 15765-2, 9.6.5.4).
const LONGEST_ST_MIN: Duration = Duration::from_millis(127);

/// How a CAN link is used.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "CAN")]
pub struct CanArgs {
    /// Identifier of requests, hexadecimal as in candump: 7e0 (11 bits), 18da10f1 (29 bits).
    #[arg(long, value_name = "ID")]
    pub request_id: Option<CanId>,
    /// Identifier of responses.
    #[arg(long, value_name = "ID")]
    pub response_id: Option<CanId>,
    /// Frames of CAN FD: up to 64 B, with bit rate switch.
    #[arg(long)]
    pub fd: bool,
    /// Messages of up to 4095 B by ISO-TP (ISO 15765-2), as diagnostics (UDS, OBD) use.
    #[arg(long)]
    pub isotp: bool,
    /// ISO-TP: fill frames with this byte, such as cc [default: frames as short as possible].
    #[arg(long, value_name = "BYTE", value_parser = values::hex_byte, requires = "isotp")]
    pub padding: Option<u8>,
    /// ISO-TP: let the device send N frames before it waits for flow control; 0: all [default: 0].
    #[arg(long, value_name = "N", requires = "isotp")]
    pub block_size: Option<u8>,
    /// ISO-TP: let the device wait TIME between two frames (STmin), up to 127 ms [default: 0].
    #[arg(long, value_name = "TIME", value_parser = values::duration, requires = "isotp")]
    pub st_min: Option<Duration>,
    /// Bit rate, where the interface has none (a virtual CAN): the limit of the medium; for `serve`, the modelled bus.
    #[arg(long, value_name = "RATE", value_parser = values::bit_rate)]
    pub bitrate: Option<u64>,
    /// The same for the data phase of CAN FD.
    #[arg(long, value_name = "RATE", value_parser = values::bit_rate, requires = "bitrate", requires = "fd")]
    pub data_bitrate: Option<u64>,
}

impl CanArgs {
    /// The options of a link to these addresses. Flags without a CAN link are refused.
    pub fn options<'a>(
        &self,
        addresses: impl IntoIterator<Item = &'a String>,
        timestamps: bool,
    ) -> anyhow::Result<Option<CanOptions>> {
        let mut addresses = addresses.into_iter().peekable();
        let first = addresses.peek().map_or("", |address| address.as_str());
        if !addresses.any(|address| address.starts_with("can:")) {
            if let Some(flag) = self.given(timestamps) {
                anyhow::bail!("{flag} requires a CAN bus, such as can://can0, not {first}");
            }
            return Ok(None);
        }
        let (Some(request_id), Some(response_id)) = (self.request_id, self.response_id) else {
            anyhow::bail!(
                "can:// requires --request-id and --response-id\n  hint: such as --request-id 7e0 --response-id 7e8"
            );
        };
        if self.st_min.is_some_and(|time| time > LONGEST_ST_MIN) {
            anyhow::bail!("--st-min is too long: ISO-TP has up to 127 ms");
        }
        let narrow = |rate: u64| u32::try_from(rate).unwrap_or(u32::MAX);
        Ok(Some(CanOptions {
            request_id,
            response_id,
            fd: self.fd,
            isotp: self.isotp.then(|| IsoTp {
                padding: self.padding,
                block_size: self.block_size.unwrap_or(0),
                st_min_ns: self.st_min.map_or(0, |time| time.as_nanos() as u64),
            }),
            bitrate: self.bitrate.map(narrow),
            data_bitrate: self.data_bitrate.map(narrow),
            timestamps,
        }))
    }

    /// The first flag that was given.
    fn given(&self, timestamps: bool) -> Option<&'static str> {
        let all = [
            ("--request-id", self.request_id.is_some()),
            ("--response-id", self.response_id.is_some()),
            ("--fd", self.fd),
            ("--isotp", self.isotp),
            ("--bitrate", self.bitrate.is_some()),
            ("--kernel-wait", timestamps),
        ];
        all.into_iter()
            .find(|(_, is_given)| *is_given)
            .map(|(flag, _)| flag)
    }
}
