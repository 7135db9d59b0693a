//! What comes before each call: HELLO where it is due, and the end of what the last call left.

use super::{Driver, Ignore};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_measure::hello::hello;
use wiregauge_record::Responder;

impl Driver {
    /// Sends HELLO: who the device is, and over datagrams a proof of this host's address. It stays due until it succeeds.
    pub fn hello(&mut self) -> Result<Responder, LinkError> {
        self.engine.discard();
        let reply = hello(
            self.link.as_mut(),
            &self.address,
            self.datagram,
            self.timeout,
            &mut || self.interrupt.as_mut().is_some_and(|interrupt| interrupt()),
        );
        self.now_ns = self.clock.now();
        if reply.is_ok() {
            self.needs_hello = false;
            self.proved_ns = self.now_ns;
        }
        reply.map_err(|error| match error.kind() {
            LinkErrorKind::Timeout | LinkErrorKind::Protocol => error.hint(
                "does the device run wiregauge firmware? open other devices with a framing; serial line: check \
                 the baud rate",
            ),
            _ => error,
        })
    }

    /// Before each call: finishes what the last one left, and lets the device know this host.
    #[inline]
    pub fn begin(&mut self, doing: &'static str) -> Result<(), LinkError> {
        self.begin_waiting(doing);
        if self.engine.is_resyncing() {
            self.finish_resync()?;
        }
        self.needs_hello |= self.proof_is_old();
        if self.needs_hello {
            self.hello()?;
        }
        Ok(())
    }

    /// Waits until the line is quiet, or all missing replies came.
    #[cold]
    fn finish_resync(&mut self) -> Result<(), LinkError> {
        // The line may have been quiet since the last call.
        self.now_ns = self.clock.now();
        while self.engine.is_resyncing() {
            self.turn(&mut Ignore, None)?;
        }
        Ok(())
    }

    /// A wait begins: the interrupt callback is asked after a while.
    #[inline]
    pub fn begin_waiting(&mut self, doing: &'static str) {
        self.doing = doing;
        self.interrupt_checked_ns = None;
    }

    #[inline]
    fn proof_is_old(&self) -> bool {
        let last_ns = || self.proved_ns.max(self.engine.heard_ns());
        self.datagram
            && self.engine.codec().is_wiregauge()
            && self.clock.now().saturating_sub(last_ns()) > self.proof_lasts_ns
    }
}
