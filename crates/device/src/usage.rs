//! Refuses what cannot be sent before anything is.

use super::driver::Driver;
use wiregauge_link::LinkError;
use wiregauge_session::{Framing, Messages};

impl Driver {
    /// Refuses a request that cannot be sent, or a reply that cannot be asked for.
    #[inline]
    pub fn check(&self, request: &[u8], awaited: usize) -> Result<(), LinkError> {
        self.check_sizes(request.len(), awaited)?;
        let splitter = match self.engine.codec() {
            Messages::Wiregauge(_) => return Ok(()),
            Messages::Foreign(splitter) => splitter,
            Messages::Text(_) if request.is_empty() => {
                return Err(
                    self.usage("the request is empty", "pass what the device is to be sent")
                );
            }
            Messages::Text(_) => return Ok(()),
            Messages::Modbus(queries) => {
                return queries.check_request(request).map_err(|problem| {
                    self.usage(problem, "a request is unit, function and data")
                });
            }
        };
        if let Err(problem) = splitter.check_request(request) {
            return Err(self.usage(problem, "use another request or framing"));
        }
        if awaited == 0 && !self.datagram && *splitter.framing() == Framing::Raw {
            return Err(self.usage(
                "a reply of 0 bytes requires a framing",
                "pass the size of the reply, or open the device with a framing",
            ));
        }
        Ok(())
    }

    /// Refuses sizes that the link or the device does not take.
    #[inline]
    pub fn check_sizes(&self, request: usize, awaited: usize) -> Result<(), LinkError> {
        let limits = &self.limits;
        let asks_for_too_much = || awaited > limits.reply && self.engine.codec().asks_for_size();
        if request > limits.request || asks_for_too_much() || !limits.takes_messages {
            return Err(self.refuse(request, awaited));
        }
        Ok(())
    }

    /// Refuses more outstanding requests than the device takes.
    #[inline]
    pub fn check_depth(&self, depth: u32) -> Result<(), LinkError> {
        if depth == 0 {
            return Err(self.usage("depth 0 is not valid", "use a depth of 1 or more"));
        }
        if let (2.., Some(why)) = (depth, self.one_at_a_time) {
            return Err(self.usage(
                format!("depth {depth} is not possible: {why}"),
                "use depth 1",
            ));
        }
        if depth > self.limits.outstanding {
            return Err(self.usage(
                format!(
                    "depth {depth} exceeds the maximum of the device ({})",
                    self.limits.outstanding
                ),
                "use a smaller depth",
            ));
        }
        Ok(())
    }

    #[cold]
    fn refuse(&self, request: usize, awaited: usize) -> LinkError {
        let limits = &self.limits;
        if !limits.takes_messages {
            self.usage(
                "its firmware supports measurements, but not messages",
                "use newer firmware (with MESSAGE), or open it with a framing",
            )
        } else if request > limits.request {
            self.usage(
                format!(
                    "a request of {request} B exceeds the maximum of the device ({} B)",
                    limits.request
                ),
                "use a smaller request, or several",
            )
        } else {
            self.usage(
                format!(
                    "a reply of {awaited} B exceeds the maximum of the device ({} B)",
                    limits.reply
                ),
                "use a smaller reply, or several",
            )
        }
    }
}
