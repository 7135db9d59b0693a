//! The oracle: sees every call between engine and world, and says which rows there must be, to the nanosecond, and
//! what may happen next. It shares no code with the engine or the protocol's crate, keeps everything, and
//! looks everything up the slow way. Where bytes came undamaged it also holds its own reading of
//! them to what the device really gave.

mod bytes;
mod confirm;
mod exchanges;
mod fault;
mod next;
mod pace;
mod proof;
mod recognise;
mod rows;
mod truth;

use crate::queries::requests;
use crate::scenario::{Cell, Protocols, Scenario, most_unanswered};
use crate::world::{Byte, World};
use exchanges::{Exchanges, Kept};
pub use fault::Fault;
use pace::Pace;
use proof::Proof;
use recognise::{Behind, Rules};
use truth::Truth;
use wiregauge_record::{BatchTrial, Surplus};
use wiregauge_session::{End, Failure};

/// The line must be quiet before the next request.
#[derive(Clone, Copy, Debug)]
struct Resync {
    began_ns: u64,
    until_ns: u64,
    by_loss: bool,
}

/// The oracle of one point.
pub struct Oracle<'a> {
    scenario: &'a Scenario,
    cell: Cell,
    base: u64,
    rules: Rules,
    pace: Pace,
    exchanges: Exchanges,
    truth: Truth,
    proof: Proof,

    // The link.
    open: bool,
    /// The exchange of this link is over.
    served: bool,
    connect_ns: u64,
    first_byte_ns: Option<u64>,
    /// Received and not yet recognised.
    input: Vec<u8>,
    unread: bool,
    received_ns: u64,
    /// Nothing was there before the next request.
    drained: bool,
    /// When something came last; 0 if nothing has.
    heard_ns: u64,
    stray: u64,
    /// Bytes received since the last answer, and how many are too many.
    unanswered: u64,
    most_unanswered: u64,

    // Requests.
    /// One past the last that is ready to be sent.
    staged_to: u64,
    /// Bytes made ready since all that was ready had been taken.
    ready_bytes: u64,
    /// The newest request, and its bytes taken, if not all.
    newest: Vec<u8>,
    part: usize,
    /// The last send took nothing, and nothing happened since.
    send_blocked: bool,
    blocked_since_ns: Option<u64>,
    /// Since when a request that is due waits for a quiet line.
    held_since_ns: Option<u64>,

    // Losses.
    resync: Option<Resync>,
    /// Replies are missing, so that the next exchange must be confirmed; what came for it.
    confirms: bool,
    kept: Vec<Kept>,
    /// The longest time to an answer.
    longest_ns: u64,
    losing_all: bool,
    lost_in_a_row: u64,
    answered_once: bool,
    /// An exchange of the trial went wrong.
    trial_failed: bool,

    // The end.
    stragglers_since_ns: Option<u64>,
    end: Option<End>,
    stopped: bool,

    // What stands behind the first echo.
    /// For how long nothing may come, and when that is over.
    quiet_ns: u64,
    quiet_at_ns: Option<u64>,
}

impl<'a> Oracle<'a> {
    /// The oracle of one point.
    pub fn new(scenario: &'a Scenario, index: usize, base: u64, is_trying: bool) -> Oracle<'a> {
        let cell = scenario.cells[index];
        let rules = Rules {
            protocol: scenario.protocol,
            cell,
            datagram: scenario.datagram,
            base,
            out_of_step: false,
            reported: 0,
            behind: Behind::default(),
            is_silent: false,
        };
        Oracle {
            scenario,
            cell,
            base,
            rules,
            pace: Pace::new(scenario, is_trying),
            exchanges: Exchanges::default(),
            truth: Truth::default(),
            proof: Proof::default(),
            open: !scenario.connect_each,
            served: false,
            connect_ns: 0,
            first_byte_ns: None,
            input: Vec::new(),
            unread: false,
            received_ns: 0,
            drained: false,
            heard_ns: 0,
            stray: 0,
            unanswered: 0,
            most_unanswered: most_unanswered(longest_answer(scenario, cell), cell.depth.into()),
            staged_to: 0,
            ready_bytes: 0,
            newest: Vec::new(),
            part: 0,
            send_blocked: false,
            blocked_since_ns: None,
            held_since_ns: None,
            resync: None,
            confirms: false,
            kept: Vec::new(),
            longest_ns: 0,
            losing_all: false,
            lost_in_a_row: 0,
            answered_once: false,
            trial_failed: false,
            stragglers_since_ns: None,
            end: None,
            stopped: false,
            quiet_ns: 0,
            quiet_at_ns: None,
        }
    }

    /// When silence will have ended a reply that has begun.
    fn idle_ends_ns(&self) -> Option<u64> {
        let ends = self.scenario.protocol == Protocols::Silence && !self.scenario.datagram;
        let is_begun = ends && !self.input.is_empty();
        is_begun.then(|| self.heard_ns + self.scenario.silence_ns)
    }

    /// Until when the line must be silent before a request, if it is not yet over.
    fn gap_ends_ns(&self, now_ns: u64) -> Option<u64> {
        let silence_ns = match self.scenario.protocol {
            Protocols::Rtu => self.scenario.silence_ns,
            _ => 0,
        };
        // The rest of a message that nobody asked for must not become a reply.
        let is_cut =
            self.exchanges.outstanding() == 0 && self.needs_quiet() && !self.input.is_empty();
        let rest_ns = match is_cut {
            true => self.scenario.timeout_ns.clamp(QUIET_NS, 10 * QUIET_NS),
            false => 0,
        };
        let ends_ns = self.heard_ns + silence_ns.max(rest_ns);
        (now_ns < ends_ns && silence_ns.max(rest_ns) > 0).then_some(ends_ns)
    }

    /// The request with this number within the point.
    fn request(&self, sequence: u64) -> Vec<u8> {
        let (out, in_) = (self.cell.out_bytes as usize, self.cell.in_bytes as usize);
        let number = self.base + sequence;
        match self.scenario.protocol {
            Protocols::Exchange => bytes::exchange_request(number, out, in_),
            Protocols::Echo => bytes::echo_request(number, out),
            Protocols::Lines => bytes::line_request(number, out),
            protocol => {
                let mut request = requests(protocol, self.cell)[sequence as usize % 2].clone();
                if protocol == Protocols::Tcp {
                    request[..2].copy_from_slice(&(number as u16).to_be_bytes());
                }
                request
            }
        }
    }

    /// Whether answers are matched by content or order, so that the line must become quiet after a loss.
    fn needs_quiet(&self) -> bool {
        let short = self.scenario.protocol == Protocols::Echo && self.cell.out_bytes < 4;
        (short && !self.scenario.datagram) || self.scenario.protocol.is_ordered()
    }

    /// The point begins.
    pub fn begin(&mut self, now_ns: u64) {
        self.received_ns = now_ns;
    }

    /// True while the engine proves its address.
    pub fn is_proving(&self) -> bool {
        self.proof.is_on()
    }

    // --- what happened ---

    /// The user asked to stop.
    pub fn stop(&mut self) {
        self.stopped = true;
        if self.end.is_none() {
            self.end = Some(match self.stragglers_since_ns {
                Some(_) => End::Complete,
                None => End::Stopped,
            });
        }
    }

    /// The line was quiet behind the first echo, or what came is too much.
    fn end_quiet(&mut self, now_ns: u64) {
        let is_open = self.rules.behind.is_open;
        if self
            .quiet_at_ns
            .is_some_and(|at_ns| !is_open || now_ns >= at_ns)
        {
            self.quiet_at_ns = None;
            let input = std::mem::take(&mut self.input);
            self.input = self.rules.behind.close(input);
            self.pace.first_ended(now_ns);
        }
    }

    /// What the engine says of the trial before the point, if it says that it is over.
    pub fn trial_ended(&mut self, now_ns: u64, trial: Option<BatchTrial>) -> Result<(), Fault> {
        let wrong = |what: String| Err(Fault::new(now_ns, what));
        if !self.pace.is_trying() || self.end.is_some() {
            return Ok(());
        }
        self.end_quiet(now_ns);
        let Some(trial) = trial else {
            return match self.trial_failed {
                true => wrong("an exchange of the trial went wrong, but it goes on".into()),
                false => Ok(()),
            };
        };
        if self.pace.is_first() {
            return wrong("the trial is over before the first exchange".into());
        }
        if trial.exchanges + 1 != self.staged_to {
            let staged = self.staged_to - 1;
            return wrong(format!("a trial of {staged} exchanges, not {trial:?}"));
        }
        self.pace.trial_ended(trial.exchanges);
        Ok(())
    }

    /// A link was opened, or not.
    pub fn connected(&mut self, before_ns: u64, after_ns: u64, opened: bool) {
        self.connect_ns = after_ns - before_ns;
        self.first_byte_ns = None;
        if !opened {
            self.start_one(before_ns);
            self.losing_all = true;
            return;
        }
        self.disconnected();
        self.open = true;
        self.served = false;
        self.send_blocked = false;
    }

    /// The link is closed: all that was on it is gone.
    fn disconnected(&mut self) {
        self.open = false;
        self.part = 0;
        self.ready_bytes = 0;
        self.staged_to = self.exchanges.started();
        self.blocked_since_ns = None;
        self.resync = None;
        self.confirms = false;
        self.drained = false;
        self.exchanges.close_missing();
        self.drop_input();
        self.truth.new_link();
    }

    /// Replies of other protocols are taken in the order in which they come; the judge holds those to the truth.
    fn has_marks(&self) -> bool {
        matches!(
            self.scenario.protocol,
            Protocols::Exchange | Protocols::Echo
        )
    }

    fn drop_input(&mut self) {
        self.drop_kept();
        self.stray += self.input.len() as u64;
        self.input.clear();
        self.unread = false;
        self.rules.out_of_step = false;
        self.rules.reported = 0;
        self.rules.behind.begin_anew();
    }

    /// Whether what stands behind the first echo is looked at before the next request.
    fn looks_behind(&self) -> bool {
        let scenario = self.scenario;
        scenario.protocol == Protocols::Echo
            && self.cell.out_bytes >= 4
            && !scenario.datagram
            && !scenario.connect_each
    }

    /// The first exchange ended; nothing else may start before the line is quiet, if it was answered.
    fn first_ended(&mut self, start_ns: u64, end_ns: u64, is_answered: bool) {
        if !self.pace.is_first() || self.quiet_at_ns.is_some() {
            return;
        }
        if !is_answered || !self.looks_behind() {
            self.pace.first_ended(end_ns);
            return;
        }
        self.quiet_ns = (end_ns - start_ns).clamp(SHORTEST_QUIET_NS, LONGEST_QUIET_NS);
        self.quiet_at_ns = Some(end_ns + self.quiet_ns);
        self.rules.behind.is_open = true;
    }

    fn start_one(&mut self, now_ns: u64) {
        let sequence = self.exchanges.start(now_ns);
        self.staged_to = self.staged_to.max(sequence + 1);
        self.pace.started(sequence, now_ns);
    }

    /// The system was offered bytes and took some.
    pub fn sent(&mut self, now_ns: u64, offered: &[u8], count: usize) -> Result<(), Fault> {
        self.send_blocked = count == 0;
        if self.proof.is_on() {
            if count > 0 {
                self.blocked_since_ns = None;
            }
            return self.proof.sent(now_ns, offered, count);
        }
        if count == 0 {
            self.blocked_since_ns.get_or_insert(now_ns);
            return Ok(());
        }
        self.blocked_since_ns = None;
        self.drained = false;
        self.held_since_ns = None;
        if let Some(resync) = &mut self.resync {
            // The device may answer what it has only now received whole.
            let quiet = self.scenario.timeout_ns.max(QUIET_NS);
            resync.until_ns = resync.until_ns.max(now_ns + quiet);
        }
        let mut rest = &offered[..count];
        while !rest.is_empty() {
            if self.part == 0 {
                if self.exchanges.started() >= self.staged_to {
                    let number = self.exchanges.started();
                    return Err(Fault::new(
                        now_ns,
                        format!("exchange {number} may not start now"),
                    ));
                }
                if self.exchanges.outstanding() == 0 && self.needs_quiet() {
                    // It came before the request.
                    self.drop_input();
                }
                self.start_one(now_ns);
                self.newest = self.request(self.exchanges.started() - 1);
            }
            let left = &self.newest[self.part..];
            let piece = left.len().min(rest.len());
            if rest[..piece] != left[..piece] {
                let what = format!("not the request's bytes from {}: {rest:02x?}", self.part);
                return Err(Fault::new(now_ns, what));
            }
            self.part = (self.part + piece) % self.newest.len();
            rest = &rest[piece..];
        }
        if self.part == 0 && self.staged_to == self.exchanges.started() {
            self.ready_bytes = 0;
        }
        Ok(())
    }

    /// A receive that had to find out whether something is there found nothing.
    pub fn drained(&mut self) {
        self.drained = true;
    }

    /// Bytes were received; none if a wait ended without.
    pub fn received(&mut self, now_ns: u64, came: &[Byte], world: &World) -> Result<(), Fault> {
        self.send_blocked = false;
        self.drained = false;
        if came.is_empty() {
            return Ok(());
        }
        if self.scenario.connect_each && self.exchanges.outstanding() > 0 {
            self.first_byte_ns.get_or_insert(now_ns);
        }
        if self.proof.received(now_ns, self.scenario.timeout_ns, came) {
            return Ok(());
        }
        self.input.extend(came.iter().map(|byte| byte.value));
        self.unanswered += came.len() as u64;
        self.unread = true;
        self.received_ns = now_ns;
        self.heard_ns = now_ns;
        if let Some(at_ns) = &mut self.quiet_at_ns {
            *at_ns = now_ns + self.quiet_ns;
        }
        if let Some(resync) = &mut self.resync {
            let quiet = self.scenario.timeout_ns.clamp(QUIET_NS, 10 * QUIET_NS);
            resync.until_ns = resync.until_ns.max(now_ns + quiet);
        }
        self.truth
            .received(came, world, self.base, self.has_marks());
        Ok(())
    }

    /// The link failed.
    pub fn link_failed(&mut self, now_ns: u64) {
        if !self.scenario.connect_each {
            self.fail(Failure::Link);
            return;
        }
        self.proof.give_up();
        self.part = 0;
        self.ready_bytes = 0;
        self.blocked_since_ns = None;
        self.staged_to = self.exchanges.started();
        if self.exchanges.outstanding() == 0 {
            self.start_one(now_ns);
        }
        self.losing_all = true;
    }

    fn fail(&mut self, failure: Failure) {
        if self.end.is_none() {
            self.end = Some(End::Failed(failure));
            self.losing_all = self.exchanges.outstanding() > 0;
        }
    }

    /// The point is over.
    pub fn finish(
        &mut self,
        now_ns: u64,
        end: &End,
        stray: u64,
        surplus: Option<&Surplus>,
    ) -> Result<(), Fault> {
        let expected = self.end.as_ref();
        if expected != Some(end) {
            return Err(Fault::new(
                now_ns,
                format!("it ended with {end:?}, not {expected:?}"),
            ));
        }
        if *end != End::Complete || self.stopped {
            return Ok(());
        }
        let came = self.stray + self.rules.behind.stray();
        if stray != came {
            let what = format!("{stray} stray bytes counted, {came} came");
            return Err(Fault::new(now_ns, what));
        }
        let found = surplus.map(|surplus| (&surplus.bytes[..], surplus.times, surplus.missing));
        let expected = self.rules.behind.found();
        if found != expected {
            let what = format!("a surplus of {found:02x?}, not {expected:02x?}");
            return Err(Fault::new(now_ns, what));
        }
        Ok(())
    }
}

/// Bytes of an answer that are no flood.
fn longest_answer(scenario: &Scenario, cell: Cell) -> u64 {
    match scenario.protocol {
        Protocols::Text | Protocols::Silence => 1 << 20,
        Protocols::Tcp | Protocols::Rtu => 260,
        _ => cell.in_bytes.into(),
    }
}

/// The least time for which a line must be quiet before it is trusted again.
const QUIET_NS: u64 = 20_000_000;

/// Timeouts for which a device may keep sending unsolicited data, at least.
const NEVER_QUIET: u64 = 10;

/// After the last answer of a point, stragglers are awaited for so long.
const STRAGGLERS_NS: u64 = 5_000_000;

/// The line counts as quiet behind the first echo after as long as that took, but not sooner, ...
const SHORTEST_QUIET_NS: u64 = 5_000_000;

/// ... nor later.
const LONGEST_QUIET_NS: u64 = 100_000_000;

/// Losses in a row, for each exchange outstanding, at which a link that never answered has failed.
const NEVER_ANSWERED: u64 = 3;

/// Requests are made ready up to so many bytes, beyond the one that crosses it.
const READY: u64 = 256 << 10;

/// Exchanges that may go on behind one that waits for its timeout, with more than one outstanding.
const SPAN: u64 = 4096;
