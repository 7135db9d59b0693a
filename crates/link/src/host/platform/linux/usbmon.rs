//! usbmon: the kernel tells of every URB of a bus, with the time at which it was taken and given back
//! (Documentation/usb/usbmon.rst, "Raw binary format and API"). Read by a thread of its own through
//! the mapped ring, so that no system call and no wake-up is added to a transfer.

use crate::error::{LinkError, LinkErrorKind};
use crate::host::{Finished, Losses, Offset, UrbTimes};
use rustix::ioctl::opcode;
use rustix::mm::{MapFlags, ProtFlags};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the ring is looked at. Waiting for events instead would make the kernel wake this thread
/// in the submission and the completion of every URB, which is the time that is measured.
const LOOK: Duration = Duration::from_millis(1);

/// Sizes asked for the kernel's ring, which keeps the data of the URBs too: the largest that the
/// kernel grants (`BUFF_MAX` in drivers/usb/mon/mon_bin.c was 1,228,800 B and is more since).
const RING_BYTES: [usize; 4] = [16 << 20, 4 << 20, 1200 << 10, 300 << 10];

/// URBs between this thread and whoever takes them: 50 ms at a million a second.
const ROOM: usize = 1 << 16;

/// Submitted URBs remembered until they complete. usbfs bounds the memory of those in flight.
const MAX_IN_FLIGHT: usize = 1 << 14;

/// Events fetched at once.
const BATCH: usize = 256;

const MAGIC: u8 = 0x92;
const SET_RING_SIZE: rustix::ioctl::Opcode = opcode::none(MAGIC, 4);
const GET_RING_SIZE: rustix::ioctl::Opcode = opcode::none(MAGIC, 5);
const GET_STATS: rustix::ioctl::Opcode = opcode::read::<Stats>(MAGIC, 3);
const FETCH: rustix::ioctl::Opcode = opcode::read_write::<Fetch>(MAGIC, 7);

#[repr(C)]
struct Stats {
    queued: u32,
    dropped: u32,
}

#[repr(C)]
struct Fetch {
    offsets: *mut u32,
    fetch: u32,
    flush: u32,
}

/// Watches one device from its making to `finish`.
pub struct UsbMon {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    urbs: rtrb::Consumer<UrbTimes>,
    said: String,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    looks: AtomicU64,
    dropped: AtomicU64,
    not_taken: AtomicU64,
    clock_set: AtomicU64,
}

impl UsbMon {
    /// Begins to watch the bulk and interrupt endpoints of the device with this bus and address. To
    /// be called by a thread that has not called `own_descriptors` and has no raised priority.
    pub fn start(bus: u16, address: u8) -> Result<UsbMon, LinkError> {
        let (file, ring) = open(bus)?;
        let doing = || format!("cannot record USB bus {bus} with usbmon");
        let offset = Offset::read();
        let shared = Arc::new(Shared::default());
        let (push, urbs) = rtrb::RingBuffer::new(ROOM);
        let said = format!(
            "bus {bus}, device {address}, ring {} KiB; times in whole us of the real-time clock, \
             converted within {} ns",
            ring.bytes >> 10,
            offset.uncertain_ns
        );
        let mut reader = Reader {
            file,
            ring,
            shared: Arc::clone(&shared),
            pairs: Pairs::of(bus, address),
            offset,
            push,
            offsets: vec![0; BATCH],
            flush: 0,
        };
        let thread = std::thread::Builder::new()
            .name("usbmon".into())
            .spawn(move || reader.run())
            .map_err(|error| LinkError::from_io(doing(), &error))?;
        Ok(UsbMon {
            shared,
            thread: Some(thread),
            urbs,
            said,
        })
    }

    /// Takes the URBs that completed since the last call.
    pub fn take(&mut self, mut to: impl FnMut(UrbTimes)) {
        while let Ok(urb) = self.urbs.pop() {
            to(urb);
        }
    }

    /// Takes the URBs as [`UsbMon::take`] does, but first waits (some milliseconds) until all that
    /// completed before this call are there.
    pub fn catch_up(&mut self, mut to: impl FnMut(UrbTimes)) {
        // The look that is under way may have passed the event already; the next one cannot.
        let enough = self.shared.looks.load(Ordering::Acquire) + 2;
        let deadline = Instant::now() + Duration::from_millis(500);
        while self.shared.looks.load(Ordering::Acquire) < enough && Instant::now() < deadline {
            self.take(&mut to);
            std::thread::sleep(LOOK / 4);
        }
        self.take(to);
    }

    /// What was missed so far.
    pub fn losses(&self) -> Losses {
        Losses {
            dropped: self.shared.dropped.load(Ordering::Relaxed),
            not_taken: self.shared.not_taken.load(Ordering::Relaxed),
            clock_set: self.shared.clock_set.load(Ordering::Relaxed),
        }
    }

    /// What is watched and how exactly, for the conditions of a run.
    pub fn describe(&self) -> &str {
        &self.said
    }

    /// Ends it, with everything that completed before the call.
    pub fn finish(mut self) -> Finished {
        let mut urbs = Vec::new();
        self.catch_up(|urb| urbs.push(urb));
        self.end();
        Finished {
            urbs,
            losses: self.losses(),
        }
    }

    fn end(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for UsbMon {
    fn drop(&mut self) {
        self.end();
    }
}

fn open(bus: u16) -> Result<(File, Ring), LinkError> {
    let path = format!("/dev/usbmon{bus}");
    let doing = format!("cannot record USB bus {bus} with usbmon ({path})");
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(&path);
    let file = opened.map_err(|error| refused(&doing, &path, &error))?;
    let ring = Ring::of(&file).map_err(|error| LinkError::from_io(&doing, &error))?;
    Ok((file, ring))
}

/// Why it could not be opened, and what would make it possible.
fn refused(doing: &str, path: &str, error: &io::Error) -> LinkError {
    let printed = LinkError::from_io(doing, error);
    match printed.kind() {
        LinkErrorKind::NotFound => printed.hint("sudo modprobe usbmon"),
        LinkErrorKind::PermissionDenied => printed.hint(format!(
            "sudo setfacl -m u:$USER:r {path}, or run as root (a reader sees all data on that bus)"
        )),
        _ => printed,
    }
}

/// The kernel's ring, mapped for reading.
struct Ring {
    begin: *const u8,
    bytes: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread; it is only read, and only through
// `header`, which copies.
unsafe impl Send for Ring {}

impl Ring {
    fn of(file: &File) -> io::Result<Ring> {
        for bytes in RING_BYTES {
            // SAFETY: takes a number by value; a size that the kernel does not like is an error.
            if unsafe { libc::ioctl(file.as_raw_fd(), SET_RING_SIZE as _, bytes) } == 0 {
                break;
            }
        }
        // SAFETY: takes nothing, returns a number.
        let bytes = unsafe { libc::ioctl(file.as_raw_fd(), GET_RING_SIZE as _, 0) };
        let bytes = usize::try_from(bytes).map_err(|_| io::Error::last_os_error())?;
        // SAFETY: a new mapping at an address that the kernel chooses.
        let begin = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ,
                MapFlags::SHARED,
                file,
                0,
            )
        }?;
        Ok(Ring {
            begin: begin as *const u8,
            bytes,
        })
    }

    /// The header at this offset, if it lies within the ring; the kernel never wraps one.
    fn header(&self, at: usize) -> Option<[u8; HEADER]> {
        let end = at.checked_add(HEADER)?;
        // SAFETY: the bytes lie within the mapping, which lives as long as `self`. The kernel does not
        // write to them between the fetch that returned their offset and the flush that gives them back.
        (end <= self.bytes)
            .then(|| unsafe { std::ptr::read(self.begin.add(at) as *const [u8; HEADER]) })
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: mapped in `of` with this length; nothing points into it any more.
        let _ = unsafe { rustix::mm::munmap(self.begin as *mut _, self.bytes) };
    }
}

struct Reader {
    file: File,
    ring: Ring,
    shared: Arc<Shared>,
    pairs: Pairs,
    offset: Offset,
    push: rtrb::Producer<UrbTimes>,
    offsets: Vec<u32>,
    /// Events fetched and done with, which the kernel may overwrite.
    flush: u32,
}

impl Reader {
    fn run(&mut self) {
        while !self.shared.stop.load(Ordering::Acquire) {
            while self.batch() == BATCH {}
            self.count_dropped();
            self.shared.looks.fetch_add(1, Ordering::Release);
            std::thread::sleep(LOOK);
        }
    }

    /// Takes what is there, at most one batch; returns how many events there were.
    fn batch(&mut self) -> usize {
        let mut fetch = Fetch {
            offsets: self.offsets.as_mut_ptr(),
            fetch: BATCH as u32,
            flush: self.flush,
        };
        self.flush = 0;
        // SAFETY: the kernel writes at most `fetch` numbers to `offsets`, which has room for BATCH,
        // and to the structure itself.
        if unsafe { libc::ioctl(self.file.as_raw_fd(), FETCH as _, &mut fetch) } < 0 {
            return 0;
        }
        let fetched = (fetch.fetch as usize).min(BATCH);
        self.flush = fetch.fetch;
        // Read after the events: one that came after a step is then never converted by what was before.
        let offset = Offset::read();
        if offset.is_step_from(&self.offset) {
            self.pairs.forget();
            self.offset = offset;
            self.shared
                .clock_set
                .fetch_add(fetched as u64, Ordering::Relaxed);
            return fetched;
        }
        for at in &self.offsets[..fetched] {
            let Some(header) = self.ring.header(*at as usize) else {
                continue;
            };
            if let Some(urb) = self.pairs.take(&Event::parse(&header), self.offset.ns)
                && self.push.push(urb).is_err()
            {
                self.shared.not_taken.fetch_add(1, Ordering::Relaxed);
            }
        }
        fetched
    }

    fn count_dropped(&self) {
        let mut stats = Stats {
            queued: 0,
            dropped: 0,
        };
        // SAFETY: the kernel fills the structure at the pointer. It counts since the last call.
        if unsafe { libc::ioctl(self.file.as_raw_fd(), GET_STATS as _, &mut stats) } == 0 {
            self.shared
                .dropped
                .fetch_add(u64::from(stats.dropped), Ordering::Relaxed);
        }
    }
}

/// Bytes of `struct mon_bin_hdr` in the mapped ring.
const HEADER: usize = 64;

/// What is needed of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    id: u64,
    /// `S` submission, `C` completion, `E` submission that failed, `@` filler.
    what: u8,
    /// 0 isochronous, 1 interrupt, 2 control, 3 bulk.
    kind: u8,
    endpoint: u8,
    address: u8,
    bus: u16,
    real_us: u64,
    status: i32,
    length: u32,
}

impl Event {
    fn parse(header: &[u8; HEADER]) -> Event {
        fn at<const N: usize>(header: &[u8; HEADER], from: usize) -> [u8; N] {
            std::array::from_fn(|i| header[from + i])
        }
        let seconds = i64::from_ne_bytes(at(header, 16)).max(0) as u64;
        let micros = i32::from_ne_bytes(at(header, 24)).max(0) as u64;
        Event {
            id: u64::from_ne_bytes(at(header, 0)),
            what: header[8],
            kind: header[9],
            endpoint: header[10],
            address: header[11],
            bus: u16::from_ne_bytes(at(header, 12)),
            real_us: seconds.saturating_mul(1_000_000).saturating_add(micros),
            status: i32::from_ne_bytes(at(header, 28)),
            length: u32::from_ne_bytes(at(header, 32)),
        }
    }
}

/// Puts the completion of a URB to its submission.
struct Pairs {
    bus: u16,
    address: u8,
    submitted: HashMap<u64, u64>,
}

impl Pairs {
    fn of(bus: u16, address: u8) -> Pairs {
        Pairs {
            bus,
            address,
            submitted: HashMap::with_capacity(MAX_IN_FLIGHT),
        }
    }

    fn forget(&mut self) {
        self.submitted.clear();
    }

    fn take(&mut self, event: &Event, offset_ns: i64) -> Option<UrbTimes> {
        let ours = event.bus == self.bus && event.address == self.address;
        if !ours || !matches!(event.kind, 1 | 3) {
            return None;
        }
        // The kernel cuts off what is below a microsecond: half of one is the mean of that.
        let monotonic_ns = event.real_us.saturating_mul(1_000) as i64 + 500 - offset_ns;
        let monotonic_ns = monotonic_ns.max(0) as u64;
        match event.what {
            b'S' => {
                // A completion that was dropped leaves its submission; so many are not in flight.
                if self.submitted.len() >= MAX_IN_FLIGHT {
                    self.submitted.clear();
                }
                self.submitted.insert(event.id, monotonic_ns);
                None
            }
            b'C' | b'E' => Some(UrbTimes {
                endpoint: event.endpoint,
                submit_ns: self.submitted.remove(&event.id).unwrap_or(0),
                complete_ns: monotonic_ns,
                status: event.status,
                length: event.length,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-01T00:00:00Z, and a monotonic clock that then read 100 s.
    const REAL_S: u64 = 1_767_225_600;
    const OFFSET_NS: i64 = (REAL_S as i64 - 100) * 1_000_000_000;

    fn header(what: u8, id: u64, real_us: u64, endpoint: u8) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[0..8].copy_from_slice(&id.to_ne_bytes());
        bytes[8..12].copy_from_slice(&[what, 3, endpoint, 5]);
        bytes[12..14].copy_from_slice(&2_u16.to_ne_bytes());
        bytes[16..24]
            .copy_from_slice(&(REAL_S as i64 + (real_us / 1_000_000) as i64).to_ne_bytes());
        bytes[24..28].copy_from_slice(&((real_us % 1_000_000) as i32).to_ne_bytes());
        bytes[28..32].copy_from_slice(&(if what == b'S' { -115_i32 } else { 0 }).to_ne_bytes());
        bytes[32..36].copy_from_slice(&512_u32.to_ne_bytes());
        bytes
    }

    fn take(pairs: &mut Pairs, header: &[u8; HEADER]) -> Option<UrbTimes> {
        pairs.take(&Event::parse(header), OFFSET_NS)
    }

    #[test]
    fn a_submission_and_its_completion_make_one_urb_on_the_monotonic_clock() {
        let mut pairs = Pairs::of(2, 5);
        assert_eq!(take(&mut pairs, &header(b'S', 7, 1_000_010, 0x81)), None);
        assert_eq!(take(&mut pairs, &header(b'S', 8, 1_000_020, 0x81)), None);
        let urb = take(&mut pairs, &header(b'C', 7, 1_000_065, 0x81)).unwrap();
        assert_eq!(urb.submit_ns, 101_000_010_500);
        assert_eq!(urb.complete_ns, 101_000_065_500);
        assert_eq!((urb.endpoint, urb.length, urb.status), (0x81, 512, 0));
    }

    #[test]
    fn events_of_other_devices_make_none_and_a_submission_that_was_not_seen_has_no_time() {
        let mut other = Pairs::of(2, 6);
        take(&mut other, &header(b'S', 7, 10, 0x81));
        assert_eq!(take(&mut other, &header(b'C', 7, 20, 0x81)), None);
        let mut pairs = Pairs::of(2, 5);
        let urb = take(&mut pairs, &header(b'C', 7, 20, 0x81)).unwrap();
        assert_eq!((urb.submit_ns, urb.length), (0, 512));
        take(&mut pairs, &header(b'S', 7, 30, 0x81));
        pairs.forget();
        let urb = take(&mut pairs, &header(b'C', 7, 40, 0x81)).unwrap();
        assert_eq!(urb.submit_ns, 0);
    }

    #[test]
    fn a_filler_is_no_event() {
        let mut pairs = Pairs::of(2, 5);
        assert_eq!(take(&mut pairs, &header(b'@', 7, 10, 0x81)), None);
        assert!(pairs.submitted.is_empty());
    }

    #[test]
    fn a_user_without_permission_is_told_how_to_get_it_and_what_it_means() {
        let error = io::Error::from(io::ErrorKind::PermissionDenied);
        let printed = refused("watching", "/dev/usbmon3", &error).to_string();
        for words in ["setfacl -m u:$USER:r /dev/usbmon3", "sees all data"] {
            assert!(printed.contains(words), "{printed}");
        }
    }

    #[test]
    fn a_bus_that_is_not_there_says_what_to_load() {
        let error = UsbMon::start(60_000, 1).err().unwrap();
        assert_eq!(error.kind(), LinkErrorKind::NotFound);
        assert!(error.to_string().contains("modprobe usbmon"), "{error}");
    }
}
