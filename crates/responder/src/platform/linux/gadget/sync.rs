//! The same without queues: one transfer at a time, with read and write, so that the controller
//! waits for the program after each. Slow on purpose, to show what it costs.

use super::answers::Answers;
use super::functionfs::Pair;
use super::pair::{Ended, feed, is_departure, out_bytes};
use super::queue::Queue;
use crate::device::{Device, DeviceConfig};
use rustix::io::{Errno, read, write};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wiregauge_link::host::Clock;

/// How long a wait lasts at most before the stop flag is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// How often a device that sends a stream looks for requests.
const SOURCE_LOOK_NS: u64 = 500_000;

/// Talks with a host until it leaves.
pub fn converse(
    pair: &Pair,
    packet: usize,
    config: &DeviceConfig,
    clock: Clock,
    stop: &AtomicBool,
) -> io::Result<Ended> {
    match run(pair, packet, config, clock, stop) {
        Err(error) if is_departure(&error) => Ok(Ended::HostLeft),
        other => other,
    }
}

fn run(
    pair: &Pair,
    packet: usize,
    config: &DeviceConfig,
    clock: Clock,
    stop: &AtomicBool,
) -> io::Result<Ended> {
    let mut device = Device::new(config.clone(), clock);
    let mut answers = Answers::new(packet, config.protocol);
    let (mut kept, mut transfer) = (Vec::new(), Vec::new());
    let mut buffer = Vec::new();
    let mut reads = Reads {
        pair,
        waiting: None,
    };
    let mut looked_ns = 0;
    while !stop.load(Ordering::Relaxed) {
        let now = clock.now();
        transfer.clear();
        let sends = answers.next(&mut device, now, &mut transfer);
        if sends {
            again(|| write(&pair.in_, &transfer))?;
            let streams = device.source_bytes().is_some() && now - looked_ns < SOURCE_LOOK_NS;
            if streams || answers.waiting() > 0 || answers.owes_end() {
                continue;
            }
            looked_ns = now;
        } else if device.is_gone() && answers.waiting() == 0 {
            return Ok(Ended::DeviceLeft);
        }
        // A model that computes or is behind: it hears nothing meanwhile.
        let busy_until = device
            .next_due_ns()
            .unwrap_or(0)
            .max(device.full_until_ns());
        if busy_until > now {
            clock.sleep_until(busy_until.min(now + LOOK.as_nanos() as u64));
            continue;
        }
        if !kept.is_empty() && device.has_room(answers.waiting()) {
            let used = device.take_stream(&kept, now, answers.ready());
            kept.drain(..used);
            // The host may have sent all that it has, and wait for the answer.
            let takes_more = !kept.is_empty() && device.takes_more_ns().is_some();
            if answers.waiting() > 0 || takes_more {
                continue;
            }
        }
        buffer.resize(out_bytes(&device, packet), 0);
        let received = if device.source_bytes().is_some() {
            let due = answers
                .next_due_ns(&device)
                .map_or(0, |due| due.saturating_sub(now));
            let at_most = if sends { 0 } else { due };
            reads.within(Duration::from_nanos(at_most).min(LOOK), &mut buffer)?
        } else {
            reads.next(&mut buffer)?
        };
        if let Some(received) = received {
            let now = clock.now();
            feed(
                &mut device,
                &buffer[..received],
                &mut kept,
                now,
                answers.ready(),
            );
        }
    }
    Ok(Ended::Stopped)
}

/// OUT transfers, one at a time.
struct Reads<'a> {
    pair: &'a Pair,
    /// A read that a stream's sender does not wait for; read(2) cannot be left waiting.
    waiting: Option<Queue>,
}

impl Reads<'_> {
    fn next(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if self
            .waiting
            .as_ref()
            .is_some_and(|queue| !queue.out_has_room())
        {
            return self.within(LOOK, buffer);
        }
        Ok(Some(again(|| read(&self.pair.out, &mut *buffer))?))
    }

    fn within(&mut self, at_most: Duration, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let queue = match &mut self.waiting {
            Some(queue) => queue,
            none => {
                let (in_, out) = (self.pair.in_.try_clone()?, self.pair.out.try_clone()?);
                none.insert(Queue::new(in_, out, 1)?)
            }
        };
        if queue.out_has_room() {
            queue.stage_out(buffer.len());
            queue.submit()?;
        }
        queue.wait(Some(at_most))?;
        let Some(done) = queue.out_done() else {
            return Ok(None);
        };
        let bytes = done?;
        let length = bytes.len().min(buffer.len());
        buffer[..length].copy_from_slice(&bytes[..length]);
        queue.retire_out();
        Ok(Some(length))
    }
}

fn again(mut call: impl FnMut() -> rustix::io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
}
