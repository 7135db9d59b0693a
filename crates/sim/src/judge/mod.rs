//! The judge: holds every row to what the world knows, where each byte came from and when it could be read. It is
//! written from the documents and knows nothing of how the engine finds out; the oracle, which predicts the engine's
//! steps, shares its rules and can err with it.
//!
//! What it requires of an exchange:
//! - A row `ok`, `reordered` or `unexpected` holds the bytes that the device sent in answer to this request, all of them and no
//!   others. It begins when the request was handed over, and ends when the last of these bytes was received.
//! - Bytes are received as soon as they can be, unless the world kept the host away.
//! - It is lost only if its answer was not there in time; `late` and `duplicated` rows end when that answer came.
//! - Each answer that came is in one row, or its bytes are stray.
//!
//! Where replies have no numbers (lines, queries, foreign framings, Modbus on a serial line, echoes below 4 B), nobody
//! can tell a reply from another that comes while a request is outstanding:
//! - one to a request that was given up, which comes after the line had been quiet,
//! - one that nobody asked for, or that comes twice, or whose bytes were changed so that it has another end,
//! - with several outstanding: one that comes although an older one is missing.
//!
//! From there on (`in_doubt`), the rows need not be right, until a request is sent while none is outstanding. What
//! could be read before that request must not answer it: at rest the engine can tell.
//!
//! And at the next point an echo to an earlier one, which may have had another size, can look like a damaged one.

mod arrivals;
mod begin;
mod exchanges;
mod rest;
mod row;
mod rows;
mod rules;

pub use row::{Kind, Row};
pub use rules::Rules;

use crate::oracle::Fault;
use crate::world::{Byte, World};
use arrivals::{Arrivals, Place};
use exchanges::Exchanges;
use rest::{QUIET_NS, Rest};

/// The judge of one point, or of one program.
#[derive(Debug)]
pub struct Judge {
    rules: Rules,
    exchanges: Exchanges,
    arrivals: Arrivals,
    rest: Rest,
    /// What came since can be another's, and nobody can tell.
    in_doubt: bool,
    /// When a request was sent last while none was outstanding: what could be read before answers none.
    begin_ns: u64,
    /// An exchange ended before its request was handed over, so that its answer cannot have come: that one may come
    /// when the next request is sent.
    ended_unsent: bool,
    /// Bytes of echoes to an earlier point, which may have another size: each may spoil an echo.
    strangers: u64,
    spoiled: u64,
    /// The point failed, or the user stopped: outstanding exchanges end at once.
    is_over: bool,
    /// The link failed: so do those on it.
    has_failed: bool,
    received_bytes: u64,
    /// A row was corrupted: where the bytes of such an answer end is not known.
    was_corrupted: bool,
    bytes_in_rows: u64,
    /// Bytes came over a link that changed some.
    was_damaged: bool,
    /// The same for any link.
    ever_damaged: bool,
    /// When bytes were read last.
    read_ns: u64,
    /// The last byte belongs to no answer.
    was_unasked: bool,
    /// There was a pause within a message after which what had come of it may have been dropped.
    is_torn: bool,
}

impl Judge {
    /// The judge of a point that begins.
    pub fn new(rules: Rules) -> Judge {
        Judge {
            exchanges: Exchanges::default(),
            arrivals: Arrivals::default(),
            rest: Rest::default(),
            in_doubt: false,
            begin_ns: 0,
            ended_unsent: false,
            strangers: 0,
            spoiled: 0,
            is_over: false,
            has_failed: false,
            received_bytes: 0,
            was_corrupted: false,
            bytes_in_rows: 0,
            was_damaged: false,
            ever_damaged: false,
            read_ns: 0,
            was_unasked: false,
            is_torn: false,
            rules,
        }
    }

    /// The first byte of the next request was handed over.
    pub fn started(&mut self, now_ns: u64, world: &World) -> Result<(), Fault> {
        if self.exchanges.outstanding() == 0 {
            if !std::mem::take(&mut self.ended_unsent) {
                self.may_begin(now_ns, world)?;
                self.in_doubt = false;
                self.begin_ns = now_ns;
            }
            self.rest.begins();
        }
        self.exchanges.start(now_ns);
        Ok(())
    }

    /// The last byte of the newest request was handed over.
    pub fn handed_over(&mut self) {
        if let Some(newest) = self.exchanges.started().checked_sub(1) {
            self.exchanges.of_mut(newest).is_whole = true;
        }
    }

    /// The link was closed, or another was opened: what was on its way is gone.
    pub fn link_closed(&mut self) {
        self.arrivals.new_link();
        self.rest = Rest::default();
        self.exchanges.new_link();
        self.has_failed = false;
        self.was_damaged = false;
    }

    /// The link failed.
    pub fn link_failed(&mut self) {
        self.has_failed = true;
    }

    /// The timeout changes, of what is outstanding too.
    pub fn set_timeout(&mut self, timeout_ns: u64) {
        self.rules.timeout_ns = timeout_ns;
    }

    /// The program gives up all that is outstanding.
    pub fn abandoned(&mut self) {
        self.exchanges.abandon();
        self.arrivals.unclaimed();
    }

    /// The point failed, or the user wants no more.
    pub fn ends(&mut self) {
        self.is_over = true;
    }

    fn may_end_early(&self) -> bool {
        self.is_over || self.has_failed
    }

    /// Bytes of the world's last receive.
    pub fn received(&mut self, now_ns: u64, bytes: &[Byte], world: &World) -> Result<(), Fault> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.was_damaged |= !world.is_undamaged();
        self.ever_damaged |= self.was_damaged;
        self.received_bytes += bytes.len() as u64;
        let may_be_begun = self.arrivals.is_begun() || self.was_unasked;
        self.is_torn |= may_be_begun && now_ns - self.read_ns >= QUIET_NS;
        self.read_ns = now_ns;
        let mut rest = bytes;
        for &(count, at_ns) in world.came() {
            let is_seen = at_ns == now_ns || world.was_kept_away(at_ns, now_ns);
            if self.rules.reads_at_once && !self.is_over && !is_seen {
                let what = format!("bytes that could be read at {at_ns} were read at {now_ns}");
                return Err(Fault::new(now_ns, what));
            }
            let piece;
            (piece, rest) = rest.split_at(count);
            for byte in piece {
                self.take(*byte, at_ns, now_ns, world);
            }
            self.rest.heard(&self.rules, at_ns, piece);
        }
        Ok(())
    }

    fn take(&mut self, byte: Byte, at_ns: u64, now_ns: u64, world: &World) {
        let place = self.arrivals.place_of(byte.tag, world);
        let sequence = place.number.and_then(|number| self.sequence(number));
        self.was_unasked = place.number.is_none();
        self.in_doubt |= self.is_foreign(place, sequence, at_ns, now_ns);
        let is_stranger = place.number.is_some() && (!place.is_next || sequence.is_none());
        self.strangers += u64::from(self.rules.is_echo && is_stranger);
        self.was_damaged |= self.strangers > 0 && self.rules.looks_earlier;
        if byte.tag.changed == 0 {
            // Neighbouring echoes share values: where bytes were lost, the rest of one may complete the one before it.
            let is_rest = self.rules.is_echo && !place.is_next;
            let completes = self.exchanges.awaited().filter(|_| is_rest);
            for counts in sequence
                .into_iter()
                .chain(completes.filter(|one| Some(*one) != sequence))
            {
                self.exchanges.of_mut(counts).bytes += 1;
            }
        }
        if self.arrivals.take(place, byte.tag, now_ns)
            && let Some(sequence) = sequence
        {
            self.exchanges
                .of_mut(sequence)
                .came_ns
                .get_or_insert(now_ns);
        }
    }

    /// True if nobody can tell that a byte is not part of the answer that is awaited.
    fn is_foreign(&self, place: Place, sequence: Option<u64>, at_ns: u64, now_ns: u64) -> bool {
        let is_outstanding = self.exchanges.outstanding() > 0;
        if self.rules.has_numbers() || !is_outstanding || at_ns < self.begin_ns {
            return false;
        }
        match self.exchanges.awaited() {
            // If its time is over, it is lost before it is read, and others may be outstanding.
            Some(awaited) if place.is_next && sequence == Some(awaited) => {
                let waited_ns = now_ns - self.exchanges.of(awaited).start_ns;
                self.rules.reads_at_once && waited_ns > self.rules.timeout_ns
            }
            Some(awaited) => self.rules.may_be_taken(place.number, awaited),
            // All came in the same receive.
            None => true,
        }
    }

    /// The exchange of this point with this number on the wire.
    fn sequence(&self, number: u64) -> Option<u64> {
        let ahead = number.wrapping_sub(self.rules.base);
        let sequence = ahead & self.rules.number_mask;
        (sequence < self.exchanges.started()).then_some(sequence)
    }

    /// The point is over, as it should be: the counted bytes are all that came.
    pub fn finish(&self, now_ns: u64, stray: u64, surplus: u64) -> Result<(), Fault> {
        if let Some(open) = self.exchanges.oldest() {
            let what = format!("exchange {open} has no row");
            return Err(Fault::new(now_ns, what));
        }
        let counted = self.bytes_in_rows + stray + surplus;
        let is_counted = self.rules.counts_bytes && !self.ever_damaged && !self.was_corrupted;
        match is_counted && counted != self.received_bytes {
            true => {
                let what = format!(
                    "{} B came, but {} B are in rows, {stray} are stray, {surplus} surplus",
                    self.received_bytes, self.bytes_in_rows
                );
                Err(Fault::new(now_ns, what))
            }
            false => Ok(()),
        }
    }
}
