//! This Linux as a USB device: a gadget in configfs whose vendor interfaces are served through
//! FunctionFS, and whose serial ports and HID functions are the kernel's own.
//!
//! One thread looks after endpoint 0, one after each vendor interface, serial port and HID function; the
//! caller's waits for the end. `setup` makes what the plan asks for and takes it down,
//! `functionfs` and `queue` speak to the kernel, `control` answers on endpoint 0, `pair` and `sync` move the bytes of a
//! device, `os_descriptors` binds WinUSB on Windows, `tmc` those of a USBTMC instrument.

mod answers;
mod control;
mod functionfs;
mod os_descriptors;
mod pair;
mod queue;
mod serve;
mod setup;
mod sync;
mod tmc;

pub(crate) use serve::serve;
