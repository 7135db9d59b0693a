//! Serial ports of Windows, such as `COM3`.

use super::port::{Port, PortError, ReadEnd};
use super::ports;
use crate::descriptor_flow::{self, Ends, Ready};
use crate::error::{LinkError, LinkErrorKind};
use crate::kind::OpenFloor;
use crate::platform::socket::can_wait;
use crate::{Address, FlowShape, Flows, Link, MAX_WAIT, closed};
use std::io;
use std::time::Duration;
use windows_sys::Win32::Foundation::{ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION};
use wiregauge_limits::{Framing, Refused};
use wiregauge_record::{LinkDetail, LinkOptions};

/// An address.
pub const EXAMPLE: &str = "serial://COM3";

/// There is no echo on this same host: Windows has no pseudo-terminals for serial ports.
pub const FLOOR: Option<OpenFloor> = None;

/// How long a receive without a timeout sleeps: no signal ends it here.
const LONGEST_RECEIVE: Duration = Duration::from_millis(50);

struct Serial {
    port: Option<Port>,
    name: String,
    baud: Option<u32>,
    framing: Option<Framing>,
    receive_timeout: Duration,
    read_end: Option<ReadEnd>,
}

/// Opens a link to a port.
pub fn open(
    address: &Address,
    options: &LinkOptions,
    _timeout: Duration,
    _is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<Box<dyn Link>, LinkError> {
    let framing = match &options.framing {
        None => None,
        Some(text) => Some(text.parse().map_err(|error: Refused| {
            let doing = format!("cannot open {address}");
            LinkError::new(LinkErrorKind::Usage, doing, error.to_string())
        })?),
    };
    let name = address.rest().to_owned();
    match Port::open(&name, options.baud, framing, None) {
        Ok(port) => Ok(Box::new(Serial {
            read_end: port.read_end(),
            port: Some(port),
            name,
            baud: options.baud,
            framing,
            receive_timeout: MAX_WAIT,
        })),
        Err(error) => Err(explain(address, options, error)),
    }
}

fn explain(address: &Address, options: &LinkOptions, error: PortError) -> LinkError {
    let doing = format!("cannot open {address}");
    match error {
        PortError::Open(error) => match error.raw_os_error().map(|code| code as u32) {
            Some(ERROR_ACCESS_DENIED | ERROR_SHARING_VIOLATION) => LinkError::new(
                LinkErrorKind::Busy,
                doing,
                format!("another program has it open: {error}"),
            )
            .hint("close the program that uses the port, such as a terminal or a serial monitor"),
            _ => {
                let error = LinkError::from_io(doing, &error);
                match error.kind() {
                    LinkErrorKind::NotFound => error.hint(there_are()),
                    _ => error,
                }
            }
        },
        PortError::NotAPort(error) => LinkError::new(
            LinkErrorKind::Usage,
            doing,
            format!("{} is not a serial port: {error}", address.rest()),
        )
        .hint(there_are()),
        PortError::Line(error) => LinkError::new(
            LinkErrorKind::Usage,
            match options.baud {
                Some(baud) => format!("cannot set {address} to {baud} baud"),
                None => format!("cannot set the line of {address}"),
            },
            error.to_string(),
        )
        .hint("use a --baud and --framing that the driver supports"),
    }
}

/// The ports of this computer, as a hint.
fn there_are() -> String {
    let names = ports::names();
    match names.is_empty() {
        true => "is the device plugged in? this computer has no serial port".into(),
        false => format!(
            "is the device plugged in? serial ports: {}; wiregauge devices shows what they are",
            names.join(", ")
        ),
    }
}

impl Serial {
    fn port(&self) -> io::Result<&Port> {
        self.port.as_ref().ok_or_else(closed)
    }
}

impl Ends for Serial {
    const DATAGRAM: bool = false;

    fn put(&self, bytes: &[u8]) -> io::Result<usize> {
        self.port()?.send(bytes)
    }

    fn get(&self, into: &mut [u8]) -> io::Result<usize> {
        self.port()?.receive(into, None)
    }

    fn get_patiently(&self, into: &mut [u8]) -> io::Result<usize> {
        self.port()?.receive(into, Some(self.receive_timeout))
    }

    fn wait(&self, for_what: Ready, at_most: Duration) -> io::Result<()> {
        self.port()?.wait(for_what, at_most)
    }
}

impl Link for Serial {
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes)
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.get(into)
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.get_patiently(into)
    }

    fn set_receive_timeout(&mut self, receive_timeout: Option<Duration>) -> io::Result<bool> {
        self.receive_timeout = receive_timeout.unwrap_or(LONGEST_RECEIVE);
        Ok(can_wait(receive_timeout))
    }

    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()> {
        self.port()?.wait(Ready::readable_or(or_writable), at_most)
    }

    fn close(&mut self) {
        self.port = None;
    }

    fn reopen(&mut self, _is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        self.port = None;
        let port = Port::open(&self.name, self.baud, self.framing, self.read_end);
        self.port = Some(port.map_err(|error| match error {
            PortError::Open(error) | PortError::NotAPort(error) | PortError::Line(error) => error,
        })?);
        Ok(())
    }

    fn flows(&mut self, shape: FlowShape) -> io::Result<Flows<'_>> {
        self.receive_timeout = MAX_WAIT;
        descriptor_flow::flows(self, shape)
    }

    fn detail(&self) -> LinkDetail {
        let mut settings = Vec::new();
        if let Some(port) = &self.port {
            let line = port.line();
            settings.push(("baud".into(), line.baud.to_string()));
            settings.push(("framing".into(), line.framing.to_string()));
        }
        if let Some(known) = ports::of_usb(&self.name) {
            let ids = format!("{:04x}:{:04x}", known.vendor, known.product);
            settings.push(("USB device".into(), ids));
            settings.extend(known.driver.map(|driver| ("driver".into(), driver)));
        }
        LinkDetail { settings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> Result<Box<dyn Link>, LinkError> {
        let options = LinkOptions::default();
        let address = Address::parse(text)?;
        address.open(&options, Duration::from_secs(1))
    }

    #[test]
    fn a_port_that_is_not_there_is_not_found() {
        let error = open("COM250").err().unwrap();
        assert_eq!(error.kind(), LinkErrorKind::NotFound, "{error}");
        assert!(error.to_string().contains("serial://COM250"), "{error}");
    }

    #[test]
    #[ignore = "needs a port that echoes: WIREGAUGE_ECHO_PORT=COM5"]
    fn a_port_that_echoes_gives_back_what_it_gets() {
        let port = std::env::var("WIREGAUGE_ECHO_PORT").unwrap();
        let mut link = open(&port).unwrap();
        let mut into = [0; 4096];
        for round in 0..30_u8 {
            let bytes = [round; 1000];
            assert_eq!(link.send(&bytes).unwrap(), bytes.len());
            let mut got = 0;
            let begun = std::time::Instant::now();
            while got < bytes.len() && begun.elapsed() < Duration::from_secs(5) {
                got += match round % 3 {
                    0 => link.receive_blocking(&mut into[got..]).unwrap(),
                    1 => {
                        link.wait(false, MAX_WAIT).unwrap();
                        link.receive(&mut into[got..]).unwrap()
                    }
                    _ => link.receive(&mut into[got..]).unwrap(),
                };
            }
            assert_eq!(into[..got], bytes, "round {round}");
        }
        // Wine lets a port be opened twice.
        if let Err(error) = open(&port) {
            assert_eq!(error.kind(), LinkErrorKind::Busy, "{error}");
        }
        link.close();
        link.reopen(&mut || false).unwrap();
        assert_eq!(link.send(b"again").unwrap(), 5);
        let mut got = 0;
        while got < 5 {
            got += link.receive_blocking(&mut into[got..]).unwrap();
        }
        assert_eq!(&into[..got], b"again");
    }
}
