//! Requests on endpoint 0: the standard ones of USB 2.0, 9.4, those of a serial port (PSTN 1.2, 6.3), and Windows' for
//! Microsoft OS 2.0 descriptors. What is not known is stalled.

use super::descriptors::Identity;
use super::interfaces::HID_DESCRIPTOR;
use crate::gadget::Function;
use crate::hid::report;
use crate::ms_os;
use std::collections::HashMap;
use wiregauge_link::limits::Bus;

/// What a request is answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// These bytes IN.
    Data(Vec<u8>),
    /// Done; something else follows from it.
    Done(Effect),
    /// Not understood.
    Stall,
}

impl Answer {
    /// Done, and nothing else follows.
    pub const fn done() -> Answer {
        Answer::Done(Effect::None)
    }
}

/// What a request changes outside endpoint 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// This one of the functions begins anew: what it had to send is thrown away.
    Reset(usize),
    /// All functions do.
    ResetAll,
    /// What stands at this endpoint address is thrown away.
    ClearHalt(u8),
}

/// The state behind endpoint 0.
#[derive(Debug, Default)]
pub struct Control {
    configuration: u8,
    /// Alternate settings of the interfaces, where they are not 0.
    settings: HashMap<u8, u8>,
    /// Of the serial ports, by function.
    ports: HashMap<usize, Port>,
}

#[derive(Clone, Copy, Debug)]
struct Port {
    line_coding: [u8; 7],
    /// DTR: a program has it open.
    opened: bool,
}

impl Default for Port {
    fn default() -> Port {
        Port {
            line_coding: DEFAULT_CODING,
            opened: false,
        }
    }
}

/// 115,200 baud, 1 stop bit, no parity, 8 data bits.
const DEFAULT_CODING: [u8; 7] = [0x00, 0xc2, 0x01, 0x00, 0x00, 0x00, 0x08];

// bmRequestType (USB 2.0, table 9-2).
const TO_DEVICE: u8 = 0x00;
const TO_INTERFACE: u8 = 0x01;
const TO_ENDPOINT: u8 = 0x02;
const FROM_DEVICE: u8 = 0x80;
const FROM_INTERFACE: u8 = 0x81;
const FROM_ENDPOINT: u8 = 0x82;
const CLASS_TO_INTERFACE: u8 = 0x21;
const CLASS_FROM_INTERFACE: u8 = 0xa1;
const VENDOR_FROM_DEVICE: u8 = 0xc0;

// bRequest (USB 2.0, table 9-4; PSTN 1.2, table 13).
const GET_STATUS: u8 = 0;
const CLEAR_FEATURE: u8 = 1;
const GET_DESCRIPTOR: u8 = 6;
const GET_CONFIGURATION: u8 = 8;
const SET_CONFIGURATION: u8 = 9;
const GET_INTERFACE: u8 = 10;
const SET_INTERFACE: u8 = 11;
const SET_LINE_CODING: u8 = 0x20;
const GET_LINE_CODING: u8 = 0x21;
const SET_CONTROL_LINE_STATE: u8 = 0x22;
const SEND_BREAK: u8 = 0x23;

// HID 1.11, 7.2.
const SET_IDLE: u8 = 0x0a;

impl Control {
    /// Answers a request with its data stage OUT, if it has one.
    pub fn answer(&mut self, identity: &Identity, setup: [u8; 8], data: &[u8]) -> Answer {
        let value = u16::from_le_bytes([setup[2], setup[3]]);
        let index = u16::from_le_bytes([setup[4], setup[5]]);
        let interface = index as u8;
        let function = identity.function_of(interface);
        let is_port = function.is_some_and(|at| identity.functions[at] == Function::Acm);
        let is_hid = function.is_some_and(|at| identity.functions[at] == Function::Hid);
        let port = match function {
            Some(at) if is_port => Some(self.ports.entry(at).or_default()),
            _ => None,
        };
        let answer = match (setup[0], setup[1]) {
            (FROM_DEVICE, GET_DESCRIPTOR) => descriptor(identity, value),
            (FROM_INTERFACE, GET_DESCRIPTOR) if is_hid => hid_descriptor(identity, value),
            // Reports come when there are any, whatever the host thinks of repeating them.
            (CLASS_TO_INTERFACE, SET_IDLE) if is_hid => Some(Answer::Done(Effect::None)),
            // Self-powered (USB 2.0, figure 9-4).
            (FROM_DEVICE, GET_STATUS) => Some(Answer::Data(vec![1, 0])),
            (FROM_INTERFACE | FROM_ENDPOINT, GET_STATUS) => Some(Answer::Data(vec![0, 0])),
            (FROM_DEVICE, GET_CONFIGURATION) => Some(Answer::Data(vec![self.configuration])),
            (TO_DEVICE, SET_CONFIGURATION) if value <= 1 => {
                self.configuration = value as u8;
                self.settings.clear();
                Some(Answer::Done(Effect::ResetAll))
            }
            (FROM_INTERFACE, GET_INTERFACE) if function.is_some() => {
                let setting = self.settings.get(&interface).copied();
                Some(Answer::Data(vec![setting.unwrap_or(0)]))
            }
            (TO_INTERFACE, SET_INTERFACE)
                if identity
                    .setting_of(interface)
                    .is_some_and(|most| value <= u16::from(most)) =>
            {
                self.settings.insert(interface, value as u8);
                function.map(|at| Answer::Done(Effect::Reset(at)))
            }
            (TO_ENDPOINT, CLEAR_FEATURE) if value == 0 => {
                Some(Answer::Done(Effect::ClearHalt(index as u8)))
            }
            (CLASS_TO_INTERFACE, SET_LINE_CODING) => {
                port.zip(data.try_into().ok()).map(|(port, coding)| {
                    port.line_coding = coding;
                    Answer::Done(Effect::None)
                })
            }
            (CLASS_FROM_INTERFACE, GET_LINE_CODING) => {
                port.map(|port| Answer::Data(port.line_coding.to_vec()))
            }
            (CLASS_TO_INTERFACE, SET_CONTROL_LINE_STATE) => {
                port.zip(function).map(|(port, function)| {
                    let was_open = std::mem::replace(&mut port.opened, value & 1 != 0);
                    // A program that opens the port raises DTR, and is a new peer.
                    Answer::Done(if port.opened && !was_open {
                        Effect::Reset(function)
                    } else {
                        Effect::None
                    })
                })
            }
            (VENDOR_FROM_DEVICE, ms_os::VENDOR_CODE) if index == ms_os::DESCRIPTOR_INDEX => {
                identity.ms_os().map(Answer::Data)
            }
            (CLASS_TO_INTERFACE, SEND_BREAK) => port.map(|_| Answer::Done(Effect::None)),
            _ => None,
        };
        match answer {
            Some(Answer::Data(mut bytes)) => {
                bytes.truncate(usize::from(u16::from_le_bytes([setup[6], setup[7]])));
                Answer::Data(bytes)
            }
            Some(answer) => answer,
            None => Answer::Stall,
        }
    }
}

/// Types of descriptor: HID 1.11, 7.1.
fn hid_descriptor(identity: &Identity, value: u16) -> Option<Answer> {
    match value.to_le_bytes() {
        [0, 0x21] => Some(Answer::Data(HID_DESCRIPTOR.to_vec())),
        [0, 0x22] => Some(Answer::Data(
            report::descriptor(identity.report_bytes).to_vec(),
        )),
        _ => None,
    }
}

/// Types of descriptor: USB 2.0, table 9-5; the BOS: USB 3.2, table 9-6.
fn descriptor(identity: &Identity, value: u16) -> Option<Answer> {
    let [index, kind] = value.to_le_bytes();
    let other = match identity.speed {
        Bus::FullSpeed => Bus::HighSpeed,
        Bus::HighSpeed => Bus::FullSpeed,
    };
    match (kind, index) {
        (1, 0) => Some(identity.device()),
        (2, 0) => Some(identity.configuration(2, identity.speed)),
        (3, index) => identity.string(index),
        (6, 0) => identity.qualifier(),
        (7, 0) if identity.speed == Bus::HighSpeed => Some(identity.configuration(7, other)),
        (15, 0) => identity.bos(),
        _ => None,
    }
    .map(Answer::Data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usb_virtual::machine_tests;

    fn identity(functions: &[Function]) -> Identity {
        machine_tests::identity(Bus::FullSpeed, functions)
    }

    #[test]
    fn a_descriptor_is_cut_to_the_length_that_the_host_asks_for() {
        let device = identity(&[Function::Acm]);
        let answer = Control::default().answer(&device, [0x80, 6, 0, 1, 0, 0, 8, 0], &[]);
        assert!(matches!(answer, Answer::Data(bytes) if bytes.len() == 8 && bytes[0] == 18));
    }

    #[test]
    fn line_coding_is_kept_and_given_back() {
        let device = identity(&[Function::Acm]);
        let mut control = Control::default();
        let coding = [0, 0x10, 0x0e, 0, 0, 0, 8];
        let set = control.answer(&device, [0x21, 0x20, 0, 0, 0, 0, 7, 0], &coding);
        assert_eq!(set, Answer::Done(Effect::None));
        let got = control.answer(&device, [0xa1, 0x21, 0, 0, 0, 0, 7, 0], &[]);
        assert_eq!(got, Answer::Data(coding.to_vec()));
    }

    #[test]
    fn a_port_begins_anew_when_it_is_opened_not_while_it_is_open() {
        let device = identity(&[Function::Acm]);
        let mut control = Control::default();
        let raise = [0x21, 0x22, 3, 0, 0, 0, 0, 0];
        let reset = Answer::Done(Effect::Reset(0));
        assert_eq!(control.answer(&device, raise, &[]), reset);
        assert_eq!(control.answer(&device, raise, &[]), Answer::done());
    }

    #[test]
    fn a_hid_device_gives_its_report_descriptor_and_others_have_none() {
        let get = [0x81, 6, 0, 0x22, 0, 0, 0xff, 0];
        let hid = identity(&[Function::Hid]);
        let mut control = Control::default();
        let expected = Answer::Data(report::descriptor(64).to_vec());
        assert_eq!(control.answer(&hid, get, &[]), expected);
        let idle = control.answer(&hid, [0x21, 0x0a, 0, 0, 0, 0, 0, 0], &[]);
        assert_eq!(idle, Answer::Done(Effect::None));
        let bulk = identity(&[Function::Bulk]);
        assert_eq!(control.answer(&bulk, get, &[]), Answer::Stall);
    }

    #[test]
    fn an_alternate_setting_is_selected_where_there_is_one() {
        let device = identity(&[Function::Iso]);
        let mut control = Control::default();
        let get = [0x81, 10, 0, 0, 0, 0, 1, 0];
        for setting in [1, 0] {
            let set = control.answer(&device, [0x01, 11, setting, 0, 0, 0, 0, 0], &[]);
            assert_eq!(set, Answer::Done(Effect::Reset(0)));
            let got = control.answer(&device, get, &[]);
            assert_eq!(got, Answer::Data(vec![setting]));
        }
        let missing = control.answer(&device, [0x01, 11, 2, 0, 0, 0, 0, 0], &[]);
        assert_eq!(missing, Answer::Stall);
        let bulk = identity(&[Function::Bulk]);
        let missing = control.answer(&bulk, [0x01, 11, 1, 0, 0, 0, 0, 0], &[]);
        assert_eq!(missing, Answer::Stall);
    }

    /// Any wValue, because Windows' is 0 and nothing depends on it.
    #[test]
    fn microsoft_os_descriptors_are_answered_by_their_index_and_never_beyond_what_is_asked_for() {
        let mut control = Control::default();
        let device = identity(&[Function::Bulk, Function::Acm]);
        let set = device.ms_os().expect("a vendor interface");
        for index in 0..=u16::MAX {
            let [low, high] = index.to_le_bytes();
            let setup = [0xc0, 0x20, 0, 0, low, high, 0xff, 0xff];
            let expected = match index {
                7 => Answer::Data(set.clone()),
                _ => Answer::Stall,
            };
            assert_eq!(control.answer(&device, setup, &[]), expected, "{index}");
        }
        for asked in (0..300).chain([4096, u16::MAX]) {
            let [low, high] = asked.to_le_bytes();
            let setup = [0xc0, 0x20, 0, 0, 7, 0, low, high];
            let most = set.len().min(usize::from(asked));
            let expected = Answer::Data(set[..most].to_vec());
            assert_eq!(control.answer(&device, setup, &[]), expected, "{asked}");
        }
        // To the device, to an interface, another number; and a device without a vendor interface.
        for setup in [
            [0x40, 0x20, 0, 0, 7, 0, 10, 0],
            [0xc1, 0x20, 0, 0, 7, 0, 10, 0],
            [0xc0, 0x21, 0, 0, 7, 0, 10, 0],
        ] {
            assert_eq!(control.answer(&device, setup, &[]), Answer::Stall);
        }
        let serial = identity(&[Function::Acm]);
        for setup in [
            [0xc0, 0x20, 0, 0, 7, 0, 10, 0],
            [0x80, 6, 0, 15, 0, 0, 5, 0],
        ] {
            assert_eq!(control.answer(&serial, setup, &[]), Answer::Stall);
        }
    }

    #[test]
    fn what_is_unknown_is_stalled_and_so_are_requests_of_a_class_that_is_not_there() {
        let mut control = Control::default();
        let bulk = identity(&[Function::Bulk]);
        for setup in [
            [0xa1, 0x21, 0, 0, 0, 0, 7, 0],
            [0xc0, 0x01, 0, 0, 0, 0, 7, 0],
            [0x80, 6, 0, 6, 0, 0, 10, 0],
            [0x00, 9, 2, 0, 0, 0, 0, 0],
        ] {
            let answer = control.answer(&bulk, setup, &[]);
            assert_eq!(answer, Answer::Stall, "{setup:?}");
        }
    }
}
