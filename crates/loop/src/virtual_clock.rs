//! A digitizer and a generator that exist in the clock only: where each of them is in its ring is
//! computed from the time, so the device takes no processor from the host. What real ones do by DMA
//! (a block's number in its first sample frames as it comes in, a look at them as it is played) costs
//! the loop two touches of memory a block.

use super::device::{Arrived, DeviceEnd, LentRings, LoopDevice, Rings, STALLS_KEPT, Submitted};
use super::pages::Pages;
use super::virtual_device::places::{Places, has_number, noise, write_number};
use super::waiting::wait_until;
use std::sync::atomic::AtomicBool;
use wiregauge_link::LinkError;
use wiregauge_link::host::{Clock, Time};
use wiregauge_record::{LinkDetail, LoopPoint, LoopWait, Stall, Xrun};

/// The device. Between `start` and `stop` it runs.
pub struct VirtualClock<T = Clock> {
    /// A clock that begins now.
    start_clock: fn() -> T,
    input: Pages,
    output: Pages,
    running: Option<Running<T>>,
    /// Blocks handed over, kept beyond `stop`.
    blocks: u64,
}

impl Default for VirtualClock {
    fn default() -> VirtualClock {
        VirtualClock::on(Clock::start)
    }
}

impl<T> VirtualClock<T> {
    fn on(start_clock: fn() -> T) -> VirtualClock<T> {
        VirtualClock {
            start_clock,
            input: Pages::default(),
            output: Pages::default(),
            running: None,
            blocks: 0,
        }
    }
}

struct Running<T> {
    /// Reads zero when the first sample comes in.
    clock: T,
    place: Places,
    copies: bool,
    /// The next block to be waited for, and the next to be played.
    next: u64,
    playing: u64,
    end: DeviceEnd,
}

impl<T> Running<T> {
    /// Looks at what was played until now: each block in its place?
    fn look(&mut self, output: &[i16], now_ns: u64) {
        while self.copies && self.playing < self.next {
            if self.place.played_ns(self.playing) > now_ns {
                return;
            }
            let at = self.place.output(self.playing);
            let found = &output[at..at + self.place.block];
            self.end.checked += 1;
            self.end.wrong += u64::from(!has_number(self.playing, found));
            self.playing += 1;
        }
    }

    fn note(&mut self, xrun: Xrun, at_ns: u64, late_ns: u64) {
        self.end.overruns += u64::from(xrun.is_over());
        self.end.underruns += u64::from(xrun.is_under());
        if xrun != Xrun::None && self.end.stalls.len() < STALLS_KEPT {
            self.end.stalls.push(Stall {
                xrun,
                at_ns,
                late_ns,
            });
        }
    }
}

impl<T: Time + Send> LoopDevice for VirtualClock<T> {
    fn detail(&self) -> LinkDetail {
        LinkDetail {
            settings: vec![(
                "device".into(),
                "virtual: positions derived from the clock".into(),
            )],
        }
    }

    fn lend(&mut self, point: &LoopPoint) -> Result<Option<LentRings<'_>>, LinkError> {
        let samples = Places::of(point).ring;
        for ring in [&mut self.input, &mut self.output] {
            ring.lay_out(samples);
            // Touched: pages come when they are written.
            ring.fill(0);
        }
        Ok(Some(LentRings {
            input: &mut self.input,
            output: &mut self.output,
        }))
    }

    fn start(&mut self, point: &LoopPoint, copies: bool) -> Result<(), LinkError> {
        let place = Places::of(point);
        self.input.lay_out(place.ring);
        noise(&mut self.input);
        self.output.lay_out(place.ring);
        self.output.fill(0);
        self.blocks = 0;
        let end = DeviceEnd {
            stalls: Vec::with_capacity(STALLS_KEPT),
            ..DeviceEnd::default()
        };
        self.running = Some(Running {
            clock: (self.start_clock)(),
            place,
            copies,
            next: 0,
            playing: 0,
            end,
        });
        Ok(())
    }

    fn wait(&mut self, how: LoopWait, halt: &AtomicBool) -> Result<Option<Arrived>, LinkError> {
        let running = running(&mut self.running);
        let now_ns = running.clock.now();
        running.look(&self.output, now_ns);
        let due_ns = running.place.due_ns(running.next);
        let Some(seen_ns) = wait_until(&running.clock, how, due_ns, halt) else {
            return Ok(None);
        };
        let at = running.place.input(running.next);
        let block = &mut self.input[at..at + running.place.block];
        write_number(running.next, block);
        Ok(Some(Arrived { due_ns, seen_ns }))
    }

    fn block(&mut self) -> (&[i16], &mut [i16]) {
        let running = running(&mut self.running);
        let (place, next) = (running.place, running.next);
        let (from, to) = (place.input(next), place.output(next));
        (
            &self.input[from..from + place.block],
            &mut self.output[to..to + place.block],
        )
    }

    fn submit(&mut self) -> Result<Submitted, LinkError> {
        let running = running(&mut self.running);
        let done_ns = running.clock.now();
        let played_ns = running.place.played_ns(running.next);
        let overwritten_ns = running.place.overwritten_ns(running.next);
        let xrun = Xrun::of(done_ns > overwritten_ns, done_ns > played_ns);
        let deadline_ns = match xrun {
            Xrun::Overrun => overwritten_ns,
            _ => played_ns,
        };
        running.note(xrun, deadline_ns, done_ns.saturating_sub(deadline_ns));
        running.next += 1;
        Ok(Submitted { done_ns, xrun })
    }

    fn stop(&mut self) -> DeviceEnd {
        let Some(mut running) = self.running.take() else {
            return DeviceEnd::default();
        };
        let now_ns = running.clock.now();
        running.look(&self.output, now_ns);
        self.blocks = running.next;
        running.end
    }

    fn rings(&self) -> Option<Rings<'_>> {
        self.running.is_none().then_some(Rings {
            input: &self.input,
            output: &self.output,
            blocks: self.blocks,
            begun: self.blocks,
        })
    }
}

fn running<T>(running: &mut Option<Running<T>>) -> &mut Running<T> {
    running
        .as_mut()
        .expect("the engine starts the device before it waits for a block")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_link::host::TestClock;
    use wiregauge_record::{Aim, LoopPath};

    /// What a look at the clock takes.
    const LOOK_NS: u64 = 1_000;

    fn point(preload_bytes: u64) -> LoopPoint {
        LoopPoint {
            index: 0,
            rate_hz: 1_000_000,
            channels: 2,
            notify_bytes: 4_000,
            ring_bytes: 800_000,
            preload_bytes,
            aim: Aim::Hold,
            path: LoopPath::Cpu,
        }
    }

    /// Copies so many blocks but those that are left out, resting a while (in ms) before one of them.
    fn copied(
        point: &LoopPoint,
        blocks: u64,
        rest: Option<(u64, u64)>,
        left_out: Option<u64>,
    ) -> DeviceEnd {
        let mut device = VirtualClock::on(|| TestClock::with_reads_of(LOOK_NS));
        let halt = AtomicBool::new(false);
        device.start(point, true).expect("starts");
        for k in 0..blocks {
            let arrived = device.wait(LoopWait::Sleep, &halt).expect("waits");
            let arrived = arrived.expect("nobody halts it");
            assert!(arrived.seen_ns >= arrived.due_ns);
            assert_eq!(arrived.due_ns, (k + 1) * 1_000_000);
            if let Some((_, ms)) = rest.filter(|&(at, _)| at == k) {
                let clock = &running(&mut device.running).clock;
                clock.sleep_until(clock.now() + ms * 1_000_000);
            }
            let (input, output) = device.block();
            if left_out != Some(k) {
                output.copy_from_slice(input);
            }
            device.submit().expect("submits");
        }
        device.stop()
    }

    #[test]
    fn a_preload_holds_and_each_block_leaves_where_the_preload_says() {
        let end = copied(&point(200_000), 80, None, None);
        assert_eq!((end.overruns, end.underruns, end.wrong), (0, 0, 0));
        // The first is played at 50 ms, the 31st at 80 ms, when the last has come in.
        assert_eq!(end.checked, 31);
    }

    #[test]
    fn a_rest_longer_than_the_preload_starves_the_output_and_longer_than_the_ring_loses_input() {
        let end = copied(&point(40_000), 60, Some((20, 50)), None);
        // Block 20 is played at 30 ms and leaves at 71 ms, as do those that came in meanwhile: all from then on are late.
        assert_eq!((end.overruns, end.wrong), (0, 0), "{end:?}");
        let first = Stall {
            xrun: Xrun::Underrun,
            at_ns: 30_000_000,
            late_ns: 41_003_000,
        };
        assert_eq!(end.stalls[0], first);
        assert_eq!(end.underruns, 40);
        let end = copied(&point(40_000), 30, Some((20, 400)), None);
        assert!(end.overruns >= 1, "{end:?}");
        let holds = end.stalls.iter().any(|stall| stall.xrun == Xrun::Both);
        assert!(holds, "{end:?}");
    }

    #[test]
    fn a_block_that_leaves_elsewhere_is_seen() {
        assert_eq!(copied(&point(20_000), 40, None, Some(7)).wrong, 1);
    }

    #[test]
    fn a_raised_flag_ends_the_wait() {
        let (mut device, halt) = (VirtualClock::default(), AtomicBool::new(true));
        device.start(&point(20_000), true).expect("starts");
        for how in [LoopWait::Sleep, LoopWait::Spin] {
            assert_eq!(device.wait(how, &halt).expect("waits"), None);
        }
    }
}
