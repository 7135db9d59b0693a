//! The oracle of a program: from what the device gave and when it came whole, it computes every event, as long as the
//! link damages nothing. Whatever is damaged, each request has one outcome, at the right time.

use super::device::echoed;
use crate::oracle::Fault;
use crate::scenario::Faults;
use crate::world::{Byte, Tag, World};
use std::collections::VecDeque;
use wiregauge_session::{Engine, Event, Messages, Outcome};

/// The least time for which a line must be quiet.
const QUIET_NS: u64 = 20_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    Staged,
    Waits,
    Answered,
    Missing,
    CameLate,
    /// What comes for it has no meaning.
    Closed,
    /// The program gave it up: nothing is said about it any more but that it came late.
    Abandoned,
}

/// A request of the program.
#[derive(Clone, Debug)]
struct Asked {
    said: Vec<u8>,
    awaited: usize,
    /// Bytes on the wire.
    bytes: usize,
    start_ns: u64,
    stand: Stand,
}

/// What an oracle knows of its program.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// An answer says which request it answers.
    pub numbered: bool,
    /// Answers can be known by their order.
    pub keeps_order: bool,
    /// Messages are datagrams.
    pub datagram: bool,
    /// Bytes without an answer that are not too many.
    pub most_unanswered: u64,
}

/// The oracle of one program.
pub struct Judge {
    numbered: bool,
    needs_quiet: bool,
    keeps_order: bool,
    datagram: bool,
    /// A message's check notices what the link does to it.
    is_checked: bool,
    /// Bytes are damaged on their way to the device, and to the host.
    damages: (bool, bool),
    timeout_ns: u64,
    asked: Vec<Asked>,
    /// Requests whose first byte was taken.
    started: usize,
    /// Bytes taken of the newest of them, if not all.
    part: usize,
    answered_to: u64,
    /// The last receive found nothing: what is missing is not in the system's buffer either.
    drained: bool,
    /// A receive may find nothing although something is there.
    may_miss: bool,
    /// Bytes received since the last answer, and how many are too many.
    unanswered: u64,
    most_unanswered: u64,
    /// The next byte of the answer that comes.
    next: Option<Tag>,
    /// Whole answers that came and were not polled, and when.
    came: VecDeque<(u64, u64)>,
    /// Answers are missing after a quiet line: whose answer comes next is known at its timeout only.
    confirms: bool,
    /// The longest time to an answer.
    longest_ns: u64,
    received_ns: u64,
    /// Damaged bytes came: the exact events are not computed any more.
    void: bool,
    was_resyncing: bool,
    resync_since_ns: u64,
    quiet_until_ns: u64,
    /// Events that were compared.
    pub events: u64,
}

impl Judge {
    /// The oracle of a program.
    pub fn new(rules: Rules, faults: Faults, timeout_ns: u64) -> Judge {
        let Rules {
            numbered,
            keeps_order,
            datagram,
            most_unanswered,
        } = rules;
        Judge {
            numbered,
            needs_quiet: !numbered,
            keeps_order,
            datagram,
            is_checked: faults.cut_up + faults.cut_down + faults.shorten == 0,
            damages: (
                faults.flip_up + faults.cut_up + faults.shorten > 0,
                faults.flip_down + faults.cut_down + faults.shorten > 0,
            ),
            timeout_ns,
            asked: Vec::new(),
            started: 0,
            part: 0,
            answered_to: 0,
            drained: true,
            may_miss: faults.idle_call > 0,
            unanswered: 0,
            most_unanswered,
            next: None,
            came: VecDeque::new(),
            confirms: false,
            longest_ns: 0,
            received_ns: 0,
            void: false,
            was_resyncing: false,
            resync_since_ns: 0,
            quiet_until_ns: 0,
            events: 0,
        }
    }

    /// The program asks.
    pub fn staged(&mut self, sequence: u64, said: Vec<u8>, awaited: usize, bytes: usize) {
        self.asked.truncate(sequence as usize);
        self.asked.push(Asked {
            said,
            awaited,
            bytes,
            start_ns: 0,
            stand: Stand::Staged,
        });
    }

    /// The system took bytes.
    pub fn sent(&mut self, now_ns: u64, mut count: usize) {
        // Its rest may be taken for the reply.
        self.void |= count > 0 && !self.numbered && !self.waiting() && self.next.is_some();
        if count > 0 && self.was_resyncing {
            let quiet = self.timeout_ns.max(QUIET_NS);
            self.quiet_until_ns = self.quiet_until_ns.max(now_ns + quiet);
        }
        while count > 0 {
            if self.part == 0 {
                self.asked[self.started].start_ns = now_ns;
                self.asked[self.started].stand = Stand::Waits;
                self.started += 1;
            }
            let whole = self.asked[self.started - 1].bytes;
            let piece = (whole - self.part).min(count);
            self.part = (self.part + piece) % whole;
            count -= piece;
        }
    }

    /// The timeout changes, of what is outstanding too.
    pub fn set_timeout(&mut self, timeout_ns: u64) {
        self.timeout_ns = timeout_ns;
    }

    /// The program gives up all that is under way.
    pub fn abandoned(&mut self, now_ns: u64, engine: &Engine<Messages>) {
        let waited = self.oldest(Stand::Waits).is_some();
        for asked in &mut self.asked {
            asked.stand = match asked.stand {
                Stand::Waits | Stand::Missing if self.numbered => Stand::Closed,
                Stand::Waits => Stand::Abandoned,
                stand => stand,
            };
        }
        self.asked.truncate(self.started);
        if self.confirms && waited {
            self.came.clear();
        }
        if self.numbered {
            // The rest of what comes is noise.
            self.void |= self.next.is_some();
            self.came.clear();
        } else if waited && !self.was_resyncing {
            self.quiet_until_ns = self
                .quiet_until_ns
                .max(now_ns + self.timeout_ns.max(QUIET_NS));
        }
        self.note_resync(now_ns, engine);
    }

    /// What a receive gave: nothing, if nothing was there.
    pub fn received(&mut self, now_ns: u64, bytes: &[Byte], world: &World) {
        self.drained = bytes.is_empty();
        if bytes.is_empty() {
            return;
        }
        self.received_ns = now_ns;
        self.unanswered += bytes.len() as u64;
        if self.was_resyncing {
            if now_ns >= self.quiet_until_ns {
                // Nobody looked meanwhile: it may have been quiet.
                self.resync_since_ns = now_ns;
            }
            let quiet = self.timeout_ns.clamp(QUIET_NS, 10 * QUIET_NS);
            self.quiet_until_ns = self.quiet_until_ns.max(now_ns + quiet);
        }
        self.void |= !world.is_undamaged();
        for byte in bytes {
            let given = world.given(byte.tag.answer);
            let is_next = match self.next {
                Some(next) => byte.tag == next,
                None => byte.tag.at == 0,
            };
            let Some(given) = given.filter(|_| is_next && !self.void) else {
                self.void = true;
                return;
            };
            // It comes after the quiet behind its timeout, or another came in its place and it may be taken for that of
            // a later request: no order can be known any more.
            let asked = self.asked.get(given.number as usize);
            let is_closed = asked.is_none_or(|asked| match asked.stand {
                Stand::Closed => true,
                Stand::Answered | Stand::CameLate => self.waiting(),
                _ => false,
            });
            if is_closed && !self.numbered {
                self.void = true;
                return;
            }
            let at = byte.tag.at + 1;
            self.next = (at < given.bytes).then_some(Tag { at, ..byte.tag });
            if self.next.is_none() {
                self.came.push_back((given.number, now_ns));
            }
        }
    }

    fn oldest(&self, stand: Stand) -> Option<usize> {
        self.asked.iter().position(|asked| asked.stand == stand)
    }

    fn waiting(&self) -> bool {
        self.oldest(Stand::Waits).is_some()
    }

    /// The engine was polled, until it had no more events (`all`) or the program went on. These were the events.
    pub fn polled(
        &mut self,
        now_ns: u64,
        events: &[(Event, Vec<u8>)],
        all: bool,
        engine: &Engine<Messages>,
        world: &World,
    ) -> Result<(), Fault> {
        self.events += events.len() as u64;
        self.settle(now_ns);
        let expected = match self.void {
            true => Vec::new(),
            false => self.expect(now_ns),
        };
        let mut seen = Vec::new();
        let mut never_quiet = 0_u32;
        for (event, payload) in events {
            match event {
                Event::Ended(ended) => {
                    let what = (ended.sequence, ended.outcome, ended.end_ns);
                    seen.push(what);
                    if matches!(
                        ended.outcome,
                        Outcome::Answered | Outcome::Reordered | Outcome::Late
                    ) {
                        self.unanswered = 0;
                    }
                    self.hold(now_ns, what, ended.start_ns, payload)?;
                    self.hold_loss(now_ns, what, &seen, world)?;
                }
                Event::NeverQuiet => never_quiet += 1,
                Event::Malformed(..) if !self.void => {
                    return Err(Fault::new(now_ns, format!("{event:?} on a sound link")));
                }
                Event::Malformed(..) if self.datagram => self.malformed(),
                Event::Malformed(..) => {
                    let quiet = self.timeout_ns.clamp(QUIET_NS, 10 * QUIET_NS);
                    self.quiet_until_ns = self.quiet_until_ns.max(now_ns + quiet);
                }
            }
        }
        if !self.void {
            let is_right = match all {
                true => expected.iter().map(|(what, _)| what).eq(&seen),
                false => expected
                    .iter()
                    .map(|(what, _)| what)
                    .take(seen.len())
                    .eq(&seen),
            };
            if !is_right {
                let what = format!("events {seen:?}, not {expected:?}");
                return Err(Fault::new(now_ns, what));
            }
            let read = match (all, seen.len().checked_sub(1)) {
                (true, _) if self.is_confirming() => 0,
                (true, _) => self.came.len(),
                (false, Some(last)) => expected[last].1,
                (false, None) => 0,
            };
            self.came.drain(..read);
        }
        let reached = all || matches!(events.last(), Some((Event::NeverQuiet, _)));
        if reached {
            self.hold_never_quiet(now_ns, never_quiet, all, engine)?;
        }
        if all {
            self.hold_expiry(now_ns)?;
        }
        self.quiet(now_ns, all, engine)
    }

    /// A device is never quiet if it sends too much without an answer, or too long where it should be quiet.
    fn hold_never_quiet(
        &mut self,
        now_ns: u64,
        times: u32,
        all: bool,
        engine: &Engine<Messages>,
    ) -> Result<(), Fault> {
        let floods = self.unanswered > self.most_unanswered;
        if floods {
            self.unanswered = 0;
        }
        let longest = 10 * self.timeout_ns.max(QUIET_NS);
        let is_due = self.was_resyncing && now_ns.saturating_sub(self.resync_since_ns) >= longest;
        let least = u32::from(floods) + u32::from(is_due && all && engine.is_resyncing());
        let most = u32::from(floods) + u32::from(is_due);
        if !(least..=most).contains(&times) {
            let what = format!("it is never quiet {times} times, not {least} to {most}");
            return Err(Fault::new(now_ns, what));
        }
        if times > u32::from(floods) {
            // What has come was thrown away.
            self.void = true;
            self.resync_since_ns = now_ns;
        }
        Ok(())
    }

    /// Nothing is lost while its answer may stand in the system's buffer, or before its time.
    fn hold_loss(
        &self,
        now_ns: u64,
        (sequence, outcome, end_ns): (u64, Outcome, u64),
        seen: &[(u64, Outcome, u64)],
        world: &World,
    ) -> Result<(), Fault> {
        if outcome != Outcome::Lost {
            return Ok(());
        }
        let wrong = |what: &str| {
            let what = format!("exchange {sequence} is lost: {what}");
            Err(Fault::new(now_ns, what))
        };
        if world.is_readable() && !self.may_miss {
            return wrong("bytes stand in the system's buffer");
        }
        let waited = end_ns.saturating_sub(self.asked[sequence as usize].start_ns);
        let lost = seen
            .iter()
            .filter(|(_, outcome, _)| *outcome == Outcome::Lost);
        let is_first = lost.count() == 1;
        match waited < self.timeout_ns && (self.numbered || is_first) {
            true => wrong("its time is not over"),
            false => Ok(()),
        }
    }

    /// What is over its time is lost, once nothing is left to read.
    fn hold_expiry(&self, now_ns: u64) -> Result<(), Fault> {
        let is_over = |asked: &Asked| {
            asked.stand == Stand::Waits && now_ns >= asked.start_ns + self.timeout_ns
        };
        match self.asked.iter().position(is_over).filter(|_| self.drained) {
            Some(over) => Err(Fault::new(now_ns, format!("request {over} is not lost"))),
            None => Ok(()),
        }
    }

    /// A datagram that is no answer was the answer, such as it is.
    fn malformed(&mut self) {
        let late = self
            .oldest(Stand::Missing)
            .or(self.oldest(Stand::Abandoned));
        let (place, stand) = match late {
            Some(late) => (Some(late), Stand::CameLate),
            None => (self.oldest(Stand::Waits), Stand::Closed),
        };
        if let Some(place) = place {
            self.asked[place].stand = stand;
        }
    }

    /// An answer is awaited, and those of earlier requests may still come before it.
    fn is_confirming(&self) -> bool {
        self.confirms && self.waiting()
    }

    /// Where the exchange to be confirmed is known now, the last answer is its own, and those before it are late ones,
    /// of the newest requests that were given up.
    fn settle(&mut self, now_ns: u64) {
        // Where events are not computed, nothing is taken off what came, so that it may be of before the request.
        let settles = self.confirms && !self.void;
        let Some(waits) = self.oldest(Stand::Waits).filter(|_| settles) else {
            return;
        };
        let is_missing = |asked: &&Asked| matches!(asked.stand, Stand::Missing | Stand::Abandoned);
        let missing = self.asked.iter().filter(is_missing).count();
        let start_ns = self.asked[waits].start_ns;
        let is_confirmed = |(_, last_ns): &(u64, u64)| {
            let took = last_ns.saturating_sub(start_ns).max(self.longest_ns);
            now_ns >= last_ns + (2 * took).max(QUIET_NS)
        };
        let is_over = self.drained
            && (now_ns >= start_ns + self.timeout_ns || self.came.back().is_some_and(is_confirmed));
        if self.came.len() <= missing && (!is_over || self.came.is_empty()) {
            return;
        }
        self.confirms = false;
        let late = self.came.len().min(missing + 1) - 1;
        // Its own answer did not come, but a late one: nobody can tell.
        self.void |= self.came[late].0 != waits as u64;
        self.close_missing(late);
    }

    /// Nothing is expected any more of the oldest that were given up, but for so many.
    fn close_missing(&mut self, but: usize) {
        let missing = self
            .asked
            .iter_mut()
            .filter(|asked| matches!(asked.stand, Stand::Missing | Stand::Abandoned));
        let mut missing: Vec<_> = missing.collect();
        let closed = missing.len().saturating_sub(but);
        for asked in &mut missing[..closed] {
            asked.stand = Stand::Closed;
        }
    }

    /// What must happen on a link that damages nothing; and of the answers that came, how many are used up then.
    fn expect(&self, now_ns: u64) -> Vec<((u64, Outcome, u64), usize)> {
        let mut expected = Vec::new();
        let mut stands: Vec<Stand> = self.asked.iter().map(|asked| asked.stand).collect();
        let oldest = |stands: &[Stand], wanted: &[Stand]| {
            stands.iter().position(|stand| wanted.contains(stand))
        };
        let mut answered_to = self.answered_to;
        let is_kept = self.is_confirming();
        let came = self.came.iter().take(if is_kept { 0 } else { usize::MAX });
        for (index, (number, received_ns)) in came.enumerate() {
            let place = match self.numbered {
                true => Some(*number as usize),
                false => oldest(&stands, &[Stand::Missing, Stand::Abandoned])
                    .or_else(|| oldest(&stands, &[Stand::Waits])),
            };
            let Some(place) = place.filter(|place| *place < stands.len()) else {
                continue;
            };
            let outcome = match stands[place] {
                Stand::Waits if (place as u64) < answered_to => Outcome::Reordered,
                Stand::Waits => Outcome::Answered,
                Stand::Missing | Stand::Abandoned => Outcome::Late,
                Stand::Answered | Stand::CameLate => Outcome::Duplicated,
                Stand::Closed | Stand::Staged => continue,
            };
            if stands[place] == Stand::Waits {
                answered_to = answered_to.max(place as u64 + 1);
            }
            stands[place] = match stands[place] {
                Stand::Waits | Stand::Answered => Stand::Answered,
                _ => Stand::CameLate,
            };
            expected.push(((place as u64, outcome, *received_ns), index + 1));
        }
        let mut is_losing = false;
        while let Some(waits) = oldest(&stands, &[Stand::Waits]).filter(|_| self.drained) {
            let waited = now_ns.saturating_sub(self.asked[waits].start_ns);
            if !is_losing && waited < self.timeout_ns {
                break;
            }
            is_losing = !self.numbered;
            stands[waits] = Stand::Missing;
            expected.push(((waits as u64, Outcome::Lost, now_ns), self.came.len()));
        }
        expected
    }

    /// What holds for every event, whatever happened to the bytes.
    fn hold(
        &mut self,
        now_ns: u64,
        (sequence, outcome, end_ns): (u64, Outcome, u64),
        start_ns: u64,
        payload: &[u8],
    ) -> Result<(), Fault> {
        let wrong = |what: &str| {
            let what = format!("exchange {sequence} is {outcome:?}: {what}");
            Err(Fault::new(now_ns, what))
        };
        let Some(asked) = self.asked.get_mut(sequence as usize) else {
            return wrong("it was never asked");
        };
        let before = asked.stand;
        let is_first = !matches!(outcome, Outcome::Late | Outcome::Duplicated);
        if is_first && before != Stand::Waits {
            return wrong(&format!("it was {before:?} already"));
        }
        if is_first && start_ns != asked.start_ns {
            return wrong(&format!("it started at {}", asked.start_ns));
        }
        if before == Stand::Waits && is_first && end_ns < asked.start_ns {
            return wrong("it ended before it started");
        }
        let is_right = matches!(outcome, Outcome::Answered | Outcome::Reordered);
        if outcome == Outcome::Answered {
            self.longest_ns = self.longest_ns.max(end_ns - start_ns);
        }
        if is_right {
            self.answered_to = self.answered_to.max(sequence + 1);
        }
        let (up, down) = self.damages;
        match outcome {
            Outcome::Damaged if !down => return wrong("nothing is damaged on the way to the host"),
            Outcome::RequestDamaged if !up => return wrong("no request is damaged on its way"),
            _ => {}
        }
        // A message has a check; lines and their like are only as good as their order.
        let is_judged = match self.numbered {
            true => self.is_checked,
            false => self.keeps_order && !self.void,
        };
        let answer = match self.numbered {
            true => echoed(&asked.said, asked.awaited),
            false => asked.said.clone(),
        };
        if is_right && is_judged && payload != answer {
            return wrong("its answer is another's");
        }
        asked.stand = match outcome {
            Outcome::Answered | Outcome::Reordered | Outcome::Duplicated => Stand::Answered,
            Outcome::Lost => Stand::Missing,
            Outcome::Late => Stand::CameLate,
            _ => Stand::Closed,
        };
        if is_first && outcome != Outcome::Lost {
            // It is confirmed, also where the events are not computed.
            self.confirms = false;
        }
        if outcome == Outcome::Duplicated && before == Stand::CameLate {
            asked.stand = before;
        }
        if outcome == Outcome::Lost {
            let is_whole_line = self.needs_quiet;
            self.quiet_until_ns = self
                .quiet_until_ns
                .max(now_ns + self.timeout_ns.max(QUIET_NS));
            if is_whole_line {
                // What was staged is not sent: whose answer comes next is unknown.
                self.asked.truncate(self.started);
            }
        }
        Ok(())
    }

    /// No request goes out on a line of which answers are missing, until all came or it was quiet.
    fn quiet(&mut self, now_ns: u64, all: bool, engine: &Engine<Messages>) -> Result<(), Fault> {
        let is_resyncing = engine.is_resyncing();
        let missing = self
            .oldest(Stand::Missing)
            .or(self.oldest(Stand::Abandoned));
        let may_end = !self.waiting() && self.part == 0;
        let is_over = may_end && (missing.is_none() || now_ns >= self.quiet_until_ns);
        if self.needs_quiet && !self.void {
            if missing.is_some() && !is_resyncing && !is_over && !self.confirms {
                return Err(Fault::new(
                    now_ns,
                    "an answer is missing, and the line is used",
                ));
            }
            let is_late = is_resyncing && may_end && now_ns >= self.quiet_until_ns;
            if is_late && self.was_resyncing && all {
                return Err(Fault::new(now_ns, "the line was quiet, and is not used"));
            }
        }
        if !is_resyncing && self.needs_quiet {
            if self.was_resyncing {
                self.confirms = missing.is_some();
            }
            if !self.confirms {
                self.close_missing(0);
            }
        }
        self.confirms &= !is_resyncing;
        self.note_resync(now_ns, engine);
        Ok(())
    }

    fn note_resync(&mut self, now_ns: u64, engine: &Engine<Messages>) {
        let is_resyncing = engine.is_resyncing();
        if !is_resyncing {
            self.quiet_until_ns = 0;
            // The device stalled in the middle of an answer for longer than the line had to be quiet.
            self.void |= self.was_resyncing && self.next.is_some();
        } else if !self.was_resyncing {
            self.resync_since_ns = now_ns;
        }
        self.was_resyncing = is_resyncing;
    }

    /// The program is over: every request that was sent has its outcome.
    pub fn finish(&self, now_ns: u64) -> Result<(), Fault> {
        match self.oldest(Stand::Waits) {
            None => Ok(()),
            Some(open) => Err(Fault::new(now_ns, format!("request {open} has no outcome"))),
        }
    }
}
