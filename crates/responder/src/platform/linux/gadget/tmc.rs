//! The USBTMC function at work: its bulk endpoints on one thread, its class requests on that of endpoint 0.

use super::answers::PIECE;
use super::functionfs::{FunctionFs, Setup};
use super::pair::{Ended, is_departure};
use super::queue::Queue;
use crate::device::DeviceConfig;
use crate::usbtmc::{ClassRequest, Doing, TmcDevice, Wish};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wiregauge_link::host::Clock;
use wiregauge_record::Protocol;

/// How long is waited until class requests are looked at again.
const LOOK: Duration = Duration::from_millis(10);

/// bmRequestType: the kind of a request, and class requests.
const KIND: u8 = 0x60;
const CLASS: u8 = 0x20;

/// What the two threads tell each other.
#[derive(Default)]
pub struct Shared {
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    doing: Doing,
    wish: Option<Wish>,
}

impl Shared {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a class request; false if it is none, or not known.
    pub fn carry(
        &self,
        functions: &FunctionFs,
        setup: Setup,
        protocol: Protocol,
    ) -> io::Result<bool> {
        if setup.kind & KIND != CLASS {
            return Ok(false);
        }
        let request = ClassRequest {
            kind: setup.kind,
            request: setup.request,
            value: setup.value,
        };
        let answer = {
            let mut told = self.told();
            let Some((answer, wish)) = request.answer(protocol, told.doing) else {
                return Ok(false);
            };
            if let Some(wish) = wish {
                told.wish = Some(wish);
                told.doing.busy = true;
            }
            answer
        };
        let most = answer.len().min(usize::from(setup.length));
        functions.send(&answer[..most])?;
        Ok(true)
    }

    /// Tells what the endpoints do; returns what is wanted of them.
    fn tell(&self, doing: Doing) -> Option<Wish> {
        let mut told = self.told();
        let wish = told.wish.take();
        told.doing = Doing {
            busy: wish.is_some(),
            ..doing
        };
        wish
    }
}

/// A reply on its way.
#[derive(Default)]
struct Leaving {
    tag: Option<u8>,
    transfer: Vec<u8>,
    staged: usize,
    /// It fills its last packet, so that an empty one must follow.
    owes_end: bool,
}

/// Talks with a host until it leaves.
pub fn converse(
    mut queue: Queue,
    packet: usize,
    (config, clock): (&DeviceConfig, Clock),
    shared: &Shared,
    stop: &AtomicBool,
) -> io::Result<Ended> {
    let mut device = TmcDevice::new(config, clock, packet);
    let ended = run(&mut queue, packet, &mut device, clock, shared, stop);
    queue.cancel();
    match ended {
        Err(error) if is_departure(&error) => Ok(Ended::HostLeft),
        other => other,
    }
}

fn run(
    queue: &mut Queue,
    packet: usize,
    device: &mut TmcDevice,
    clock: Clock,
    shared: &Shared,
    stop: &AtomicBool,
) -> io::Result<Ended> {
    let mut leaving = Leaving::default();
    while !stop.load(Ordering::Relaxed) {
        while let Some(wish) = shared.tell(device.doing(leaving.tag)) {
            device.grant(wish);
            if wish != Wish::AbortOut {
                take_back_in(queue)?;
                leaving = Leaving::default();
            }
            if wish == Wish::AbortIn {
                queue.stage_in(|_| true);
                queue.submit()?;
            }
        }
        while let Some(done) = queue.out_done() {
            let taken = device.take(done?, clock.now());
            queue.retire_out();
            // What is no transfer of USBTMC is skipped; a real instrument would stall.
            if taken == Ok(true) && !queue.in_idle() {
                take_back_in(queue)?;
                leaving = Leaving::default();
            }
        }
        // One at a time: how much the next may hold is in the header of this one.
        if queue.out_under_way() == 0 {
            queue.stage_out(device.wanted(PIECE));
        }
        leave(queue, packet, device, clock.now(), &mut leaving);
        queue.submit()?;
        if device.is_gone() && leaving.tag.is_none() && queue.in_idle() {
            return Ok(Ended::DeviceLeft);
        }
        let due = device.next_due_ns();
        let due = due.map_or(LOOK, |at| {
            Duration::from_nanos(at.saturating_sub(clock.now()))
        });
        queue.wait(Some(due.min(LOOK)))?;
        queue.retire_in()?;
        if queue.in_idle() && leaving.staged == leaving.transfer.len() && !leaving.owes_end {
            leaving.tag = None;
        }
    }
    Ok(Ended::Stopped)
}

/// Stages what there is room for of the reply.
fn leave(
    queue: &mut Queue,
    packet: usize,
    device: &mut TmcDevice,
    now_ns: u64,
    leaving: &mut Leaving,
) {
    if leaving.tag.is_none() {
        let tag = device.asked();
        leaving.transfer.clear();
        leaving.staged = 0;
        if !device.next(now_ns, &mut leaving.transfer) {
            return;
        }
        leaving.tag = tag;
        leaving.owes_end = leaving.transfer.len().is_multiple_of(packet);
    }
    while queue.in_has_room() {
        let rest = &leaving.transfer[leaving.staged..];
        if rest.is_empty() && !std::mem::take(&mut leaving.owes_end) {
            break;
        }
        let piece = &rest[..rest.len().min(PIECE)];
        queue.stage_in(|to| {
            to.extend_from_slice(piece);
            true
        });
        leaving.staged += piece.len();
    }
}

/// Takes back what is on its way to the host.
fn take_back_in(queue: &mut Queue) -> io::Result<()> {
    queue.cancel_in();
    while !queue.in_idle() {
        queue.wait(Some(LOOK))?;
        while let Err(error) = queue.retire_in() {
            // Given back on demand.
            if error.raw_os_error() != Some(libc::ECONNRESET) {
                return Err(error);
            }
        }
    }
    Ok(())
}
