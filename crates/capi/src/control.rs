//! A control loop whose steps are a C function.

use crate::code::WG_ERROR_USAGE;
use crate::device::{self, wg_device};
use crate::exchanges::of_size;
use crate::failure::Failure;
use crate::pointers::{Place, bytes, items_mut};
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr;
use wiregauge_device::{About, ControlPlan, Cycle, CycleStatus};

/// Parameters of a control loop. Set all fields to zero and `struct_bytes` to sizeof(wg_control_plan)
/// first.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct wg_control_plan {
    /// sizeof(wg_control_plan), so that later library versions know which fields this program has.
    pub struct_bytes: usize,
    /// Time between the starts of two cycles; 0: as fast as replies arrive.
    pub period_ns: u64,
    /// Buffer size for the payload of a request, in bytes: at most WG_ABOUT_LARGEST_REQUEST.
    pub largest_request: usize,
    /// Size of a reply, as `asked` of wg_exchange: usually WG_AS_SENT.
    pub reply_bytes: usize,
    /// Outstanding requests, 1 to 4096. With depth 1, a command is computed from the reply of the previous
    /// cycle; with depth d, from d cycles before: a shorter repetition time, but a longer dead time.
    pub depth: u32,
    /// SCHED_FIFO priority of the loop, 1 to 99; 0: unchanged.
    pub priority: u32,
    /// Not 0: pin the loop to the CPU `cpu`.
    pub pin: u32,
    /// CPU number, from 0.
    pub cpu: u32,
    /// Consecutive lost cycles that end the loop with WG_ERROR_TIMEOUT; 0: never.
    pub give_up: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// Result of one cycle. Times are nanoseconds since the first cycle.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct wg_cycle {
    /// Intended start; equal to `start_ns` without a period.
    pub intended_ns: u64,
    /// Actual start: when the request was sent.
    pub start_ns: u64,
    /// Time to the last byte of the reply; without a reply, the time waited.
    pub rtt_ns: u64,
    /// Duration of `step`.
    pub step_ns: u64,
    /// Device clock when the request had arrived, in ticks.
    pub device_rx_ticks: u64,
    /// Device clock when the reply was sent, in ticks.
    pub device_tx_ticks: u64,
    /// The cycle whose reply the command was computed from; UINT64_MAX before the first reply.
    pub made_from: u64,
    /// Outcome: one of WG_CYCLE_...
    pub status: u8,
}

/// The reply arrived.
pub const WG_CYCLE_OK: u8 = 0;
/// The reply arrived, but the cycle began after the start time of the next one.
pub const WG_CYCLE_OVERRUN: u8 = 1;
/// No reply within the timeout.
pub const WG_CYCLE_LOST: u8 = 2;

// The rows of C and those of the engine are the same rows.
const _: () = {
    assert!(size_of::<wg_cycle>() == size_of::<Cycle>());
    assert!(align_of::<wg_cycle>() == align_of::<Cycle>());
    assert!(offset_of!(wg_cycle, intended_ns) == offset_of!(Cycle, intended_ns));
    assert!(offset_of!(wg_cycle, start_ns) == offset_of!(Cycle, start_ns));
    assert!(offset_of!(wg_cycle, rtt_ns) == offset_of!(Cycle, rtt_ns));
    assert!(offset_of!(wg_cycle, step_ns) == offset_of!(Cycle, step_ns));
    assert!(offset_of!(wg_cycle, device_rx_ticks) == offset_of!(Cycle, device_rx_ticks));
    assert!(offset_of!(wg_cycle, device_tx_ticks) == offset_of!(Cycle, device_tx_ticks));
    assert!(offset_of!(wg_cycle, made_from) == offset_of!(Cycle, made_from));
    assert!(offset_of!(wg_cycle, status) == offset_of!(Cycle, status));
    assert!(WG_CYCLE_OK == CycleStatus::Ok as u8);
    assert!(WG_CYCLE_OVERRUN == CycleStatus::Overrun as u8);
    assert!(WG_CYCLE_LOST == CycleStatus::Lost as u8);
};

/// Computes the next command from the newest measurement. `cycle` counts from 0; `reply` is the newest
/// reply, NULL before the first one; write the request to `request`, which has `room` bytes. Return the
/// number of bytes written, or WG_END to end the loop. Do not leave it by longjmp, a C++ exception or
/// mexErrMsgTxt, and do not use the device in it.
pub type wg_step = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        cycle: u64,
        reply: *const u8,
        reply_bytes: usize,
        request: *mut u8,
        room: usize,
    ) -> usize,
>;

/// Runs a control loop at a fixed rate: in each cycle `step` computes the request from the newest reply.
/// `user` is passed to it. Every cycle writes a row to `cycles`, which has room for `room` rows; the loop
/// ends when it is full, or earlier by `step`. `ran` (optional) receives the number of cycles, also on
/// error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_control(
    device: *mut wg_device,
    plan: *const wg_control_plan,
    step: wg_step,
    user: *mut c_void,
    cycles: *mut wg_cycle,
    room: usize,
    ran: *mut usize,
) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointers are as the header says.
        let (ran, plan) = unsafe { (Place::optional(ran, "ran")?, read_plan(plan)?) };
        ran.put(0);
        fits(&plan, held.device.about())?;
        let step = step.ok_or_else(|| Failure::argument("`step` is NULL"))?;
        // SAFETY: as the header says, and whatever stood there is made a valid row before it is taken for one.
        let cycles = unsafe { fresh_rows(cycles, room)? };
        let mut too_long = None;
        let mut next = |cycle: u64, reply: Option<&[u8]>, request: &mut [u8]| {
            let (from, bytes) = reply.map_or((ptr::null(), 0), |r| (r.as_ptr(), r.len()));
            // SAFETY: the caller's function, which may read and write just this.
            let made = unsafe {
                step(
                    user,
                    cycle,
                    from,
                    bytes,
                    request.as_mut_ptr(),
                    request.len(),
                )
            };
            if made != usize::MAX && made > request.len() {
                too_long = Some(made);
            }
            (made <= request.len()).then_some(made)
        };
        let done = held.device.control(&plan, &mut next, cycles);
        match done {
            Ok(cycles) => ran.put(cycles),
            Err((cycles, _)) => ran.put(cycles),
        }
        if let Some(made) = too_long {
            return Err(Failure::argument(format!(
                "`step` returned {made} bytes, but its buffer has {}",
                plan.largest_request
            )));
        }
        done.map(drop).map_err(|(_, error)| error.into())
    })
}

/// Refuses what the engine would lay out memory for, and no device can take.
fn fits(plan: &ControlPlan, about: &About) -> Result<(), Failure> {
    // As many cycles may wait for their replies.
    const DEEPEST: u32 = 4096;
    let too_much = |what: &str, is: usize, most: usize| {
        Err(Failure::new(
            WG_ERROR_USAGE,
            format!(
                "cannot control {}: {what} is {is}, the maximum is {most}",
                about.address
            ),
        ))
    };
    if plan.largest_request > about.largest_request {
        return too_much(
            "`largest_request`",
            plan.largest_request,
            about.largest_request,
        );
    }
    match plan.reply_bytes {
        Some(bytes) if bytes > about.largest_reply => {
            too_much("`reply_bytes`", bytes, about.largest_reply)
        }
        _ if plan.depth > DEEPEST => too_much("`depth`", plan.depth as usize, DEEPEST as usize),
        _ => Ok(()),
    }
}

/// # Safety
/// `plan` is null or leads to as many bytes as its first field says.
unsafe fn read_plan(plan: *const wg_control_plan) -> Result<ControlPlan, Failure> {
    // More than any version will have: a number beyond it was never set.
    const MOST: usize = 4096;
    const OURS: usize = size_of::<wg_control_plan>();
    if plan.is_null() || !plan.is_aligned() {
        return Err(Failure::argument("`plan` is NULL or not aligned"));
    }
    // SAFETY: it begins with its size.
    let bytes_there = unsafe { plan.cast::<usize>().read() };
    if !(OURS..=MOST).contains(&bytes_there) {
        return Err(Failure::argument(format!(
            "`plan.struct_bytes` is {bytes_there}: set it to sizeof(wg_control_plan), which is {OURS}"
        )));
    }
    // SAFETY: it is as long as it says.
    let (plan, all) = unsafe { (plan.read(), bytes(plan.cast(), bytes_there, "plan")?) };
    if plan.reserved != 0 || all[OURS..].iter().any(|&byte| byte != 0) {
        return Err(Failure::argument(
            "`plan` uses a field that this version of the library does not support",
        ));
    }
    let priority = match plan.priority {
        0 => None,
        1..=99 => Some(plan.priority as u8),
        other => {
            return Err(Failure::argument(format!(
                "priority {other} is not valid: use 1 to 99, or 0 for none"
            )));
        }
    };
    Ok(ControlPlan {
        period_ns: plan.period_ns,
        depth: plan.depth,
        largest_request: plan.largest_request,
        reply_bytes: of_size(plan.reply_bytes),
        priority,
        pin: (plan.pin != 0).then_some(plan.cpu),
        give_up: plan.give_up,
    })
}

/// # Safety
/// `cycles` leads to so many rows that may be written.
unsafe fn fresh_rows<'a>(cycles: *mut wg_cycle, room: usize) -> Result<&'a mut [Cycle], Failure> {
    if room == 0 {
        return Err(Failure::argument("`cycles` has room for 0 cycles"));
    }
    let blank = wg_cycle {
        intended_ns: 0,
        start_ns: 0,
        rtt_ns: 0,
        step_ns: 0,
        device_rx_ticks: 0,
        device_tx_ticks: 0,
        made_from: 0,
        status: WG_CYCLE_OK,
    };
    // SAFETY: as the caller promises; every field of a row of C is an integer.
    unsafe {
        items_mut(cycles, room, "cycles")?.fill(blank);
        items_mut(cycles.cast(), room, "cycles")
    }
}
