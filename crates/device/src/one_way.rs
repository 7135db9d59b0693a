//! What has no reply, and replies that no request of the same call asked for: an instrument's commands, and a query in
//! two calls.

use super::driver::Driver;
use super::{Device, Reply, errors, one_reply};
use std::time::Duration;
use wiregauge_link::{LinkError, MAX_WAIT};
use wiregauge_session::{Framing, Messages};

impl Device {
    /// Sends a request that the device does not answer. What it sends all the same can be taken with
    /// [`Device::read`], and is dropped before the next exchange.
    pub fn write(&mut self, request: &[u8]) -> Result<(), LinkError> {
        let driver = self.with_none_outstanding("cannot write to")?;
        driver.begin("cannot write to")?;
        if matches!(
            driver.engine.codec(),
            Messages::Wiregauge(_) | Messages::Modbus(_)
        ) {
            return Err(driver.usage(
                "every request of this protocol is answered",
                "use an exchange",
            ));
        }
        driver.check(request, 1)?;
        driver.prepare(request.len(), 1, 1)?;
        driver.write_alone(request)
    }

    /// Waits for a reply that was not asked for in the same call. `reply_bytes`: as in [`Device::exchange`]; needed
    /// where the protocol does not say where a reply ends.
    pub fn read(&mut self, reply_bytes: Option<usize>) -> Result<Reply<'_>, LinkError> {
        let driver = self.with_none_outstanding("cannot read from")?;
        driver.begin("cannot read from")?;
        let codec = driver.engine.codec();
        if matches!(codec, Messages::Wiregauge(_) | Messages::Modbus(_)) {
            return Err(driver.usage(
                "replies of this protocol belong to a request",
                "use an exchange",
            ));
        }
        let is_raw =
            matches!(codec, Messages::Foreign(splitter) if *splitter.framing() == Framing::Raw);
        if is_raw && !driver.datagram && reply_bytes.unwrap_or(0) == 0 {
            return Err(driver.usage(
                "the size of the reply is not known",
                "pass it, or open the device with a framing",
            ));
        }
        driver.prepare(0, reply_bytes.unwrap_or(1), 1)?;
        driver.expect_reply(reply_bytes.unwrap_or(0));
        one_reply(driver)
    }
}

impl Driver {
    /// Hands a request to the system, as a whole, and awaits no reply.
    fn write_alone(&mut self, request: &[u8]) -> Result<(), LinkError> {
        let mut bytes = Vec::new();
        match self.engine.codec() {
            Messages::Foreign(splitter) => splitter.frame(request, &mut bytes),
            Messages::Text(queries) => queries.write(request, &mut bytes),
            Messages::Wiregauge(_) | Messages::Modbus(_) => {}
        }
        let began = self.clock.now();
        let mut sent = 0;
        while sent < bytes.len() {
            let result = self.link.send(&bytes[sent..]);
            let taken = result.map_err(|error| self.link_failed(&error))?;
            sent += taken;
            if taken > 0 {
                continue;
            }
            let now = self.clock.now();
            if now - began > self.timeout_ns {
                let rest = (sent > 0).then_some(bytes.len() - sent);
                return Err(errors::send_timeout(
                    self.doing,
                    &self.address,
                    self.timeout,
                    rest,
                ));
            }
            let waited = self
                .link
                .wait(true, MAX_WAIT.min(Duration::from_millis(10)));
            waited.map_err(|error| self.link_failed(&error))?;
            self.check_interrupt(now, false)?;
        }
        Ok(())
    }
}
