//! A stream over one isochronous endpoint: transfers of several packets, one packet in each interval of the bus. What a
//! device answers is never repeated, so there are no exchanges.

use super::super::facts::active_facts;
use super::super::sysfs::Node;
use super::super::{detail, errors, memory};
use super::accounting::Accounting;
use super::endpoint::{self, Chosen};
use super::urbs::{Ended, IsochronousFile};
use crate::error::{LinkError, LinkErrorKind};
use crate::flow::{Completed, Flow, FlowShape, Flows};
use crate::host::{Clock, UsbPlace};
use crate::usb::address::UsbAddress;
use crate::usb::choose::InterfaceFact;
use crate::usb::errors::of_transfer;
use crate::usb::find;
use crate::usb::identity::Identity;
use crate::usb::one_way::Absent;
use crate::{Link, MAX_WAIT, closed};
use nusb::transfer::TransferError;
use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};
use wiregauge_record::{BusLimit, IsochronousCounts, IsochronousOptions, LinkDetail, Way};

/// A cancelled transfer comes back at once.
const CANCEL: Duration = Duration::from_secs(2);

/// A link over one isochronous endpoint.
pub struct IsochronousLink {
    open: Option<Open>,
    options: IsochronousOptions,
    detail: LinkDetail,
    limit: Option<BusLimit>,
    place: Option<UsbPlace>,
}

/// A transfer that was seen completed.
#[derive(Clone, Copy)]
struct Seen {
    at_ns: u64,
    status: i32,
    /// This thread slept until then.
    awaited: bool,
}

/// An opened device whose alternate setting is selected.
struct Open {
    file: IsochronousFile,
    identity: Identity,
    chosen: Chosen,
    options: IsochronousOptions,
    drivers_before: Vec<(u8, String)>,
    interval_ns: u64,
    clock: Clock,
    accounting: Accounting,
    free: Vec<usize>,
    /// In the order of submission, in which they end.
    pending: VecDeque<usize>,
    /// Of each transfer that is over and was not taken.
    ended: Vec<Option<Seen>>,
}

impl IsochronousLink {
    /// Opens the device that an address names.
    pub fn open(
        address: &UsbAddress,
        options: IsochronousOptions,
        doing: &str,
    ) -> Result<IsochronousLink, LinkError> {
        let usage = |said: String| LinkError::new(LinkErrorKind::Usage, doing, said);
        let settings = &address.settings;
        if settings.kind.is_some() || settings.control.is_some() {
            return Err(usage(
                "the address has a type of its own, which is not isochronous".into(),
            )
            .hint("remove type= from the address, or --type isochronous"));
        }
        let info = find::find(&address.which, doing)?;
        let identity = Identity::of(&info);
        let facts = facts(&identity, settings.configuration).map_err(usage)?;
        let chosen = endpoint::choose(&facts, settings, options)
            .map_err(|refused| usage(refused.said).hint(refused.hint))?;
        let megabits = Node::named(&identity.path).attribute("speed");
        let megabits = megabits.unwrap_or_default();
        let number = chosen.endpoint.address & 0x0f;
        Ok(IsochronousLink {
            detail: detail::of_isochronous(
                &info,
                &chosen_place(&chosen),
                &identity,
                &chosen.endpoint,
            ),
            limit: crate::limits::of_usb_isochronous(
                &megabits,
                chosen.endpoint.bytes,
                chosen.endpoint.packets,
                chosen.endpoint.interval,
            ),
            place: identity.place(0x80 | number, number),
            open: Some(Open::new(identity, chosen, options, &megabits, doing)?),
            options,
        })
    }
}

fn chosen_place(chosen: &Chosen) -> (u8, u8, u8) {
    (chosen.interface, chosen.class, chosen.setting)
}

/// The interfaces of the device's active configuration.
fn facts(identity: &Identity, wanted: Option<u8>) -> Result<Vec<InterfaceFact>, String> {
    let node = Node::named(&identity.path);
    let active = node.attribute("bConfigurationValue");
    let active: Option<u8> = active.and_then(|value| value.parse().ok());
    if let Some(wanted) = wanted.filter(|&wanted| Some(wanted) != active) {
        return Err(format!("configuration {wanted} is not active"));
    }
    active_facts(&node).ok_or_else(|| "it has no active configuration".to_owned())
}

impl Open {
    fn new(
        identity: Identity,
        chosen: Chosen,
        options: IsochronousOptions,
        megabits: &str,
        doing: &str,
    ) -> Result<Open, LinkError> {
        let file = IsochronousFile::open(identity.facts.node(), chosen.interface)
            .map_err(|error| errors::opening_node(&identity, doing, &error))?;
        let drivers_before = Node::named(&identity.path).drivers();
        file.claim()
            .map_err(|error| errors::claiming_node(&identity, chosen.interface, doing, &error))?;
        let interval_ns = endpoint::interval_ns(megabits, chosen.endpoint.interval);
        // From here on dropping it puts everything back.
        let open = Open {
            file,
            identity,
            chosen,
            options,
            drivers_before,
            interval_ns,
            clock: Clock::start(),
            accounting: Accounting::new(options.packet_bytes, interval_ns),
            free: Vec::new(),
            pending: VecDeque::new(),
            ended: Vec::new(),
        };
        let setting = open.chosen.setting;
        open.file.select(setting).map_err(|error| {
            let why = match error.raw_os_error() {
                Some(libc::ENOSPC) => {
                    "the bus does not have enough bandwidth left for it".to_owned()
                }
                _ => error.to_string(),
            };
            let said = format!("cannot select setting {setting}: {why}");
            LinkError::new(LinkErrorKind::Io, doing, said)
                .hint("use a smaller --packet, or unplug other devices from this bus")
        })?;
        Ok(open)
    }

    fn lay_out(&mut self, shape: FlowShape) -> io::Result<()> {
        self.cancel_all(&mut |_| {})?;
        let bytes = (shape.queue * shape.transfer_bytes) as u64;
        memory::check_memory(bytes)?;
        let packet_bytes = self.options.packet_bytes as usize;
        let address = self.chosen.endpoint.address;
        self.file
            .lay_out(address, shape.queue, shape.transfer_bytes, packet_bytes);
        self.free = (0..shape.queue).rev().collect();
        self.pending = VecDeque::with_capacity(shape.queue);
        self.ended = vec![None; shape.queue];
        self.accounting = Accounting::new(self.options.packet_bytes, self.interval_ns);
        Ok(())
    }

    fn explain(&self, error: io::Error) -> io::Error {
        match error.raw_os_error() {
            Some(libc::ENODEV | libc::ESHUTDOWN) => {
                of_transfer(&self.identity, TransferError::Disconnected)
            }
            Some(libc::ENOMEM) => memory::out_of_memory(),
            _ => error,
        }
    }

    fn reap_all(&mut self, mut awaited: bool) -> io::Result<()> {
        loop {
            match self.file.reap() {
                Ok(Some(Ended { index, status })) => {
                    let at_ns = self.clock.now();
                    self.ended[index] = Some(Seen {
                        at_ns,
                        status,
                        awaited,
                    });
                    awaited = false;
                }
                Ok(None) => return Ok(()),
                Err(error) => return Err(self.explain(error)),
            }
        }
    }

    /// Takes the oldest transfer if it is over.
    fn take_oldest(&mut self) -> Option<(usize, Seen)> {
        let &index = self.pending.front()?;
        let seen = self.ended[index].take()?;
        self.pending.pop_front();
        self.free.push(index);
        Some((index, seen))
    }

    fn submit(&mut self, bytes: usize, fill: &mut dyn FnMut(&mut [u8])) -> io::Result<()> {
        let Some(index) = self.free.pop() else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a transfer was submitted to a full queue",
            ));
        };
        if self.options.way == Way::Out {
            fill(&mut self.file.buffer(index)[..bytes]);
        }
        if let Err(error) = self.file.submit(index, bytes) {
            self.free.push(index);
            return Err(self.explain(error));
        }
        self.pending.push_back(index);
        Ok(())
    }

    fn complete(
        &mut self,
        at_most: Duration,
        take: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Option<Completed>> {
        let begun = Instant::now();
        let mut awaited = false;
        loop {
            self.reap_all(awaited)?;
            if let Some((index, seen)) = self.take_oldest() {
                // Whatever else befell a transfer, its packets say it.
                if let libc::ENODEV | libc::ESHUTDOWN = -seen.status {
                    return Err(of_transfer(&self.identity, TransferError::Disconnected));
                }
                let packets = self.file.packets(index);
                self.accounting.take(seen.at_ns, seen.awaited, packets);
                return Ok(Some(self.hand_over(index, take)));
            }
            let left = at_most.saturating_sub(begun.elapsed());
            if self.pending.is_empty() || left.is_zero() {
                return Ok(None);
            }
            self.file.wait(left)?;
            awaited = true;
        }
    }

    fn hand_over(&mut self, index: usize, take: &mut dyn FnMut(&[u8])) -> Completed {
        let bytes = match self.options.way {
            Way::In => self
                .file
                .data(index)
                .map(|data| {
                    take(data);
                    data.len()
                })
                .sum(),
            Way::Out => self
                .file
                .packets(index)
                .map(|packet| packet.bytes as usize)
                .sum(),
        };
        Completed {
            bytes,
            stalled: false,
        }
    }

    /// Takes all transfers back; what had come is given to `take`, but counted no more.
    fn cancel_all(&mut self, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        self.file.discard_all();
        let begun = Instant::now();
        while !self.pending.is_empty() {
            self.reap_all(false)?;
            while let Some((index, _)) = self.take_oldest() {
                self.hand_over(index, take);
            }
            if self.pending.is_empty() {
                break;
            }
            if begun.elapsed() > CANCEL {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the host controller does not return a cancelled transfer",
                ));
            }
            self.file.wait(MAX_WAIT)?;
        }
        Ok(())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let _ = self.cancel_all(&mut |_| {});
        // Without endpoints the interface reserves nothing of the bus. What is unplugged has nothing to put back.
        let _ = self.file.select(0);
        let _ = self.file.release();
        let node = Node::named(&self.identity.path);
        for (interface, driver) in &self.drivers_before {
            if driver != "usbfs" && node.exists() && node.driver(*interface).is_none() {
                let _ = self.file.attach_driver(*interface);
            }
        }
    }
}

/// The error of a call that needs an answer.
fn no_exchange() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "isochronous transfers only stream",
    )
}

impl Link for IsochronousLink {
    fn send(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(no_exchange())
    }

    fn receive(&mut self, _into: &mut [u8]) -> io::Result<usize> {
        Err(no_exchange())
    }

    fn receive_blocking(&mut self, _into: &mut [u8]) -> io::Result<usize> {
        Err(no_exchange())
    }

    fn set_receive_timeout(&mut self, _receive_timeout: Option<Duration>) -> io::Result<bool> {
        Ok(true)
    }

    fn wait(&mut self, _or_writable: bool, _at_most: Duration) -> io::Result<()> {
        Err(no_exchange())
    }

    fn close(&mut self) {
        self.open = None;
    }

    fn reopen(&mut self, _is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        Err(no_exchange())
    }

    fn flows(&mut self, shape: FlowShape) -> io::Result<Flows<'_>> {
        let open = self.open.as_mut().ok_or_else(closed)?;
        open.lay_out(shape)?;
        let flow = Box::new(IsochronousFlow(open));
        let absent = Box::new(Absent::default());
        Ok(match self.options.way {
            Way::In => Flows {
                in_: flow,
                out: absent,
            },
            Way::Out => Flows {
                in_: absent,
                out: flow,
            },
        })
    }

    fn only_way(&self) -> Option<Way> {
        Some(self.options.way)
    }

    fn packet_bytes(&self) -> Option<usize> {
        Some(self.options.packet_bytes as usize)
    }

    fn isochronous(&self) -> Option<IsochronousCounts> {
        self.open.as_ref().map(|open| open.accounting.counts())
    }

    fn usb_place(&self) -> Option<UsbPlace> {
        self.place
    }

    fn detail(&self) -> LinkDetail {
        self.detail.clone()
    }

    fn limit(&self) -> Option<BusLimit> {
        self.limit.clone()
    }
}

/// The endpoint's transfers during a point.
struct IsochronousFlow<'a>(&'a mut Open);

impl Flow for IsochronousFlow<'_> {
    fn submit(
        &mut self,
        bytes: usize,
        _at_most: Duration,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> io::Result<()> {
        self.0.submit(bytes, fill)
    }

    fn complete(
        &mut self,
        at_most: Duration,
        take: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Option<Completed>> {
        self.0.complete(at_most, take)
    }

    fn pending(&self) -> usize {
        self.0.pending.len()
    }

    fn cancel(&mut self, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        self.0.cancel_all(take)
    }
}
