//! Linux' virtual host controller `vhci_hcd`: a socket is written into its sysfs files, and a device
//! appears that the kernel talks USB/IP to on that socket (drivers/usb/usbip/vhci_sysfs.c).

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use wiregauge_link::limits::Bus;
use wiregauge_link::{LinkError, LinkErrorKind};

const CONTROLLER: &str = "/sys/devices/platform/vhci_hcd.0";
const DEVICES: &str = "/sys/bus/usb/devices";

/// The states of a port in the status files: `enum usbip_device_status` in usbip_common.h.
const FREE: u32 = 4;

const DOING: &str = "cannot attach a virtual USB device to vhci_hcd";

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
    /// Plugs so many devices into the first free ports, or none at all.
    pub fn attach(speed: Bus, count: u32) -> Result<Vec<Port>, LinkError> {
        if !Path::new(CONTROLLER).exists() {
            return Err(LinkError::new(
                LinkErrorKind::NotFound,
                DOING,
                format!("the module vhci-hcd is not loaded ({CONTROLLER} is missing)"),
            )
            .hint(
                "run sudo modprobe vhci-hcd   (Debian: in the kernel package; Ubuntu: in \
                 linux-modules-extra-$(uname -r); container: load it on the host)",
            ));
        }
        let mut lines = status().map_err(|error| explain(&error))?;
        lines.retain(|line| !line.super_speed);
        let all = lines.len();
        lines.retain(|line| line.state == FREE);
        let free = lines.len();
        let mut lines = lines.into_iter();
        let mut ports = Vec::new();
        // All are there before the first one is plugged in: the kernel begins to ask it at once.
        while free >= count as usize && ports.len() < count as usize {
            let Some(line) = lines.next() else { break };
            ports.extend(Port::plug_in(&line, speed)?);
        }
        if ports.len() == count as usize {
            return Ok(ports);
        }
        let said = format!("{count} ports needed, but {free} of {all} are free");
        Err(
            LinkError::new(LinkErrorKind::Busy, DOING, said).hint(format!(
                "use fewer --devices, or stop what uses them: grep . {CONTROLLER}/status*"
            )),
        )
    }

    /// Plugs a device into this port; nothing if another program took it meanwhile.
    fn plug_in(line: &Line, speed: Bus) -> Result<Option<Port>, LinkError> {
        let (socket, kernels_end) = UnixStream::pair().map_err(|error| explain(&error))?;
        let kernels_end = OwnedFd::from(kernels_end);
        for end in [socket.as_fd(), kernels_end.as_fd()] {
            // Room for the transfers of a long queue; the system may grant less.
            let _ = rustix::net::sockopt::set_socket_send_buffer_size(end, 1 << 20);
        }
        socket
            .set_nonblocking(true)
            .map_err(|error| explain(&error))?;
        // `enum usb_device_speed` of include/uapi/linux/usb/ch9.h.
        let speed = match speed {
            Bus::FullSpeed => 2,
            Bus::HighSpeed => 3,
        };
        // Bus and device number at the far end of USB/IP, of which there is none: any will do.
        let device = (1 << 16) | (line.port + 1);
        let text = format!("{} {} {device} {speed}", line.port, kernels_end.as_raw_fd());
        match fs::write(format!("{CONTROLLER}/attach"), text) {
            Ok(()) => Ok(Some(Port {
                number: line.port,
                socket,
            })),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => Ok(None),
            Err(error) => Err(explain(&error)),
        }
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

fn explain(error: &io::Error) -> LinkError {
    let explained = LinkError::from_io(DOING, error);
    match explained.kind() {
        LinkErrorKind::PermissionDenied => explained.hint(
            "run sudo wiregauge serve usb-virtual: only root may attach a device to the system",
        ),
        _ => explained,
    }
}

/// The ttys that the kernel made for the device's serial ports, in order.
pub fn ttys_of(device: &Path) -> Vec<String> {
    let Ok(interfaces) = fs::read_dir(device) else {
        return Vec::new();
    };
    // 1-1:1.0/tty/ttyACM0 and, of the drivers of adapters, 1-1:1.0/ttyUSB0/tty/ttyUSB0.
    let below = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let mut ttys: Vec<String> = interfaces
        .flatten()
        .flat_map(|interface| {
            let ports = below(interface.path());
            let ports =
                ports.filter(|port| port.file_name().to_string_lossy().starts_with("ttyUSB"));
            let folders = ports.map(|port| port.path().join("tty"));
            folders.chain([interface.path().join("tty")])
        })
        .flat_map(below)
        .map(|tty| tty.file_name().to_string_lossy().into_owned())
        .filter(|name| Path::new("/dev").join(name).exists())
        .collect();
    ttys.sort();
    ttys
}

/// How many hidraw files the kernel made for the device.
pub fn hidraws_of(device: &Path) -> usize {
    let below = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    // 1-1:1.0/0003:1D6B:0104.0001/hidraw/hidraw0
    below(device)
        .iter()
        .flat_map(|interface| below(interface))
        .flat_map(|hid| below(&hid.join("hidraw")))
        .filter_map(|file| Some(Path::new("/dev").join(file.file_name()?)))
        .filter(|file| file.exists())
        .count()
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
