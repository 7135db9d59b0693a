//! A digitizer and a generator that really move samples, as a software device does: in a thread of
//! this process or in a process of its own. This is the host's side of both; `mover.rs` is the device.

pub(crate) mod body;
pub(crate) mod memory;
pub(crate) mod mover;
pub(super) mod places;
pub(crate) mod shared;
mod thread;

use super::device::{Arrived, DeviceEnd, LentRings, LoopDevice, Rings, Submitted};
use crate::platform::Process;
use body::Body;
use memory::{Header, RingMemory};
use places::Places;
use shared::{Asked, state, wish};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wiregauge_link::host::Clock;
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::{HostPlan, LinkDetail, LoopPoint, LoopWait, Xrun};

/// How often the host looks whether the device is still there, while nothing comes.
const LOOK_NS: u64 = 100_000_000;

/// A device answers a wish by then, even on a host that is busy with everything else.
const TIMEOUT_NS: u64 = 30_000_000_000;

/// The host's side. Between `start` and `stop` the device runs.
pub struct VirtualDevice {
    body: Box<dyn Body>,
    header: Arc<Header>,
    asked: Asked,
    memory: Option<Arc<RingMemory>>,
    running: Option<Running>,
    /// Blocks handed over, and those that had begun to come in: kept beyond `stop`, where the device
    /// rests.
    ended: Option<(u64, u64)>,
}

struct Running {
    /// Reads zero when the first sample comes in.
    clock: Clock,
    place: Places,
    /// The next block to be waited for.
    next: u64,
}

impl VirtualDevice {
    /// The device in a thread of this process. Made before the caller raises its own priority.
    pub fn thread(host: &HostPlan) -> Result<VirtualDevice, LinkError> {
        VirtualDevice::open(host, |asked| Ok(Box::new(thread::Thread::start(asked)?)))
    }

    /// The device in a process of its own, of the program that [`crate::be_device_if_asked`] or
    /// [`crate::serve_devices_with`] has named. Made before the caller raises its own priority.
    pub fn process(host: &HostPlan) -> Result<VirtualDevice, LinkError> {
        VirtualDevice::open(host, |asked| Ok(Box::new(Process::start(asked)?)))
    }

    fn open(
        host: &HostPlan,
        start: impl FnOnce(Asked) -> Result<Box<dyn Body>, LinkError>,
    ) -> Result<VirtualDevice, LinkError> {
        let asked = Asked {
            priority: host.priority,
            keep_off: host.pin,
            lock_memory: host.lock_memory,
        };
        let body = start(asked)?;
        let mut device = VirtualDevice {
            header: body.header(),
            body,
            asked,
            memory: None,
            running: None,
            ended: None,
        };
        device.until_state("cannot start the virtual device", |is| {
            is != state::STARTING
        })?;
        Ok(device)
    }

    /// Waits until the device is in such a state; returns it.
    fn until_state(&mut self, doing: &str, is_so: impl Fn(u32) -> bool) -> Result<u32, LinkError> {
        let clock = Clock::start();
        loop {
            self.header.host_event.clear();
            let is = self.header.state.load(Ordering::Acquire);
            if is_so(is) {
                return Ok(is);
            }
            self.body.look()?;
            if clock.now() > TIMEOUT_NS {
                let said = format!("no response for {} s", TIMEOUT_NS / 1_000_000_000);
                return Err(LinkError::new(LinkErrorKind::Timeout, doing, said));
            }
            let until_ns = clock.zero_ns() + clock.now() + LOOK_NS;
            self.header.host_event.wait_until(until_ns);
        }
    }

    fn wish(&self, wish: u32) {
        self.header.wish.store(wish, Ordering::Release);
        self.header.device_event.set();
    }

    /// Lays out and touches both rings, unless they are there from the point before.
    fn lay_out(&mut self, ring_bytes: u64) -> Result<Arc<RingMemory>, LinkError> {
        let place = Places::samples(ring_bytes);
        if let Some(memory) = self.memory.as_ref().filter(|m| m.samples() == place) {
            return Ok(Arc::clone(memory));
        }
        // Before the larger ones are laid out, the others are given back.
        self.memory = None;
        let memory = self.body.rings(ring_bytes)?;
        self.memory = Some(Arc::clone(&memory));
        Ok(memory)
    }

    /// Nothing came for a while: is the device still at it?
    fn look(&mut self) -> Result<(), LinkError> {
        self.body.look()?;
        match self.header.state.load(Ordering::Acquire) {
            state::RUNNING => Ok(()),
            state::TOO_SLOW => {
                let said = "it could not finish a block in time for 2 s: moving the samples takes longer than \
                            their duration";
                let error = LinkError::new(LinkErrorKind::Io, MOVING, said);
                Err(error.hint(
                    "use a lower --rate, a larger --notify, or `virtual`, whose positions come from the clock",
                ))
            }
            other => {
                let said = format!("it stopped unexpectedly (state {other})");
                Err(LinkError::new(LinkErrorKind::Disconnected, MOVING, said))
            }
        }
    }
}

const MOVING: &str = "cannot wait for a block of the virtual device";

/// The device wrote what cannot be true.
fn rubbish(said: String) -> LinkError {
    LinkError::new(LinkErrorKind::Protocol, MOVING, said)
}

impl LoopDevice for VirtualDevice {
    fn detail(&self) -> LinkDetail {
        let mut settings = vec![("device".into(), self.body.what())];
        if let Some(priority) = self.asked.priority {
            let granted = self.header.granted.load(Ordering::Relaxed);
            let printed = match granted {
                0 => "normal: real-time priority was rejected".into(),
                above if above > priority.into() => format!("SCHED_FIFO {above}"),
                same => format!("SCHED_FIFO {same}, as the loop: a higher one was rejected"),
            };
            settings.push(("device priority".into(), printed));
        }
        LinkDetail { settings }
    }

    fn lend(&mut self, point: &LoopPoint) -> Result<Option<LentRings<'_>>, LinkError> {
        self.until_state("cannot allocate the rings of the virtual device", |is| {
            is == state::RESTING
        })?;
        self.lay_out(point.ring_bytes)?;
        Ok(self.memory.as_ref().map(|memory| {
            let samples = memory.samples();
            // SAFETY: the device rests until `start`, for which this is to be gone.
            let (input, output) =
                unsafe { (memory.input_mut(0, samples), memory.output_mut(0, samples)) };
            LentRings { input, output }
        }))
    }

    fn start(&mut self, point: &LoopPoint, copies: bool) -> Result<(), LinkError> {
        const DOING: &str = "cannot start the virtual device";
        self.ended = None;
        self.until_state(DOING, |is| is == state::RESTING)?;
        let memory = self.lay_out(point.ring_bytes)?;
        self.body.lend(&memory);
        // SAFETY: the device rests.
        unsafe { memory.output_mut(0, memory.samples()) }.fill(0);
        self.header.put_point(point, copies);
        let begun = Clock::start();
        self.wish(wish::PLAY);
        let answered = self.until_state(DOING, |is| is != state::RESTING)?;
        if answered != state::RUNNING && answered != state::TOO_SLOW {
            let code = self.header.error.load(Ordering::Relaxed);
            let error = io::Error::from_raw_os_error(code as i32);
            return Err(
                LinkError::from_io(format!("{DOING}: laying out its rings"), &error)
                    .hint("use a smaller --ring"),
            );
        }
        let zero_ns = self.header.zero_ns.load(Ordering::Relaxed);
        let now_ns = Clock::start().zero_ns();
        if !(begun.zero_ns()..=now_ns).contains(&zero_ns) {
            return Err(rubbish(format!(
                "it reports a start at {zero_ns} ns of the monotonic clock; the requested start is {} ns, and \
                 the time is {now_ns} ns",
                begun.zero_ns()
            )));
        }
        self.running = Some(Running {
            clock: Clock::from(zero_ns),
            place: Places::of(point),
            next: 0,
        });
        Ok(())
    }

    fn wait(&mut self, how: LoopWait, halt: &AtomicBool) -> Result<Option<Arrived>, LinkError> {
        let running = running(&mut self.running);
        let (clock, next) = (running.clock, running.next);
        let due_ns = running.place.due_ns(next);
        let spins_ns = match how {
            LoopWait::Sleep => u64::MAX,
            LoopWait::Spin => 0,
            LoopWait::Hybrid { margin_ns } => due_ns.saturating_sub(margin_ns),
        };
        let mut look_ns = None;
        // Block 0 is in at the second tick, the first one after the begin.
        while self.header.positions.look().ticks(next + 2) < next + 2 {
            if halt.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let now_ns = clock.now();
            if now_ns > *look_ns.get_or_insert(now_ns + LOOK_NS) {
                self.look()?;
                look_ns = None;
            } else if now_ns >= spins_ns {
                std::hint::spin_loop();
            } else {
                self.header.host_event.clear();
                if self.header.positions.look().ticks(next + 2) < next + 2 {
                    let until_ns = spins_ns.min(now_ns + LOOK_NS);
                    self.header
                        .host_event
                        .wait_until(clock.zero_ns() + until_ns);
                }
            }
        }
        let seen_ns = clock.now();
        if seen_ns < due_ns {
            return Err(rubbish(format!(
                "it delivered block {next} {} ns before it could be complete",
                due_ns - seen_ns
            )));
        }
        Ok((!halt.load(Ordering::Relaxed)).then_some(Arrived { due_ns, seen_ns }))
    }

    fn block(&mut self) -> (&[i16], &mut [i16]) {
        let running = running(&mut self.running);
        let (place, next) = (running.place, running.next);
        let memory = self.memory.as_ref().expect("laid out before the start");
        let (from, to) = (place.input(next), place.output(next));
        // SAFETY: the device writes here again only after this block was handed over, and reads the
        // output only after that. The two rings do not overlap. A device in another process that
        // does not keep to it makes wrong samples, and no others.
        unsafe {
            (
                memory.input(from, place.block),
                memory.output_mut(to, place.block),
            )
        }
    }

    fn submit(&mut self) -> Result<Submitted, LinkError> {
        let running = running(&mut self.running);
        let (place, block) = (running.place, running.next);
        let was = self.header.positions.hand_over(block);
        let done_ns = running.clock.now();
        running.next += 1;
        if !was.is_handed(block) {
            return Err(rubbish(format!(
                "the number of delivered blocks no longer matches the {block} of the host"
            )));
        }
        // The tick of the same number has happened, or it has not: the device saw the same.
        let ticks = was.ticks(block + 2);
        let over = ticks > block + place.ring_blocks();
        let under = ticks > block + place.preload_blocks();
        let xrun = Xrun::of(over, under);
        Ok(Submitted { done_ns, xrun })
    }

    fn settled(&mut self) {
        let account = &self.header.account;
        account.late_ns.store(0, Ordering::Relaxed);
        account.late_times.store(0, Ordering::Relaxed);
    }

    fn stop(&mut self) -> DeviceEnd {
        self.wish(wish::REST);
        let rests = self.until_state("cannot stop the virtual device", |is| is == state::RESTING);
        let Some(running) = self.running.take() else {
            return DeviceEnd::default();
        };
        let (place, next) = (running.place, running.next);
        let elapsed_ns = running.clock.now();
        let most = place.begun_by(elapsed_ns);
        let ticks = self.header.positions.look().ticks(most).min(most);
        // What a dead process has left half-way is not looked at.
        self.ended = rests.ok().map(|_| (next, ticks.max(next)));
        let mut end = self.header.account.end(ticks, elapsed_ns);
        // The device went on until it was stopped. What it missed then are blocks that the loop did not want
        // to hand over any more: each of them, and no other.
        let unwanted = |distance: u64| ticks.saturating_sub(next + distance);
        end.underruns -= unwanted(place.preload_blocks()).min(end.underruns);
        end.overruns -= unwanted(place.ring_blocks()).min(end.overruns);
        end.stalls.retain(|stall| match stall.xrun {
            Xrun::Overrun => stall.at_ns < place.overwritten_ns(next),
            _ => stall.at_ns < place.played_ns(next),
        });
        end
    }

    fn rings(&self) -> Option<Rings<'_>> {
        let ((blocks, begun), memory) = (self.ended?, self.memory.as_ref()?);
        let samples = memory.samples();
        // SAFETY: the device rests.
        let (input, output) = unsafe { (memory.input(0, samples), memory.output(0, samples)) };
        Some(Rings {
            input,
            output,
            blocks,
            begun,
        })
    }
}

fn running(running: &mut Option<Running>) -> &mut Running {
    running
        .as_mut()
        .expect("the engine starts the device before it waits for a block")
}

#[cfg(test)]
mod tests;
