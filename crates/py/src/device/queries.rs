//! Text, SCPI and Modbus from Python: commands without a reply, replies without a request, registers and bits.

use super::{Open, RawDevice, opened, request_bytes};
use crate::buffer::{Bytes, Plain};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use wiregauge_device::Table;

// SAFETY: any bytes are a u16.
unsafe impl Plain for u16 {}

// SAFETY: any byte is a u8.
unsafe impl Plain for u8 {}

impl RawDevice {
    /// Sends a request that is not answered.
    pub(super) fn send_alone(&self, py: Python<'_>, request: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut guard = self.lock()?;
        let Open { device, .. } = opened(&mut guard);
        let view;
        let bytes = match request.cast::<PyString>() {
            Ok(text) if self.is_text => text.to_str()?.as_bytes(),
            _ => {
                view = request_bytes(request)?;
                view.as_slice()
            }
        };
        py.detach(|| device.write(bytes))
            .map_err(|error| self.failed(py, error))
    }

    /// Waits for a reply to an earlier request.
    pub(super) fn receive_alone<'py>(
        &self,
        py: Python<'py>,
        reply_bytes: Option<usize>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut guard = self.lock()?;
        let Open { device, last } = opened(&mut guard);
        let reply = py
            .detach(|| device.read(reply_bytes))
            .map_err(|error| self.failed(py, error))?;
        *last = reply.timing;
        Ok(PyBytes::new(py, reply.payload))
    }

    /// Reads registers into an array of uint16.
    pub(super) fn get_registers(
        &self,
        py: Python<'_>,
        table: &str,
        address: u16,
        into: &Bound<'_, PyAny>,
        unit: Option<u8>,
    ) -> PyResult<()> {
        let mut guard = self.lock()?;
        let Open { device, last } = opened(&mut guard);
        let mut into = Bytes::writable(into, "`into`")?;
        let values = into.rows_mut::<u16>()?;
        let table = table_of(table)?;
        *last = py
            .detach(|| device.read_registers(unit, table, address, values))
            .map_err(|error| self.failed(py, error))?;
        Ok(())
    }

    /// Reads bits into an array of bool.
    pub(super) fn get_bits(
        &self,
        py: Python<'_>,
        table: &str,
        address: u16,
        into: &Bound<'_, PyAny>,
        unit: Option<u8>,
    ) -> PyResult<()> {
        let mut guard = self.lock()?;
        let Open { device, last } = opened(&mut guard);
        let mut into = Bytes::writable(into, "`into`")?;
        let mut values = vec![false; into.len()];
        let table = table_of(table)?;
        *last = py
            .detach(|| device.read_bits(unit, table, address, &mut values))
            .map_err(|error| self.failed(py, error))?;
        for (byte, value) in into.as_mut_slice().iter_mut().zip(values) {
            *byte = u8::from(value);
        }
        Ok(())
    }

    /// Writes holding registers from an array of uint16.
    pub(super) fn put_registers(
        &self,
        py: Python<'_>,
        address: u16,
        values: &Bound<'_, PyAny>,
        unit: Option<u8>,
    ) -> PyResult<()> {
        let mut guard = self.lock()?;
        let Open { device, last } = opened(&mut guard);
        let values = Bytes::of(values, "values")?;
        let values = values.rows::<u16>()?;
        *last = py
            .detach(|| device.write_registers(unit, address, values))
            .map_err(|error| self.failed(py, error))?;
        Ok(())
    }

    /// Writes coils from an array of bool.
    pub(super) fn put_coils(
        &self,
        py: Python<'_>,
        address: u16,
        values: &Bound<'_, PyAny>,
        unit: Option<u8>,
    ) -> PyResult<()> {
        let mut guard = self.lock()?;
        let Open { device, last } = opened(&mut guard);
        let values = Bytes::of(values, "values")?;
        let values: Vec<bool> = values.rows::<u8>()?.iter().map(|byte| *byte != 0).collect();
        *last = py
            .detach(|| device.write_coils(unit, address, &values))
            .map_err(|error| self.failed(py, error))?;
        Ok(())
    }

    /// The unit that Modbus requests go to.
    pub(super) fn unit_now(&self) -> PyResult<u8> {
        Ok(opened(&mut self.lock()?).device.unit())
    }

    pub(super) fn change_unit(&self, py: Python<'_>, unit: u8) -> PyResult<()> {
        let mut guard = self.lock()?;
        let set = opened(&mut guard).device.set_unit(unit);
        set.map_err(|error| self.failed(py, error))
    }
}

fn table_of(name: &str) -> PyResult<Table> {
    Table::from_name(name).ok_or_else(|| PyValueError::new_err(format!("unknown table {name:?}")))
}
