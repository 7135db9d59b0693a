//! The kernel's own interface to sound cards (include/uapi/sound/asound.h), of which this mirrors what
//! a loop needs. It is stable, and a static binary can use it where libasound cannot come along.
//! All `unsafe` of the sound card is here.

use rustix::ioctl::{Opcode, opcode};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// `SNDRV_PCM_ACCESS_RW_INTERLEAVED`.
pub const ACCESS_RW_INTERLEAVED: u32 = 3;
/// `SNDRV_PCM_FORMAT_S16_LE`.
pub const FORMAT_S16_LE: u32 = 2;
/// `SNDRV_PCM_SUBFORMAT_STD`.
pub const SUBFORMAT_STD: u32 = 0;
/// `SNDRV_PCM_INFO_BATCH`: the position moves in steps, up to a period.
pub const INFO_BATCH: u32 = 0x10;

/// State of a stream (`SNDRV_PCM_STATE_*`): it runs.
pub const STATE_RUNNING: i32 = 3;
/// It ran over or dry and was stopped.
pub const STATE_XRUN: i32 = 4;
/// The computer was suspended.
pub const STATE_SUSPENDED: i32 = 7;
/// The card was unplugged.
pub const STATE_DISCONNECTED: i32 = 8;

/// `SNDRV_PCM_TSTAMP_ENABLE`: times with each position.
const TSTAMP_ENABLE: i32 = 1;
/// `SNDRV_PCM_TSTAMP_TYPE_MONOTONIC`.
const TSTAMP_MONOTONIC: u32 = 1;
/// The version of the protocol from which `tstamp_type` is read: 2.0.12.
const PROTO_TSTAMP_TYPE: u32 = (2 << 16) | 12;

const HWSYNC: u32 = 1;
/// Reads the application's position and `avail_min` instead of setting them.
const GET_APPL: u32 = 2 | 4;

const GROUP: u8 = b'A';
const PCM_INFO: Opcode = opcode::read::<Info>(GROUP, 0x01);
const HW_REFINE: Opcode = opcode::read_write::<HwParams>(GROUP, 0x10);
const HW_PARAMS: Opcode = opcode::read_write::<HwParams>(GROUP, 0x11);
const SW_PARAMS: Opcode = opcode::read_write::<SwParams>(GROUP, 0x13);
const SYNC_PTR: Opcode = opcode::read_write::<SyncPtr>(GROUP, 0x23);
const PREPARE: Opcode = opcode::none(GROUP, 0x40);
const START: Opcode = opcode::none(GROUP, 0x42);
const DROP: Opcode = opcode::none(GROUP, 0x43);
const WRITEI_FRAMES: Opcode = opcode::write::<Transfer>(GROUP, 0x50);
const READI_FRAMES: Opcode = opcode::read::<Transfer>(GROUP, 0x51);
const LINK: Opcode = opcode::write::<libc::c_int>(GROUP, 0x60);
const PREFER_SUBDEVICE: Opcode = opcode::write::<libc::c_int>(b'U', 0x32);

/// `struct snd_mask`: a set of up to 256 values.
#[repr(C)]
#[derive(Clone, Copy)]
struct Mask([u32; 8]);

/// `struct snd_interval`: what a number may be.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Smallest.
    pub min: u32,
    /// Largest.
    pub max: u32,
    /// Bits, the lowest first: min excluded, max excluded, whole numbers only, empty.
    flags: u32,
}

impl Interval {
    const ANY: Interval = Interval {
        min: 0,
        max: u32::MAX,
        flags: 0,
    };

    /// Whole numbers from `min` to `max`.
    pub fn of(min: u32, max: u32) -> Interval {
        Interval { min, max, flags: 4 }
    }
}

/// The numbers of a setup, by their place among the intervals of `HwParams`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Channels.
    Channels = 2,
    /// Frames a second.
    Rate = 3,
    /// Frames from one interrupt to the next.
    PeriodSize = 5,
    /// Frames of the ring.
    BufferSize = 9,
}

/// The sets of a setup, by their place among the masks of `HwParams`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// How samples are handed over.
    Access = 0,
    /// What a sample is.
    Format = 1,
    /// Always the standard one.
    Subformat = 2,
}

/// `struct snd_pcm_hw_params`: what the hardware may be set to, narrowed down step by step.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HwParams {
    flags: u32,
    masks: [Mask; 3],
    reserved_masks: [Mask; 5],
    intervals: [Interval; 12],
    reserved_intervals: [Interval; 9],
    rmask: u32,
    cmask: u32,
    info: u32,
    msbits: u32,
    rate_num: u32,
    rate_den: u32,
    fifo_size: libc::c_ulong,
    reserved: [u8; 64],
}

impl HwParams {
    /// Nothing narrowed down yet.
    pub fn any() -> HwParams {
        HwParams {
            flags: 0,
            masks: [Mask([u32::MAX; 8]); 3],
            reserved_masks: [Mask([0; 8]); 5],
            intervals: [Interval::ANY; 12],
            reserved_intervals: [Interval {
                max: 0,
                ..Interval::ANY
            }; 9],
            rmask: u32::MAX,
            cmask: 0,
            info: u32::MAX,
            msbits: 0,
            rate_num: 0,
            rate_den: 0,
            fifo_size: 0,
            reserved: [0; 64],
        }
    }

    /// Leaves one value of a set. All of them are below 32.
    pub fn only(&mut self, set: Set, value: u32) {
        let mut mask = Mask([0; 8]);
        mask.0[0] = 1 << value;
        self.masks[set as usize] = mask;
        self.rmask = u32::MAX;
    }

    /// The first 32 values that a set may have, a bit each.
    pub fn allowed(&self, set: Set) -> u32 {
        self.masks[set as usize].0[0]
    }

    /// Narrows a number down.
    pub fn narrow(&mut self, number: Number, to: Interval) {
        self.intervals[number as usize] = to;
        self.rmask = u32::MAX;
    }

    /// What a number may still be.
    pub fn range(&self, number: Number) -> Interval {
        self.intervals[number as usize]
    }

    /// `SNDRV_PCM_INFO_*` of the hardware.
    pub fn info(&self) -> u32 {
        self.info
    }
}

/// `struct snd_pcm_sw_params`: when the kernel wakes, starts and stops.
#[repr(C)]
struct SwParams {
    tstamp_mode: i32,
    period_step: u32,
    sleep_min: u32,
    avail_min: libc::c_ulong,
    xfer_align: libc::c_ulong,
    start_threshold: libc::c_ulong,
    stop_threshold: libc::c_ulong,
    silence_threshold: libc::c_ulong,
    silence_size: libc::c_ulong,
    boundary: libc::c_ulong,
    proto: u32,
    tstamp_type: u32,
    reserved: [u8; 56],
}

/// `struct __snd_pcm_sync_ptr64`, as a little-endian kernel has it; of the same size on computers of
/// 32 and of 64 bits.
#[repr(C)]
#[derive(Default)]
struct SyncPtr {
    flags: u32,
    pad: u32,
    state: i32,
    state_pad: u32,
    hw_ptr: u64,
    tv_sec: i64,
    tv_nsec: i64,
    suspended_state: i32,
    suspended_pad: u32,
    audio_sec: i64,
    audio_nsec: i64,
    status_reserved: [u8; 8],
    #[cfg(target_pointer_width = "64")]
    control: [u64; 2],
    #[cfg(target_pointer_width = "32")]
    control: [u32; 2],
    #[cfg(target_pointer_width = "32")]
    control_pad: [u32; 2],
    control_reserved: [u64; 6],
}

/// `struct snd_xferi`.
#[repr(C)]
struct Transfer {
    result: libc::c_long,
    buffer: *mut libc::c_void,
    frames: libc::c_ulong,
}

/// `struct snd_pcm_info`.
#[repr(C)]
struct Info {
    device: u32,
    subdevice: u32,
    stream: i32,
    card: i32,
    id: [u8; 64],
    name: [u8; 80],
    subname: [u8; 32],
    class: i32,
    subclass: i32,
    subdevices_count: u32,
    subdevices_avail: u32,
    sync: [u32; 4],
    reserved: [u8; 64],
}

/// Where a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// `STATE_*`.
    pub state: i32,
    /// Frames that the hardware is done with, modulo the boundary.
    pub hw_ptr: u64,
    /// Frames that the program is done with, modulo the boundary.
    pub appl_ptr: u64,
    /// When the hardware's position was last looked at, by an interrupt or a call: CLOCK_MONOTONIC.
    pub at_ns: u64,
}

/// Wants this subdevice in the next opening of a stream of the card whose control this is. Holds for
/// the calling process until it is closed.
pub fn prefer_subdevice(control: &File, subdevice: i32) -> io::Result<()> {
    // SAFETY: reads one int from the pointer, which is valid for the call.
    check(unsafe { libc::ioctl(control.as_raw_fd(), PREFER_SUBDEVICE as _, &subdevice) })
}

/// The subdevice that was opened, and the name of the device.
pub fn info(pcm: &File) -> io::Result<(u32, String)> {
    let mut info = std::mem::MaybeUninit::<Info>::zeroed();
    // SAFETY: fills a snd_pcm_info at the pointer; all-zero is a valid value of it.
    check(unsafe { libc::ioctl(pcm.as_raw_fd(), PCM_INFO as _, info.as_mut_ptr()) })?;
    // SAFETY: zeroed above and filled by the kernel; every bit pattern is valid.
    let info = unsafe { info.assume_init() };
    let name = info
        .name
        .split(|byte| *byte == 0)
        .next()
        .unwrap_or_default();
    Ok((info.subdevice, String::from_utf8_lossy(name).into_owned()))
}

/// Narrows a setup down to what the hardware can do.
pub fn refine(pcm: &File, params: &mut HwParams) -> io::Result<()> {
    params.rmask = u32::MAX;
    // SAFETY: reads and writes a snd_pcm_hw_params at the pointer.
    check(unsafe { libc::ioctl(pcm.as_raw_fd(), HW_REFINE as _, params) })
}

/// Sets the hardware up.
pub fn set_hardware(pcm: &File, params: &mut HwParams) -> io::Result<()> {
    params.rmask = u32::MAX;
    // SAFETY: as in `refine`.
    check(unsafe { libc::ioctl(pcm.as_raw_fd(), HW_PARAMS as _, params) })
}

/// Wakes with every period, never starts by itself, stops when the ring is full (capture) or empty
/// (playback), and fills nothing in. Returns the boundary, at which positions begin anew.
pub fn set_software(pcm: &File, period: u32, buffer: u32) -> io::Result<u64> {
    let mut params = SwParams {
        tstamp_mode: TSTAMP_ENABLE,
        period_step: 1,
        sleep_min: 0,
        avail_min: libc::c_ulong::from(period),
        xfer_align: 1,
        // The kernel compares it as a signed number.
        start_threshold: libc::c_long::MAX as libc::c_ulong,
        stop_threshold: libc::c_ulong::from(buffer),
        silence_threshold: 0,
        silence_size: 0,
        boundary: 0,
        proto: PROTO_TSTAMP_TYPE,
        tstamp_type: TSTAMP_MONOTONIC,
        reserved: [0; 56],
    };
    // SAFETY: reads and writes a snd_pcm_sw_params at the pointer.
    check(unsafe { libc::ioctl(pcm.as_raw_fd(), SW_PARAMS as _, &mut params) })?;
    #[allow(clippy::useless_conversion)] // of 32 bits on some computers
    Ok(u64::from(params.boundary))
}

/// Where the stream is: as last looked at by anyone, or, with `ask`, after asking the hardware.
pub fn status(pcm: &File, ask: bool) -> io::Result<Status> {
    let mut sync = SyncPtr {
        flags: GET_APPL | if ask { HWSYNC } else { 0 },
        ..SyncPtr::default()
    };
    // SAFETY: reads and writes a snd_pcm_sync_ptr at the pointer.
    check(unsafe { libc::ioctl(pcm.as_raw_fd(), SYNC_PTR as _, &mut sync) })?;
    #[allow(clippy::useless_conversion)] // of 32 bits on some computers
    Ok(Status {
        state: sync.state,
        hw_ptr: sync.hw_ptr,
        appl_ptr: u64::from(sync.control[0]),
        at_ns: (sync.tv_sec as u64).wrapping_mul(1_000_000_000) + sync.tv_nsec as u64,
    })
}

/// Ties two streams together: they are prepared, started and stopped at once.
pub fn link(one: &File, other: &File) -> io::Result<()> {
    // SAFETY: takes a descriptor by value.
    check(unsafe { libc::ioctl(one.as_raw_fd(), LINK as _, other.as_raw_fd()) })
}

/// Makes the stream (and those tied to it) ready to start, from whatever state.
pub fn prepare(pcm: &File) -> io::Result<()> {
    bare(pcm, PREPARE)
}

/// Starts the stream and those tied to it.
pub fn start(pcm: &File) -> io::Result<()> {
    bare(pcm, START)
}

/// Stops the stream and those tied to it at once.
pub fn stop(pcm: &File) -> io::Result<()> {
    bare(pcm, DROP)
}

fn bare(pcm: &File, what: Opcode) -> io::Result<()> {
    // SAFETY: these take no argument.
    check(unsafe { libc::ioctl(pcm.as_raw_fd(), what as _, 0) })
}

/// Takes frames of `channels` samples that came in; returns how many.
pub fn read(pcm: &File, to: &mut [i16], channels: usize) -> io::Result<usize> {
    let frames = to.len() / channels;
    // SAFETY: the kernel writes at most `frames` frames of 16-bit samples (the format that `HwParams`
    // was set to, with as many channels), which is the length of the slice.
    unsafe { transfer(pcm, READI_FRAMES, to.as_mut_ptr().cast(), frames) }
}

/// Hands over frames of `channels` samples; returns how many were taken.
pub fn write(pcm: &File, from: &[i16], channels: usize) -> io::Result<usize> {
    let frames = from.len() / channels;
    // SAFETY: the kernel only reads, and at most the length of the slice (see `read`).
    unsafe { transfer(pcm, WRITEI_FRAMES, from.as_ptr().cast_mut().cast(), frames) }
}

/// # Safety
/// `buffer` must hold so many frames of the stream, to be written where `what` reads from the card.
unsafe fn transfer(
    pcm: &File,
    what: Opcode,
    buffer: *mut libc::c_void,
    frames: usize,
) -> io::Result<usize> {
    let mut transfer = Transfer {
        result: 0,
        buffer,
        frames: frames as libc::c_ulong,
    };
    // SAFETY: reads and writes a snd_xferi at the pointer; the caller answers for the buffer.
    check(unsafe { libc::ioctl(pcm.as_raw_fd(), what as _, &mut transfer) })?;
    Ok(usize::try_from(transfer.result).unwrap_or(0))
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    /// The numbers that a C program prints of asound.h on a computer of 64 bits.
    #[test]
    #[cfg(all(target_pointer_width = "64", target_arch = "x86_64"))]
    fn requests_and_layouts_are_those_of_the_kernels_header() {
        assert_eq!(size_of::<HwParams>(), 608);
        assert_eq!(size_of::<SwParams>(), 136);
        assert_eq!(size_of::<SyncPtr>(), 136);
        assert_eq!(size_of::<Transfer>(), 24);
        assert_eq!(size_of::<Info>(), 288);
        assert_eq!(HW_REFINE, 0xc260_4110);
        assert_eq!(HW_PARAMS, 0xc260_4111);
        assert_eq!(SW_PARAMS, 0xc088_4113);
        assert_eq!(SYNC_PTR, 0xc088_4123);
        assert_eq!(READI_FRAMES, 0x8018_4151);
        assert_eq!(WRITEI_FRAMES, 0x4018_4150);
        assert_eq!(PCM_INFO, 0x8120_4101);
        assert_eq!(START, 0x4142);
        assert_eq!(LINK, 0x4004_4160);
    }

    #[test]
    fn status_and_control_begin_where_the_kernel_puts_them() {
        assert_eq!(offset_of!(SyncPtr, state), 8);
        assert_eq!(offset_of!(SyncPtr, tv_sec), 8 + 16);
        assert_eq!(offset_of!(SyncPtr, audio_sec), 8 + 40);
        assert_eq!(offset_of!(SyncPtr, control), 8 + 64);
        assert_eq!(size_of::<SyncPtr>(), 8 + 64 + 64);
    }
}
