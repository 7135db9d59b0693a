//! Which rows there must be.

use super::exchanges::Stand;
use super::recognise::{Found, Step, Worth};
use super::{Fault, NEVER_ANSWERED, NEVER_QUIET, Oracle, QUIET_NS, Resync};
use wiregauge_record::{Sample, Status};
use wiregauge_session::Failure;
use wiregauge_wire::Status as Refusal;

impl Oracle<'_> {
    /// The engine was asked for its rows at this time, and gave these.
    pub fn polled(&mut self, now_ns: u64, rows: &[Sample]) -> Result<(), Fault> {
        let expected = self.expect(now_ns)?;
        let both = expected.iter().zip(rows);
        for (index, (expected, row)) in both.enumerate() {
            if expected != row {
                let what = format!("row {index} is\n    {row:?}, not\n    {expected:?}");
                return Err(Fault::new(now_ns, what));
            }
        }
        match expected.len().cmp(&rows.len()) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Less => {
                let row = rows[expected.len()];
                Err(Fault::new(now_ns, format!("a row too much: {row:?}")))
            }
            std::cmp::Ordering::Greater => {
                let row = expected[rows.len()];
                Err(Fault::new(now_ns, format!("a row is missing: {row:?}")))
            }
        }
    }

    fn expect(&mut self, now_ns: u64) -> Result<Vec<Sample>, Fault> {
        let mut rows = Vec::new();
        if self.unread {
            // What was over before these bytes came was over, however late that is noticed.
            self.expire(self.received_ns, 1, &mut rows);
            self.read(&mut rows);
            self.unread = false;
            self.rules.is_silent = false;
            if self.kept.is_empty() {
                self.truth.compare(now_ns)?;
            }
            if self.unanswered > self.most_unanswered {
                self.unanswered = 0;
                self.fail(Failure::NeverQuiet);
            }
        }
        if self.idle_ends_ns().is_some_and(|ends| now_ns >= ends) {
            self.rules.is_silent = true;
            self.read(&mut rows);
            self.rules.is_silent = false;
        }
        loop {
            if self.losing_all || self.idle_ends_ns().is_none() {
                self.expire(now_ns, 0, &mut rows);
            }
            if !self.end_resync(now_ns) {
                return Ok(rows);
            }
            self.fail(Failure::NeverQuiet);
        }
    }

    // --- answers ---

    pub(super) fn read(&mut self, rows: &mut Vec<Sample>) {
        let input = std::mem::take(&mut self.input);
        let mut at = 0;
        while at < input.len() {
            let step = self.rules.step(&input[at..], &self.exchanges);
            if self.is_confirming() && !matches!(step, Step::Wait) {
                let (bytes, is_reply) = match step {
                    Step::Wait => break,
                    Step::Behind(bytes) | Step::Stray(bytes) => (bytes, false),
                    Step::Answer(found) => (found.consumed, true),
                };
                let is_all = self.keep(&input[at..at + bytes], is_reply);
                at += bytes;
                if is_all {
                    self.settle(rows);
                }
                continue;
            }
            match step {
                Step::Wait => break,
                Step::Behind(count) => at += count,
                Step::Stray(count) => {
                    let reported = self.rules.reported.min(count);
                    self.rules.reported -= reported;
                    self.stray += (count - reported) as u64;
                    if self.scenario.protocol.is_ordered()
                        && let Some(resync) = &mut self.resync
                    {
                        // More came than was missing: the order of answers proves nothing.
                        resync.by_loss = false;
                    }
                    at += count;
                }
                Step::Answer(found) => {
                    self.stray += found.skipped as u64;
                    if !self.answer(&found, rows) {
                        self.stray += found.bytes as u64;
                    }
                    at += found.consumed;
                }
            }
        }
        if !self.scenario.datagram {
            self.input = input[at..].to_vec();
        }
    }

    /// True if there is a row for it.
    fn answer(&mut self, found: &Found, rows: &mut Vec<Sample>) -> bool {
        let now = self.received_ns;
        let Some(sequence) = found.sequence else {
            return false;
        };
        if found.worth == Worth::Whole {
            self.truth.recognised(self.base + sequence);
        }
        let status = match (found.worth, self.exchanges.of(sequence).stand) {
            (_, Stand::Closed) => return false,
            (Worth::Whole | Worth::Unexpected, Stand::Waits) => {
                self.exchanges.set(sequence, Stand::Answered);
                match self.exchanges.is_overtaken(sequence) {
                    _ if found.worth == Worth::Unexpected => Status::Unexpected,
                    true => Status::Reordered,
                    false => Status::Ok,
                }
            }
            (Worth::Whole | Worth::Unexpected, Stand::Missing) => {
                self.exchanges.set(sequence, Stand::CameLate);
                Status::Late
            }
            (Worth::Whole | Worth::Unexpected, Stand::Answered | Stand::CameLate) => {
                Status::Duplicated
            }
            (worth, Stand::Waits) => {
                self.exchanges.set(sequence, Stand::Closed);
                self.exchanges.is_overtaken(sequence);
                if worth == Worth::Damaged {
                    self.begin_resync(now, false);
                }
                match worth {
                    Worth::Refused(_) => Status::Lost,
                    _ => Status::Corrupted,
                }
            }
            (_, _) => return false,
        };
        let is_whole = matches!(found.worth, Worth::Whole | Worth::Unexpected);
        if is_whole && status != Status::Duplicated {
            self.unanswered = 0;
        }
        if status == Status::Ok {
            let took = now - self.exchanges.of(sequence).start_ns;
            self.longest_ns = self.longest_ns.max(took);
        }
        self.add_row(sequence, status, now, found, rows);
        match (found.worth, status) {
            (Worth::Refused(4), _) => {
                self.count_loss();
                if self.proof.refused(now, self.scenario.timeout_ns) {
                    self.fail(Failure::Refused(Refusal::Unproven));
                }
            }
            (Worth::Refused(status), _) => {
                if let Some(status) = Refusal::from_number(status) {
                    self.fail(Failure::Refused(status));
                }
            }
            (_, Status::Duplicated) => {}
            _ => {
                self.lost_in_a_row = 0;
                self.answered_once = true;
                self.proof.answered();
            }
        }
        true
    }

    /// Exchanges of a trial have no row.
    fn add_row(
        &mut self,
        sequence: u64,
        status: Status,
        end_ns: u64,
        found: &Found,
        rows: &mut Vec<Sample>,
    ) {
        let row = self.row(sequence, status, end_ns, found);
        match self.pace.number(sequence) {
            Some(number) => rows.push(Sample {
                sequence: number,
                ..row
            }),
            None => self.trial_failed |= !matches!(status, Status::Ok | Status::Reordered),
        }
    }

    fn row(&mut self, sequence: u64, status: Status, end_ns: u64, found: &Found) -> Sample {
        let one = self.exchanges.of(sequence);
        let is_double = status == Status::Duplicated;
        let start_ns = if is_double { end_ns } else { one.start_ns };
        let intended = self.pace.due_ns(sequence).filter(|_| !is_double);
        let access = self
            .first_byte_ns
            .map(|first| first.saturating_sub(start_ns));
        let phase = self.pace.phase(sequence);
        if sequence == 0 {
            self.first_ended(one.start_ns, end_ns, status == Status::Ok);
        }
        self.served = true;
        Sample {
            sequence,
            intended_ns: intended.unwrap_or(start_ns),
            start_ns,
            rtt_ns: end_ns - start_ns,
            connect_ns: self.connect_ns,
            access_ns: access.unwrap_or(0),
            device_rx_ticks: found.ticks.0,
            device_tx_ticks: found.ticks.1,
            bytes_out: self.request(sequence).len() as u32,
            bytes_in: found.bytes as u32,
            outstanding: if is_double { 0 } else { one.outstanding },
            status,
            phase,
            ..Sample::default()
        }
    }

    // --- losses ---

    /// All that has waited for a timeout, and `more_ns`, is lost.
    fn expire(&mut self, now_ns: u64, more_ns: u64, rows: &mut Vec<Sample>) {
        while let Some(oldest) = self.exchanges.oldest_waiting() {
            let waited = now_ns - self.exchanges.of(oldest).start_ns;
            let is_over = waited >= self.scenario.timeout_ns + more_ns;
            let confirmed = self.confirmed_ns().filter(|_| self.is_confirming());
            if confirmed.is_some_and(|at| self.losing_all || is_over || now_ns >= at + more_ns) {
                self.settle(rows);
                continue;
            }
            if !self.losing_all && !is_over {
                return;
            }
            self.drop_kept();
            if self.scenario.protocol.is_ordered() && !self.losing_all {
                // Whose answer comes next is no longer known.
                self.losing_all = true;
                self.staged_to = self.exchanges.started();
                if self.part == 0 {
                    self.ready_bytes = 0;
                }
            }
            self.exchanges.set(oldest, Stand::Missing);
            let accounted = self.rules.reported + self.rules.behind.awaited();
            self.rules.out_of_step |= self.input.len() > accounted;
            self.begin_resync(now_ns, true);
            let nothing = Found {
                skipped: 0,
                bytes: 0,
                consumed: 0,
                sequence: None,
                worth: Worth::Damaged,
                ticks: (0, 0),
            };
            self.add_row(oldest, Status::Lost, now_ns, &nothing, rows);
            self.count_loss();
        }
        self.losing_all = false;
    }

    fn count_loss(&mut self) {
        self.lost_in_a_row += 1;
        let give_up = u64::from(self.scenario.give_up);
        let allowed = match self.answered_once {
            true => give_up,
            false => give_up.min(NEVER_ANSWERED),
        };
        if self.lost_in_a_row >= allowed * u64::from(self.cell.depth) {
            self.fail(Failure::Silent {
                in_a_row: self.lost_in_a_row,
                answered_once: self.answered_once,
            });
        }
    }

    // --- the line must become quiet ---

    fn begin_resync(&mut self, now_ns: u64, by_loss: bool) {
        if !self.needs_quiet() {
            return;
        }
        let timeout = self.scenario.timeout_ns;
        let quiet = match by_loss {
            true => timeout.max(QUIET_NS),
            false => timeout.clamp(QUIET_NS, 10 * QUIET_NS),
        };
        let before = self.resync;
        self.resync = Some(Resync {
            began_ns: before.map_or(now_ns, |resync| resync.began_ns),
            until_ns: before
                .map_or(0, |resync| resync.until_ns)
                .max(now_ns.max(self.heard_ns) + quiet),
            by_loss: by_loss && before.is_none_or(|resync| resync.by_loss),
        });
    }

    /// True if the device never stops.
    fn end_resync(&mut self, now_ns: u64) -> bool {
        let Some(resync) = self.resync else {
            return false;
        };
        let at_rest = self.exchanges.outstanding() == 0 && self.part == 0;
        let all_came = resync.by_loss && self.exchanges.missing() == 0 && self.input.is_empty();
        if at_rest && (all_came || now_ns >= resync.until_ns) {
            self.resync = None;
            self.drop_input();
            self.begin_confirm();
            return false;
        }
        if now_ns - resync.began_ns >= self.never_quiet_ns() {
            self.resync = Some(Resync {
                began_ns: now_ns,
                ..resync
            });
            self.drop_input();
            return true;
        }
        false
    }

    pub(super) fn never_quiet_ns(&self) -> u64 {
        let timeouts = u64::from(self.scenario.give_up).max(NEVER_QUIET);
        self.scenario.timeout_ns.max(QUIET_NS) * timeouts
    }
}
