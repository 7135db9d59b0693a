//! A HID device without a bus: the kernel's uhid makes a real /dev/hidraw0 of it. Events of linux/uhid.h, one a read and
//! one a write.

use crate::device::DeviceConfig;
use crate::event::ServeEvent;
use crate::hid::UhidPlan;
use crate::hid::report::{self, ReportDevice};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wiregauge_link::host::{self, Clock};
use wiregauge_link::{LinkError, LinkErrorKind, devices};

const DEVICE: &str = "/dev/uhid";
const DOING: &str = "cannot create a HID device";

/// How long a wait lasts at most before the stop flag is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// How often it is looked whether the kernel has made the device.
const LOOK_UP: Duration = Duration::from_millis(20);

// linux/uhid.h: types of event, sizes of the fields.
const CREATE2: u32 = 11;
const OPEN: u32 = 4;
const CLOSE: u32 = 5;
const OUTPUT: u32 = 6;
const GET_REPORT: u32 = 9;
const GET_REPORT_REPLY: u32 = 10;
const INPUT2: u32 = 12;
const SET_REPORT: u32 = 13;
const SET_REPORT_REPLY: u32 = 14;
const DATA: usize = 4096;
const EVENT: usize = 4 + 128 + 64 + 64 + 2 + 2 + 16 + DATA;
const FEATURE: u8 = 0;

/// BUS_VIRTUAL of linux/input.h.
const BUS: u16 = 6;

/// An event of the kernel.
#[derive(Debug, PartialEq, Eq)]
enum Event<'a> {
    Opened,
    Closed,
    /// A report with its number, which is 0 where there is none.
    Output(&'a [u8]),
    SetReport {
        id: u32,
        is_feature: bool,
        report: &'a [u8],
    },
    GetReport {
        id: u32,
        is_feature: bool,
    },
    Other,
}

impl Event<'_> {
    fn parse(bytes: &[u8]) -> Option<Event<'_>> {
        let (kind, rest) = bytes.split_first_chunk::<4>()?;
        let id = || Some(u32::from_ne_bytes(*rest.first_chunk()?));
        let size = |at: usize| {
            let size = rest.get(at..at + 2)?.try_into().ok()?;
            Some(usize::from(u16::from_ne_bytes(size)))
        };
        Some(match u32::from_ne_bytes(*kind) {
            OPEN => Event::Opened,
            CLOSE => Event::Closed,
            OUTPUT => Event::Output(rest.get(..size(DATA)?.min(DATA))?),
            SET_REPORT => Event::SetReport {
                id: id()?,
                is_feature: *rest.get(5)? == FEATURE,
                report: rest.get(8..8 + size(6)?.min(DATA))?,
            },
            GET_REPORT => Event::GetReport {
                id: id()?,
                is_feature: *rest.get(5)? == FEATURE,
            },
            _ => Event::Other,
        })
    }
}

/// The event that makes a device.
fn create(plan: &UhidPlan, name: &str) -> Vec<u8> {
    let mut bytes = CREATE2.to_ne_bytes().to_vec();
    for (text, size) in [(name, 128), ("wiregauge", 64), (&plan.serial, 64)] {
        let begin = bytes.len();
        // The last byte ends the text.
        bytes.extend(text.bytes().take(size - 1));
        bytes.resize(begin + size, 0);
    }
    let descriptor = report::descriptor_with_feature(plan.report_bytes);
    bytes.extend((descriptor.len() as u16).to_ne_bytes());
    bytes.extend(BUS.to_ne_bytes());
    for number in [plan.vendor.into(), plan.product.into(), 0x100_u32, 0] {
        bytes.extend(number.to_ne_bytes());
    }
    bytes.extend(descriptor);
    bytes.resize(EVENT, 0);
    bytes
}

/// An input report.
fn input(report: &[u8]) -> Vec<u8> {
    let mut bytes = INPUT2.to_ne_bytes().to_vec();
    bytes.extend((report.len() as u16).to_ne_bytes());
    bytes.extend(report);
    bytes
}

/// The answer to a request for a feature report: the report, or an error.
fn feature_reply(id: u32, report: Option<&[u8]>) -> Vec<u8> {
    let mut bytes = GET_REPORT_REPLY.to_ne_bytes().to_vec();
    bytes.extend(id.to_ne_bytes());
    let error = if report.is_some() {
        0
    } else {
        libc::EIO as u16
    };
    bytes.extend(error.to_ne_bytes());
    let report = report.unwrap_or_default();
    // The number of the report, 0, comes first.
    bytes.extend((1 + report.len() as u16).to_ne_bytes());
    bytes.push(0);
    bytes.extend(report);
    bytes
}

fn set_reply(id: u32, is_done: bool) -> Vec<u8> {
    let error = if is_done { 0 } else { libc::EIO as u16 };
    let mut bytes = SET_REPORT_REPLY.to_ne_bytes().to_vec();
    bytes.extend(id.to_ne_bytes());
    bytes.extend(error.to_ne_bytes());
    bytes
}

/// Who asked last, and is answered the same way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Output,
    Feature,
}

/// The device between two events.
struct Uhid {
    file: OwnedFd,
    device: ReportDevice,
    asked: By,
    /// The reply to the last feature report, until it is read.
    feature: Option<Vec<u8>>,
    /// A request for a feature report whose reply is not due yet.
    waiting: Option<u32>,
}

impl Uhid {
    fn write(&self, event: &[u8]) -> io::Result<()> {
        rustix::io::write(&self.file, event)?;
        Ok(())
    }

    fn reply(&mut self, reply: Vec<u8>) -> io::Result<()> {
        match (self.asked, self.waiting.take()) {
            (By::Output, _) => self.write(&input(&reply)),
            (By::Feature, Some(id)) => self.write(&feature_reply(id, Some(&reply))),
            (By::Feature, None) => {
                self.feature = Some(reply);
                Ok(())
            }
        }
    }

    fn take(&mut self, by: By, report: &[u8], now_ns: u64) -> io::Result<()> {
        self.asked = by;
        self.feature = None;
        // The number of the report comes first.
        let report = report.get(1..).unwrap_or_default();
        match self.device.take(report, now_ns) {
            Some(reply) => self.reply(reply),
            None => Ok(()),
        }
    }

    fn obey(&mut self, event: &Event<'_>, now_ns: u64) -> io::Result<()> {
        match *event {
            Event::Output(report) => self.take(By::Output, report, now_ns),
            Event::SetReport {
                id,
                is_feature,
                report,
            } => {
                let by = if is_feature { By::Feature } else { By::Output };
                self.take(by, report, now_ns)?;
                self.write(&set_reply(id, true))
            }
            Event::GetReport { id, is_feature } => {
                let reply = self.feature.take().filter(|_| is_feature);
                match reply {
                    Some(reply) => self.write(&feature_reply(id, Some(&reply))),
                    // The kernel waits 5 s for it.
                    None if is_feature && self.device.next_due_ns().is_some() => {
                        self.waiting = Some(id);
                        Ok(())
                    }
                    None => self.write(&feature_reply(id, None)),
                }
            }
            Event::Opened | Event::Closed | Event::Other => Ok(()),
        }
    }
}

/// Serves until the stop flag is raised or the device leaves by itself.
pub fn serve(
    plan: &UhidPlan,
    config: &DeviceConfig,
    clock: Clock,
    stop: &AtomicBool,
    on_event: &(dyn Fn(ServeEvent<'_>) + Sync),
) -> Result<(), LinkError> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file =
        rustix::fs::open(DEVICE, flags, Mode::empty()).map_err(|error| explain(&error.into()))?;
    let mut uhid = Uhid {
        file,
        device: ReportDevice::new(config, plan.report_bytes, clock),
        asked: By::Output,
        feature: None,
        waiting: None,
    };
    uhid.write(&create(plan, &config.name))
        .map_err(|error| explain(&error))?;
    host::use_precise_timers();
    let failed = |error: io::Error| LinkError::from_io("cannot serve the HID device", &error);
    let mut event = vec![0; EVENT];
    let mut is_announced = false;
    while !stop.load(Ordering::Relaxed) && !uhid.device.is_gone() {
        is_announced = is_announced || announce(plan, on_event);
        while let Some(reply) = uhid.device.pop_due(clock.now()) {
            uhid.reply(reply).map_err(failed)?;
        }
        let longest = if is_announced { LOOK } else { LOOK_UP };
        let due = uhid.device.next_due_ns();
        let left = due.map_or(longest, |due| {
            Duration::from_nanos(due.saturating_sub(clock.now())).min(longest)
        });
        wait(&uhid.file, left).map_err(failed)?;
        let count = match rustix::io::read(&uhid.file, &mut event[..]) {
            Ok(count) => count,
            Err(Errno::AGAIN | Errno::INTR) => continue,
            Err(error) => return Err(failed(error.into())),
        };
        let now = clock.now();
        match Event::parse(&event[..count]) {
            Some(Event::Opened) => on_event(ServeEvent::Came("a program")),
            Some(Event::Closed) => on_event(ServeEvent::Left("a program")),
            Some(event) => uhid.obey(&event, now).map_err(failed)?,
            None => {}
        }
    }
    // The kernel removes the device when the file is closed.
    Ok(())
}

/// Says where the device is, once the kernel has made it.
fn announce(plan: &UhidPlan, on_event: &(dyn Fn(ServeEvent<'_>) + Sync)) -> bool {
    let (vendor, product) = (
        format!("{:04x}", plan.vendor),
        format!("{:04x}", plan.product),
    );
    let is_there = devices::hid_devices().into_iter().any(|device| {
        (&device.vendor_id, &device.product_id) == (&vendor, &product)
            && device.serial.as_deref() == Some(plan.serial.as_str())
            && Path::new(&device.path).exists()
    });
    if is_there {
        on_event(ServeEvent::Ready {
            address: &format!("hid://{vendor}:{product}/{}", plan.serial),
            remote: false,
        });
    }
    is_there
}

fn explain(error: &io::Error) -> LinkError {
    let explained = LinkError::from_io(DOING, error);
    match explained.kind() {
        LinkErrorKind::NotFound => explained.hint("load the module: sudo modprobe uhid"),
        LinkErrorKind::PermissionDenied => explained.hint(
            "run sudo wiregauge serve uhid, or give yourself /dev/uhid: sudo setfacl -m u:$USER:rw /dev/uhid",
        ),
        _ => explained,
    }
}

fn wait(file: &OwnedFd, at_most: Duration) -> io::Result<()> {
    let timeout = Timespec {
        tv_sec: at_most.as_secs() as i64,
        tv_nsec: at_most.subsec_nanos().into(),
    };
    match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_described_in_the_kernels_layout() {
        let plan = UhidPlan {
            serial: "S".repeat(100),
            ..UhidPlan::default()
        };
        let bytes = create(&plan, "name");
        assert_eq!(bytes.len(), 4376);
        assert_eq!(&bytes[4..9], b"name\0");
        // The serial number is cut to its field and ends with a zero.
        assert_eq!((bytes[4 + 192 + 62], bytes[4 + 192 + 63]), (b'S', 0));
        assert_eq!(
            bytes[4 + 256..4 + 258],
            (report::DESCRIPTOR + 4).to_ne_bytes()
        );
        assert_eq!(bytes[4 + 260..4 + 264], 0x1d6b_u32.to_ne_bytes());
    }

    #[test]
    fn events_are_read_and_cut_ones_are_not() {
        let mut output = vec![0; 4 + DATA + 3];
        output[..4].copy_from_slice(&OUTPUT.to_ne_bytes());
        output[4..7].copy_from_slice(&[0, 7, 8]);
        output[4 + DATA..4 + DATA + 2].copy_from_slice(&3_u16.to_ne_bytes());
        assert_eq!(Event::parse(&output), Some(Event::Output(&[0, 7, 8])));
        // A size beyond the field is cut to it.
        output[4 + DATA..4 + DATA + 2].copy_from_slice(&u16::MAX.to_ne_bytes());
        assert!(
            matches!(Event::parse(&output), Some(Event::Output(report)) if report.len() == DATA)
        );
        assert_eq!(Event::parse(&output[..100]), None);
        let mut set = SET_REPORT.to_ne_bytes().to_vec();
        set.extend(9_u32.to_ne_bytes());
        set.extend([0, FEATURE]);
        set.extend(2_u16.to_ne_bytes());
        set.extend([0, 5]);
        let expected = Event::SetReport {
            id: 9,
            is_feature: true,
            report: &[0, 5],
        };
        assert_eq!(Event::parse(&set), Some(expected));
        assert_eq!(Event::parse(&set[..set.len() - 1]), None);
        assert_eq!(Event::parse(&[1, 0]), None);
    }

    #[test]
    fn a_missing_module_and_a_missing_permission_have_their_hints() {
        for (code, hint) in [(libc::ENOENT, "modprobe uhid"), (libc::EACCES, "sudo")] {
            let text = explain(&io::Error::from_raw_os_error(code)).to_string();
            assert!(text.contains(hint), "{text}");
        }
    }
}
