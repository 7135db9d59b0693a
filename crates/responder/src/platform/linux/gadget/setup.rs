//! The gadget in configfs: made, bound to a device controller, and taken down again; also the one
//! that an earlier wiregauge left behind when it was killed. Gadgets of others are never touched.

use super::functionfs::{Endpoints, FunctionFs};
use crate::gadget::{Function, GadgetPlan, Speed};
use crate::hid::report;
use crate::ms_os;
use std::io;
use std::path::{Path, PathBuf};
use usb_gadget::function::Handle;
use usb_gadget::function::custom::Custom;
use usb_gadget::function::hid::Hid;
use usb_gadget::function::serial::{Serial, SerialClass};
use usb_gadget::{Class, Config, Gadget, Id, OsDescriptor, RegGadget, Strings, Udc};
use wiregauge_link::{LinkError, LinkErrorKind};

/// Marks the gadgets of this program. The maker's process number and its start time follow, which
/// together are never given twice.
const PREFIX: &str = "wiregauge-";

/// A gadget in configfs.
pub struct Setup {
    gadget: RegGadget,
    udc: Udc,
    /// Its vendor interfaces, if it has any.
    pub functions: Option<FunctionFs>,
    /// The ttys of its serial ports.
    pub ttys: Vec<PathBuf>,
    hids: Vec<Hid>,
}

impl Setup {
    /// Makes a gadget; it is not connected yet.
    pub fn make(plan: &GadgetPlan, pairs: &[Endpoints]) -> Result<Setup, LinkError> {
        if !rustix::process::geteuid().is_root() {
            return Err(LinkError::new(
                LinkErrorKind::PermissionDenied,
                DOING,
                "this requires root: it mounts FunctionFS and configures the kernel through configfs",
            )
            .hint("run sudo wiregauge serve usb-gadget"));
        }
        let before = usb_gadget::registered().map_err(|error| no_configfs(&error))?;
        remove_abandoned(before)?;
        let udc = choose_udc(plan.udc.as_deref())?;
        let mut handles = Vec::new();
        let mut custom = None;
        let mut serials: Vec<Serial> = Vec::new();
        let mut hids: Vec<Hid> = Vec::new();
        for function in &plan.functions {
            match function {
                Function::Acm => {
                    let mut builder = Serial::builder(SerialClass::Acm);
                    builder.console = Some(false);
                    let (serial, handle) = builder.build();
                    serials.push(serial);
                    handles.push(handle);
                }
                Function::Hid => {
                    let mut builder = Hid::builder();
                    builder.report_desc = report::descriptor(plan.report_bytes).to_vec();
                    builder.report_len = u8::try_from(plan.report_bytes).map_err(|_| {
                        let said = "the kernel's HID function has reports of up to 255 B";
                        LinkError::new(LinkErrorKind::Usage, DOING, said)
                            .hint("use --report-bytes 255 or less")
                    })?;
                    let (hid, handle) = builder.build();
                    hids.push(hid);
                    handles.push(handle);
                }
                // All vendor interfaces are one function of the kernel.
                Function::Bulk | Function::Interrupt | Function::Tmc if custom.is_none() => {
                    let mut builder = Custom::builder();
                    builder.ffs_no_init = true;
                    let (made, handle) = builder.build();
                    custom = Some(made);
                    handles.push(handle);
                }
                Function::Bulk | Function::Interrupt | Function::Tmc => {}
                // Refused before: only the virtual device has them.
                Function::Ftdi | Function::Cp210x | Function::Ch341 | Function::Iso => {}
            }
        }
        let gadget = describe(plan, handles)
            .register()
            .map_err(|error| not_made(plan, &error))?;
        let failed =
            |error: io::Error| LinkError::from_io("cannot declare the USB functions", &error);
        let functions = custom
            .map(|mut custom| FunctionFs::declare(&custom.ffs_dir()?, pairs))
            .transpose()
            .map_err(failed)?;
        let ttys = serials
            .iter()
            .map(Serial::tty)
            .collect::<io::Result<_>>()
            .map_err(failed)?;
        Ok(Setup {
            gadget,
            udc,
            functions,
            ttys,
            hids,
        })
    }

    /// Connects it to its controller: a host sees it from now on.
    pub fn connect(&self) -> Result<(), LinkError> {
        let udc = self.udc.name().to_string_lossy().into_owned();
        self.gadget.bind(Some(&self.udc)).map_err(|error| {
            let explained =
                LinkError::from_io(format!("cannot bind the gadget to the controller {udc}"), &error);
            match error.raw_os_error() {
                Some(libc::EBUSY) if holder(&udc).is_some() => {
                    explained.hint("another gadget is now bound to it")
                }
                // The kernel says any of these when a function finds no endpoint left.
                Some(libc::EBUSY | libc::ENODEV | libc::EINVAL | libc::EOPNOTSUPP) => explained
                    .hint(
                        "the controller may have too few endpoints: use fewer functions, such as --function \
                         bulk (for details see the kernel log)",
                    ),
                _ => explained,
            }
        })
    }

    /// The files of its HID functions; the kernel makes them when the gadget is connected.
    pub fn hid_files(&self) -> io::Result<Vec<PathBuf>> {
        self.hids.iter().map(Hid::device_path).collect()
    }

    /// The controller's name.
    pub fn controller(&self) -> String {
        self.udc.name().to_string_lossy().into_owned()
    }

    /// The bus speed, as a word; empty while there is no host.
    pub fn speed(&self) -> &'static str {
        match self.udc.current_speed() {
            Ok(usb_gadget::Speed::LowSpeed) => "low speed",
            Ok(usb_gadget::Speed::FullSpeed) => "full speed",
            Ok(usb_gadget::Speed::HighSpeed) => "high speed",
            Ok(usb_gadget::Speed::SuperSpeed | usb_gadget::Speed::SuperSpeedPlus) => "super speed",
            _ => "",
        }
    }

    /// Unplugs it. What its endpoints were doing fails.
    pub fn disconnect(&self) {
        let _ = self.gadget.bind(None);
    }

    /// Takes it down; nothing may have its files open any more.
    pub fn remove(self) -> Result<(), LinkError> {
        drop(self.functions);
        self.gadget
            .remove()
            .map_err(|error| LinkError::from_io("cannot remove the USB gadget", &error))
    }
}

/// bcdDevice of a gadget with Microsoft OS descriptors.
const RELEASE_WITH_MS_OS: u16 = 0x0100;

const DOING: &str = "cannot become a USB device";

fn describe(plan: &GadgetPlan, handles: Vec<Handle>) -> Gadget {
    let host = rustix::system::uname();
    let serial = plan
        .serial
        .clone()
        .unwrap_or_else(|| host.nodename().to_string_lossy().into_owned());
    // A function of several interfaces (ACM) is bound by an association, which hosts look for only
    // in devices of this class (USB ECN: interface association descriptors).
    let class = match plan.functions.contains(&Function::Acm) {
        true => Class::MISCELLANEOUS_IAD,
        false => Class::INTERFACE_SPECIFIC,
    };
    let mut config = Config::new("wiregauge");
    for handle in handles {
        config.add_function(handle);
    }
    let strings = Strings::new("wiregauge", "wiregauge gadget", serial);
    let mut gadget =
        Gadget::new(class, Id::new(plan.vendor, plan.product), strings).with_config(config);
    gadget.name = Some(own_name());
    // Windows asks a device for these descriptors once, and remembers the answer by vendor, product and release: this
    // release is not the one (0) of gadgets without them.
    if plan.functions.iter().any(|function| function.is_vendor()) {
        gadget.device_release = RELEASE_WITH_MS_OS;
        let mut descriptor = OsDescriptor::microsoft();
        descriptor.vendor_code = ms_os::VENDOR_CODE;
        gadget.os_descriptor = Some(descriptor);
    }
    gadget.max_speed = plan.speed.map(|speed| match speed {
        Speed::Full => usb_gadget::Speed::FullSpeed,
        Speed::High => usb_gadget::Speed::HighSpeed,
        Speed::Super => usb_gadget::Speed::SuperSpeed,
    });
    if plan.speed == Some(Speed::Super) {
        gadget.usb_version = usb_gadget::UsbVersion::V30;
    }
    gadget
}

fn own_name() -> String {
    let process = std::process::id();
    format!("{PREFIX}{process}-{}", started(process).unwrap_or(0))
}

/// When a process started, in clock ticks since boot (proc(5), field 22 of stat).
fn started(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before it, in brackets, may hold anything.
    let after_name = stat.rsplit_once(')')?.1;
    after_name.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// The process that made a gadget of ours, if it still lives.
fn maker(name: &str) -> Option<u32> {
    let (process, start) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let process = process.parse().ok()?;
    (started(process)? == start.parse().ok()?).then_some(process)
}

fn remove_abandoned(gadgets: Vec<RegGadget>) -> Result<(), LinkError> {
    for gadget in gadgets {
        let name = gadget.name().to_string_lossy().into_owned();
        if name.starts_with(PREFIX) && maker(&name).is_none() {
            gadget.remove().map_err(|error| {
                LinkError::from_io(
                    format!("cannot remove the gadget {name} left by a killed wiregauge"),
                    &error,
                )
            })?;
        }
    }
    Ok(())
}

fn choose_udc(wanted: Option<&str>) -> Result<Udc, LinkError> {
    let mut udcs = usb_gadget::udcs().map_err(|error| LinkError::from_io(DOING, &error))?;
    udcs.sort_by_key(|udc| udc.name().to_os_string());
    let names: Vec<String> = udcs
        .iter()
        .map(|udc| udc.name().to_string_lossy().into_owned())
        .collect();
    if udcs.is_empty() {
        return Err(LinkError::new(
            LinkErrorKind::NotFound,
            DOING,
            "this computer has no USB device controller (nothing in /sys/class/udc)",
        )
        .hint(
            "use a board with a device port (on a Raspberry Pi: dtoverlay=dwc2,dr_mode=peripheral in \
             config.txt); without hardware: modprobe dummy_hcd",
        ));
    }
    match wanted {
        Some(wanted) => {
            let index = names
                .iter()
                .position(|name| name == wanted)
                .ok_or_else(|| {
                    LinkError::new(
                        LinkErrorKind::Usage,
                        DOING,
                        format!("no device controller `{wanted}`"),
                    )
                    .hint(format!("use --udc with one of: {}", names.join(", ")))
                })?;
            match holder(&names[index]) {
                None => Ok(udcs.swap_remove(index)),
                Some(holder) => Err(busy(&names[index], &holder)),
            }
        }
        None => {
            let holders: Vec<_> = names.iter().map(|name| holder(name)).collect();
            match holders.iter().position(Option::is_none) {
                Some(free) => Ok(udcs.swap_remove(free)),
                None => Err(busy(
                    &names[0],
                    holders[0].as_deref().unwrap_or("another gadget"),
                )),
            }
        }
    }
}

fn busy(udc: &str, holder: &str) -> LinkError {
    let hint = match maker(holder) {
        Some(process) => format!("another wiregauge is using it: kill {process}"),
        None => format!(
            "unbind that gadget: echo | sudo tee /sys/kernel/config/usb_gadget/{holder}/UDC, or unload the \
             driver that made it"
        ),
    };
    LinkError::new(
        LinkErrorKind::Busy,
        DOING,
        format!("the device controller {udc} is in use by the gadget {holder}"),
    )
    .hint(hint)
}

/// The gadget that has a controller: one of configfs, or a driver such as g_serial.
fn holder(udc: &str) -> Option<String> {
    let gadgets = usb_gadget::registered().unwrap_or_default();
    let of_configfs = gadgets.iter().find(|gadget| {
        let has = gadget.udc().ok().flatten();
        has.is_some_and(|has| has == udc)
    });
    if let Some(gadget) = of_configfs {
        return Some(gadget.name().to_string_lossy().into_owned());
    }
    let driver = std::fs::read_to_string(Path::new("/sys/class/udc").join(udc).join("function"));
    let driver = driver.unwrap_or_default().trim().to_string();
    (!driver.is_empty()).then_some(driver)
}

fn no_configfs(error: &io::Error) -> LinkError {
    LinkError::from_io(DOING, error).hint(
        "load and mount configfs: modprobe libcomposite; mount -t configfs none /sys/kernel/config",
    )
}

/// Functions come as modules that the kernel asks for by itself; some systems have them not.
fn not_made(plan: &GadgetPlan, error: &io::Error) -> LinkError {
    let explained = LinkError::from_io("cannot create the USB gadget in configfs", error);
    let acm = plan.functions.contains(&Function::Acm);
    let is_vendor =
        |f: &Function| matches!(f, Function::Bulk | Function::Interrupt | Function::Tmc);
    let vendor = plan.functions.iter().any(is_vendor);
    let hid = plan.functions.contains(&Function::Hid);
    let missing: Vec<&str> = [("usb_f_fs", vendor), ("usb_f_acm", acm), ("usb_f_hid", hid)]
        .into_iter()
        .filter(|&(module, needed)| needed && !Path::new("/sys/module").join(module).is_dir())
        .map(|(module, _)| module)
        .collect();
    if missing.is_empty() {
        return explained;
    }
    explained.hint(format!("modprobe {}", missing.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gadget_belongs_to_its_maker_as_long_as_that_very_process_lives() {
        let own = own_name();
        assert_eq!(maker(&own), Some(std::process::id()));
        // The same process number, given again later.
        assert_eq!(maker(&format!("{own}1")), None);
        assert_eq!(maker("wiregauge-4294967295-1"), None);
        assert_eq!(maker("g1"), None);
    }
}
