//! Serves one peer over a byte stream until it leaves.

use super::device::Device;
use crate::host::Clock;
use crate::link::Link;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Bytes read at once.
const READ: usize = 64 << 10;

/// How long a wait lasts at most before the stop flag is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// How long a device that holds as many answers as it may waits before it looks again.
const FULL: Duration = Duration::from_micros(200);

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
    while !stop.load(Ordering::Relaxed) {
        if device.next_due_ns().is_some() {
            let now = clock.now();
            while let Some(answer) = device.pop_due(now) {
                ready.extend_from_slice(&answer);
            }
        }
        if sent < ready.len() {
            sent += link.send(&ready[sent..])?;
        }
        if sent == ready.len() {
            ready.clear();
            sent = 0;
            if device.is_gone() {
                return Ok(());
            }
        }
        if !input.is_empty() && device.has_room(ready.len()) {
            take(device, &mut input, clock.now(), &mut ready);
            if !ready.is_empty() {
                continue;
            }
        }
        let due = device.next_due_ns();
        let received = if !device.has_room(ready.len()) {
            // Reading on would hold ever more: the peer must take its answers first.
            std::thread::sleep(FULL);
            0
        } else if due.is_none() && ready.is_empty() {
            link.receive_blocking(&mut buffer)?
        } else {
            let now = clock.now();
            let left = due.map_or(LOOK, |due| Duration::from_nanos(due.saturating_sub(now)));
            if !left.is_zero() {
                link.wait(!ready.is_empty(), left.min(LOOK))?;
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

fn take(device: &mut Device, input: &mut Vec<u8>, now: u64, ready: &mut Vec<u8>) {
    let used = device.take_stream(input, now, ready);
    input.drain(..used);
}
