//! Linux' virtual host controller `vhci_hcd`: a socket is written into its sysfs files, and a device
//! appears that the kernel talks USB/IP to on that socket (drivers/usb/usbip/vhci_sysfs.c).

use crate::error::{LinkError, LinkErrorKind};
use crate::limits::Bus;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

const CONTROLLER: &str = "/sys/devices/platform/vhci_hcd.0";
const DEVICES: &str = "/sys/bus/usb/devices";

/// The states of a port in the status files: `enum usbip_device_status` in usbip_common.h.
const FREE: u32 = 4;

/// A device that is plugged in; dropping it pulls it out.
#[derive(Debug)]
pub struct Port {
    number: u32,
    socket: UnixStream,
}

/// A line of a status file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    super_speed: bool,
    port: u32,
    state: u32,
    bus_id: String,
}

impl Port {
    /// Plugs a device into the first free port; `number` tells it from others of this program.
    pub fn attach(speed: Bus, number: u32) -> Result<Port, LinkError> {
        const DOING: &str = "attaching a virtual USB device to vhci_hcd";
        if !cfg!(target_os = "linux") {
            return Err(
                LinkError::new(LinkErrorKind::Usage, DOING, "vhci_hcd is a part of Linux")
                    .hint("wiregauge serve pty: or tcp://, with --bus full-speed, on this system"),
            );
        }
        if !Path::new(CONTROLLER).exists() {
            return Err(LinkError::new(
                LinkErrorKind::NotFound,
                DOING,
                format!("the module vhci-hcd is not loaded ({CONTROLLER} is missing)"),
            )
            .hint(
                "sudo modprobe vhci-hcd   (Debian has it in its kernel package, Ubuntu in \
                 linux-modules-extra-$(uname -r); a container needs its host to load it)",
            ));
        }
        let explain = |error: &io::Error| {
            let explained = LinkError::from_io(DOING, error);
            match explained.kind() {
                LinkErrorKind::Permission => explained.hint(
                    "sudo wiregauge serve usb-virtual: a device that is plugged in concerns the \
                     whole system, so the kernel lets only root write there",
                ),
                _ => explained,
            }
        };
        let (socket, kernels_end) = UnixStream::pair().map_err(|e| explain(&e))?;
        let kernels_end = OwnedFd::from(kernels_end);
        for end in [
            rustix::fd::AsFd::as_fd(&socket),
            rustix::fd::AsFd::as_fd(&kernels_end),
        ] {
            // Room for the transfers of a long queue; the system may grant less.
            let _ = rustix::net::sockopt::set_socket_send_buffer_size(end, 1 << 20);
        }
        let lines = status().map_err(|e| explain(&e))?;
        let mut usable: Vec<_> = lines.iter().filter(|line| !line.super_speed).collect();
        let all = usable.len();
        usable.retain(|line| line.state == FREE);
        // `enum usb_device_speed` of include/uapi/linux/usb/ch9.h.
        let speed = match speed {
            Bus::FullSpeed => 2,
            Bus::HighSpeed => 3,
        };
        for line in usable {
            let device = (1 << 16) | number;
            let text = format!("{} {} {device} {speed}", line.port, kernels_end.as_raw_fd());
            match fs::write(format!("{CONTROLLER}/attach"), text) {
                Ok(()) => {
                    return Ok(Port {
                        number: line.port,
                        socket,
                    });
                }
                // Another program took it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
                Err(error) => return Err(explain(&error)),
            }
        }
        Err(LinkError::new(
            LinkErrorKind::Busy,
            DOING,
            format!("none of its {all} ports is free"),
        )
        .hint(format!(
            "fewer --devices, or end what holds them: grep . {CONTROLLER}/status*"
        )))
    }

    /// The socket on which the kernel speaks.
    pub fn socket(&self) -> &UnixStream {
        &self.socket
    }

    /// The device's folder in sysfs, as soon as the kernel has made its `interfaces`.
    ///
    /// Only names of files are looked at: most attributes of a USB device are read under its lock,
    /// which the kernel holds while it waits for our answers to its enumeration.
    pub fn device(&self, interfaces: u8) -> Option<PathBuf> {
        let lines = status().ok()?;
        let line = lines.into_iter().find(|line| line.port == self.number)?;
        let path = Path::new(DEVICES).join(&line.bus_id);
        let last = interfaces.saturating_sub(1);
        path.join(format!("{}:1.{last}", line.bus_id))
            .exists()
            .then_some(path)
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // If it is gone already, there is nothing to pull out.
        let _ = fs::write(format!("{CONTROLLER}/detach"), self.number.to_string());
    }
}

/// The ttys that the kernel made for the device's serial ports, in order.
pub fn ttys_of(device: &Path) -> Vec<String> {
    let Ok(interfaces) = fs::read_dir(device) else {
        return Vec::new();
    };
    let mut ttys: Vec<String> = interfaces
        .flatten()
        .filter_map(|interface| fs::read_dir(interface.path().join("tty")).ok())
        .flat_map(|ttys| ttys.flatten())
        .map(|tty| tty.file_name().to_string_lossy().into_owned())
        .filter(|name| Path::new("/dev").join(name).exists())
        .collect();
    ttys.sort();
    ttys
}

/// All ports of all controllers: `status`, `status.1` and so on.
fn status() -> io::Result<Vec<Line>> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(CONTROLLER)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("status") {
            lines.extend(parse(&fs::read_to_string(entry.path())?));
        }
    }
    lines.sort_by_key(|line| line.port);
    Ok(lines)
}

fn parse(text: &str) -> Vec<Line> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let super_speed = match words.next()? {
            "hs" => false,
            "ss" => true,
            _ => return None,
        };
        Some(Line {
            super_speed,
            port: words.next()?.parse().ok()?,
            state: words.next()?.parse().ok()?,
            bus_id: words.nth(3)?.to_string(),
        })
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_file_tells_which_ports_are_free_and_where_the_others_are() {
        let text = "hub port sta spd dev      sockfd local_busid\n\
                    hs  0000 006 002 00010001 000003 1-1\n\
                    hs  0001 004 000 00000000 000000 0-0\n\
                    ss  0008 004 000 00000000 000000 0-0\n";
        let lines = parse(text);
        assert_eq!(lines.len(), 3);
        assert_eq!((lines[0].state, lines[0].bus_id.as_str()), (6, "1-1"));
        assert_eq!((lines[1].port, lines[1].state), (1, FREE));
        assert!(lines[2].super_speed);
    }
}
