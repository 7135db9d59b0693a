//! The proof of address of one point: when it must be renewed, the HELLO that renews it, and when it is no use.

use crate::hello::{Hello, HelloEnd};
use crate::next::Next;

/// A proof of address holds for 60 s (docs/protocol.md); it is renewed well before.
const PROOF_NS: u64 = 30_000_000_000;

/// Proofs of address in a row that did not help.
const VAIN_PROOFS: u32 = 2;

/// Where a proof stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It goes on; do this.
    Goes(Next),
    /// The device knows this host's address now.
    Proved,
    /// No reply to any attempt.
    Failed,
}

/// The proofs of one point.
#[derive(Debug)]
pub struct AddressProof {
    timeout_ns: u64,
    /// Answers need a proof of address, which must not expire.
    renews: bool,
    /// The proof that is under way.
    hello: Option<Hello>,
    /// Proofs that were begun.
    begun: u32,
    proved_ns: u64,
    /// Proofs in a row after which the device still refused.
    vain: u32,
}

impl AddressProof {
    /// None is under way. `renews`: answers need a proof, which must not expire.
    pub fn new(renews: bool, timeout_ns: u64) -> AddressProof {
        AddressProof {
            timeout_ns,
            renews,
            hello: None,
            begun: 0,
            proved_ns: 0,
            vain: 0,
        }
    }

    /// True while one is under way.
    #[inline]
    pub fn is_under_way(&self) -> bool {
        self.hello.is_some()
    }

    /// When it should be renewed, if answers need one. `heard_ns`: when something was received last.
    #[inline]
    pub fn renew_ns(&self, heard_ns: u64) -> Option<u64> {
        let last = self.proved_ns.max(heard_ns);
        self.renews.then(|| last.saturating_add(PROOF_NS))
    }

    /// Begins one.
    pub fn begin(&mut self, now_ns: u64) {
        self.hello = Some(Hello::again(true, self.timeout_ns, now_ns, self.begun));
        self.begun += 1;
    }

    /// The device refused for want of a proof: true if a further one may help.
    pub fn may_help(&self) -> bool {
        self.vain < VAIN_PROOFS
    }

    /// Begins one because the device refused.
    pub fn begin_after_refusal(&mut self, now_ns: u64) {
        self.vain += 1;
        self.begin(now_ns);
    }

    /// The device answered: the last proof was not in vain.
    #[inline]
    pub fn helped(&mut self) {
        self.vain = 0;
    }

    /// The link failed.
    pub fn abandon(&mut self) {
        self.hello = None;
    }

    /// How the one under way goes on. `send_blocked`: the system takes nothing now. `wake_ns`: when the engine must
    /// be asked again at the latest.
    pub fn next(&mut self, now_ns: u64, send_blocked: bool, wake_ns: Option<u64>) -> Progress {
        let Some(proof) = &mut self.hello else {
            return Progress::Goes(Next::Done);
        };
        match proof.poll(now_ns) {
            None => {}
            Some(HelloEnd::Reply(_)) => {
                self.hello = None;
                self.proved_ns = now_ns;
                return Progress::Proved;
            }
            Some(HelloEnd::NoReply) => {
                self.hello = None;
                return Progress::Failed;
            }
        }
        let blocked = !proof.outgoing().is_empty();
        if blocked && !send_blocked {
            return Progress::Goes(Next::Send);
        }
        let wake = wake_ns.unwrap_or(u64::MAX);
        Progress::Goes(Next::Receive {
            until_ns: proof.wake_ns().min(wake),
            exact: true,
            or_writable: blocked,
        })
    }

    /// The bytes to hand over now, if one is under way.
    #[inline]
    pub fn outgoing(&self) -> Option<&[u8]> {
        self.hello.as_ref().map(Hello::outgoing)
    }

    /// The system took `count` of them. False if none is under way.
    #[inline]
    pub fn sent(&mut self, count: usize) -> bool {
        match &mut self.hello {
            Some(proof) => {
                proof.sent(count);
                true
            }
            None => false,
        }
    }

    /// A datagram came: true if it is one of HELLO, and else it may be an answer.
    pub fn received(&mut self, bytes: &[u8], now_ns: u64) -> bool {
        match &mut self.hello {
            Some(proof) => proof.received(bytes, now_ns),
            None => false,
        }
    }
}
