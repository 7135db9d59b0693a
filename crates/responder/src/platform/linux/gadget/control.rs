//! Endpoint 0 as a link: the bytes of one responder, sent and fetched by vendor requests (docs/protocol.md, "USB
//! control").

use super::functionfs::{FunctionFs, Setup};
use super::pair::feed;
use crate::device::{Device, DeviceConfig};
use std::io;
use wiregauge_link::host::Clock;
use wiregauge_wire::{CONTROL_FETCH, CONTROL_PIECE, CONTROL_SEND};

/// bmRequestType of vendor requests: to and from the device, and its interfaces.
const VENDOR_OUT: [u8; 2] = [0x40, 0x41];
const VENDOR_IN: [u8; 2] = [0xc0, 0xc1];

/// How long a fetch waits for an answer. A host aborts a control transfer after a second or more.
const HOLD_NS: u64 = 100_000_000;

/// The responder behind endpoint 0.
pub struct ControlDevice {
    config: DeviceConfig,
    clock: Clock,
    device: Device,
    /// The beginning of a request whose rest has not come.
    kept: Vec<u8>,
    /// Answers; those before `sent` are gone.
    ready: Vec<u8>,
    sent: usize,
    buffer: Vec<u8>,
}

impl ControlDevice {
    /// A responder at rest.
    pub fn new(config: &DeviceConfig, clock: Clock) -> ControlDevice {
        ControlDevice {
            config: config.clone(),
            clock,
            device: Device::new(config.clone(), clock),
            kept: Vec::new(),
            ready: Vec::new(),
            sent: 0,
            buffer: vec![0; CONTROL_PIECE],
        }
    }

    /// A host configured the device anew.
    pub fn reset(&mut self) {
        *self = ControlDevice::new(&self.config, self.clock);
    }

    /// True if the device is to be gone for good.
    pub fn is_gone(&self) -> bool {
        self.device.is_gone() && self.sent == self.ready.len()
    }

    /// Carries a request out; false if it is none of these.
    pub fn carry(&mut self, functions: &FunctionFs, setup: Setup) -> io::Result<bool> {
        match (setup.kind, setup.request) {
            (kind, CONTROL_SEND) if VENDOR_OUT.contains(&kind) => {
                let most = usize::from(setup.length).min(self.buffer.len());
                let mut buffer = std::mem::take(&mut self.buffer);
                let received = functions.receive(&mut buffer[..most]);
                if let Ok(received) = received {
                    let now = self.clock.now();
                    feed(
                        &mut self.device,
                        &buffer[..received],
                        &mut self.kept,
                        now,
                        &mut self.ready,
                    );
                }
                self.buffer = buffer;
                received.map(|_| true)
            }
            (kind, CONTROL_FETCH) if VENDOR_IN.contains(&kind) => {
                self.wait_for_answer();
                let most = usize::from(setup.length).min(CONTROL_PIECE);
                let end = self.ready.len().min(self.sent + most);
                functions.send(&self.ready[self.sent..end])?;
                self.sent = end;
                if self.sent == self.ready.len() {
                    self.ready.clear();
                    self.sent = 0;
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// What the device has to say now, or as soon as it is due.
    fn wait_for_answer(&mut self) {
        let begun = self.clock.now();
        while self.sent == self.ready.len() {
            let now = self.clock.now();
            if !self.kept.is_empty() && self.device.has_room(0) {
                let used = self.device.take_stream(&self.kept, now, &mut self.ready);
                self.kept.drain(..used);
            }
            if let Some(answer) = self.device.pop_due(now) {
                self.ready.extend_from_slice(&answer);
                continue;
            }
            match self.device.next_due_ns() {
                Some(due) if self.sent == self.ready.len() && now < begun + HOLD_NS => {
                    self.clock.sleep_until(due.min(begun + HOLD_NS));
                }
                _ => break,
            }
        }
    }
}
