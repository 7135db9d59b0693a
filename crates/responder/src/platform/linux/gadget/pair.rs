//! One vendor interface at work: a device behind an IN and an OUT endpoint, with transfers queued at
//! both.
//!
//! **The size of OUT transfers.** A queued transfer ends when it is full or when a packet comes that
//! is not. So one that is larger than what the host sends at once would not end where the host's
//! transfer does, if that is a multiple of the packet size. Between streams this does no harm: the
//! host ends such requests with a packet of length zero. In a SINK stream there are no such packets,
//! and each OUT transfer is made as large as the host's, rounded up to packets.
//!
//! So the transfers queued must be made again when a stream begins, and no byte may be lost by it:
//! a transfer that is given back after it has received some packets but not its last loses them. The
//! order is therefore: take the START request; ask for all OUT transfers back, the newest first; wait
//! until the kernel has reported every one; take those in their turn that were done nevertheless;
//! queue new ones of the right size; and only then hand over the answer to START. The host sends no
//! byte of the stream before it has that answer. What it may have sent besides are requests, which it
//! need not hold back; one of at most a packet (another START, a HELLO) arrives whole or not at all.
//! After END it is done the same way.

use super::answers::{Answers, PIECE};
use super::queue::Queue;
use crate::device::{Device, DeviceConfig};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wiregauge_link::host::Clock;

/// Bytes of an OUT transfer while no stream says otherwise.
const OUT_BYTES: usize = 16 << 10;

/// How long is waited where nothing is under way that would end a wait.
const LOOK: Duration = Duration::from_millis(100);

/// How a conversation with a host ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The host is gone or has reset the device; it may come again.
    HostLeft,
    /// The device is to be gone for good (`--disconnect-after`).
    DeviceLeft,
    /// It was asked to stop.
    Stopped,
}

/// The size of an OUT transfer: that of the host's, if a stream is on.
pub fn out_bytes(device: &Device, packet: usize) -> usize {
    let wanted = device.sink_bytes().unwrap_or(OUT_BYTES).clamp(1, PIECE);
    wanted.next_multiple_of(packet)
}

/// Hands received bytes to the device, and keeps what it could not use yet.
pub fn feed(
    device: &mut Device,
    bytes: &[u8],
    kept: &mut Vec<u8>,
    now_ns: u64,
    ready: &mut Vec<u8>,
) {
    if kept.is_empty() {
        let used = device.take_stream(bytes, now_ns, ready);
        kept.extend_from_slice(&bytes[used..]);
    } else {
        kept.extend_from_slice(bytes);
        let used = device.take_stream(kept, now_ns, ready);
        kept.drain(..used);
    }
}

/// Errors that mean that there is no host now: the endpoint is disabled, its controller gone, or the
/// wait for a host would begin.
pub fn is_departure(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::ESHUTDOWN | libc::EAGAIN | libc::ENODEV | libc::EPIPE | libc::ENOTCONN)
    )
}

/// Talks with a host until it leaves.
pub fn converse(
    mut queue: Queue,
    packet: usize,
    config: &DeviceConfig,
    clock: Clock,
    stop: &AtomicBool,
) -> io::Result<Ended> {
    let mut conversation = Conversation {
        device: Device::new(config.clone(), clock),
        answers: Answers::new(packet, config.protocol),
        kept: Vec::with_capacity(PIECE),
        packet,
        out_bytes: 0,
        clock,
    };
    let ended = conversation.run(&mut queue, stop);
    // Nothing of this host's may be left for the next one.
    queue.cancel();
    match ended {
        Err(error) if is_departure(&error) => Ok(Ended::HostLeft),
        other => other,
    }
}

struct Conversation {
    device: Device,
    answers: Answers,
    /// The beginning of a request whose rest has not come.
    kept: Vec<u8>,
    packet: usize,
    out_bytes: usize,
    clock: Clock,
}

impl Conversation {
    fn run(&mut self, queue: &mut Queue, stop: &AtomicBool) -> io::Result<Ended> {
        self.out_bytes = out_bytes(&self.device, self.packet);
        while !stop.load(Ordering::Relaxed) {
            let remade = self.take_all(queue)?;
            let now = self.clock.now();
            let mut sent_all = false;
            while queue.in_has_room() && !sent_all {
                let (answers, device) = (&mut self.answers, &mut self.device);
                sent_all = !queue.stage_in(|to| answers.next(device, now, to));
            }
            let has_room = self.device.has_room(self.answers.waiting());
            while has_room && queue.out_has_room() {
                queue.stage_out(self.out_bytes);
            }
            if remade {
                queue.submit_out_first()?;
            } else {
                queue.submit()?;
            }
            if self.device.is_gone() && self.answers.waiting() == 0 && queue.in_idle() {
                return Ok(Ended::DeviceLeft);
            }
            queue.wait(self.timeout(queue))?;
            queue.retire_in()?;
        }
        Ok(Ended::Stopped)
    }

    /// Takes the OUT transfers that are done, as long as the device holds not too much. True if
    /// those under way were given back for others of another size.
    fn take_all(&mut self, queue: &mut Queue) -> io::Result<bool> {
        let mut remade = false;
        loop {
            let now = self.clock.now();
            if !self.kept.is_empty() && self.takes(now) {
                let ready = self.answers.ready();
                let used = self.device.take_stream(&self.kept, now, ready);
                self.kept.drain(..used);
            }
            while self.takes(now)
                && let Some(done) = queue.out_done()
            {
                match done {
                    Ok(bytes) => {
                        let ready = self.answers.ready();
                        feed(&mut self.device, bytes, &mut self.kept, now, ready);
                    }
                    // Given back on demand: it was empty.
                    Err(error) if error.raw_os_error() == Some(libc::ECONNRESET) => {}
                    Err(error) => return Err(error),
                }
                queue.retire_out();
            }
            let wanted = out_bytes(&self.device, self.packet);
            if wanted == self.out_bytes {
                return Ok(remade);
            }
            self.out_bytes = wanted;
            remade = true;
            queue.cancel_out();
            while queue.out_under_way() > 0 {
                queue.wait(None)?;
            }
        }
    }

    /// True if the device takes more now: it holds not too many answers, and its model is not
    /// behind.
    fn takes(&self, now_ns: u64) -> bool {
        self.device.has_room(self.answers.waiting()) && self.device.full_until_ns() <= now_ns
    }

    /// How long may be waited for the next completion.
    fn timeout(&self, queue: &Queue) -> Option<Duration> {
        // What is due leaves only when there is room, which a completion makes.
        let due = self.answers.next_due_ns(&self.device);
        let due = due.filter(|_| queue.in_has_room());
        // What is kept may be half of an order, whose rest is a completion as well.
        let kept_at = self.device.takes_more_ns();
        let kept_at = kept_at.filter(|_| !self.kept.is_empty());
        let full_until = Some(self.device.full_until_ns()).filter(|at| *at > 0);
        let done_at = full_until.filter(|_| queue.out_done().is_some());
        let takes_at = kept_at.into_iter().chain(done_at);
        if let Some(at) = due.into_iter().chain(takes_at).min() {
            return Some(Duration::from_nanos(at.saturating_sub(self.clock.now())).min(LOOK));
        }
        // A transfer that is under way ends at the latest when the gadget is unplugged.
        (queue.under_way() == 0).then_some(LOOK)
    }
}
