//! A USBTMC interface in front of a responder, without I/O: bulk transfers and class requests in, bulk transfers and
//! answers out (USBTMC 1.0; USB488 1.0).

use super::device::{Device, DeviceConfig};
use wiregauge_link::host::Clock;
use wiregauge_link::usbtmc::header::{FromInstrument, HEADER, HeaderError, ToInstrument, padding};
use wiregauge_link::usbtmc::{requests, status};
use wiregauge_record::Protocol;

/// Bytes of a reply in one transfer at most; the rest must be asked for again.
const MOST_IN: usize = 1 << 20;

/// Bytes of a message at most; a longer one is dropped.
const MOST_MESSAGE: usize = wiregauge_wire::MAX_FRAME as usize + 4096;

/// The status byte of IEEE 488.2, 11.2: a reply is there to be read.
const MAV: u8 = 0x10;

/// Bytes of the answer to GET_CAPABILITIES.
const CAPABILITIES: usize = 24;

/// The interface and the device behind it.
pub struct TmcDevice {
    device: Device,
    protocol: Protocol,
    packet: usize,
    out: Out,
    /// Bytes of messages that the device has not used up.
    message: Vec<u8>,
    /// The last transfer did not end its message.
    is_inside: bool,
    /// The message is too long; its rest is dropped.
    is_dropped: bool,
    /// The reply; those bytes before `sent` are gone.
    reply: Vec<u8>,
    sent: usize,
    /// A reply is asked for: tag, and bytes at most.
    request: Option<(u8, u32)>,
}

/// Where in a transfer from the host the next packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Out {
    /// It begins with a header.
    Header,
    /// So many bytes of a message are to come, and so many with the zeros behind them.
    Payload {
        left: usize,
        padded: usize,
        end: bool,
    },
}

/// What the bulk endpoints were doing, for the class requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doing {
    /// Tag of the request that is not answered, or whose answer is on its way.
    pub tag: Option<u8>,
    /// A transfer from the host has begun and not ended.
    pub out: bool,
    /// A reply waits to be asked for.
    pub has_reply: bool,
    /// A class request is being carried out.
    pub busy: bool,
}

/// What a class request wants done to the bulk endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Empty everything.
    Clear,
    /// Drop the transfer from the host.
    AbortOut,
    /// Drop the reply, and end its transfer with a packet that is not full.
    AbortIn,
}

impl TmcDevice {
    /// At rest. `packet` is the packet size of the endpoints.
    pub fn new(config: &DeviceConfig, clock: Clock, packet: usize) -> TmcDevice {
        TmcDevice {
            device: Device::new(config.clone(), clock),
            protocol: config.protocol,
            packet,
            out: Out::Header,
            message: Vec::new(),
            is_inside: false,
            is_dropped: false,
            reply: Vec::new(),
            sent: 0,
            request: None,
        }
    }

    /// Bytes that may be received at once, so that a transfer of whole packets ends where it should: it need not be
    /// followed by an empty packet.
    pub fn wanted(&self, most: usize) -> usize {
        let wanted = match self.out {
            Out::Header => self.packet,
            Out::Payload { padded, .. } => padded.clamp(1, most),
        };
        wanted.next_multiple_of(self.packet)
    }

    /// Takes what one receive of [`TmcDevice::wanted`] bytes brought. True if the reply before is not to be sent any
    /// more: a new message has come. After an error the next packet is taken for the beginning of a transfer.
    pub fn take(&mut self, bytes: &[u8], now_ns: u64) -> Result<bool, HeaderError> {
        let mut is_interrupted = false;
        let is_short = !bytes.len().is_multiple_of(self.packet);
        let (payload, mut left, mut padded, end) = match self.out {
            // What ends a transfer of whole packets.
            Out::Header if bytes.is_empty() => return Ok(false),
            Out::Header => match ToInstrument::decode(bytes)? {
                ToInstrument::Request { tag, bytes, .. } => {
                    self.request = Some((tag, bytes));
                    return Ok(false);
                }
                ToInstrument::Trigger { .. } => return Ok(false),
                ToInstrument::Message {
                    bytes: size, end, ..
                } => {
                    if !self.is_inside {
                        // IEEE 488.2, 6.3.2.3: Query INTERRUPTED.
                        is_interrupted = true;
                        self.drop_reply();
                        self.message.clear();
                        self.is_dropped = false;
                    }
                    let size = size as usize;
                    let padded = size + padding(HEADER + size);
                    (&bytes[HEADER..], size, padded, end)
                }
            },
            Out::Payload { left, padded, end } => (bytes, left, padded, end),
        };
        let count = payload.len().min(left);
        left -= count;
        padded -= payload.len().min(padded);
        self.is_dropped |= self.message.len() + count > MOST_MESSAGE;
        if !self.is_dropped {
            self.message.extend_from_slice(&payload[..count]);
        }
        if padded > 0 && !is_short {
            self.out = Out::Payload { left, padded, end };
            self.is_inside = true;
            return Ok(is_interrupted);
        }
        self.out = Out::Header;
        self.is_inside = !end;
        if left > 0 || self.is_dropped && end {
            // The transfer ended too soon, or the message had no end for too long.
            self.message.clear();
            self.is_inside = false;
        } else if end {
            // EOM ends a line as a newline does.
            if self.protocol == Protocol::Scpi && !self.message.ends_with(b"\n") {
                self.message.push(b'\n');
            }
            self.work(now_ns);
        }
        Ok(is_interrupted)
    }

    /// The device reads what it takes now of a message that is complete.
    fn work(&mut self, now_ns: u64) {
        while !self.message.is_empty() {
            let used = self
                .device
                .take_stream(&self.message, now_ns, &mut self.reply);
            if used == 0 {
                break;
            }
            self.message.drain(..used);
        }
    }

    /// Puts the transfer that answers the request into `to`; false if none is asked for, or no reply is there.
    pub fn next(&mut self, now_ns: u64, to: &mut Vec<u8>) -> bool {
        if !self.is_inside {
            self.work(now_ns);
        }
        while let Some(answer) = self.device.pop_due(now_ns) {
            self.reply.extend_from_slice(&answer);
        }
        let waiting = self.reply.len() - self.sent;
        let Some((tag, asked)) = self.request.filter(|_| waiting > 0) else {
            return false;
        };
        let count = waiting.min(asked as usize).min(MOST_IN);
        let header = FromInstrument {
            tag,
            bytes: count as u32,
            end: count == waiting,
        };
        to.extend_from_slice(&header.encode());
        to.extend_from_slice(&self.reply[self.sent..self.sent + count]);
        to.resize(to.len() + padding(to.len()), 0);
        self.request = None;
        self.sent += count;
        if self.sent == self.reply.len() {
            self.reply.clear();
            self.sent = 0;
        }
        true
    }

    /// When a reply is due, if one is asked for and none is there.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.request.and(self.device.next_due_ns())
    }

    /// True if the device is to be gone for good.
    pub fn is_gone(&self) -> bool {
        self.device.is_gone() && self.sent == self.reply.len()
    }

    /// What the endpoints are doing; `leaving` is the tag of the reply on its way.
    pub fn doing(&self, leaving: Option<u8>) -> Doing {
        Doing {
            tag: self.request.map(|(tag, _)| tag).or(leaving),
            out: self.out != Out::Header,
            has_reply: self.sent < self.reply.len(),
            busy: false,
        }
    }

    /// The tag of the request.
    pub fn asked(&self) -> Option<u8> {
        self.request.map(|(tag, _)| tag)
    }

    /// Does what a class request wants.
    pub fn grant(&mut self, wish: Wish) {
        if wish != Wish::AbortOut {
            self.drop_reply();
        }
        if wish != Wish::AbortIn {
            self.out = Out::Header;
            self.is_inside = false;
            self.message.clear();
        }
    }

    /// The reply, and those that the device would give later, answer nothing any more.
    fn drop_reply(&mut self) {
        self.request = None;
        self.reply.clear();
        self.sent = 0;
        while self.device.pop_due(u64::MAX).is_some() {}
    }
}

/// A class request, as its setup packet has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassRequest {
    /// bmRequestType.
    pub kind: u8,
    /// bRequest.
    pub request: u8,
    /// wValue.
    pub value: u16,
}

impl ClassRequest {
    /// What it is answered with, and what it wants done; `None` if it is not known.
    pub fn answer(self, protocol: Protocol, doing: Doing) -> Option<(Vec<u8>, Option<Wish>)> {
        // Class, to the host: of an interface, of an endpoint.
        const INTERFACE: u8 = 0xa1;
        const ENDPOINT: u8 = 0xa2;
        let tag = self.value as u8;
        let begins = |wish| Some((vec![status::SUCCESS, tag], Some(wish)));
        let progress = match doing.busy {
            true => status::PENDING,
            false => status::SUCCESS,
        };
        match (self.kind, self.request) {
            (INTERFACE, requests::GET_CAPABILITIES) => Some((capabilities(protocol), None)),
            (INTERFACE, requests::INITIATE_CLEAR) => {
                Some((vec![status::SUCCESS], Some(Wish::Clear)))
            }
            (INTERFACE, requests::CHECK_CLEAR_STATUS) => Some((vec![progress, 0], None)),
            (INTERFACE, requests::READ_STATUS_BYTE) => {
                let byte = if doing.has_reply { MAV } else { 0 };
                Some((vec![status::SUCCESS, tag, byte], None))
            }
            (ENDPOINT, requests::INITIATE_ABORT_BULK_IN) => match doing.tag {
                Some(found) if found == tag => begins(Wish::AbortIn),
                Some(found) => Some((vec![status::NOT_IN_PROGRESS, found], None)),
                None => Some((vec![status::FAILED, 0], None)),
            },
            (ENDPOINT, requests::INITIATE_ABORT_BULK_OUT) => match doing.out {
                true => begins(Wish::AbortOut),
                false => Some((vec![status::FAILED, 0], None)),
            },
            (
                ENDPOINT,
                requests::CHECK_ABORT_BULK_IN_STATUS | requests::CHECK_ABORT_BULK_OUT_STATUS,
            ) => Some((vec![progress, 0, 0, 0, 0, 0, 0, 0], None)),
            _ => None,
        }
    }
}

/// Table 37, and table 8 of USB488: neither TermChar nor the trigger; an instrument of IEEE 488.2 that speaks SCPI.
fn capabilities(protocol: Protocol) -> Vec<u8> {
    const BCD_1_00: [u8; 2] = [0x00, 0x01];
    const IS_488_2: u8 = 4;
    const SPEAKS_SCPI: u8 = 8;
    let mut all = vec![0; CAPABILITIES];
    all[0] = status::SUCCESS;
    all[2..4].copy_from_slice(&BCD_1_00);
    all[12..14].copy_from_slice(&BCD_1_00);
    if protocol == Protocol::Scpi {
        (all[14], all[15]) = (IS_488_2, SPEAKS_SCPI);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_link::usbtmc::incoming::{Incoming, Piece};

    const PACKET: usize = 64;

    fn device(protocol: Protocol) -> TmcDevice {
        let config = DeviceConfig {
            protocol,
            ..DeviceConfig::default()
        };
        TmcDevice::new(&config, Clock::start(), PACKET)
    }

    /// Hands over a message in one transfer, in as many receives as the device wants; with an empty packet behind it
    /// where a controller sends one.
    fn send(device: &mut TmcDevice, tag: u8, payload: &[u8], end: bool) {
        let bytes = payload.len() as u32;
        let mut all = ToInstrument::Message { tag, bytes, end }.encode().to_vec();
        all.extend_from_slice(payload);
        all.resize(all.len() + padding(all.len()), 0);
        let mut rest = &all[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(device.wanted(256)));
            device.take(now, 0).unwrap();
            rest = later;
        }
        if all.len().is_multiple_of(PACKET) {
            device.take(&[], 0).unwrap();
        }
    }

    /// Asks for a reply in parts of at most so many bytes.
    fn reply(device: &mut TmcDevice, most: u32) -> Option<Vec<u8>> {
        let mut all = Vec::new();
        for tag in 100..200 {
            let request = ToInstrument::Request {
                tag,
                bytes: most,
                until: None,
            };
            device.take(&request.encode(), 0).unwrap();
            let mut transfer = Vec::new();
            if !device.next(0, &mut transfer) {
                return None;
            }
            let mut incoming = Incoming::default();
            incoming.asked(tag, most);
            let Ok(Piece::Last(range, end)) = incoming.take(&transfer, true) else {
                panic!("not one transfer: {transfer:?}");
            };
            all.extend_from_slice(&transfer[range]);
            if end {
                return Some(all);
            }
        }
        panic!("the reply has no end");
    }

    #[test]
    fn a_query_is_answered_whether_a_newline_or_the_end_of_the_message_ends_it() {
        let mut device = device(Protocol::Scpi);
        for query in [&b"*OPC?\n"[..], b"*OPC?"] {
            send(&mut device, 1, query, true);
            assert_eq!(reply(&mut device, 1024).unwrap(), b"1\n");
        }
        // Nothing is there without a query.
        assert_eq!(reply(&mut device, 1024), None);
    }

    #[test]
    fn messages_of_any_length_come_through_whole() {
        let mut device = device(Protocol::Echo);
        for length in (1..200).chain([500, 1000, 5000]) {
            let payload: Vec<u8> = (0..length).map(|at| at as u8).collect();
            send(&mut device, 1, &payload, true);
            assert_eq!(reply(&mut device, 1 << 20).unwrap(), payload);
            // The same in two transfers, and read in parts.
            let (first, second) = payload.split_at(length / 2);
            if !first.is_empty() {
                send(&mut device, 2, first, false);
            }
            send(&mut device, 3, second, true);
            assert_eq!(reply(&mut device, 77).unwrap(), payload);
        }
    }

    #[test]
    fn a_new_message_drops_the_reply_that_was_not_read() {
        let mut device = device(Protocol::Scpi);
        send(&mut device, 1, b"*IDN?\n", true);
        assert!(device.doing(None).has_reply);
        send(&mut device, 2, b"*OPC?\n", true);
        assert_eq!(reply(&mut device, 1024).unwrap(), b"1\n");
    }

    #[test]
    fn a_transfer_that_ends_too_soon_is_no_message() {
        let mut device = device(Protocol::Scpi);
        let header = ToInstrument::Message {
            tag: 1,
            bytes: 20,
            end: true,
        };
        let cut = [&header.encode()[..], b"*IDN?"].concat();
        device.take(&cut, 0).unwrap();
        assert_eq!(reply(&mut device, 1024), None);
        assert_eq!(device.take(&[9; 12], 0), Err(HeaderError::Inverse(9, 9)));
        send(&mut device, 2, b"*OPC?\n", true);
        assert_eq!(reply(&mut device, 1024).unwrap(), b"1\n");
    }

    fn ask(kind: u8, request: u8, value: u16, doing: Doing) -> Option<(Vec<u8>, Option<Wish>)> {
        let request = ClassRequest {
            kind,
            request,
            value,
        };
        request.answer(Protocol::Scpi, doing)
    }

    #[test]
    fn capabilities_have_the_length_and_the_versions_of_the_specification() {
        let (answer, wish) = ask(0xa1, 7, 0, Doing::default()).unwrap();
        assert_eq!((answer.len(), wish), (24, None));
        assert_eq!(answer[..4], [1, 0, 0, 1]);
        assert_eq!(answer[12..16], [0, 1, 4, 8]);
    }

    #[test]
    fn an_abort_is_granted_only_for_the_transfer_that_is_in_progress() {
        let doing = Doing {
            tag: Some(7),
            ..Doing::default()
        };
        let abort = |value, doing| ask(0xa2, 3, value, doing).unwrap();
        assert_eq!(abort(7, doing), (vec![1, 7], Some(Wish::AbortIn)));
        assert_eq!(abort(8, doing), (vec![0x81, 7], None));
        assert_eq!(abort(7, Doing::default()), (vec![0x80, 0], None));
        let busy = Doing {
            busy: true,
            ..doing
        };
        assert_eq!(ask(0xa2, 4, 0, busy).unwrap().0[0], 2);
        assert_eq!(ask(0xa2, 4, 0, doing).unwrap().0, [1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(ask(0xa1, 200, 0, doing), None);
    }

    #[test]
    fn what_is_aborted_or_cleared_is_gone() {
        for wish in [Wish::Clear, Wish::AbortIn] {
            let mut device = device(Protocol::Scpi);
            send(&mut device, 1, b"*IDN?\n", true);
            device.grant(wish);
            assert_eq!(reply(&mut device, 1024), None);
        }
        for wish in [Wish::Clear, Wish::AbortOut] {
            let mut device = device(Protocol::Scpi);
            send(&mut device, 1, b"*ID", false);
            device.grant(wish);
            send(&mut device, 1, b"*OPC?\n", true);
            assert_eq!(reply(&mut device, 1024).unwrap(), b"1\n");
        }
    }
}
