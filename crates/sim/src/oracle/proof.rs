//! The proof of address over datagrams (docs/protocol.md): HELLO, and HELLO again with the token. Only the numbers are
//! the engine's choice; each must be a new one.

use super::Fault;
use super::bytes::{header, hello_request};
use super::recognise::end_of;
use crate::world::Byte;
use std::collections::BTreeSet;

/// Proofs in a row that did not help.
const IN_VAIN: u32 = 2;

/// How often a proof is tried.
const ATTEMPTS: u32 = 3;

/// Bytes of a request and of a reply.
const HELLO: usize = 104;

/// What the proof needs now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A HELLO goes out.
    Send,
    /// The reply is awaited.
    Reply,
    /// Nothing: the address is proved.
    Proved,
    /// Nothing: no attempt was answered.
    Failed,
}

/// A proof that goes on.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    count: u32,
    /// Of the reply to the first HELLO of this attempt; then this is the second.
    token: Option<[u8; 8]>,
    /// Of this HELLO, once it was sent.
    number: Option<u32>,
    until_ns: u64,
    is_proved: bool,
}

impl Attempt {
    fn new(count: u32, token: Option<[u8; 8]>, until_ns: u64) -> Attempt {
        Attempt {
            count,
            token,
            number: None,
            until_ns,
            is_proved: false,
        }
    }
}

/// Where the proof stands.
#[derive(Debug, Default)]
pub struct Proof {
    attempt: Option<Attempt>,
    /// Numbers of all HELLOs of the point.
    numbers: BTreeSet<u32>,
    vain: u32,
    /// When the address was proved last, or anything came.
    pub heard_ns: u64,
}

impl Proof {
    /// True while it goes on.
    pub fn is_on(&self) -> bool {
        self.attempt.is_some()
    }

    /// The device says UNPROVEN: a proof begins, or (true) the point has failed.
    pub fn refused(&mut self, now_ns: u64, timeout_ns: u64) -> bool {
        if self.vain >= IN_VAIN {
            return true;
        }
        if !self.is_on() {
            self.vain += 1;
            self.begin(now_ns, timeout_ns);
        }
        false
    }

    /// A proof begins.
    pub fn begin(&mut self, now_ns: u64, timeout_ns: u64) {
        self.attempt = Some(Attempt::new(1, None, now_ns + timeout_ns));
    }

    /// An exchange was answered.
    pub fn answered(&mut self) {
        self.vain = 0;
    }

    /// It is over without success.
    pub fn give_up(&mut self) {
        self.attempt = None;
    }

    /// What it needs now.
    pub fn need(&mut self, now_ns: u64, timeout_ns: u64) -> Need {
        let Some(attempt) = &mut self.attempt else {
            return Need::Failed;
        };
        if attempt.is_proved {
            self.attempt = None;
            self.heard_ns = now_ns;
            return Need::Proved;
        }
        if now_ns >= attempt.until_ns {
            if attempt.count == ATTEMPTS {
                self.attempt = None;
                return Need::Failed;
            }
            *attempt = Attempt::new(attempt.count + 1, None, now_ns + timeout_ns);
        }
        match attempt.number {
            None => Need::Send,
            Some(_) => Need::Reply,
        }
    }

    /// When this attempt is over.
    pub fn until_ns(&self) -> u64 {
        self.attempt.map_or(u64::MAX, |attempt| attempt.until_ns)
    }

    /// Bytes were offered, and `count` of them taken.
    pub fn sent(&mut self, now_ns: u64, offered: &[u8], count: usize) -> Result<(), Fault> {
        let Some(attempt) = self.attempt.as_mut().filter(|_| offered.len() == HELLO) else {
            return Err(Fault::new(now_ns, "no HELLO while the address is proved"));
        };
        let number = u32::from_le_bytes([offered[4], offered[5], offered[6], offered[7]]);
        if offered != hello_request(number, attempt.token.unwrap_or_default()) {
            return Err(Fault::new(now_ns, format!("no HELLO: {offered:02x?}")));
        }
        if count == 0 {
            return Ok(());
        }
        attempt.number = Some(number);
        match self.numbers.insert(number) {
            true => Ok(()),
            false => Err(Fault::new(now_ns, "the number of a HELLO comes again")),
        }
    }

    /// A datagram came; true if a reply to this HELLO is in it.
    pub fn received(&mut self, now_ns: u64, timeout_ns: u64, came: &[Byte]) -> bool {
        if let Some(attempt) = &mut self.attempt
            && let Some(number) = attempt.number
            && let Some(token) = reply(came, number)
        {
            match attempt.token {
                Some(_) => attempt.is_proved = true,
                None => *attempt = Attempt::new(attempt.count, Some(token), now_ns + timeout_ns),
            }
            return true;
        }
        self.heard_ns = now_ns;
        false
    }
}

/// The token in the reply to the HELLO with this number, if that is in the datagram.
fn reply(datagram: &[Byte], number: u32) -> Option<[u8; 8]> {
    let bytes: Vec<u8> = datagram.iter().map(|byte| byte.value).collect();
    let mut rest = &bytes[..];
    loop {
        let found = (0..rest.len()).find_map(|at| Some((at, header(&rest[at..], HELLO)?)));
        let (begin, of) = found?;
        let frame = &rest[begin..];
        let (size, _) = end_of(frame, &of, HELLO)?;
        if of.kind == 0 && of.number == number && size == HELLO {
            let mut token = [0; 8];
            token.copy_from_slice(&frame[HELLO - 8..HELLO]);
            return Some(token);
        }
        rest = &frame[size..];
    }
}
