//! The engine: requests in, bytes out; bytes in, answered and lost exchanges out. One window, one expiry, one
//! resynchronisation, whoever drives it.

mod confirm;
mod recovery;

use crate::buffers::{Input, Output};
use crate::codec::{Answer, Codec, Matching, Parsed, Verdict};
use crate::confirm::Confirm;
use crate::event::{Ended, Event, Outcome};
use crate::framing::Malformed;
use crate::window::{Finished, Window};
use std::ops::Range;
use wiregauge_record::Surplus;

/// The least time for which a line must be quiet before it is trusted again.
const QUIET_NS: u64 = 20_000_000;

/// A device that sends this many bytes without an intact answer (one that comes again is none), beyond those of so many
/// answers to all that is outstanding, sends unsolicited data.
const FLOOD: u64 = 4 << 20;
/// See above.
const FLOOD_ANSWERS: u64 = 16;

/// Timeouts for which a device may keep sending unsolicited data, at least.
const NEVER_QUIET: u64 = 10;

/// What an engine is made for.
#[derive(Clone, Debug)]
pub struct Config {
    /// Each send is one message that arrives whole or not at all.
    pub datagram: bool,
    /// After this long without an answer an exchange is lost.
    pub timeout_ns: u64,
    /// Requests handed over in one call at most.
    pub batch: usize,
    /// Exchanges from the oldest that is not answered to the newest, at most.
    pub span: usize,
    /// Size of a request and of an answer, and how many requests may be staged, for which memory is laid out.
    pub request_bytes: usize,
    /// See above.
    pub answer_bytes: usize,
    /// See above.
    pub staged: usize,
}

/// The line must be quiet before the next request.
#[derive(Clone, Copy, Debug)]
struct Resync {
    began_ns: u64,
    until_ns: u64,
    /// Only answers are missing, so that it ends when all of them have come.
    by_loss: bool,
}

/// The engine of one link.
#[derive(Debug)]
pub struct Engine<C> {
    /// The protocol.
    codec: C,
    config: Config,
    window: Window,
    output: Output,
    input: Input,
    /// When the bytes came that are being parsed.
    received_ns: u64,
    /// When something was received last.
    heard_ns: u64,
    /// There are received bytes that were not parsed.
    unparsed: bool,
    /// Since when the system takes nothing.
    blocked_since_ns: Option<u64>,
    resync: Option<Resync>,
    confirm: Confirm,
    /// Longest time from a request to its reply so far.
    longest_ns: u64,
    /// All that is outstanding is lost, whatever its timeout.
    losing_all: bool,
    never_quiet_ns: u64,
    /// Answers count as in time whenever they are read.
    reads_late: bool,
    /// The last receive found nothing: nothing stands in the system's buffer.
    drained: bool,
    /// The link was read until nothing was there, and nothing was sent or waited for since.
    clear: bool,
    /// Bytes received since the last intact answer, and how many of them are too many.
    unanswered_bytes: u64,
    flood_bytes: u64,
    stray_bytes: u64,
}

impl<C: Codec> Engine<C> {
    /// Lays out all memory.
    pub fn new(config: Config, codec: C) -> Engine<C> {
        Engine {
            codec,
            window: Window::new(config.span),
            output: Output::new(config.request_bytes, config.staged),
            input: Input::new(config.answer_bytes),
            received_ns: 0,
            heard_ns: 0,
            unparsed: false,
            blocked_since_ns: None,
            resync: None,
            confirm: Confirm::new(),
            longest_ns: 0,
            losing_all: false,
            never_quiet_ns: never_quiet_ns(config.timeout_ns, NEVER_QUIET),
            reads_late: false,
            drained: false,
            clear: false,
            unanswered_bytes: 0,
            flood_bytes: FLOOD + FLOOD_ANSWERS * (config.answer_bytes * config.staged) as u64,
            stray_bytes: 0,
            config,
        }
    }

    /// The exchanges under way.
    #[inline]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The protocol.
    #[inline]
    pub fn codec(&self) -> &C {
        &self.codec
    }

    /// Bytes received so far that belong to no answer.
    pub fn stray_bytes(&self) -> u64 {
        self.stray_bytes + self.codec.stray_bytes()
    }

    /// What the device sends behind each answer.
    pub fn surplus(&self) -> Option<Surplus> {
        self.codec.surplus()
    }

    /// The first answer has come and nothing is under way: true if the line must be quiet before the next
    /// request, so that the protocol learns what follows an answer.
    pub fn listen(&mut self) -> bool {
        self.codec.listen()
    }

    /// True while what follows the first answer is awaited.
    pub fn is_listening(&self) -> bool {
        self.codec.is_listening()
    }

    /// The line was quiet behind the first answer.
    pub fn on_quiet(&mut self) {
        let bytes = self.input.bytes();
        let count = bytes.len();
        if self.codec.on_quiet(bytes) {
            self.input.drop_front(count);
        }
    }

    /// When something was received last.
    pub fn heard_ns(&self) -> u64 {
        self.heard_ns
    }

    /// Changes the timeout, also of what is outstanding.
    pub fn set_timeout(&mut self, timeout_ns: u64) {
        self.config.timeout_ns = timeout_ns;
        self.never_quiet_ns = never_quiet_ns(timeout_ns, NEVER_QUIET);
    }

    /// Lets a device send unsolicited data for `timeouts` timeouts before it counts as one that never stops.
    pub fn set_never_quiet(&mut self, timeouts: u64) {
        self.never_quiet_ns = never_quiet_ns(self.config.timeout_ns, timeouts.max(NEVER_QUIET));
    }

    /// Lets answers have up to this many bytes before they count as unsolicited data. Lays out no memory.
    pub fn set_largest_answer(&mut self, bytes: usize) {
        self.flood_bytes = FLOOD + FLOOD_ANSWERS * bytes as u64;
    }

    /// For a caller that does not wait all the time, such as a program with a pipeline: an answer that is read
    /// late may have come in time, and counts as such. So nothing is lost before a receive has found nothing.
    pub fn set_reads_late(&mut self, reads_late: bool) {
        self.reads_late = reads_late;
    }

    /// Changes how many requests are handed over in one call at most.
    pub fn set_batch(&mut self, batch: usize) {
        self.config.batch = batch;
    }

    /// Makes room for messages of these sizes, and for `span` exchanges under way. Allocates.
    pub fn reserve(&mut self, request_bytes: usize, answer_bytes: usize, span: usize) {
        self.window.widen(span);
        self.output.reserve(request_bytes, span);
        self.input.reserve(answer_bytes);
    }

    // --- requests ---

    /// True if one more request can be staged.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.resync.is_none() && self.window.room() > 0 && self.output.has_room()
    }

    /// Stages the request that `write` appends; returns its number. There must be room.
    /// `awaited`: bytes of its answer, where the protocol does not say by itself.
    #[inline]
    pub fn stage(&mut self, awaited: usize, write: impl FnOnce(&mut C, u64, &mut Vec<u8>)) -> u64 {
        let sequence = self.window.stage(awaited);
        let codec = &mut self.codec;
        self.output.stage(|to| write(codec, sequence, to));
        sequence
    }

    /// An answer is awaited to what the engine did not send; returns its number. There must be room, and nothing
    /// may be staged.
    pub fn expect(&mut self, awaited: usize, now_ns: u64) -> u64 {
        // Whichever reply comes is the one that is awaited.
        self.confirm.begin(false);
        self.window.forget_missing();
        let sequence = self.window.stage(awaited);
        self.window.start(1, now_ns);
        sequence
    }

    /// True if there are bytes to hand over.
    #[inline]
    pub fn wants_to_send(&self) -> bool {
        match self.may_begin() {
            true => !self.output.is_empty(),
            false => self.output.rest_of_begun().is_some(),
        }
    }

    /// True if a request may begin.
    #[inline]
    fn may_begin(&self) -> bool {
        self.resync.is_none() && !self.is_confirming()
    }

    /// The bytes to hand over now. While the line must become quiet, or an exchange is confirmed, only the rest of a
    /// request that has begun.
    #[inline]
    pub fn outgoing(&self) -> &[u8] {
        match self.may_begin() {
            true if self.confirm.is_due() || self.is_answered_early() => self.output.unsent(1),
            true => self.output.unsent(self.config.batch),
            false => &self.output.unsent(1)[..self.output.rest_of_begun().unwrap_or(0)],
        }
    }

    /// True if a reply came to a request before its end was sent, as a message does that nobody asked for. What follows it
    /// begins a request while nothing is outstanding, so it is not sent with it.
    #[inline]
    fn is_answered_early(&self) -> bool {
        self.window.waiting() == 0 && !self.is_numbered() && self.output.rest_of_begun().is_some()
    }

    /// True if what is to be handed over begins a request while nothing is outstanding.
    #[inline]
    pub fn begins(&self) -> bool {
        self.window.waiting() == 0 && self.resync.is_none() && self.output.rest_of_begun().is_none()
    }

    /// True if the link must be read until nothing is there before a request begins while nothing is outstanding: a
    /// reply does not say which request it answers. Who lets time pass after that reads again.
    #[inline]
    pub fn needs_drain(&self) -> bool {
        !self.clear && !self.is_numbered()
    }

    /// A receive that was asked for by [`Engine::needs_drain`] found nothing.
    #[inline]
    pub fn drained(&mut self) {
        self.clear = true;
    }

    /// For how long a device may keep sending unsolicited data.
    pub fn never_quiet_ns(&self) -> u64 {
        self.never_quiet_ns
    }

    #[inline]
    fn is_numbered(&self) -> bool {
        self.codec.matching() == Matching::Number
    }

    /// The system took `count` of the bytes that it was offered at `now_ns`; 0 if it takes none now.
    #[inline]
    pub fn sent(&mut self, now_ns: u64, count: usize) {
        if count == 0 {
            self.blocked_since_ns.get_or_insert(now_ns);
            return;
        }
        self.blocked_since_ns = None;
        if let Some(resync) = &mut self.resync {
            // The rest of a request whose time is over may still be answered.
            let quiet = self.config.timeout_ns.max(QUIET_NS);
            resync.until_ns = resync.until_ns.max(now_ns + quiet);
        }
        self.clear = false;
        let started = self.output.take(count);
        if started > 0 && self.window.waiting() == 0 && !self.is_numbered() {
            // It came before the request, so it is no reply to it.
            self.drop_input();
        }
        self.window.start(started, now_ns);
    }

    /// The system took bytes that are not the engine's.
    pub fn sent_other(&mut self) {
        self.blocked_since_ns = None;
    }

    /// Since when the system takes nothing, and how much of a request that has begun is left.
    pub fn blocked(&self) -> Option<(u64, Option<usize>)> {
        self.blocked_since_ns
            .map(|since| (since, self.output.rest_of_begun()))
    }

    // --- answers ---

    /// Where received bytes go. Everything received before must have been polled if the link carries datagrams.
    #[inline]
    pub fn space(&mut self) -> &mut [u8] {
        self.input.space()
    }

    /// `count` bytes were put into the space; they came at `now_ns`. Report 0 where nothing was there.
    #[inline]
    pub fn received(&mut self, now_ns: u64, count: usize) {
        self.drained = count == 0;
        self.clear = false;
        if count == 0 {
            return;
        }
        self.input.received(count);
        self.unanswered_bytes += count as u64;
        self.received_ns = now_ns;
        self.heard_ns = now_ns;
        self.unparsed = true;
        if let Some(resync) = &mut self.resync {
            if self.reads_late && now_ns >= resync.until_ns {
                // Nobody looked meanwhile: the line may have been quiet until now.
                resync.began_ns = now_ns;
            }
            let quiet = self.config.timeout_ns.clamp(QUIET_NS, 10 * QUIET_NS);
            resync.until_ns = resync.until_ns.max(now_ns + quiet);
        }
    }

    /// The received bytes at a place that an event named; they stay until the next [`Engine::space`].
    #[inline]
    pub fn received_at(&self, place: Range<usize>) -> &[u8] {
        self.input.at(place)
    }

    /// True if received bytes wait to be polled.
    #[inline]
    pub fn has_unpolled(&self) -> bool {
        self.unparsed && !self.pending().is_empty()
    }

    /// Moves received bytes that belong to no answer out of the engine, as many as fit; returns how many.
    pub fn take_received(&mut self, into: &mut [u8]) -> usize {
        let bytes = self.input.bytes();
        let count = bytes.len().min(into.len());
        into[..count].copy_from_slice(&bytes[..count]);
        self.input.drop_front(count);
        self.unanswered_bytes = self.unanswered_bytes.saturating_sub(count as u64);
        self.confirm.drop_candidates();
        self.codec.reset();
        count
    }

    /// What was received and belongs to no whole answer yet.
    pub fn incomplete(&self) -> &[u8] {
        self.pending()
    }

    #[inline]
    fn pending(&self) -> &[u8] {
        &self.input.bytes()[self.confirm.held()..]
    }

    /// What happened up to `now_ns`; to be asked until it returns `None`.
    #[inline]
    pub fn poll(&mut self, now_ns: u64) -> Option<Event> {
        if self.confirm.is_settled()
            && let Some(event) = self.poll_settled()
        {
            return Some(event);
        }
        if self.unparsed {
            if let Some(oldest) = self.window.oldest_waiting()
                && (self.losing_all || self.came_late(oldest.start_ns) || self.came_confirmed())
            {
                // It was lost before these bytes came, however late that is noticed.
                return self.expire_oldest(self.received_ns);
            }
            if let Some(event) = self.parse() {
                return Some(event);
            }
        }
        if self.idle_since(now_ns) {
            let parsed = self
                .codec
                .parse_idle(&self.input.bytes()[self.confirm.held()..], &self.window);
            if let Some(event) = self.sort(parsed) {
                return Some(event);
            }
        }
        if self.unanswered_bytes > self.flood_bytes {
            self.unanswered_bytes = 0;
            return Some(Event::NeverQuiet);
        }
        if let Some(oldest) = self.window.oldest_waiting()
            && (self.losing_all
                || self.is_over(now_ns, oldest.start_ns)
                || self.is_confirmed(now_ns))
        {
            return self.expire_oldest(now_ns);
        }
        match self.resync {
            None => None,
            Some(_) => self.poll_resync(now_ns),
        }
    }

    /// True if what was received came after the timeout of an exchange that started then.
    #[inline]
    fn came_late(&self, start_ns: u64) -> bool {
        !self.reads_late && self.received_ns.saturating_sub(start_ns) > self.config.timeout_ns
    }

    /// True if what was received came after the exchange that is outstanding was confirmed.
    #[inline]
    fn came_confirmed(&self) -> bool {
        let until_ns = self.confirm.until_ns();
        !self.reads_late && until_ns.is_some_and(|until_ns| self.received_ns > until_ns)
    }

    /// True if the timeout of an exchange that started then is over, and its answer cannot be there unread.
    #[inline]
    fn is_over(&self, now_ns: u64, start_ns: u64) -> bool {
        let waited_ns = now_ns.saturating_sub(start_ns);
        waited_ns >= self.config.timeout_ns && self.has_all_read()
    }

    /// True if no further reply can be expected to the exchange that is outstanding.
    #[inline]
    fn is_confirmed(&self, now_ns: u64) -> bool {
        let until_ns = self.confirm.until_ns();
        until_ns.is_some_and(|until_ns| now_ns >= until_ns) && self.has_all_read()
    }

    /// True if no reply can be there that was not read, or has not ended.
    #[inline]
    fn has_all_read(&self) -> bool {
        (self.drained || !self.reads_late) && self.idle_ends_ns().is_none()
    }

    /// When the silence has lasted long enough that what was received is an answer.
    #[inline]
    fn idle_ends_ns(&self) -> Option<u64> {
        let idle_ns = self.codec.idle_ns()?;
        let is_begun = !self.pending().is_empty();
        is_begun.then(|| self.heard_ns.saturating_add(idle_ns))
    }

    #[inline]
    fn idle_since(&self, now_ns: u64) -> bool {
        self.idle_ends_ns().is_some_and(|ends| now_ns >= ends)
    }

    /// True while only silence tells whether an answer has ended.
    #[inline]
    pub fn awaits_silence(&self) -> bool {
        self.idle_ends_ns().is_some()
    }

    /// Before this the line must be silent, and no request may begin: the protocol requires it, or a message that
    /// nobody asked for has begun, and its rest would be taken for the reply.
    #[inline]
    pub fn gap_ends_ns(&self) -> Option<u64> {
        let is_cut =
            self.window.waiting() == 0 && !self.is_numbered() && !self.pending().is_empty();
        let quiet_ns = match is_cut {
            true => self.short_quiet_ns(),
            false => 0,
        };
        match self.codec.gap_ns().max(quiet_ns) {
            0 => None,
            gap => Some(self.heard_ns.saturating_add(gap)),
        }
    }

    /// When [`Engine::poll`] must be asked again at the latest.
    #[inline]
    pub fn wake_ns(&self) -> Option<u64> {
        let expiry = self
            .window
            .oldest_waiting()
            .map(|slot| slot.start_ns.saturating_add(self.config.timeout_ns));
        let expiry = expiry.map(|at| at.min(self.confirm.until_ns().unwrap_or(u64::MAX)));
        let idle = self.idle_ends_ns();
        match self.resync {
            None => idle.or(expiry),
            Some(resync) => {
                let ends = match self.window.waiting() {
                    0 if !self.wants_to_send() => resync.until_ns,
                    _ => u64::MAX,
                };
                let never_quiet = resync.began_ns.saturating_add(self.never_quiet_ns);
                let next = idle.or(expiry).unwrap_or(u64::MAX);
                Some(next.min(ends).min(never_quiet))
            }
        }
    }

    /// True while the line must become quiet before the next request.
    #[inline]
    pub fn is_resyncing(&self) -> bool {
        self.resync.is_some()
    }

    fn parse(&mut self) -> Option<Event> {
        while !self.pending().is_empty() {
            let parsed = self
                .codec
                .parse(&self.input.bytes()[self.confirm.held()..], &self.window);
            if matches!(parsed, Parsed::Incomplete) {
                break;
            }
            if let Some(event) = self.sort(parsed) {
                return Some(event);
            }
        }
        self.unparsed = false;
        if self.config.datagram {
            // What is left of a datagram has no continuation.
            self.stray_bytes += self.input.truncate(self.confirm.held());
            self.codec.reset();
        }
        None
    }

    /// Takes what was parsed, or keeps it until it is known which request it answers.
    #[inline]
    fn sort(&mut self, parsed: Parsed) -> Option<Event> {
        if !self.is_confirming() || matches!(parsed, Parsed::Malformed(_)) {
            return self.take(parsed);
        }
        self.keep(&parsed);
        match self.confirm.is_settled() {
            true => self.poll_settled(),
            false => None,
        }
    }

    #[inline]
    fn take(&mut self, parsed: Parsed) -> Option<Event> {
        match parsed {
            Parsed::Incomplete => None,
            Parsed::Stray(count) => {
                self.stray_bytes += count as u64;
                if let Some(resync) = &mut self.resync
                    && self.codec.matching() == Matching::Order
                {
                    // More came than was missing, so the order of answers proves nothing.
                    resync.by_loss = false;
                }
                self.input.drop_front(count.max(1));
                None
            }
            Parsed::Rest(count) | Parsed::Surplus(count) => {
                self.input.drop_front(count.max(1));
                None
            }
            Parsed::Answer(answer) => {
                let event = self.finish(&answer);
                self.input.drop_front(answer.consumed.max(1));
                event.map(Event::Ended)
            }
            Parsed::Malformed(malformed) => {
                self.unparsed = false;
                Some(self.malformed(malformed))
            }
        }
    }

    #[inline]
    fn finish(&mut self, answer: &Answer) -> Option<Ended> {
        self.stray_bytes += answer.skip as u64;
        let now = self.received_ns;
        let ended = answer.sequence.and_then(|sequence| match answer.verdict {
            Verdict::Intact | Verdict::Unexpected => match self.window.finish(sequence) {
                Finished::Answered(slot) | Finished::Reordered(slot)
                    if answer.verdict == Verdict::Unexpected =>
                {
                    Some((slot, Outcome::Unexpected))
                }
                Finished::Answered(slot) => Some((slot, Outcome::Answered)),
                Finished::Reordered(slot) => Some((slot, Outcome::Reordered)),
                Finished::Late(slot) => Some((slot, Outcome::Late)),
                Finished::Again(mut slot) => {
                    slot.start_ns = now;
                    Some((slot, Outcome::Duplicated))
                }
                Finished::Unknown => None,
            },
            verdict => {
                let slot = self.window.finish_damaged(sequence)?;
                let outcome = match verdict {
                    Verdict::Refused(status) => Outcome::Refused(status),
                    Verdict::RequestDamaged => Outcome::RequestDamaged,
                    _ => {
                        self.begin_resync(now, false);
                        Outcome::Damaged
                    }
                };
                Some((slot, outcome))
            }
        });
        self.losing_all &= self.window.waiting() > 0;
        if matches!(answer.verdict, Verdict::Intact | Verdict::Unexpected)
            && ended.is_some_and(|(_, outcome)| outcome != Outcome::Duplicated)
        {
            self.unanswered_bytes = 0;
        }
        if let Some((slot, Outcome::Answered)) = ended {
            // What a program reads may have come before it asked for it.
            let took_ns = now.saturating_sub(slot.start_ns);
            self.longest_ns = self.longest_ns.max(took_ns);
        }
        let Some((slot, outcome)) = ended else {
            self.stray_bytes += (answer.consumed - answer.skip) as u64;
            return None;
        };
        let at = self.input.start();
        Some(Ended {
            sequence: slot.sequence,
            outcome,
            start_ns: slot.start_ns,
            end_ns: now,
            outstanding: slot.outstanding,
            rx_ticks: answer.rx_ticks,
            tx_ticks: answer.tx_ticks,
            answer: at + answer.skip..at + answer.end,
            payload: at + answer.payload.start..at + answer.payload.end,
        })
    }

    #[cold]
    fn malformed(&mut self, malformed: Malformed) -> Event {
        let now = self.received_ns;
        let begin = self.input.start();
        let count = self.drop_input();
        if self.config.datagram {
            // It was the answer, such as it is.
            match self.window.oldest_missing().map(|slot| slot.sequence) {
                Some(late) => {
                    self.window.finish(late);
                }
                None => {
                    self.window.give_up_oldest();
                    self.window.forget_missing();
                }
            }
        } else {
            self.begin_resync(now, false);
        }
        Event::Malformed(malformed, begin..begin + count as usize)
    }

    /// The timeout of the oldest is over. If it was to be confirmed, the last reply that came is its own.
    #[cold]
    fn expire_oldest(&mut self, now_ns: u64) -> Option<Event> {
        if self.is_confirming() && self.confirm.until_ns().is_some() {
            self.settle();
            return self.poll(now_ns);
        }
        self.lose_oldest(now_ns)
    }

    #[cold]
    fn lose_oldest(&mut self, now_ns: u64) -> Option<Event> {
        let slot = self.window.give_up_oldest()?;
        self.drop_kept();
        match self.pending().len() {
            0 => {}
            bytes => self.codec.abandon_partial(bytes),
        }
        if self.codec.matching() == Matching::Order && !self.losing_all {
            // Whose answer comes next is no longer known.
            self.drop_staged();
            self.losing_all = true;
        }
        self.losing_all &= self.window.waiting() > 0;
        self.begin_resync(now_ns, true);
        Some(Event::Ended(Ended {
            sequence: slot.sequence,
            outcome: Outcome::Lost,
            start_ns: slot.start_ns,
            end_ns: now_ns,
            outstanding: slot.outstanding,
            rx_ticks: 0,
            tx_ticks: 0,
            answer: 0..0,
            payload: 0..0,
        }))
    }
}

fn never_quiet_ns(timeout_ns: u64, timeouts: u64) -> u64 {
    timeout_ns.max(QUIET_NS).saturating_mul(timeouts)
}
