//! A way without launches: one kernel runs all the time, watches a mailbox in the host's memory for the next
//! block, and answers there. It is ended whenever this is dropped, and ends by itself when it hears nothing.

use super::driver::{Driver, check, give_up};
use super::mapped::LentRings;
use super::memory::{DeviceMemory, Shared, Stream};
use super::method::Method;
use super::passes::Passes;
use cudarc::driver::sys;
use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::{LoopPoint, Stage};

/// Threads of a block.
const THREADS: u32 = 512;

/// Blocks at most: so many processors have enough reads under way to fill PCIe, and more take longer to meet.
const BLOCKS: u32 = 16;

/// Without an order for so long, and two periods of the loop, the kernel ends.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// Without an answer for so long the kernel is taken for dead.
const ANSWER: Duration = Duration::from_secs(2);

/// Looks at the mailbox between two looks at the clock.
const LOOKS: u32 = 1 << 12;

/// The orders to the kernel, as in kernels.cu.
const RUN: u32 = 0;
/// To forget the blocks before.
const FORGET: u32 = 1;
/// To end.
const QUIT: u32 = 2;
/// What it says when it has ended by itself.
const GAVE_UP: u32 = 3;

/// Between host and kernel. `Mailbox` in kernels.cu.
#[derive(Default)]
#[repr(C, align(128))]
struct Mailbox {
    order: AtomicU32,
    what: AtomicU32,
    in_at: AtomicU64,
    out_at: AtomicU64,
    unused: [u32; 26],
    answer: AtomicU32,
    ended: AtomicU32,
    unused_too: [u32; 30],
}

/// Bytes of `State` in kernels.cu.
const STATE_BYTES: usize = 32;

/// The kernel, and what it works with. Told to end before any of that goes.
pub(super) struct Persistent {
    mailbox: Shared<Mailbox>,
    stream: Stream,
    rings: Rc<LentRings>,
    order: u32,
    running: bool,
    timeout: Duration,
    /// What the kernel points to.
    _passes: Passes,
    _table: DeviceMemory,
    _state: DeviceMemory,
}

impl Persistent {
    /// Lays out everything and starts the kernel. Nothing may be allocated or freed on the GPU while it
    /// runs: the driver would wait for its end.
    pub(super) fn new(
        driver: &Driver,
        stages: &[Stage],
        point: &LoopPoint,
        rings: Rc<LentRings>,
    ) -> Result<Persistent, LinkError> {
        let doing = "cannot start the persistent kernel";
        if driver.impatient {
            let said = "this GPU drives a display: its driver ends kernels that run for seconds";
            return Err(LinkError::new(LinkErrorKind::Busy, doing, said)
                .hint("use --gpu=mapped, or a GPU without a display"));
        }
        let stream = Stream::new()?;
        let passes = Passes::new(driver, stages, point, true, &stream)?;
        let table = DeviceMemory::of(&passes.of_both_turns(), &stream)?;
        let state = DeviceMemory::new(STATE_BYTES, &stream)?;
        stream.finish(doing)?;
        let timeout = MAX_WAIT + Duration::from_nanos(2 * point.period_ns() as u64);
        let mut persistent = Persistent {
            mailbox: Shared::new()?,
            stream,
            rings,
            order: 0,
            running: false,
            timeout,
            _passes: passes,
            _table: table,
            _state: state,
        };
        persistent.launch(driver, doing)?;
        Ok(persistent)
    }

    fn launch(&mut self, driver: &Driver, doing: &str) -> Result<(), LinkError> {
        let mut mailbox = self.mailbox.device;
        let mut state = self._state.at;
        let mut table = self._table.at;
        let mut count = self._passes.len() as u32;
        let (mut input, mut output) = (self.rings.input.device, self.rings.output.device);
        let mut timeout_ns = self.timeout.as_nanos() as u64;
        let mut parameters: [*mut c_void; 7] = [
            ptr::from_mut(&mut mailbox).cast(),
            ptr::from_mut(&mut state).cast(),
            ptr::from_mut(&mut table).cast(),
            ptr::from_mut(&mut count).cast(),
            ptr::from_mut(&mut input).cast(),
            ptr::from_mut(&mut output).cast(),
            ptr::from_mut(&mut timeout_ns).cast(),
        ];
        // Blocks meet, so all of them must be running: only a cooperative launch promises that.
        let blocks = match driver.cooperative {
            true => BLOCKS.min(driver.multiprocessors),
            false => 1,
        };
        // SAFETY: the parameters are those of the kernel, in its order, and are copied; what they point to goes
        // after the kernel has ended.
        let launched = unsafe {
            let (function, stream) = (driver.persist, self.stream.0);
            let threads = THREADS.min(driver.threads);
            let parameters = parameters.as_mut_ptr();
            match driver.cooperative {
                true => sys::cuLaunchCooperativeKernel(
                    function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters,
                ),
                false => sys::cuLaunchKernel(
                    function,
                    blocks,
                    1,
                    1,
                    threads,
                    1,
                    1,
                    0,
                    stream,
                    parameters,
                    ptr::null_mut(),
                ),
            }
        };
        check(launched, doing)?;
        self.running = true;
        // To ask is to send it off, where a driver gathers launches.
        self.stream.is_done(doing).map(|_| ())
    }

    /// Gives an order without waiting for the answer.
    #[inline]
    fn give(&mut self, what: u32, in_at: usize, out_at: usize) {
        let mailbox = self.mailbox.get();
        self.order = self.order.wrapping_add(1);
        mailbox.what.store(what, Ordering::Relaxed);
        mailbox.in_at.store(in_at as u64, Ordering::Relaxed);
        mailbox.out_at.store(out_at as u64, Ordering::Relaxed);
        // The block in the ring too is written before this.
        mailbox.order.store(self.order, Ordering::Release);
    }

    /// Waits for the answer to the last order, spinning.
    #[inline]
    fn hear(&mut self) -> Result<(), LinkError> {
        let mut since = None;
        loop {
            for _ in 0..LOOKS {
                if self.mailbox.get().answer.load(Ordering::Acquire) == self.order {
                    return Ok(());
                }
                std::hint::spin_loop();
            }
            let since = since.get_or_insert_with(Instant::now);
            self.look_after(since.elapsed())?;
        }
    }

    /// Is the kernel still there?
    #[cold]
    fn look_after(&self, waited: Duration) -> Result<(), LinkError> {
        let doing = "cannot wait for the persistent kernel";
        let fail = |said: String, hint: &str| {
            Err(LinkError::new(LinkErrorKind::Timeout, doing, said).hint(hint))
        };
        let ended = self.mailbox.get().ended.load(Ordering::Acquire);
        if ended == GAVE_UP {
            let said = format!("it received nothing for {:?} and ended", self.timeout);
            return fail(said, "find what stopped this program for that long");
        }
        if waited > ANSWER {
            // Tells what went wrong, if the driver knows.
            self.stream.is_done(doing)?;
            let said = format!("no response for {waited:?}");
            return fail(
                said,
                "use --gpu=mapped; for details see NVRM lines in `dmesg`",
            );
        }
        Ok(())
    }
}

impl Method for Persistent {
    fn run(&mut self, input: &[i16], output: &mut [i16]) -> Result<(), LinkError> {
        let rings = &self.rings;
        let (in_at, out_at) = (rings.input.place(input), rings.output.place(output));
        self.give(RUN, in_at, out_at);
        self.hear()
    }

    fn forget(&mut self) -> Result<(), LinkError> {
        self.give(FORGET, 0, 0);
        self.hear()
    }
}

impl Drop for Persistent {
    /// Ends the kernel, on whatever way this ends. If it does not end, nothing of the GPU is freed any more:
    /// that would wait for it.
    fn drop(&mut self) {
        if !self.running {
            return;
        }
        self.give(QUIT, 0, 0);
        let since = Instant::now();
        // A kernel that died is over as well.
        while let Ok(false) = self.stream.is_done("cannot end the persistent kernel") {
            if since.elapsed() > self.timeout + ANSWER {
                give_up();
                return;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn the_mailbox_is_laid_out_as_the_kernel_reads_it() {
        assert_eq!(offset_of!(Mailbox, what), 4);
        assert_eq!(offset_of!(Mailbox, in_at), 8);
        assert_eq!(offset_of!(Mailbox, out_at), 16);
        assert_eq!(offset_of!(Mailbox, answer), 128);
        assert_eq!(offset_of!(Mailbox, ended), 132);
        assert_eq!(size_of::<Mailbox>(), 256);
    }
}
