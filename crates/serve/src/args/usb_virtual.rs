//! The flags of the address usb-virtual. Functions, numbers, serial number and speed are those of usb-gadget.

use super::gadget::{GadgetArgs, SpeedArg};
use clap::{Args, ValueEnum};
use std::time::Duration;
use wiregauge_link::limits::Bus;
use wiregauge_program::values::duration;
use wiregauge_record::Protocol;
use wiregauge_responder::bus::{NakRetry, PROFILES, Profile, UsbModel};
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

/// Flags of the address usb-virtual.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "USB virtual")]
pub struct VirtualArgs {
    /// A device from the literature with its host (docs/models.md), on pty:, tcp, unix, serial and usb-virtual; `list`
    /// lists them. --device-time, --packet-time and --nak-retry override its values.
    #[arg(long, value_name = "NAME", value_parser = profile, help_heading = "Model", conflicts_with_all = ["speed", "hub", "bus"])]
    pub profile: Option<ProfileArg>,
    /// Time between two transfers in the device.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Model")]
    pub device_time: Option<Duration>,
    /// Time that the device needs to load or unload each packet.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Model")]
    pub packet_time: Option<Duration>,
    /// When the host retries after a NAK [default: at-once].
    #[arg(long, value_enum, help_heading = "Model")]
    pub nak_retry: Option<NakRetryArg>,
    /// Full speed behind a high-speed hub.
    #[arg(long, help_heading = "Model")]
    pub hub: bool,
    /// Interval of the endpoints of hid, interrupt and iso: 1ms to 255ms at full speed (iso: 1ms, 2ms, 4ms and so on);
    /// 125us, 250us, 500us and so on at high speed [default: the shortest].
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub interval: Option<Duration>,
    /// Number of devices sharing the bus.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub devices: Option<u32>,
}

/// `--profile`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileArg {
    /// List all of them.
    List,
    /// This one.
    Of(&'static Profile),
}

fn profile(name: &str) -> Result<ProfileArg, String> {
    if name == "list" {
        return Ok(ProfileArg::List);
    }
    let found = Profile::find(name).map(ProfileArg::Of);
    found.ok_or_else(|| {
        let names: Vec<_> = PROFILES.iter().map(|profile| profile.name).collect();
        format!(
            "unknown profile `{name}`: choose one of {} (--profile list describes them)",
            names.join(", ")
        )
    })
}

/// bInterval for a time: frames at full speed, 2^(n - 1) microframes at high speed; of isochronous endpoints 2^(n - 1) of
/// both (USB 2.0, table 9-13).
fn interval(time: Duration, speed: Bus, is_isochronous: bool) -> anyhow::Result<u8> {
    let frames = time.as_nanos() as u64 / speed.frame_ns();
    let is_whole = u128::from(frames) * u128::from(speed.frame_ns()) == time.as_nanos();
    let number = match speed {
        Bus::FullSpeed if !is_isochronous => u8::try_from(frames).ok().filter(|n| *n > 0),
        _ => {
            let is_power = frames.is_power_of_two() && frames <= 1 << 15;
            is_power.then(|| frames.trailing_zeros() as u8 + 1)
        }
    };
    number.filter(|_| is_whole).ok_or_else(|| match speed {
        Bus::FullSpeed if is_isochronous => anyhow::anyhow!(
            "--interval {time:?} is not possible at full speed: use 1ms, 2ms, 4ms and so on, doubling, to 32.768s"
        ),
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
    /// The profile that was chosen.
    pub fn profile(&self) -> Option<&'static Profile> {
        match self.profile? {
            ProfileArg::Of(profile) => Some(profile),
            ProfileArg::List => None,
        }
    }

    /// A flag that was given and has a meaning on usb-virtual only, if there is one.
    pub fn given_for_usb(&self) -> Option<&'static str> {
        let flags = [
            (self.interval.is_some(), "--interval"),
            (self.devices.is_some(), "--devices"),
        ];
        flags
            .into_iter()
            .find_map(|(given, name)| given.then_some(name))
    }

    /// The bus, device and host that they describe, of the profile or else of this speed.
    pub fn usb(&self, speed: Bus) -> anyhow::Result<UsbModel> {
        let mut usb = self
            .profile()
            .map_or_else(|| UsbModel::of(speed), Profile::usb);
        if self.hub {
            if usb.speed != Bus::FullSpeed {
                anyhow::bail!(
                    "--hub requires full speed: a high-speed hub only repeats high-speed traffic"
                );
            }
            usb.bus = usb.bus.behind_hub();
        }
        if let Some(time) = self.device_time {
            usb.device.transfer_ns = time.as_nanos() as u64;
        }
        for pipe in [&mut usb.device.to_host, &mut usb.device.from_host] {
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
        Ok(usb)
    }

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
            .profile()
            .map_or("virtual device", |profile| profile.name);
        name.into()
    }

    /// The devices that they describe; hints propose commands of `program`.
    pub fn plan(
        &self,
        shared: &GadgetArgs,
        protocol: Protocol,
        program: &str,
    ) -> anyhow::Result<VirtualPlan> {
        let default = VirtualPlan::default();
        if shared.udc.is_some() || shared.transfers.is_some() {
            anyhow::bail!("--udc and --transfers are for `{program} usb-gadget`");
        }
        let speed = match (shared.speed, self.profile()) {
            (_, Some(profile)) => profile.speed,
            (None | Some(SpeedArg::Full), None) => Bus::FullSpeed,
            (Some(SpeedArg::High), None) => Bus::HighSpeed,
            (Some(SpeedArg::Super), None) => {
                anyhow::bail!(
                    "usb-virtual supports only full and high speed (--speed full, --speed high)"
                )
            }
        };
        let UsbModel { bus, device, .. } = self.usb(speed)?;
        let functions = shared.function.clone();
        let functions = functions.map_or(default.functions, |functions| functions.0);
        if functions.contains(&Function::Tmc) {
            anyhow::bail!(
                "usb-virtual has no function tmc\n  hint: use {program} usb-gadget --function tmc"
            );
        }
        let is_polled =
            |f: &Function| matches!(f, Function::Hid | Function::Interrupt | Function::Iso);
        if self.interval.is_some() && !functions.iter().any(is_polled) {
            anyhow::bail!("--interval requires --function hid, interrupt or iso");
        }
        let is_isochronous = functions.contains(&Function::Iso);
        if is_isochronous && self.devices.is_some_and(|devices| devices > 1) {
            anyhow::bail!(
                "--function iso models one device: the bandwidth of the bus is not shared"
            );
        }
        let report_bytes = shared.report_bytes(&functions, protocol)?;
        let adapter = functions.iter().find_map(|f| Some((f, f.adapter_id()?)));
        if let Some((function, _)) = adapter
            && speed != Bus::FullSpeed
        {
            anyhow::bail!(
                "--function {} requires --speed full: the chip is a full-speed device",
                function.name()
            );
        }
        let own_id = adapter.map_or((default.vendor, default.product), |(_, id)| id);
        let (vendor, product) = shared.usb_id.unwrap_or(own_id);
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
                Some(time) => interval(time, speed, is_isochronous)?,
                None => default.interval,
            },
            report_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_one_that_the_bus_has() {
        let of = |text: &str, speed, isochronous| {
            interval(duration(text).unwrap(), speed, isochronous).ok()
        };
        for (text, full, isochronous, high) in [
            ("125us", None, None, Some(1)),
            ("1ms", Some(1), Some(1), Some(4)),
            ("8ms", Some(8), Some(4), Some(7)),
            ("10ms", Some(10), None, None),
            ("255ms", Some(255), None, None),
            ("256ms", None, Some(9), Some(12)),
            ("4096ms", None, Some(13), Some(16)),
            ("8192ms", None, Some(14), None),
            ("32768ms", None, Some(16), None),
            ("65536ms", None, None, None),
            ("1500us", None, None, None),
        ] {
            let found = (
                of(text, Bus::FullSpeed, false),
                of(text, Bus::FullSpeed, true),
                of(text, Bus::HighSpeed, false),
            );
            assert_eq!(found, (full, isochronous, high), "{text}");
        }
    }
}
