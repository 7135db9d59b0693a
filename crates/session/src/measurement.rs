//! One point of a sweep: what to do next, and the sample of each exchange that ended. Owns the schedule, the first
//! exchange apart, one link or one for each exchange, and when to give up.

mod waits;

use crate::address_proof::AddressProof;
use crate::batch_trial::BatchTrial;
use crate::codec::Generator;
use crate::engine::{Config, Engine};
use crate::event::{Ended, Event, Outcome};
use crate::next::{End, Failure, Next, Row};
use crate::quiet::{Listening, Stragglers};
use crate::schedule::Schedule;
use std::ops::Range;
use wiregauge_record::{BatchTrial as TrialRecord, Connect, Plan, Point, Sample, Surplus};
use wiregauge_wire as wire;

/// With more than one outstanding, the others go on while a lost one waits for its timeout, for so many exchanges.
const SPAN: usize = 4096;

/// Losses in a row, for each exchange outstanding, at which a link that never answered has failed.
const NEVER_ANSWERED: u32 = 3;

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
    /// Since when a request that is due waits for a quiet line.
    held_since_ns: Option<u64>,
    proof: AddressProof,
    /// The line must be quiet behind the first answer.
    listening: Option<Listening>,
    stragglers: Option<Stragglers>,
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
        engine.set_largest_answer(depth * engine.codec().longest_answer());
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
            held_since_ns: None,
            proof: AddressProof::new(renews_proof, plan.timeout_ns),
            listening: None,
            stragglers: None,
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
        self.schedule.needs_time() || self.engine.gap_ends_ns().is_some()
    }

    /// What to do next.
    #[inline]
    pub fn next(&mut self, now_ns: u64) -> Next {
        if self.end.is_some() {
            return Next::Done;
        }
        if let Some(stragglers) = self.stragglers {
            return self.await_stragglers(stragglers, now_ns);
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
        if self.proof.is_under_way() {
            return self.next_of_proof(now_ns);
        }
        if self.connect_each && self.open && self.exchange_ended && waiting == 0 {
            return self.disconnect();
        }
        if self.needs_new_proof(now_ns) {
            self.begin_proof(now_ns);
            return self.next_of_proof(now_ns);
        }
        if self.is_held_too_long(now_ns) {
            self.fail(Failure::NeverQuiet);
            return Next::Done;
        }
        if let Some(next) = self.stage(now_ns) {
            return next;
        }
        if self.engine.wants_to_send() {
            if !self.send_blocked {
                return self.clear_line(now_ns).unwrap_or(Next::Send);
            }
            if let Some(failed) = self.blocked_too_long(now_ns) {
                return failed;
            }
        }
        self.wait(now_ns)
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
            if self.engine.gap_ends_ns().is_some_and(|ends| now_ns < ends) {
                if self
                    .schedule
                    .due_ns(sequence)
                    .is_none_or(|due| due <= now_ns)
                {
                    self.held_since_ns.get_or_insert(now_ns);
                }
                break;
            }
            if !self.schedule.may_stage(sequence, now_ns) {
                break;
            }
            if !self.open {
                return Some(Next::Connect);
            }
            self.engine.stage(0, |codec, sequence, to| {
                let begin = to.len();
                to.resize(begin + codec.bytes_of(sequence), 0);
                codec.request(sequence, &mut to[begin..]);
            });
            if self.connect_each {
                break;
            }
        }
        None
    }

    /// When the next exchange may start: by its schedule, and after the silence before it.
    #[inline]
    fn due_ns(&self, now_ns: u64) -> Option<u64> {
        let sequence = self.sequence(self.engine.window().next());
        let gap_ns = self.engine.gap_ends_ns().filter(|ends| now_ns < *ends);
        self.schedule.due_ns(sequence).max(gap_ns)
    }

    /// What comes before a request that begins while nothing is outstanding.
    #[inline]
    fn clear_line(&mut self, now_ns: u64) -> Option<Next> {
        if !self.engine.begins() {
            return None;
        }
        if self.engine.needs_drain() {
            return Some(Next::Drain);
        }
        let gap_ends_ns = self.engine.gap_ends_ns();
        let until_ns = gap_ends_ns.filter(|ends| now_ns < *ends)?;
        self.held_since_ns.get_or_insert(now_ns);
        Some(Next::Receive {
            until_ns,
            exact: true,
            or_writable: false,
        })
    }

    /// True if the line did not become quiet for so long that it never will.
    #[inline]
    fn is_held_too_long(&self, now_ns: u64) -> bool {
        let held_ns = self.held_since_ns.map(|since| now_ns.saturating_sub(since));
        held_ns.is_some_and(|held_ns| held_ns >= self.engine.never_quiet_ns())
    }

    fn wait(&mut self, now_ns: u64) -> Next {
        let due_ns = match self.has_place() {
            true => self.due_ns(now_ns),
            false => None,
        };
        let at_rest = self.engine.window().under_way() == 0
            && !self.engine.wants_to_send()
            && !self.engine.is_resyncing();
        if at_rest {
            return match due_ns {
                Some(until_ns) if !self.open => Next::Sleep { until_ns },
                Some(due) => Next::Rest {
                    until_ns: due
                        .min(self.renew_ns().unwrap_or(u64::MAX))
                        .min(self.engine.wake_ns().unwrap_or(u64::MAX)),
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
            exact: due_ns.is_some() || self.engine.is_resyncing() || self.engine.awaits_silence(),
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
        match self.proof.outgoing() {
            None => self.engine.outgoing(),
            Some(bytes) => bytes,
        }
    }

    /// The system took `count` of the bytes that it was offered at `now_ns`; 0 if it takes none now.
    #[inline]
    pub fn sent(&mut self, now_ns: u64, count: usize) {
        self.send_blocked = count == 0;
        if self.proof.sent(count) {
            if count > 0 {
                self.engine.sent_other();
            }
            return;
        }
        if count > 0 {
            self.held_since_ns = None;
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
        if count > 0 && self.proof.is_under_way() {
            self.received_in_proof(now_ns, count);
            return;
        }
        if count > 0
            && let Some(listening) = &mut self.listening
        {
            listening.received(now_ns);
        }
        self.engine.received(now_ns, count);
    }

    /// [`Next::Drain`] found nothing.
    #[inline]
    pub fn drained(&mut self) {
        self.engine.drained();
    }

    /// The link failed. If each exchange has its own, the exchange is lost; else the point has failed.
    pub fn link_failed(&mut self, now_ns: u64) {
        if !self.connect_each {
            self.fail(Failure::Link);
            return;
        }
        self.proof.abandon();
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
            self.end = Some(match self.stragglers {
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
            bytes_out: self.engine.codec().bytes_of(ended.sequence) as u32,
            bytes_in: ended.answer.len() as u32,
            outstanding: ended.outstanding,
            status: ended.outcome.status(),
            phase: self.schedule.phase(sequence),
            // The kernel's records are not the engine's.
            ..Sample::default()
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
                if !self.proof.may_help() {
                    self.fail(Failure::Refused(wire::Status::Unproven));
                } else if !self.proof.is_under_way() {
                    self.send_blocked = false;
                    self.proof.begin_after_refusal(ended.end_ns);
                }
            }
            Outcome::Refused(status) => self.fail(Failure::Refused(status)),
            Outcome::Answered
            | Outcome::Reordered
            | Outcome::Unexpected
            | Outcome::Late
            | Outcome::Damaged
            | Outcome::RequestDamaged => {
                self.lost_in_a_row = 0;
                self.answered_once = true;
                self.proof.helped();
            }
        }
    }

    #[cold]
    fn count_loss(&mut self) {
        self.lost_in_a_row += 1;
        let allowed = match self.answered_once {
            true => self.give_up,
            false => self.give_up.min(NEVER_ANSWERED),
        };
        if self.lost_in_a_row >= u64::from(allowed) * u64::from(self.point.depth) {
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
}
