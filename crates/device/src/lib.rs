//! One open device that a program talks to: exchanges, queries, Modbus, batches, a pipeline, a control loop, streams. Where
//! `wiregauge_measure` measures a link with bytes of its own, this carries the caller's.
//!
//! ```no_run
//! use wiregauge_device::{Device, DeviceOptions};
//!
//! # fn main() -> Result<(), wiregauge_link::LinkError> {
//! let mut device = Device::open("tcp://10.0.0.5:7700", &DeviceOptions::default())?;
//! let reply = device.exchange(b"*IDN?", None)?;
//! println!("{} ns", reply.timing.rtt_ns);
//! # Ok(())
//! # }
//! ```

mod batch;
mod codec;
mod control;
mod driver;
mod errors;
mod modbus;
mod one_way;
mod options;
mod pipeline;
mod script;
mod store;
mod streams;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod time_tests;
mod timing;
mod usage;

pub use control::{ControlPlan, Cycle, CycleStatus, Step};
pub use driver::Interrupt;
pub use options::{DeviceOptions, DeviceProtocol};
pub use script::{Script, ScriptAction};
pub use wiregauge_record::{ReplyEnd, ReplyLength};
pub use wiregauge_session::modbus::exception as modbus_exception;
pub use wiregauge_session::pdu::Table;
pub use wiregauge_session::{Framing, LengthField, Malformed, Split, Splitter};

use driver::{Driver, Failure, Handler, Limits, is_answered};
use std::ops::ControlFlow;
use std::time::Duration;
use store::Store;
pub use timing::Timing;
use wiregauge_link::Address;
use wiregauge_link::host;
use wiregauge_link::{Link, LinkError};
use wiregauge_record::{LinkDetail, Responder};
use wiregauge_session::{ANSWER_OVERHEAD, Ended, Engine, Messages, REQUEST_OVERHEAD};
use wiregauge_wire::abilities;

/// A reply, in the device's own buffer until the next call.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    /// Its payload.
    pub payload: &'a [u8],
    /// When.
    pub timing: Timing,
}

/// Requests of a batch: rows of bytes, one behind the other.
#[derive(Clone, Copy, Debug)]
pub struct Requests<'a> {
    /// All payloads, one behind the other.
    pub bytes: &'a [u8],
    /// Where each of them ends in `bytes`, ascending; the first begins at 0.
    pub ends: &'a [usize],
}

/// Where the replies of a batch go: row `n` of `bytes` is the reply to request `n`.
#[derive(Debug)]
pub struct Replies<'a> {
    /// Rows of `row_bytes`, as many as requests.
    pub bytes: &'a mut [u8],
    /// Bytes of a row: the largest reply that is taken.
    pub row_bytes: usize,
    /// Bytes that came in each row.
    pub lengths: &'a mut [usize],
    /// When; empty if not wanted.
    pub timings: &'a mut [Timing],
}

/// An open device. Used by one thread at a time.
pub struct Device {
    about: About,
    /// `None` once it was closed.
    driver: Option<Driver>,
    store: Store,
    /// The generation of the process that opened it.
    born: u32,
    /// The unit that Modbus requests go to.
    unit: u8,
    /// Room for the request of a typed call.
    staged: Vec<u8>,
}

/// What is known of an open device.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Its address.
    pub address: String,
    /// Its HELLO reply, where it speaks the wiregauge protocol.
    pub responder: Option<Responder>,
    /// Settings of the link.
    pub link: LinkDetail,
    /// The largest payload of a request, and of a reply, in bytes.
    pub largest_request: usize,
    /// See above.
    pub largest_reply: usize,
}

/// The shortest timeout.
const SHORTEST_TIMEOUT: Duration = Duration::from_micros(10);

impl Device {
    /// Opens it, and with the wiregauge protocol sends HELLO.
    pub fn open(address: &str, options: &DeviceOptions) -> Result<Device, LinkError> {
        Device::open_unless(address, options, None)
    }

    /// The same, where connecting and waiting for the HELLO reply can be interrupted too; see
    /// [`Device::set_interrupt`].
    pub fn open_unless(
        address: &str,
        options: &DeviceOptions,
        is_interrupted: Option<Interrupt>,
    ) -> Result<Device, LinkError> {
        let address = Address::parse(address)?;
        let kind = address.kind();
        let usage = |problem: String, hint: &str| {
            Err(errors::usage(
                "cannot open",
                &address.to_string(),
                problem,
                hint,
            ))
        };
        if options.timeout < SHORTEST_TIMEOUT {
            return usage(too_short(options.timeout), TIMEOUT_HINT);
        }
        let codec = match codec::of(options, kind) {
            Ok(codec) => codec,
            Err((problem, hint)) => return usage(problem, hint),
        };
        let born = host::count_forks();
        let mut is_interrupted = is_interrupted;
        let mut interrupted = || is_interrupted.as_mut().is_some_and(|interrupt| interrupt());
        let link = address.open_unless(&options.link, options.timeout, &mut interrupted)?;
        Device::over(link, &address, codec, options, is_interrupted, born)
    }

    /// Over a link that was just opened.
    fn over(
        link: Box<dyn Link>,
        address: &Address,
        codec: Messages,
        options: &DeviceOptions,
        is_interrupted: Option<Interrupt>,
        born: u32,
    ) -> Result<Device, LinkError> {
        let kind = address.kind();
        let name = address.to_string();
        let mut driver = Driver::new(
            link,
            name.clone(),
            kind,
            codec,
            options.wait,
            options.timeout,
        )
        .map_err(|error| errors::link_failed("cannot open", &name, &error))?;
        driver.interrupt = is_interrupted;
        let most = kind.max_bytes as usize;
        let responder = match driver.engine.codec().is_wiregauge() {
            false => {
                driver.set_limits(codec::limits(driver.engine.codec(), kind));
                let of_protocol = codec::one_at_a_time(options, driver.engine.codec(), kind);
                driver.one_at_a_time = driver.one_at_a_time.or(of_protocol);
                None
            }
            true => {
                let reply = driver.hello()?;
                let (out, in_) = (reply.max_out_bytes as usize, reply.max_in_bytes as usize);
                driver.set_limits(Limits {
                    request: out.min(most).saturating_sub(REQUEST_OVERHEAD),
                    reply: in_.min(most).saturating_sub(ANSWER_OVERHEAD),
                    outstanding: match reply.max_outstanding {
                        0 => u32::MAX,
                        most => most,
                    },
                    takes_messages: reply.abilities & abilities::MESSAGE != 0,
                });
                Some(reply)
            }
        };
        let about = About {
            address: name,
            responder,
            link: driver.link.detail(),
            largest_request: driver.limits.request,
            largest_reply: driver.limits.reply,
        };
        Ok(Device {
            about,
            driver: Some(driver),
            store: Store::default(),
            born,
            unit: match options.protocol {
                DeviceProtocol::Modbus { unit } => unit,
                _ => 0,
            },
            staged: Vec::new(),
        })
    }

    /// What is known of it.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Closes it: another program can open it. Every later call fails with an error of kind `Closed`.
    pub fn close(&mut self) {
        let driver = self.driver.take();
        self.store.clear();
        if host::generation() != self.born {
            // The settings of the line and the claim of the interface are the parent's.
            std::mem::forget(driver);
        }
    }

    /// After this long without a whole reply an exchange has failed, from the next call on.
    pub fn set_timeout(&mut self, timeout: Duration) -> Result<(), LinkError> {
        let driver = self.driver("cannot set the timeout of")?;
        if timeout < SHORTEST_TIMEOUT {
            return Err(driver.usage(too_short(timeout), TIMEOUT_HINT));
        }
        driver.set_timeout(timeout)
    }

    /// Whether a waiting call is to end: asked whenever a wait was interrupted by a signal, and every 100 ms.
    /// When it returns true, the call fails with an error of kind `Interrupted`; replies that were outstanding are
    /// abandoned, and the device can be used on.
    pub fn set_interrupt(&mut self, is_interrupted: Option<Interrupt>) {
        if let Some(driver) = &mut self.driver {
            driver.interrupt = is_interrupted;
        }
    }

    /// The largest message that the kind of link carries.
    fn most_bytes(&self) -> usize {
        let address = Address::parse(&self.about.address);
        address.map_or(0, |address| address.kind().max_bytes as usize)
    }

    /// The open driver, in the process that opened it.
    #[inline]
    fn driver(&mut self, doing: &'static str) -> Result<&mut Driver, LinkError> {
        if host::generation() != self.born {
            return Err(errors::forked(doing, &self.about.address));
        }
        match &mut self.driver {
            Some(driver) => {
                driver.doing = doing;
                Ok(driver)
            }
            None => Err(errors::closed(doing, &self.about.address)),
        }
    }

    /// The same, refused while submitted requests are outstanding.
    #[inline]
    fn with_none_outstanding(&mut self, doing: &'static str) -> Result<&mut Driver, LinkError> {
        let outstanding = self.outstanding();
        let driver = self.driver(doing)?;
        if outstanding > 0 {
            return Err(driver.usage(
                format!("{outstanding} submitted requests are still outstanding"),
                "receive their replies first",
            ));
        }
        Ok(driver)
    }

    /// The same, with nothing left of an earlier call.
    #[inline]
    fn at_rest(&mut self, doing: &'static str) -> Result<&mut Driver, LinkError> {
        let driver = self.with_none_outstanding(doing)?;
        driver.begin(doing)?;
        Ok(driver)
    }

    /// One exchange: sends the payload, waits for the reply.
    ///
    /// `reply_bytes`: the payload asked for (wiregauge protocol), or to be waited for (a framing that does not
    /// show it: [`Framing::Raw`]). `None`: as many as were sent.
    #[inline]
    pub fn exchange(
        &mut self,
        request: &[u8],
        reply_bytes: Option<usize>,
    ) -> Result<Reply<'_>, LinkError> {
        self.exchange_as("cannot exchange with", request, reply_bytes)
    }

    #[inline]
    fn exchange_as(
        &mut self,
        doing: &'static str,
        request: &[u8],
        reply_bytes: Option<usize>,
    ) -> Result<Reply<'_>, LinkError> {
        let driver = self.at_rest(doing)?;
        let awaited = reply_bytes.unwrap_or(request.len());
        driver.check(request, awaited)?;
        driver.prepare(request.len(), awaited, 1)?;
        driver.stage(request, awaited);
        one_reply(driver)
    }
}

/// Waits for the one reply that is awaited.
#[inline]
fn one_reply(driver: &mut Driver) -> Result<Reply<'_>, LinkError> {
    let mut one = One(None);
    let ended = loop {
        if let Err(error) = driver.turn(&mut one, None) {
            driver.abandon();
            return Err(error);
        }
        if let Some(ended) = one.0.take() {
            break ended;
        }
    };
    Ok(Reply {
        timing: Timing::of(&ended),
        payload: driver.engine.received_at(ended.payload),
    })
}

const TIMEOUT_HINT: &str = "use a timeout of 10 us or more";

fn too_short(timeout: Duration) -> String {
    format!("a timeout of {timeout:?} is too short")
}

/// Keeps the one reply that is awaited.
struct One(Option<Ended>);

impl Handler for One {
    #[inline]
    fn ended(&mut self, _: &Engine<Messages>, ended: &Ended) -> Result<ControlFlow<()>, Failure> {
        if !is_answered(ended.outcome) {
            return Err(Failure::Exchange(ended.clone()));
        }
        self.0 = Some(ended.clone());
        Ok(ControlFlow::Break(()))
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.close();
    }
}
