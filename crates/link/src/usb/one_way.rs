//! A device with endpoints of one direction only, such as a logic analyser that only streams. It takes part in streams
//! of that direction; there is nothing to exchange.

use super::choose::OneWayChoice;
use super::claim::Claim;
use super::detail;
use super::flow::{InFlow, OutFlow};
use super::pipe::Pipe;
use crate::error::{LinkError, LinkErrorKind};
use crate::flow::{Completed, Flow, FlowShape, Flows, ORDER_BYTES};
use crate::host::{Helper, UsbPlace};
use crate::{Link, closed, platform};
use nusb::transfer::{BulkOrInterrupt, In, Out};
use std::io;
use std::time::Duration;
use wiregauge_record::{BusLimit, LinkDetail, Way};

/// Name of the library's thread.
const HELPER: &str = "nusb-events";

/// The only endpoint.
enum Only<T: BulkOrInterrupt> {
    In(Pipe<T, In>),
    Out(Pipe<T, Out>),
}

/// A link over one endpoint.
pub struct OneWayLink<T: BulkOrInterrupt> {
    open: Option<Open<T>>,
    way: Way,
    detail: LinkDetail,
    limit: Option<BusLimit>,
    place: Option<UsbPlace>,
    helper: Option<Helper>,
}

/// The order matters: transfers are cancelled before the interface is released.
struct Open<T: BulkOrInterrupt> {
    only: Only<T>,
    _claim: Claim,
}

impl<T: BulkOrInterrupt> OneWayLink<T> {
    /// A link over what was claimed.
    pub fn new(
        name: &str,
        claim: Claim,
        choice: &OneWayChoice,
        detail: LinkDetail,
    ) -> Result<Self, LinkError> {
        let failed = |error: nusb::Error| {
            let doing = format!("cannot open {name}");
            LinkError::new(LinkErrorKind::Io, doing, error.to_string())
        };
        let (interface, identity) = (claim.interface(), claim.identity().clone());
        let address = choice.endpoint.address;
        let only = match choice.way() {
            Way::In => {
                let endpoint = interface.endpoint::<T, In>(address).map_err(failed)?;
                Only::In(Pipe::new(endpoint, identity))
            }
            Way::Out => {
                let endpoint = interface.endpoint::<T, Out>(address).map_err(failed)?;
                Only::Out(Pipe::new(endpoint, identity))
            }
        };
        let number = address & 0x0f;
        Ok(OneWayLink {
            way: choice.way(),
            detail,
            limit: detail::one_way_limit(claim.identity(), choice),
            place: claim.identity().place(0x80 | number, number),
            helper: Helper::named(HELPER),
            open: Some(Open {
                only,
                _claim: claim,
            }),
        })
    }
}

/// The error of a call that needs both directions.
fn no_exchange() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "the device has endpoints of one direction only",
    )
}

impl<T: BulkOrInterrupt + 'static> Link for OneWayLink<T> {
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
        let helper = self.helper;
        let open = self.open.as_mut().ok_or_else(closed)?;
        let wanted = shape.transfer_bytes.max(ORDER_BYTES);
        let bytes = match &open.only {
            Only::In(pipe) => wanted.next_multiple_of(pipe.packet_bytes()),
            Only::Out(_) => wanted,
        };
        platform::usb::check_memory((shape.queue * bytes) as u64)?;
        Ok(match &mut open.only {
            Only::In(pipe) => {
                pipe.cancel(|_| {})?;
                pipe.lay_out(shape.queue, bytes);
                Flows {
                    out: Box::new(Absent::default()),
                    in_: Box::new(InFlow::new(pipe, helper)),
                }
            }
            Only::Out(pipe) => {
                pipe.cancel(|_| {})?;
                pipe.lay_out(shape.queue, bytes);
                Flows {
                    out: Box::new(OutFlow::new(pipe, helper)),
                    in_: Box::new(Absent::default()),
                }
            }
        })
    }

    fn only_way(&self) -> Option<Way> {
        Some(self.way)
    }

    fn packet_bytes(&self) -> Option<usize> {
        Some(match &self.open.as_ref()?.only {
            Only::In(pipe) => pipe.packet_bytes(),
            Only::Out(pipe) => pipe.packet_bytes(),
        })
    }

    fn stalls(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| match &open.only {
            Only::In(pipe) => pipe.stalls(),
            Only::Out(pipe) => pipe.stalls(),
        })
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

/// The direction that the device does not have: nothing ever moves there.
#[derive(Debug, Default)]
pub(crate) struct Absent {
    pending: usize,
}

impl Flow for Absent {
    fn submit(
        &mut self,
        _bytes: usize,
        _at_most: Duration,
        _fill: &mut dyn FnMut(&mut [u8]),
    ) -> io::Result<()> {
        self.pending += 1;
        Ok(())
    }

    fn complete(
        &mut self,
        at_most: Duration,
        _take: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Option<Completed>> {
        std::thread::sleep(at_most);
        Ok(None)
    }

    fn pending(&self) -> usize {
        self.pending
    }

    fn cancel(&mut self, _take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        self.pending = 0;
        Ok(())
    }
}
