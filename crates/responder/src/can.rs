//! Serves one peer on a CAN bus. On a virtual one, which has no bit rate, a modelled bus decides when requests
//! arrive and when responses are delivered.

use super::bus::{CanBus, Node};
use super::device::{Device, DeviceConfig, Trust};
use super::platform;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wiregauge_limits::CanRates;
use wiregauge_link::Link;
use wiregauge_link::host::Clock;
use wiregauge_record::CanOptions;

const LOOK: Duration = Duration::from_millis(100);

/// The largest message of ISO-TP.
const MESSAGE: usize = 4096;

/// Requests that are under way at most; more are lost, as in a controller's full receive buffer.
const UNDER_WAY: usize = 1024;

/// Serves until the stop flag is raised. `options` are the host's: requests have its request identifier.
pub fn serve(
    link: &mut dyn Link,
    options: &CanOptions,
    config: &DeviceConfig,
    clock: Clock,
    stop: &AtomicBool,
) -> io::Result<()> {
    let rates = options.bitrate.map(|nominal| CanRates {
        nominal,
        data: options
            .fd
            .then_some(options.data_bitrate.unwrap_or(nominal)),
    });
    let mut node = Responder {
        link,
        device: Device::new(config.clone(), clock),
        bus: rates.map(|rates| CanBus::new(*options, rates)),
        requests: VecDeque::new(),
        responses: VecDeque::new(),
        under_way: VecDeque::new(),
        ready: Vec::new(),
    };
    let mut buffer = [0; MESSAGE];
    while !stop.load(Ordering::Relaxed) {
        let received = match node.next_ns() {
            // Nothing is due: sleep in the receive itself.
            None => node.link.receive_blocking(&mut buffer)?,
            Some(due_ns) => {
                let left = Duration::from_nanos(due_ns.saturating_sub(clock.now()));
                node.link.wait(false, left.min(LOOK))?;
                node.link.receive(&mut buffer)?
            }
        };
        let now = clock.now();
        if received > 0 {
            node.take(&buffer[..received], now)?;
        }
        node.advance(now)?;
    }
    Ok(())
}

/// A device, and what of it the bus carries.
struct Responder<'a> {
    link: &'a mut dyn Link,
    device: Device,
    bus: Option<CanBus>,
    /// Requests that the host has queued, in order.
    requests: VecDeque<Vec<u8>>,
    /// Responses that the device has queued, in order.
    responses: VecDeque<Vec<u8>>,
    /// What arrives, and when, in order: the bus carries one after the other.
    under_way: VecDeque<(u64, Node, Vec<u8>)>,
    ready: Vec<u8>,
}

impl Responder<'_> {
    /// Takes a request that the host has just sent.
    fn take(&mut self, bytes: &[u8], now: u64) -> io::Result<()> {
        match &mut self.bus {
            None => self.answer(bytes, now),
            Some(bus) => {
                if self.requests.len() < UNDER_WAY && bus.offer(Node::Host, now, bytes) {
                    self.requests.push_back(bytes.to_vec());
                }
                Ok(())
            }
        }
    }

    /// The request is in the device.
    fn answer(&mut self, bytes: &[u8], now: u64) -> io::Result<()> {
        let mut ready = std::mem::take(&mut self.ready);
        ready.clear();
        self.device
            .take_datagram(bytes, now, Trust::Proved, &mut ready);
        if !ready.is_empty() {
            self.respond(&ready, now)?;
        }
        self.ready = ready;
        Ok(())
    }

    /// The device has a response ready.
    fn respond(&mut self, bytes: &[u8], ready_ns: u64) -> io::Result<()> {
        match &mut self.bus {
            None => send(self.link, bytes),
            Some(bus) => {
                if bus.offer(Node::Device, ready_ns, bytes) {
                    self.responses.push_back(bytes.to_vec());
                }
                Ok(())
            }
        }
    }

    /// When something happens next.
    fn next_ns(&self) -> Option<u64> {
        let arrival = self.under_way.front().map(|(seen_ns, ..)| *seen_ns);
        let begin = self.bus.as_ref().and_then(CanBus::next_begin_ns);
        [arrival, begin, self.device.next_due_ns()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Lets all happen that is due, in the order of its times.
    fn advance(&mut self, now: u64) -> io::Result<()> {
        while let Some(at) = self.next_ns().filter(|&at| at <= now) {
            let has_arrived = self
                .under_way
                .front()
                .is_some_and(|(seen_ns, ..)| *seen_ns == at);
            if has_arrived && let Some((seen_ns, from, bytes)) = self.under_way.pop_front() {
                match from {
                    Node::Host => self.answer(&bytes, seen_ns)?,
                    Node::Device => send(self.link, &bytes)?,
                }
            } else if self.device.next_due_ns() == Some(at) {
                if let Some(response) = self.device.pop_due(at) {
                    self.respond(&response, at)?;
                }
            } else if let Some(carried) = self.bus.as_mut().and_then(CanBus::carry) {
                let queue = match carried.from {
                    Node::Host => &mut self.requests,
                    Node::Device => &mut self.responses,
                };
                let bytes = queue
                    .pop_front()
                    .expect("a message is queued here and on the bus alike");
                self.under_way
                    .push_back((carried.seen_ns, carried.from, bytes));
            }
        }
        Ok(())
    }
}

/// Sends a response. One that fits no frame is lost, as on a real bus; so is one for which there is no room.
fn send(link: &mut dyn Link, bytes: &[u8]) -> io::Result<()> {
    for _ in 0..100 {
        match link.send(bytes) {
            Ok(0) => link.wait(true, Duration::from_millis(1))?,
            Ok(_) => return Ok(()),
            Err(error) if platform::is_too_long(&error) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
