//! The oracle of a program: from what the device gave and when it came whole, it computes every event, as long as the
//! link damages nothing. Whatever is damaged, each request has one outcome, at the right time.

use super::device::echoed;
use crate::oracle::Fault;
use crate::scenario::Scenario;
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
    /// The next byte of the answer that comes.
    next: Option<Tag>,
    /// Whole answers that came and were not polled.
    came: VecDeque<u64>,
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
    /// The oracle of a program. `keeps_order`: answers can be known by their order.
    pub fn new(scenario: &Scenario, numbered: bool, keeps_order: bool) -> Judge {
        let faults = scenario.faults;
        Judge {
            numbered,
            needs_quiet: !numbered,
            keeps_order,
            datagram: scenario.datagram,
            is_checked: faults.cut_up + faults.cut_down == 0,
            damages: (
                faults.flip_up + faults.cut_up > 0,
                faults.flip_down + faults.cut_down > 0,
            ),
            timeout_ns: scenario.timeout_ns,
            asked: Vec::new(),
            started: 0,
            part: 0,
            answered_to: 0,
            next: None,
            came: VecDeque::new(),
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
    pub fn abandoned(&mut self, now_ns: u64) {
        let waited = self.oldest(Stand::Waits).is_some();
        for asked in &mut self.asked {
            asked.stand = match asked.stand {
                Stand::Waits | Stand::Missing if self.numbered => Stand::Closed,
                Stand::Waits => Stand::Abandoned,
                stand => stand,
            };
        }
        self.asked.truncate(self.started);
        if self.numbered {
            // The rest of what comes is noise.
            self.void |= self.next.is_some();
            self.came.clear();
        } else if waited && !self.was_resyncing {
            self.quiet_until_ns = self
                .quiet_until_ns
                .max(now_ns + self.timeout_ns.max(QUIET_NS));
        }
    }

    /// Bytes came.
    pub fn received(&mut self, now_ns: u64, bytes: &[Byte], world: &World) {
        if bytes.is_empty() {
            return;
        }
        self.received_ns = now_ns;
        if self.was_resyncing {
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
            let at = byte.tag.at + 1;
            self.next = (at < given.bytes).then_some(Tag { at, ..byte.tag });
            if self.next.is_none() {
                self.came.push_back(given.number);
                let asked = self.asked.get(given.number as usize);
                let is_closed = asked.is_none_or(|asked| asked.stand == Stand::Closed);
                // It came after the quiet behind its timeout: no order can be known any more.
                self.void |= is_closed && !self.numbered;
            }
        }
    }

    fn oldest(&self, stand: Stand) -> Option<usize> {
        self.asked.iter().position(|asked| asked.stand == stand)
    }

    fn waiting(&self) -> bool {
        self.oldest(Stand::Waits).is_some()
    }

    /// The engine was polled until it had no more events: these.
    pub fn polled(
        &mut self,
        now_ns: u64,
        events: &[(Event, Vec<u8>)],
        engine: &Engine<Messages>,
    ) -> Result<(), Fault> {
        self.events += events.len() as u64;
        let expected = if self.void {
            Vec::new()
        } else {
            self.expect(now_ns)
        };
        let mut seen = Vec::new();
        for (event, payload) in events {
            let Event::Ended(ended) = event else {
                let longest = 10 * self.timeout_ns.max(QUIET_NS);
                let is_due = now_ns.saturating_sub(self.resync_since_ns) >= longest;
                if self.was_resyncing && is_due && *event == Event::NeverQuiet {
                    // What has come was thrown away.
                    self.void = true;
                }
                if matches!(event, Event::Malformed(..)) && self.datagram {
                    self.malformed();
                }
                if !self.void {
                    return Err(Fault::new(now_ns, format!("{event:?} on a sound link")));
                }
                continue;
            };
            let what = (ended.sequence, ended.outcome, ended.end_ns);
            seen.push(what);
            self.hold(now_ns, what, ended.start_ns, payload)?;
        }
        if !self.void && seen != expected {
            return Err(Fault::new(
                now_ns,
                format!("events {seen:?}, not {expected:?}"),
            ));
        }
        self.quiet(now_ns, engine)
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

    /// What must happen on a link that damages nothing.
    fn expect(&mut self, now_ns: u64) -> Vec<(u64, Outcome, u64)> {
        let mut expected = Vec::new();
        let mut stands: Vec<(Stand, u64)> =
            self.asked.iter().map(|a| (a.stand, a.start_ns)).collect();
        let oldest = |stands: &[(Stand, u64)], wanted: &[Stand]| {
            stands.iter().position(|(stand, _)| wanted.contains(stand))
        };
        let mut losing_all = false;
        let mut expire =
            |stands: &mut [(Stand, u64)], at_ns: u64, longest: u64, expected: &mut Vec<_>| {
                while let Some(waits) = oldest(stands, &[Stand::Waits]) {
                    if !losing_all && at_ns - stands[waits].1 < longest {
                        return;
                    }
                    losing_all = !self.numbered;
                    stands[waits].0 = Stand::Missing;
                    expected.push((waits as u64, Outcome::Lost, at_ns));
                }
                losing_all = false;
            };
        if !self.came.is_empty() {
            expire(
                &mut stands,
                self.received_ns,
                self.timeout_ns + 1,
                &mut expected,
            );
        }
        for number in std::mem::take(&mut self.came) {
            let place = match self.numbered {
                true => Some(number as usize),
                false => oldest(&stands, &[Stand::Missing, Stand::Abandoned])
                    .or_else(|| oldest(&stands, &[Stand::Waits])),
            };
            let Some(place) = place else { continue };
            let Some((stand, _)) = stands.get_mut(place) else {
                continue;
            };
            let outcome = match *stand {
                Stand::Waits if (place as u64) < self.answered_to => Outcome::Reordered,
                Stand::Waits => Outcome::Answered,
                Stand::Missing | Stand::Abandoned => Outcome::Late,
                Stand::Answered | Stand::CameLate => Outcome::Duplicated,
                Stand::Closed | Stand::Staged => continue,
            };
            if *stand == Stand::Waits {
                self.answered_to = self.answered_to.max(place as u64 + 1);
            }
            *stand = match *stand {
                Stand::Waits | Stand::Answered => Stand::Answered,
                _ => Stand::CameLate,
            };
            expected.push((place as u64, outcome, self.received_ns));
        }
        expire(&mut stands, now_ns, self.timeout_ns, &mut expected);
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
        let waited = end_ns - asked.start_ns;
        let is_right = matches!(outcome, Outcome::Answered | Outcome::Reordered);
        if is_right && waited > self.timeout_ns {
            return wrong("it was lost before");
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
        if outcome == Outcome::Duplicated && before == Stand::CameLate {
            asked.stand = before;
        }
        if outcome == Outcome::Lost {
            let is_whole_line = self.needs_quiet;
            self.quiet_until_ns = self
                .quiet_until_ns
                .max(now_ns + self.timeout_ns.max(QUIET_NS));
            if is_whole_line {
                // What was staged is not sent: whose answer comes next cannot be told.
                self.asked.truncate(self.started);
            }
        }
        Ok(())
    }

    /// No request goes out on a line of which answers are missing, until all came or it was quiet.
    fn quiet(&mut self, now_ns: u64, engine: &Engine<Messages>) -> Result<(), Fault> {
        let is_resyncing = engine.is_resyncing();
        let missing = self
            .oldest(Stand::Missing)
            .or(self.oldest(Stand::Abandoned));
        let may_end = !self.waiting() && self.part == 0;
        let is_over = may_end && (missing.is_none() || now_ns >= self.quiet_until_ns);
        if self.needs_quiet && !self.void {
            if missing.is_some() && !is_resyncing && !is_over {
                return Err(Fault::new(
                    now_ns,
                    "an answer is missing, and the line is used",
                ));
            }
            if is_resyncing && may_end && now_ns >= self.quiet_until_ns && self.was_resyncing {
                return Err(Fault::new(now_ns, "the line was quiet, and is not used"));
            }
        }
        if !is_resyncing && self.needs_quiet {
            for asked in &mut self.asked {
                if matches!(asked.stand, Stand::Missing | Stand::Abandoned) {
                    asked.stand = Stand::Closed;
                }
            }
        }
        if !is_resyncing {
            self.quiet_until_ns = 0;
            // The device stalled in the middle of an answer for longer than the line had to be quiet.
            self.void |= self.was_resyncing && self.next.is_some();
        } else if !self.was_resyncing {
            self.resync_since_ns = now_ns;
        }
        self.was_resyncing = is_resyncing;
        Ok(())
    }

    /// The program is over: every request that was sent has its outcome.
    pub fn finish(&self, now_ns: u64) -> Result<(), Fault> {
        match self.oldest(Stand::Waits) {
            None => Ok(()),
            Some(open) => Err(Fault::new(now_ns, format!("request {open} has no outcome"))),
        }
    }
}
