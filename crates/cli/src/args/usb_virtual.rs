//! The flags of `serve usb-virtual`. Functions, numbers, serial number and speed are those of
//! `serve usb-gadget`.

use super::gadget::{GadgetArgs, SpeedArg};
use crate::values;
use clap::{Args, ValueEnum};
use std::time::Duration;
use wiregauge_link::limits::Bus;
use wiregauge_record::Protocol;
use wiregauge_responder::bus::{BusTiming, NakRetry, PROFILES, Profile};
use wiregauge_responder::gadget::Function;
use wiregauge_responder::usb_virtual::VirtualPlan;

/// `--nak-retry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NakRetryArg {
    /// Retry in the next frame or microframe.
    Frame,
    /// Retry at once.
    AtOnce,
}

/// `wiregauge serve usb-virtual`.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "USB virtual")]
pub struct VirtualArgs {
    /// A device from the literature (docs/models.md); the other flags override its values.
    #[arg(long, value_name = "NAME", value_parser = profile, conflicts_with_all = ["speed", "hub"])]
    pub profile: Option<&'static Profile>,
    /// Time between two transfers in the device.
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub device_time: Option<Duration>,
    /// Time that the device needs to load or unload each packet.
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub packet_time: Option<Duration>,
    /// When the host retries after a NAK [default: at-once].
    #[arg(long, value_enum)]
    pub nak_retry: Option<NakRetryArg>,
    /// Full speed behind a high-speed hub.
    #[arg(long)]
    pub hub: bool,
    /// Polling interval of the endpoints of hid and interrupt: 1ms to 255ms at full speed; 125us, 250us, 500us and so
    /// on at high speed [default: the shortest].
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub interval: Option<Duration>,
    /// Number of devices sharing the bus.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub devices: Option<u32>,
}

fn profile(name: &str) -> Result<&'static Profile, String> {
    PROFILES
        .iter()
        .find(|profile| profile.name == name)
        .ok_or_else(|| {
            let names: Vec<_> = PROFILES.iter().map(|profile| profile.name).collect();
            format!(
                "unknown profile `{name}`: choose one of {}",
                names.join(", ")
            )
        })
}

/// bInterval for a time: frames at full speed, 2^(n - 1) microframes at high speed (USB 2.0, table 9-13).
fn interval(time: Duration, speed: Bus) -> anyhow::Result<u8> {
    let frames = time.as_nanos() as u64 / speed.frame_ns();
    let is_whole = u128::from(frames) * u128::from(speed.frame_ns()) == time.as_nanos();
    let number = match speed {
        Bus::FullSpeed => u8::try_from(frames).ok().filter(|n| *n > 0),
        Bus::HighSpeed => {
            let is_power = frames.is_power_of_two() && frames <= 1 << 15;
            is_power.then(|| frames.trailing_zeros() as u8 + 1)
        }
    };
    number.filter(|_| is_whole).ok_or_else(|| match speed {
        Bus::FullSpeed => {
            anyhow::anyhow!("--interval {time:?} is not possible at full speed: use 1ms, 2ms and so on to 255ms")
        }
        Bus::HighSpeed => anyhow::anyhow!(
            "--interval {time:?} is not possible at high speed: use 125us, 250us, 500us, 1ms, 2ms and so on, doubling, \
             to 4.096s"
        ),
    })
}

impl VirtualArgs {
    /// A flag that was given, if there is one.
    pub fn given(&self) -> Option<&'static str> {
        [
            (self.profile.is_some(), "--profile"),
            (self.device_time.is_some(), "--device-time"),
            (self.packet_time.is_some(), "--packet-time"),
            (self.nak_retry.is_some(), "--nak-retry"),
            (self.hub, "--hub"),
            (self.interval.is_some(), "--interval"),
            (self.devices.is_some(), "--devices"),
        ]
        .into_iter()
        .find_map(|(given, name)| given.then_some(name))
    }

    /// The name that the devices give.
    pub fn name(&self) -> String {
        let name = self
            .profile
            .map_or("virtual device", |profile| profile.name);
        name.into()
    }

    /// The devices that they describe.
    pub fn plan(&self, shared: &GadgetArgs, protocol: Protocol) -> anyhow::Result<VirtualPlan> {
        let default = VirtualPlan::default();
        if shared.udc.is_some() || shared.transfers.is_some() {
            anyhow::bail!("--udc and --transfers are for `wiregauge serve usb-gadget`");
        }
        let speed = match (shared.speed, self.profile) {
            (_, Some(profile)) => profile.speed,
            (None | Some(SpeedArg::Full), None) => Bus::FullSpeed,
            (Some(SpeedArg::High), None) => Bus::HighSpeed,
            (Some(SpeedArg::Super), None) => {
                anyhow::bail!(
                    "usb-virtual supports only full and high speed (--speed full, --speed high)"
                )
            }
        };
        let (mut bus, mut device) = match self.profile {
            Some(profile) => (profile.bus, profile.device),
            None => (BusTiming::of(speed), default.device),
        };
        if self.hub {
            if speed != Bus::FullSpeed {
                anyhow::bail!(
                    "--hub requires --speed full: a high-speed hub only repeats high-speed traffic"
                );
            }
            bus = bus.behind_hub();
        }
        if let Some(time) = self.device_time {
            device.transfer_ns = time.as_nanos() as u64;
        }
        for pipe in [&mut device.to_host, &mut device.from_host] {
            if let Some(time) = self.packet_time {
                pipe.packet_ns = time.as_nanos() as u64;
            }
            if let Some(retry) = self.nak_retry {
                pipe.nak_retry = match retry {
                    NakRetryArg::Frame => NakRetry::NextFrame,
                    NakRetryArg::AtOnce => NakRetry::AtOnce,
                };
            }
        }
        let functions = shared.function.clone();
        let functions = functions.map_or(default.functions, |functions| functions.0);
        if functions.contains(&Function::Tmc) {
            anyhow::bail!(
                "usb-virtual has no function tmc\nhint: use wiregauge serve usb-gadget --function tmc"
            );
        }
        let is_polled = |f: &Function| matches!(f, Function::Hid | Function::Interrupt);
        if self.interval.is_some() && !functions.iter().any(is_polled) {
            anyhow::bail!("--interval requires --function hid or interrupt");
        }
        let report_bytes = shared.report_bytes(&functions, protocol)?;
        let (vendor, product) = shared.usb_id.unwrap_or((default.vendor, default.product));
        Ok(VirtualPlan {
            speed,
            bus,
            device,
            devices: self.devices.unwrap_or(1),
            functions,
            vendor,
            product,
            serial: shared.serial.clone().unwrap_or(default.serial),
            interval: match self.interval {
                Some(time) => interval(time, speed)?,
                None => default.interval,
            },
            report_bytes,
            trace: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_one_that_the_bus_has() {
        let of = |text: &str, speed| interval(values::duration(text).unwrap(), speed).ok();
        for (text, full, high) in [
            ("125us", None, Some(1)),
            ("1ms", Some(1), Some(4)),
            ("8ms", Some(8), Some(7)),
            ("10ms", Some(10), None),
            ("255ms", Some(255), None),
            ("256ms", None, Some(12)),
            ("4096ms", None, Some(16)),
            ("8192ms", None, None),
            ("1500us", None, None),
        ] {
            assert_eq!(
                (of(text, Bus::FullSpeed), of(text, Bus::HighSpeed)),
                (full, high),
                "{text}"
            );
        }
    }
}
