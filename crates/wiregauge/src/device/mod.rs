//! One open device that a program talks to: exchanges, batches, a pipeline, a control loop, streams. Where
//! `exchange` and `stream` measure a link with bytes of their own, this carries the caller's.

mod batch;
mod buffers;
mod control;
mod engine;
mod framing;
mod pipeline;
mod settle;
mod speech;
mod streams;
mod trouble;
mod window;

pub use control::{ControlPlan, Cycle, CycleStatus, Step};
pub use framing::{Framing, LengthField, Split, Splitter, Wrong};

use crate::error::{LinkError, LinkErrorKind};
use crate::host;
use crate::link::Address;
pub use engine::Interrupt;
use engine::{Engine, Refusal, Taker};
use pipeline::Store;
use speech::{Fate, REPLY_OVERHEAD, REQUEST_OVERHEAD, Speech};
use std::ops::Range;
use std::time::Duration;
use wiregauge_record::{LinkDetail, LinkOptions, Responder, Wait};
use wiregauge_wire::abilities;

/// How a device is opened.
#[derive(Clone, Debug)]
pub struct DeviceOptions {
    /// How messages are told apart on the link; `None` says HELLO and speaks the wiregauge protocol.
    pub framing: Option<Framing>,
    /// After this long without a whole reply an exchange has failed.
    pub timeout: Duration,
    /// How to wait for a reply.
    pub wait: Wait,
    /// What only some kinds of link understand.
    pub link: LinkOptions,
}

impl Default for DeviceOptions {
    /// The wiregauge protocol, one second, asleep in the read.
    fn default() -> DeviceOptions {
        DeviceOptions {
            framing: None,
            timeout: Duration::from_secs(1),
            wait: Wait::Block,
            link: LinkOptions::default(),
        }
    }
}

/// When one exchange happened. Times are nanoseconds of the host's monotonic clock since the device was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Timing {
    /// Start of sending the request.
    pub start_ns: u64,
    /// Start of sending to the last byte of the reply.
    pub rtt_ns: u64,
    /// Device clock when the request had arrived, in ticks; 0 where the device has no clock.
    pub device_rx_ticks: u64,
    /// Device clock when the reply was handed over, in ticks.
    pub device_tx_ticks: u64,
}

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
    /// When; empty if nobody wants to know.
    pub timings: &'a mut [Timing],
}

/// An open device. Used by one thread at a time.
pub struct Device {
    about: About,
    /// `None` once it was closed.
    engine: Option<Engine>,
    store: Store,
    /// The generation of the process that opened it.
    born: u32,
}

/// What is known of an open device.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Its address.
    pub address: String,
    /// What it said of itself, where it speaks the wiregauge protocol.
    pub responder: Option<Responder>,
    /// Settings of the link.
    pub link: LinkDetail,
    /// The largest payload of a request, and of a reply, in bytes.
    pub largest_request: usize,
    /// See above.
    pub largest_reply: usize,
}

/// The shortest timeout.
const LEAST_TIMEOUT: Duration = Duration::from_micros(10);

impl Device {
    /// Opens it, and with the wiregauge protocol asks it who it is.
    pub fn open(address: &str, options: &DeviceOptions) -> Result<Device, LinkError> {
        Device::open_unless(address, options, None)
    }

    /// The same, where waiting for the device's first words can be interrupted too; see
    /// [`Device::set_interrupt`].
    pub fn open_unless(
        address: &str,
        options: &DeviceOptions,
        is_interrupted: Option<Interrupt>,
    ) -> Result<Device, LinkError> {
        let address = Address::parse(address)?;
        let kind = address.kind();
        let usage = |said: String, hint: &str| {
            Err(trouble::usage("opening", &address.to_string(), said, hint))
        };
        if options.timeout < LEAST_TIMEOUT {
            return usage(
                format!(
                    "a timeout of {:?} is over before anything can come",
                    options.timeout
                ),
                "a timeout of 10 us at least",
            );
        }
        let speech = match &options.framing {
            None if kind.scheme == "null" => {
                let said = "nothing is there that speaks the wiregauge protocol: null only echoes";
                return usage(said.into(), "a framing, for example raw");
            }
            None => Speech::wiregauge(kind.datagram),
            Some(framing) => match Splitter::new(framing, kind.datagram, kind.max_bytes as usize) {
                Ok(splitter) => Speech::Foreign(splitter),
                Err(said) => return usage(said, "another framing"),
            },
        };
        let born = host::count_forks();
        let link = address.open(&options.link, options.timeout)?;
        let mut engine = Engine::new(link, &address, speech, options.wait, options.timeout)
            .map_err(|error| trouble::broken("opening", &address.to_string(), &error))?;
        engine.interrupt = is_interrupted;
        let most = kind.max_bytes as usize;
        let responder = match options.framing {
            Some(_) => {
                let overhead = engine.speech.request_overhead();
                engine.largest = (most - overhead, most - overhead);
                None
            }
            None => {
                let said = engine.hello()?;
                let (out, in_) = (said.max_out_bytes as usize, said.max_in_bytes as usize);
                engine.largest = (
                    out.min(most).saturating_sub(REQUEST_OVERHEAD),
                    in_.min(most).saturating_sub(REPLY_OVERHEAD),
                );
                if said.max_outstanding > 0 {
                    engine.most_outstanding = said.max_outstanding;
                }
                engine.able = said.abilities & abilities::MESSAGE != 0;
                Some(said)
            }
        };
        let about = About {
            address: address.to_string(),
            responder,
            link: engine.link.detail(),
            largest_request: engine.largest.0,
            largest_reply: engine.largest.1,
        };
        Ok(Device {
            about,
            engine: Some(engine),
            store: Store::default(),
            born,
        })
    }

    /// What is known of it.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Closes it: another program can open it. Every later call fails with an error of kind `Closed`.
    pub fn close(&mut self) {
        let engine = self.engine.take();
        if host::generation() != self.born {
            // The settings of the line and the claim of the interface are the parent's.
            std::mem::forget(engine);
        }
    }

    /// True until it was closed.
    pub fn is_open(&self) -> bool {
        self.engine.is_some()
    }

    /// After this long without a whole reply an exchange has failed, from the next call on.
    pub fn set_timeout(&mut self, timeout: Duration) -> Result<(), LinkError> {
        let engine = self.engine("setting the timeout of")?;
        if timeout < LEAST_TIMEOUT {
            return Err(engine.usage(
                format!("a timeout of {timeout:?} is over before anything can come"),
                "a timeout of 10 us at least",
            ));
        }
        engine.set_timeout(timeout)
    }

    /// Whether a waiting call is to end: asked whenever a wait was interrupted by a signal, and every 100 ms.
    /// When it says so, the call fails with an error of kind `Interrupted`; replies that were outstanding are
    /// let go, and the device can be used on.
    pub fn set_interrupt(&mut self, is_interrupted: Option<Interrupt>) {
        if let Some(engine) = &mut self.engine {
            engine.interrupt = is_interrupted;
        }
    }

    /// The largest message that the kind of link carries.
    fn most_bytes(&self) -> usize {
        let address = Address::parse(&self.about.address);
        address.map_or(0, |address| address.kind().max_bytes as usize)
    }

    /// The open engine, in the process that opened it.
    #[inline]
    fn engine(&mut self, doing: &'static str) -> Result<&mut Engine, LinkError> {
        if host::generation() != self.born {
            return Err(trouble::forked(doing, &self.about.address));
        }
        match &mut self.engine {
            Some(engine) => {
                engine.doing = doing;
                Ok(engine)
            }
            None => Err(trouble::closed(doing, &self.about.address)),
        }
    }

    /// The same, with nothing outstanding and nothing left of an earlier call.
    #[inline]
    fn at_rest(&mut self, doing: &'static str) -> Result<&mut Engine, LinkError> {
        let engine = self.engine(doing)?;
        let outstanding = engine.window.outstanding();
        if outstanding > 0 {
            return Err(engine.usage(
                format!("{outstanding} submitted requests are outstanding"),
                "take their replies first",
            ));
        }
        engine.begin(doing)?;
        Ok(engine)
    }

    /// One exchange: sends the payload, waits for the reply.
    ///
    /// `reply_bytes`: the payload asked for (wiregauge protocol), or to be waited for (a framing that does not
    /// tell by itself: [`Framing::Raw`]). `None`: as many as were sent.
    #[inline]
    pub fn exchange(
        &mut self,
        request: &[u8],
        reply_bytes: Option<usize>,
    ) -> Result<Reply<'_>, LinkError> {
        let engine = self.at_rest("exchanging with")?;
        let awaited = reply_bytes.unwrap_or(request.len());
        engine.check(request, awaited)?;
        engine.prepare(request.len(), awaited, 1)?;
        engine.stage(request, awaited);
        let mut one = One(None);
        let (place, timing) = loop {
            if let Err(error) = engine.turn(&mut one, None) {
                engine.let_go();
                return Err(error);
            }
            if let Some(came) = one.0.take() {
                break came;
            }
        };
        engine.window.take_answered();
        Ok(Reply {
            payload: engine.input.at(place),
            timing,
        })
    }
}

/// Takes the one reply that is awaited, and leaves it where it is.
struct One(Option<(Range<usize>, Timing)>);

impl Taker for One {
    #[inline]
    fn reply(&mut self, _input: &buffers::Input, reply: &engine::Reply) -> Result<bool, Refusal> {
        if reply.fate != Fate::Answered {
            return Err(Refusal::Failed(reply.fate));
        }
        self.0 = Some((reply.place.clone(), reply.timing));
        Ok(true)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.close();
    }
}

/// True for failures after which replies to other requests may still be awaited.
fn concerns_one(error: &LinkError) -> bool {
    matches!(error.kind(), LinkErrorKind::Silent | LinkErrorKind::Rubbish)
}
