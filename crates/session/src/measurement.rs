//! One point of a sweep: what to do next, and the sample of each exchange that ended. Owns the schedule, the first
//! exchange apart, one link or one for each exchange, the proof of address, and when to give up.

use crate::batch_trial::BatchTrial;
use crate::codec::Generator;
use crate::engine::{Config, Ended, Engine, Event, Outcome};
use crate::hello::{Hello, HelloEnd};
use crate::schedule::Schedule;
use std::ops::Range;
use wiregauge_record::{BatchTrial as TrialRecord, Connect, Plan, Point, Sample, Surplus};
use wiregauge_wire as wire;

/// With more than one outstanding, the others go on while a lost one waits for its timeout, for so many exchanges.
const SPAN: usize = 4096;

/// After the last answer of a point, stragglers are awaited for so long.
const STRAGGLERS_NS: u64 = 5_000_000;

/// Behind the first answer the line must be quiet for as long as that took, within these bounds, where the protocol
/// has to know what follows an answer. The longer one is that of a byte on the slowest lines.
const LISTEN_NS: [u64; 2] = [5_000_000, 100_000_000];

/// Losses in a row, for each exchange outstanding, at which a link that never answered has failed.
const NEVER_ANSWERED: u32 = 3;

/// A proof of address holds for 60 s (docs/protocol.md); it is renewed well before.
const PROOF_NS: u64 = 30_000_000_000;

/// Proofs of address in a row that did not help.
const VAIN_PROOFS: u32 = 2;

/// What the driver is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Open the link, then report [`Measurement::connected`] or [`Measurement::connect_failed`].
    Connect,
    /// Close the link.
    Disconnect,
    /// Hand over [`Measurement::outgoing`], as much as the system takes now, and report [`Measurement::sent`].
    Send,
    /// Wait for bytes, receive them into [`Measurement::space`], report [`Measurement::received`], then poll
    /// until there is no event.
    Receive {
        /// End the wait then.
        until_ns: u64,
        /// Another exchange would start late if this wait ended late; else only a timeout would be noticed late.
        exact: bool,
        /// End it too when more can be sent.
        or_writable: bool,
    },
    /// Nothing is outstanding: wait for the next start.
    Sleep {
        /// When that is.
        until_ns: u64,
    },
    /// The point is over.
    Done,
}

/// How a point ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All was measured.
    Complete,
    /// It was stopped.
    Stopped,
    /// The link failed.
    Failed(Failure),
}

/// Why a point cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// So many exchanges in a row were lost.
    Silent {
        /// How many.
        in_a_row: u64,
        /// Whether any was answered before.
        answered_once: bool,
    },
    /// The device takes nothing more.
    Blocked {
        /// Bytes left of a request that has begun.
        rest: Option<usize>,
    },
    /// The device keeps sending unsolicited data.
    NeverQuiet,
    /// The device refuses the exchange.
    Refused(wire::Status),
    /// The proof of address could not be renewed.
    NoProof,
    /// The system reported an error.
    Link,
}

/// A row of the samples, and where the bytes of its answer lie; see [`Measurement::received_at`].
#[derive(Clone, Debug)]
pub struct Row {
    /// The sample.
    pub sample: Sample,
    /// The whole answer.
    pub answer: Range<usize>,
}

/// One point of a sweep.
#[derive(Debug)]
pub struct Measurement<C> {
    engine: Engine<C>,
    schedule: Schedule,
    /// Follows the first exchange.
    trial: Option<BatchTrial>,
    /// The engine's exchanges from 1 to here are those of the trial; they are no samples.
    trial_to: u64,
    point: Point,
    connect_each: bool,
    timeout_ns: u64,
    give_up: u32,
    /// The link is open.
    open: bool,
    connect_ns: u64,
    /// When the first byte of the answer came, if each exchange has its own link.
    first_byte_ns: Option<u64>,
    /// The exchange of this link has ended.
    exchange_ended: bool,
    answered_once: bool,
    lost_in_a_row: u64,
    /// The last send took nothing, and nothing has come since.
    send_blocked: bool,
    proof: Option<Hello>,
    /// Proofs that were begun.
    proofs: u32,
    proved_ns: u64,
    vain_proofs: u32,
    /// Answers need a proof of address, which must not expire.
    renews_proof: bool,
    stragglers_since_ns: Option<u64>,
    /// Until when the line must be quiet behind the first answer, and for how long.
    listening: Option<(u64, u64)>,
    end: Option<End>,
}

impl<C: Generator> Measurement<C> {
    /// Lays out all memory. The link is open unless the plan opens one for each exchange. `batch`: requests handed
    /// over in one call at most.
    pub fn new(plan: &Plan, point: Point, datagram: bool, batch: usize, codec: C) -> Self {
        let depth = point.depth as usize;
        let connect_each = plan.connect == Connect::Each;
        let config = Config {
            datagram,
            timeout_ns: plan.timeout_ns,
            batch: if datagram { 1 } else { batch.max(1) },
            span: if depth == 1 { 1 } else { SPAN.max(4 * depth) },
            request_bytes: codec.request_bytes(),
            answer_bytes: codec.answer_bytes(),
            staged: depth,
        };
        let renews_proof = codec.needs_proof() && point.in_bytes > point.out_bytes && !connect_each;
        let mut engine = Engine::new(config, codec);
        engine.set_never_quiet(u64::from(plan.give_up));
        Measurement {
            engine,
            schedule: Schedule::new(plan),
            trial: None,
            trial_to: 0,
            point,
            connect_each,
            timeout_ns: plan.timeout_ns,
            give_up: plan.give_up,
            open: !connect_each,
            connect_ns: 0,
            first_byte_ns: None,
            exchange_ended: false,
            answered_once: false,
            lost_in_a_row: 0,
            send_blocked: false,
            proof: None,
            proofs: 0,
            proved_ns: 0,
            vain_proofs: 0,
            renews_proof,
            stragglers_since_ns: None,
            listening: None,
            end: None,
        }
    }

    /// Lets a trial choose how many requests are handed over in one call.
    pub fn with_trial(mut self, trial: Option<BatchTrial>) -> Self {
        if trial.is_some() {
            self.trial_to = u64::MAX;
        }
        self.trial = trial;
        self
    }

    /// Exchanges started so far, those of the trial included.
    pub fn started(&self) -> u64 {
        self.engine.window().started()
    }

    /// What the trial has found, if it is over.
    pub fn trial(&self) -> Option<TrialRecord> {
        let trial = self.trial.as_ref()?;
        (!self.is_trying()).then(|| trial.record(self.trial_to))
    }

    #[inline]
    fn is_trying(&self) -> bool {
        self.trial_to == u64::MAX
    }

    /// The number within the point of an exchange of the engine; 0 for those of the trial.
    #[inline]
    fn sequence(&self, engines: u64) -> u64 {
        engines.saturating_sub(self.trial_to)
    }

    /// The number within the point of the next exchange to start.
    #[inline]
    pub fn next_sequence(&self) -> u64 {
        self.sequence(self.started())
    }

    #[inline]
    fn is_of_trial(&self, engines: u64) -> bool {
        (1..=self.trial_to).contains(&engines)
    }

    /// Bytes received so far that belong to no answer.
    pub fn stray_bytes(&self) -> u64 {
        self.engine.stray_bytes()
    }

    /// What the device sends behind each answer.
    pub fn surplus(&self) -> Option<Surplus> {
        self.engine.surplus()
    }

    /// How it ended, once [`Next::Done`] was returned.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// True if [`Measurement::next`] must be given the time of now; else that of the last event will do.
    #[inline]
    pub fn needs_time(&self) -> bool {
        self.schedule.needs_time()
    }

    /// What to do next.
    #[inline]
    pub fn next(&mut self, now_ns: u64) -> Next {
        if self.end.is_some() {
            return Next::Done;
        }
        if self.stragglers_since_ns.is_some() {
            return self.await_stragglers(now_ns);
        }
        if let Some(listen) = self.listen(now_ns) {
            return listen;
        }
        if self.is_trying() && self.schedule.first_done() {
            self.go_on_trying();
        }
        let waiting = self.engine.window().waiting();
        if self.next_sequence() >= self.schedule.total() && waiting == 0 {
            return self.begin_stragglers(now_ns);
        }
        if self.proof.is_some() {
            return self.next_of_proof(now_ns);
        }
        if self.connect_each && self.open && self.exchange_ended && waiting == 0 {
            return self.disconnect();
        }
        if self.needs_new_proof(now_ns) {
            self.begin_proof(now_ns);
            return self.next_of_proof(now_ns);
        }
        if let Some(next) = self.stage(now_ns) {
            return next;
        }
        if self.engine.wants_to_send() {
            if !self.send_blocked {
                return Next::Send;
            }
            if let Some(failed) = self.blocked_too_long(now_ns) {
                return failed;
            }
        }
        self.wait(now_ns)
    }

    /// Waits until the line is quiet behind the first answer.
    #[inline]
    fn listen(&mut self, now_ns: u64) -> Option<Next> {
        let (until_ns, _) = self.listening?;
        if now_ns < until_ns && self.engine.is_listening() {
            return Some(Next::Receive {
                until_ns,
                exact: true,
                or_writable: false,
            });
        }
        self.listening = None;
        self.engine.settle();
        self.schedule.first_ended(now_ns);
        None
    }

    /// The first exchange has ended: the schedule begins, or the line must be quiet before.
    fn first_ended(&mut self, ended: &Ended) {
        let took_ns = ended.end_ns - ended.start_ns;
        if let Some(trial) = &mut self.trial {
            trial.first_ended(took_ns);
        }
        let listens = ended.outcome == Outcome::Answered && !self.connect_each;
        if listens && self.engine.listen() {
            let quiet_ns = took_ns.clamp(LISTEN_NS[0], LISTEN_NS[1]);
            self.listening = Some((ended.end_ns + quiet_ns, quiet_ns));
        } else {
            self.schedule.first_ended(ended.end_ns);
        }
    }

    /// True if the next exchange could start but for its schedule.
    #[inline]
    fn has_place(&self) -> bool {
        let depth = match self.schedule.first_done() {
            true => self.point.depth,
            false => 1,
        };
        self.engine.window().under_way() < u64::from(depth)
            && self.engine.has_room()
            && self.sequence(self.engine.window().next()) < self.schedule.total()
    }

    /// What the trial does next. Requests that it has staged remain its own when it is over.
    fn go_on_trying(&mut self) {
        let Some(trial) = &mut self.trial else {
            return;
        };
        let window = self.engine.window();
        let ended = window.started() - u64::from(window.waiting());
        trial.ended(ended, self.engine.heard_ns());
        if trial.is_over() {
            self.trial_to = window.next() - 1;
        }
        self.engine.set_batch(trial.batch());
    }

    /// Stages the requests that may start now.
    #[inline]
    fn stage(&mut self, now_ns: u64) -> Option<Next> {
        while self.has_place() {
            let sequence = self.sequence(self.engine.window().next());
            if !self.schedule.may_stage(sequence, now_ns) {
                break;
            }
            if !self.open {
                return Some(Next::Connect);
            }
            self.engine.stage(0, |codec, sequence, to| {
                let begin = to.len();
                to.resize(begin + codec.request_bytes(), 0);
                codec.request(sequence, &mut to[begin..]);
            });
            if self.connect_each {
                break;
            }
        }
        None
    }

    fn wait(&mut self, now_ns: u64) -> Next {
        let due_ns = match self.has_place() {
            true => self
                .schedule
                .due_ns(self.sequence(self.engine.window().next())),
            false => None,
        };
        let at_rest = self.engine.window().under_way() == 0
            && !self.engine.wants_to_send()
            && !self.engine.is_resyncing();
        if at_rest {
            return match due_ns {
                Some(due) => Next::Sleep {
                    until_ns: due.min(self.renew_ns().unwrap_or(u64::MAX)),
                },
                // A duration was found to be over just now.
                None => self.begin_stragglers(now_ns),
            };
        }
        let blocked = self.engine.wants_to_send();
        let gives_up = match self.engine.blocked() {
            Some((since, _)) if blocked && self.engine.window().waiting() == 0 => {
                since.saturating_add(self.timeout_ns.saturating_mul(2))
            }
            _ => u64::MAX,
        };
        let wake = self.engine.wake_ns().unwrap_or(u64::MAX);
        Next::Receive {
            until_ns: wake.min(gives_up).min(due_ns.unwrap_or(u64::MAX)),
            exact: due_ns.is_some() || self.engine.is_resyncing(),
            or_writable: blocked,
        }
    }

    fn blocked_too_long(&mut self, now_ns: u64) -> Option<Next> {
        let (since, rest) = self.engine.blocked()?;
        let too_long = now_ns.saturating_sub(since) >= self.timeout_ns.saturating_mul(2);
        if too_long && self.engine.window().waiting() == 0 {
            self.fail(Failure::Blocked { rest });
            return Some(Next::Done);
        }
        None
    }

    fn disconnect(&mut self) -> Next {
        self.open = false;
        self.engine.disconnected();
        Next::Disconnect
    }

    // --- what the driver reports ---

    /// The link is open; opening it took from `before_ns` to `now_ns`.
    pub fn connected(&mut self, before_ns: u64, now_ns: u64) {
        self.engine.connected();
        self.open = true;
        self.send_blocked = false;
        self.connect_ns = now_ns - before_ns;
        self.first_byte_ns = None;
        self.exchange_ended = false;
    }

    /// The link could not be opened: that exchange is lost.
    pub fn connect_failed(&mut self, before_ns: u64, now_ns: u64) {
        self.connect_ns = now_ns - before_ns;
        self.first_byte_ns = None;
        self.lose_next(before_ns);
    }

    /// An exchange that could not even be begun. Its start counts as any other: a duration may begin with it.
    fn lose_next(&mut self, start_ns: u64) {
        self.engine.lose_next(start_ns);
        self.schedule.started(self.started(), start_ns);
    }

    /// The bytes to hand over now.
    #[inline]
    pub fn outgoing(&self) -> &[u8] {
        match &self.proof {
            None => self.engine.outgoing(),
            Some(proof) => proof.outgoing(),
        }
    }

    /// The system took `count` of the bytes that it was offered at `now_ns`; 0 if it takes none now.
    #[inline]
    pub fn sent(&mut self, now_ns: u64, count: usize) {
        self.send_blocked = count == 0;
        if let Some(proof) = &mut self.proof {
            proof.sent(count);
            if count > 0 {
                self.engine.sent_other();
            }
            return;
        }
        self.engine.sent(now_ns, count);
        self.schedule.started(self.next_sequence(), now_ns);
    }

    /// Where received bytes go.
    #[inline]
    pub fn space(&mut self) -> &mut [u8] {
        self.engine.space()
    }

    /// `count` bytes were put into the space; they came at `now_ns`. Report 0 where a wait ended without any.
    #[inline]
    pub fn received(&mut self, now_ns: u64, count: usize) {
        self.send_blocked = false;
        if count > 0 && self.connect_each && self.engine.window().waiting() > 0 {
            self.first_byte_ns.get_or_insert(now_ns);
        }
        if count > 0 && self.proof.is_some() {
            self.received_in_proof(now_ns, count);
            return;
        }
        if count > 0
            && let Some((until_ns, quiet_ns)) = &mut self.listening
        {
            *until_ns = now_ns + *quiet_ns;
        }
        self.engine.received(now_ns, count);
    }

    /// The link failed. If each exchange has its own, the exchange is lost; else the point has failed.
    pub fn link_failed(&mut self, now_ns: u64) {
        if !self.connect_each {
            self.fail(Failure::Link);
            return;
        }
        self.proof = None;
        self.engine.lose_all();
        if self.engine.window().waiting() == 0 {
            self.lose_next(now_ns);
        }
    }

    /// The link failed for good, even if each exchange has its own.
    pub fn abort(&mut self) {
        self.fail(Failure::Link);
    }

    /// True once any exchange was answered.
    pub fn answered_once(&self) -> bool {
        self.answered_once
    }

    /// Ends the point. What is outstanding is neither answered nor lost.
    pub fn stop(&mut self) {
        if self.end.is_none() {
            self.end = Some(match self.stragglers_since_ns {
                Some(_) => End::Complete,
                None => End::Stopped,
            });
        }
    }

    /// The next sample, if an exchange has ended up to `now_ns`; to be asked until it returns `None`.
    #[inline]
    pub fn poll(&mut self, now_ns: u64) -> Option<Row> {
        loop {
            match self.engine.poll(now_ns)? {
                Event::Ended(ended) if self.is_of_trial(ended.sequence) => self.tried(&ended),
                Event::Ended(ended) => return Some(self.row(ended)),
                Event::Malformed(..) => {}
                Event::NeverQuiet => self.fail(Failure::NeverQuiet),
            }
        }
    }

    /// Received bytes at a place that a row named.
    #[inline]
    pub fn received_at(&self, place: Range<usize>) -> &[u8] {
        self.engine.received_at(place)
    }

    /// An exchange of the trial ended.
    fn tried(&mut self, ended: &Ended) {
        self.account(ended);
        if !matches!(ended.outcome, Outcome::Answered | Outcome::Reordered)
            && self.is_trying()
            && let Some(trial) = &mut self.trial
        {
            trial.cancel();
        }
    }

    #[inline]
    fn row(&mut self, ended: Ended) -> Row {
        let sequence = self.sequence(ended.sequence);
        let intended_ns = match ended.outcome {
            Outcome::Duplicated => ended.start_ns,
            _ => self.schedule.due_ns(sequence).unwrap_or(ended.start_ns),
        };
        if sequence == 0 && !self.schedule.first_done() && self.listening.is_none() {
            self.first_ended(&ended);
        }
        self.account(&ended);
        self.exchange_ended = true;
        let access_ns = self
            .first_byte_ns
            .map_or(0, |first| first.saturating_sub(ended.start_ns));
        let sample = Sample {
            sequence,
            intended_ns,
            start_ns: ended.start_ns,
            rtt_ns: ended.end_ns - ended.start_ns,
            connect_ns: self.connect_ns,
            access_ns,
            device_rx_ticks: ended.rx_ticks,
            device_tx_ticks: ended.tx_ticks,
            bytes_out: self.point.out_bytes,
            bytes_in: ended.answer.len() as u32,
            outstanding: ended.outstanding,
            status: ended.outcome.status(),
            phase: self.schedule.phase(sequence),
        };
        Row {
            sample,
            answer: ended.answer,
        }
    }

    /// Counts losses in a row, and fails where they are too many.
    #[inline]
    fn account(&mut self, ended: &Ended) {
        match ended.outcome {
            Outcome::Duplicated => {}
            Outcome::Lost => self.count_loss(),
            Outcome::Refused(wire::Status::Unproven) => {
                self.count_loss();
                if self.vain_proofs >= VAIN_PROOFS {
                    self.fail(Failure::Refused(wire::Status::Unproven));
                } else if self.proof.is_none() {
                    self.vain_proofs += 1;
                    self.begin_proof(ended.end_ns);
                }
            }
            Outcome::Refused(status) => self.fail(Failure::Refused(status)),
            Outcome::Answered
            | Outcome::Reordered
            | Outcome::Late
            | Outcome::Damaged
            | Outcome::RequestDamaged => {
                self.lost_in_a_row = 0;
                self.answered_once = true;
                self.vain_proofs = 0;
            }
        }
    }

    #[cold]
    fn count_loss(&mut self) {
        self.lost_in_a_row += 1;
        let patience = match self.answered_once {
            true => self.give_up,
            false => self.give_up.min(NEVER_ANSWERED),
        };
        if self.lost_in_a_row >= u64::from(patience) * u64::from(self.point.depth) {
            self.fail(Failure::Silent {
                in_a_row: self.lost_in_a_row,
                answered_once: self.answered_once,
            });
        }
    }

    /// What is under way will not come back: it is lost, and the samples say so.
    #[cold]
    fn fail(&mut self, failure: Failure) {
        if self.end.is_none() {
            self.end = Some(End::Failed(failure));
            self.engine.lose_all();
        }
    }

    // --- the end ---

    fn begin_stragglers(&mut self, now_ns: u64) -> Next {
        if self.connect_each {
            self.end = Some(End::Complete);
            return match self.open {
                true => self.disconnect(),
                false => Next::Done,
            };
        }
        self.stragglers_since_ns = Some(now_ns);
        self.await_stragglers(now_ns)
    }

    /// Late and doubled answers of this point belong to it, and not to the next.
    fn await_stragglers(&mut self, now_ns: u64) -> Next {
        let since = self.stragglers_since_ns.unwrap_or(now_ns);
        let longest = match self.engine.window().missing() {
            0 => STRAGGLERS_NS,
            _ => self.timeout_ns.max(STRAGGLERS_NS),
        };
        let until_ns = since.saturating_add(longest);
        if now_ns >= until_ns {
            self.engine.discard();
            self.end = Some(End::Complete);
            return Next::Done;
        }
        Next::Receive {
            until_ns,
            exact: true,
            or_writable: false,
        }
    }

    // --- the proof of address ---

    /// When the proof of address should be renewed, if answers need one.
    fn renew_ns(&self) -> Option<u64> {
        let last = self.proved_ns.max(self.engine.heard_ns());
        self.renews_proof.then(|| last.saturating_add(PROOF_NS))
    }

    #[inline]
    fn needs_new_proof(&self, now_ns: u64) -> bool {
        self.engine.window().under_way() == 0 && self.renew_ns().is_some_and(|at| now_ns >= at)
    }

    fn begin_proof(&mut self, now_ns: u64) {
        self.send_blocked = false;
        self.proof = Some(Hello::again(true, self.timeout_ns, now_ns, self.proofs));
        self.proofs += 1;
    }

    fn next_of_proof(&mut self, now_ns: u64) -> Next {
        let Some(proof) = &mut self.proof else {
            return Next::Done;
        };
        match proof.poll(now_ns) {
            None => {}
            Some(HelloEnd::Reply(_)) => {
                self.proof = None;
                self.proved_ns = now_ns;
                return self.next(now_ns);
            }
            Some(HelloEnd::NoReply) => {
                self.proof = None;
                self.fail(Failure::NoProof);
                return Next::Done;
            }
        }
        let blocked = !proof.outgoing().is_empty();
        if blocked && !self.send_blocked {
            return Next::Send;
        }
        let wake = self.engine.wake_ns().unwrap_or(u64::MAX);
        Next::Receive {
            until_ns: proof.wake_ns().min(wake),
            exact: true,
            or_writable: blocked,
        }
    }

    /// A datagram that came while the address is being proved: of HELLO, or an answer.
    fn received_in_proof(&mut self, now_ns: u64, count: usize) {
        let is_hello = match &mut self.proof {
            Some(proof) => proof.received(&self.engine.space()[..count], now_ns),
            None => false,
        };
        if !is_hello {
            self.engine.received(now_ns, count);
        }
    }
}
