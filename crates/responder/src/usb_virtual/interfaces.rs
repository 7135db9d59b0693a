//! The interfaces and endpoints of the functions: tables, from which the descriptors are made.

use crate::bus::Direction;
use crate::gadget::Function;
use crate::hid::report;

/// An endpoint that carries frames.
const fn endpoint(number: u8, direction: Direction, kind: EndpointKind) -> Endpoint {
    Endpoint {
        number,
        direction,
        kind,
        carries: Carries::Frames,
    }
}

/// The interfaces of a function.
pub const fn interfaces_of(function: Function) -> &'static [Interface] {
    match function {
        Function::Acm => ACM,
        Function::Bulk => BULK,
        Function::Interrupt => INTERRUPT,
        Function::Hid => HID,
        Function::Ftdi => FTDI,
        Function::Cp210x => CP210X,
        Function::Ch341 => CH341,
        Function::Iso => ISO,
        // Refused before: only the kernel's gadget has it.
        Function::Tmc => &[],
    }
}

/// An interface.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    /// Class, subclass, protocol.
    pub class: [u8; 3],
    /// Its name; an index into the strings is given to it.
    pub name: &'static str,
    /// Class-specific descriptors behind it.
    pub extra: &'static [Item],
    /// Its endpoints.
    pub endpoints: &'static [Endpoint],
}

/// A byte of a class-specific descriptor.
#[derive(Clone, Copy, Debug)]
pub enum Item {
    /// As it stands.
    Byte(u8),
    /// The number of the function's first interface, or of a later one.
    Interface(u8),
}

impl Interface {
    /// The alternate setting that has its endpoints: with isochronous ones, setting 0 has none.
    pub fn setting(&self) -> u8 {
        let mut kinds = self.endpoints.iter().map(|endpoint| endpoint.kind);
        u8::from(kinds.any(|kind| kind == EndpointKind::Isochronous))
    }
}

/// An endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// Its number within the function, from 0; numbers are given to functions one after the other.
    pub number: u8,
    /// Which way.
    pub direction: Direction,
    /// How it is asked.
    pub kind: EndpointKind,
    /// What it carries.
    pub carries: Carries,
}

/// Types of endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointKind {
    /// Bulk, with packets of the largest size.
    Bulk,
    /// Bulk, with packets of this size, at full speed only.
    BulkOf(u16),
    /// Interrupt, with packets of this size, once in so many frames at full speed, or in
    /// 2^(n - 1) microframes at high speed.
    Interrupt {
        /// Largest packet.
        bytes: u16,
        /// bInterval at full speed.
        full: u8,
        /// bInterval at high speed.
        high: u8,
    },
    /// Interrupt, as often as the device's [`Identity::interval`] says, with packets of 64 B or as many as a report
    /// has.
    Polled {
        /// Packets carry reports.
        of_report: bool,
    },
    /// Isochronous, as often as the device's [`Identity::interval`] says, with packets of the largest size. An interface
    /// with such endpoints has them in its alternate setting 1 (USB 2.0, 5.6.3).
    Isochronous,
}

/// What an endpoint is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// Requests or answers of a responder; a function has one such endpoint in each direction.
    Frames,
    /// The modem lines of an adapter when they change.
    Notices,
    /// Packets in every interval, without an answer.
    Packets,
    /// Notifications, of which there are none.
    Nothing,
}

use Item::{Byte as B, Interface as I};

const NOTIFY: EndpointKind = EndpointKind::Interrupt {
    bytes: 16,
    full: 16,
    high: 8,
};

const POLLED: EndpointKind = EndpointKind::Polled { of_report: false };
const OF_REPORT: EndpointKind = EndpointKind::Polled { of_report: true };

const ACM: &[Interface] = &[
    Interface {
        // CDC 1.2, table 2 and PSTN 1.2, 3.2: abstract control model, no protocol of AT commands.
        class: [0x02, 0x02, 0x00],
        name: "wiregauge serial port",
        extra: &[
            // Header: CDC 1.10 (CDC 1.2, table 15).
            B(5),
            B(0x24),
            B(0x00),
            B(0x10),
            B(0x01),
            // Call management: none (PSTN 1.2, table 3).
            B(5),
            B(0x24),
            B(0x01),
            B(0x00),
            I(1),
            // Line coding and control line state are understood (PSTN 1.2, table 4).
            B(4),
            B(0x24),
            B(0x02),
            B(0x02),
            // Union (CDC 1.2, table 16).
            B(5),
            B(0x24),
            B(0x06),
            I(0),
            I(1),
        ],
        endpoints: &[Endpoint {
            number: 0,
            direction: Direction::In,
            kind: NOTIFY,
            carries: Carries::Nothing,
        }],
    },
    Interface {
        class: [0x0a, 0x00, 0x00],
        name: "wiregauge serial data",
        extra: &[],
        endpoints: &[
            endpoint(1, Direction::In, EndpointKind::Bulk),
            endpoint(1, Direction::Out, EndpointKind::Bulk),
        ],
    },
];

const BULK: &[Interface] = &[Interface {
    class: [0xff, 0x00, 0x00],
    name: "wiregauge bulk",
    extra: &[],
    endpoints: &[
        endpoint(0, Direction::In, EndpointKind::Bulk),
        endpoint(0, Direction::Out, EndpointKind::Bulk),
    ],
}];

const INTERRUPT: &[Interface] = &[Interface {
    class: [0xff, 0x00, 0x00],
    name: "wiregauge interrupt",
    extra: &[],
    endpoints: &[
        endpoint(0, Direction::In, POLLED),
        endpoint(0, Direction::Out, POLLED),
    ],
}];

/// The HID descriptor stands behind the interface (HID 1.11, 6.2.1 and 7.1).
pub const HID_DESCRIPTOR: [u8; 9] = {
    let [low, high] = report::DESCRIPTOR.to_le_bytes();
    [9, 0x21, 0x11, 0x01, 0, 1, 0x22, low, high]
};

const HID: &[Interface] = &[Interface {
    // Neither a boot keyboard nor a boot mouse.
    class: [0x03, 0x00, 0x00],
    name: "wiregauge HID",
    extra: &{
        let mut items = [B(0); HID_DESCRIPTOR.len()];
        let mut at = 0;
        while at < items.len() {
            items[at] = B(HID_DESCRIPTOR[at]);
            at += 1;
        }
        items
    },
    endpoints: &[
        endpoint(0, Direction::In, OF_REPORT),
        endpoint(0, Direction::Out, OF_REPORT),
    ],
}];

const FTDI: &[Interface] = &[Interface {
    class: [0xff, 0xff, 0xff],
    name: "wiregauge FT232R",
    extra: &[],
    endpoints: &[
        endpoint(0, Direction::In, EndpointKind::Bulk),
        endpoint(1, Direction::Out, EndpointKind::Bulk),
    ],
}];

const CP210X: &[Interface] = &[Interface {
    class: [0xff, 0x00, 0x00],
    name: "wiregauge CP2102",
    extra: &[],
    endpoints: &[
        endpoint(0, Direction::In, EndpointKind::Bulk),
        endpoint(0, Direction::Out, EndpointKind::Bulk),
    ],
}];

const CH341: &[Interface] = &[Interface {
    class: [0xff, 0x01, 0x02],
    name: "wiregauge CH340",
    extra: &[],
    endpoints: &[
        Endpoint {
            number: 0,
            direction: Direction::In,
            kind: EndpointKind::Interrupt {
                bytes: 8,
                full: 1,
                high: 4,
            },
            carries: Carries::Notices,
        },
        endpoint(1, Direction::In, EndpointKind::BulkOf(32)),
        endpoint(1, Direction::Out, EndpointKind::BulkOf(32)),
    ],
}];

const ISO: &[Interface] = &[Interface {
    class: [0xff, 0x00, 0x00],
    name: "wiregauge isochronous",
    extra: &[],
    endpoints: &[packets(Direction::In), packets(Direction::Out)],
}];

const fn packets(direction: Direction) -> Endpoint {
    Endpoint {
        number: 0,
        direction,
        kind: EndpointKind::Isochronous,
        carries: Carries::Packets,
    }
}

/// bcdDevice: ftdi_sio finds out by it which chip it has (FT232R: 6.00).
pub fn release_of(functions: &[Function]) -> u16 {
    match functions {
        [Function::Ftdi] => 0x0600,
        [Function::Ch341] => 0x0264,
        _ => 0x0100,
    }
}
