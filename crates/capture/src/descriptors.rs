//! What a device says of its endpoints when the host asks for its configuration (USB 2.0, 9.4.3 and 9.6.6).

use crate::packet::Pid;
use crate::read::UrbType;
use crate::transactions::{Outcome, Transaction};
use std::collections::BTreeMap;

/// What a descriptor says of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Described {
    pub(crate) transfer: UrbType,
    pub(crate) max_packet: u32,
}

/// Listens to the control transfers of all devices.
#[derive(Debug, Default)]
pub(crate) struct Descriptors {
    /// Answers that have begun, by address.
    answers: BTreeMap<u8, Vec<u8>>,
    endpoints: BTreeMap<(u8, u8), Described>,
}

/// Of an answer; configurations are shorter.
const LONGEST: usize = 4096;
const GET_DESCRIPTOR: u8 = 6;
const CONFIGURATION: u8 = 2;
const ENDPOINT: u8 = 5;

impl Descriptors {
    /// A transaction of endpoint 0 and its payload.
    pub(crate) fn transaction(&mut self, transaction: &Transaction, payload: &[u8]) {
        if transaction.outcome() != Outcome::Taken {
            return;
        }
        let address = transaction.address;
        match transaction.token {
            Pid::Setup => {
                self.end(address);
                if let [0x80, GET_DESCRIPTOR, _, CONFIGURATION, ..] = payload {
                    self.answers.insert(address, Vec::new());
                }
            }
            Pid::In => {
                if let Some(answer) = self.answers.get_mut(&address)
                    && answer.len() < LONGEST
                {
                    answer.extend(payload);
                }
            }
            // The status stage.
            _ => self.end(address),
        }
    }

    fn end(&mut self, address: u8) {
        let Some(answer) = self.answers.remove(&address) else {
            return;
        };
        let mut rest = answer.as_slice();
        while let [length, kind, ..] = *rest {
            let Some(one) = rest.get(..usize::from(length)).filter(|_| length >= 2) else {
                return;
            };
            rest = &rest[one.len()..];
            if kind != ENDPOINT {
                continue;
            }
            if let [_, _, endpoint, attributes, low, high, ..] = *one {
                let described = Described {
                    transfer: match attributes & 3 {
                        0 => UrbType::Control,
                        1 => UrbType::Isochronous,
                        2 => UrbType::Bulk,
                        _ => UrbType::Interrupt,
                    },
                    max_packet: u32::from(u16::from_le_bytes([low, high]) & 0x7ff),
                };
                self.endpoints.insert((address, endpoint), described);
            }
        }
    }

    pub(crate) fn of(&self, address: u8, endpoint: u8) -> Option<Described> {
        self.endpoints
            .get(&(address, endpoint))
            .copied()
            .filter(|described| described.max_packet > 0)
    }
}
