//! Registers and bits of a Modbus device: each call is one request.

use super::{Device, Timing};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_session::Messages;
use wiregauge_session::pdu::{self, Table};

impl Device {
    /// Reads as many registers as `values` has, from `address` on (0 is the first). `unit`: `None` for the one that it
    /// was opened with. An exception of the device is an error of kind `Exception`.
    pub fn read_registers(
        &mut self,
        unit: Option<u8>,
        table: Table,
        address: u16,
        values: &mut [u16],
    ) -> Result<Timing, LinkError> {
        let doing = "cannot read registers of";
        if table.has_bits() {
            let driver = self.driver(doing)?;
            return Err(driver.usage(
                "coils and discrete inputs are bits, not registers",
                "use the table holding or input, or read bits",
            ));
        }
        let count = values.len();
        self.modbus(
            doing,
            unit,
            |to| pdu::read(table, address, count, to),
            |data| pdu::take_registers(data, values),
        )
    }

    /// The same for coils and discrete inputs.
    pub fn read_bits(
        &mut self,
        unit: Option<u8>,
        table: Table,
        address: u16,
        values: &mut [bool],
    ) -> Result<Timing, LinkError> {
        let doing = "cannot read bits of";
        if !table.has_bits() {
            let driver = self.driver(doing)?;
            return Err(driver.usage(
                "holding and input registers are no bits",
                "use the table coil or discrete, or read registers",
            ));
        }
        let count = values.len();
        self.modbus(
            doing,
            unit,
            |to| pdu::read(table, address, count, to),
            |data| pdu::take_bits(data, values),
        )
    }

    /// Writes holding registers from `address` on: function 6 for one value, else 16.
    pub fn write_registers(
        &mut self,
        unit: Option<u8>,
        address: u16,
        values: &[u16],
    ) -> Result<Timing, LinkError> {
        let doing = "cannot write registers of";
        let request = |to: &mut Vec<u8>| pdu::write_registers(address, values, to);
        self.modbus(doing, unit, request, |_| true)
    }

    /// Writes coils from `address` on: function 5 for one value, else 15.
    pub fn write_coils(
        &mut self,
        unit: Option<u8>,
        address: u16,
        values: &[bool],
    ) -> Result<Timing, LinkError> {
        let doing = "cannot write coils of";
        let request = |to: &mut Vec<u8>| pdu::write_coils(address, values, to);
        self.modbus(doing, unit, request, |_| true)
    }

    /// The unit that requests go to where a call is given none.
    pub fn unit(&self) -> u8 {
        self.unit
    }

    /// Changes it.
    pub fn set_unit(&mut self, unit: u8) -> Result<(), LinkError> {
        let driver = self.driver("cannot set the unit of")?;
        if let Err(problem) = pdu::check_unit(unit) {
            return Err(driver.usage(problem, "use the unit of the device"));
        }
        self.unit = unit;
        Ok(())
    }

    /// One request, and what its reply holds behind unit and function.
    fn modbus(
        &mut self,
        doing: &'static str,
        unit: Option<u8>,
        make: impl FnOnce(&mut Vec<u8>) -> Result<(), String>,
        take: impl FnOnce(&[u8]) -> bool,
    ) -> Result<Timing, LinkError> {
        let unit = unit.unwrap_or(self.unit);
        let mut request = std::mem::take(&mut self.staged);
        request.clear();
        request.push(unit);
        let done = self.modbus_with(doing, unit, &mut request, make, take);
        self.staged = request;
        done
    }

    fn modbus_with(
        &mut self,
        doing: &'static str,
        unit: u8,
        request: &mut Vec<u8>,
        make: impl FnOnce(&mut Vec<u8>) -> Result<(), String>,
        take: impl FnOnce(&[u8]) -> bool,
    ) -> Result<Timing, LinkError> {
        let driver = self.at_rest(doing)?;
        if !matches!(driver.engine.codec(), Messages::Modbus(_)) {
            return Err(driver.usage(
                "it was not opened for Modbus",
                "open it with the protocol modbus",
            ));
        }
        if let Err(problem) = pdu::check_unit(unit).and_then(|()| make(request)) {
            return Err(driver.usage(problem, "see docs/instruments.md, Modbus"));
        }
        let reply = self.exchange_as(doing, request, None)?;
        let timing = reply.timing;
        match reply.payload.get(2..).is_some_and(take) {
            true => Ok(timing),
            // The engine compares sizes, so this does not happen.
            false => Err(LinkError::new(
                LinkErrorKind::Protocol,
                format!("{doing} {}", self.about.address),
                "the reply has another size than its request asks for",
            )),
        }
    }
}
