//! Serves one peer over a byte stream until it leaves. What it holds is bounded: a peer that does not
//! take what is sent to it is not read from, and no data is made for it.

use super::device::{Device, DeviceConfig};
use super::streams::Pull;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wiregauge_link::Link;
use wiregauge_link::host::{self, Clock};

/// Bytes read at once.
const READ: usize = 64 << 10;

/// How long a wait lasts at most before the stop flag is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// How long it waits at first for a peer that takes nothing. Not as long as [`LOOK`]: a
/// pseudo-terminal does not always tell that there is room again.
const NUDGE: Duration = Duration::from_millis(1);

/// How long a device that holds as many answers as it may waits before it looks again.
const FULL: Duration = Duration::from_micros(200);

/// How often a source that could go on sending looks for requests.
const SOURCE_LOOK_NS: u64 = 500_000;

/// Serves one peer as a device of its own.
pub(super) fn serve_one(
    link: &mut dyn Link,
    config: &DeviceConfig,
    clock: Clock,
    stop: &AtomicBool,
) -> io::Result<()> {
    host::use_precise_timers();
    serve(link, &mut Device::new(config.clone(), clock), clock, stop)
}

/// Serves until the peer leaves, the device disconnects itself, or the stop flag is raised.
pub fn serve(
    link: &mut dyn Link,
    device: &mut Device,
    clock: Clock,
    stop: &AtomicBool,
) -> io::Result<()> {
    let mut input: Vec<u8> = Vec::with_capacity(READ);
    let mut ready: Vec<u8> = Vec::new();
    let mut sent = 0;
    let mut buffer = vec![0; READ];
    let mut looked_ns = 0;
    let mut nudge = NUDGE;
    while !stop.load(Ordering::Relaxed) {
        if device.next_due_ns().is_some() {
            let now = clock.now();
            while let Some(answer) = device.pop_due(now) {
                ready.extend_from_slice(&answer);
            }
        }
        // One transfer of a source is one write, and it is made when the one before is written.
        let mut source_due = None;
        if let (true, Some(room)) = (ready.is_empty(), device.source_bytes()) {
            let now = clock.now();
            if let Pull::NextAt(at) = device.pull(now, room, &mut ready) {
                source_due = Some(at);
            }
        }
        if sent < ready.len() {
            let taken = link.send(&ready[sent..])?;
            sent += taken;
            nudge = match taken {
                0 => (2 * nudge).min(LOOK),
                _ => NUDGE,
            };
        }
        if sent == ready.len() {
            // What was left of a transfer has gone: the next one may be due at once.
            let go_on = !ready.is_empty() && source_due.is_none();
            ready.clear();
            sent = 0;
            if device.is_gone() {
                return Ok(());
            }
            if go_on && device.source_bytes().is_some() {
                continue;
            }
            if let Some(at) = source_due {
                let now = clock.now();
                if at <= now && now - looked_ns < SOURCE_LOOK_NS {
                    continue;
                }
                looked_ns = now;
            }
        }
        if !input.is_empty() && device.has_room(ready.len()) {
            take(device, &mut input, clock.now(), &mut ready);
            if !ready.is_empty() {
                continue;
            }
        }
        let due = [
            device.next_due_ns(),
            source_due.filter(|_| ready.is_empty()),
        ];
        let due = due.into_iter().flatten().min();
        let received = if !device.has_room(ready.len()) {
            // Reading on would hold ever more: the peer must take its answers first.
            std::thread::sleep(FULL);
            0
        } else if let Some(left) = full_for(device, clock) {
            // A sink that is slower than its peer leaves the data where it is.
            let due = due.map_or(LOOK, |due| Duration::from_nanos(due - due.min(clock.now())));
            let most = if ready.is_empty() { LOOK } else { FULL };
            std::thread::sleep(left.min(due).min(most));
            0
        } else if device.full_until_ns() > 0 && input.len() >= READ {
            // It takes some again since it was asked: first what is here.
            0
        } else if due.is_none() && ready.is_empty() {
            link.receive_blocking(&mut buffer)?
        } else {
            let now = clock.now();
            let left = due.map_or(LOOK, |due| Duration::from_nanos(due.saturating_sub(now)));
            let most = if ready.is_empty() { LOOK } else { nudge };
            if !left.is_zero() {
                link.wait(!ready.is_empty(), left.min(most))?;
            }
            link.receive(&mut buffer)?
        };
        if received == 0 {
            continue;
        }
        let now = clock.now();
        if input.is_empty() {
            let used = device.take_stream(&buffer[..received], now, &mut ready);
            input.extend_from_slice(&buffer[used..received]);
        } else {
            input.extend_from_slice(&buffer[..received]);
            take(device, &mut input, now, &mut ready);
        }
    }
    Ok(())
}

/// How long the device takes no data, if it does not.
fn full_for(device: &Device, clock: Clock) -> Option<Duration> {
    match device.full_until_ns() {
        0 => None,
        until => until.checked_sub(clock.now()).filter(|left| *left > 0),
    }
    .map(Duration::from_nanos)
}

fn take(device: &mut Device, input: &mut Vec<u8>, now: u64, ready: &mut Vec<u8>) {
    let used = device.take_stream(input, now, ready);
    input.drain(..used);
}
