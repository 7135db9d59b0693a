//! What the engine may do next. Whatever can be sent must be sent, nothing may be sent too early, and every wait ends
//! in time.

use super::proof::Need;
use super::{Fault, Oracle, READY, SPAN, STRAGGLERS_NS};
use crate::scenario::Protocols;
use wiregauge_session::{End, Failure, Next};

/// An idle address is proved anew after so long.
const RENEW_NS: u64 = 30_000_000_000;

impl Oracle<'_> {
    /// The engine says what it does next.
    pub fn next(&mut self, now_ns: u64, next: &Next) -> Result<(), Fault> {
        let wrong = |should: &str| Err(Fault::new(now_ns, format!("{next:?}, but {should}")));
        if self.end.is_some() {
            return match next {
                Next::Done => Ok(()),
                _ => wrong("the point is over"),
            };
        }
        if self.stragglers_since_ns.is_some() {
            return self.stragglers(now_ns, next);
        }
        self.end_quiet(now_ns);
        if let Some(quiet_ns) = self.quiet_at_ns {
            return match next {
                Next::Receive {
                    until_ns,
                    or_writable: false,
                    ..
                } if *until_ns == quiet_ns => Ok(()),
                _ => wrong(&format!("the line must be quiet until {quiet_ns}")),
            };
        }
        let waits = self.exchanges.outstanding();
        if self.pace.is_over(self.exchanges.started()) && waits == 0 {
            return self.begin_stragglers(now_ns, next);
        }
        if self.proving(now_ns) {
            match self.proof.need(now_ns, self.scenario.timeout_ns) {
                Need::Proved => return self.next(now_ns, next),
                need => return self.next_of_proof(now_ns, next, need),
            }
        }
        if self.scenario.connect_each && self.open && self.served && waits == 0 {
            self.disconnected();
            return match next {
                Next::Disconnect => Ok(()),
                _ => wrong("the exchange of this link is over"),
            };
        }
        let held_ns = self.held_since_ns.map_or(0, |since| now_ns - since);
        if held_ns >= self.never_quiet_ns() {
            self.fail(Failure::NeverQuiet);
            return match next {
                Next::Done => Ok(()),
                _ => wrong("the line never becomes quiet"),
            };
        }
        match self.stage(now_ns) {
            Some(needed) if needed == *next => return Ok(()),
            Some(needed) => return wrong(&format!("{needed:?} comes before the next exchange")),
            None => {}
        }
        let may_begin = self.resync.is_none() && !self.is_confirming();
        let to_send = self.part > 0 || (may_begin && self.exchanges.started() < self.staged_to);
        if to_send && !self.send_blocked {
            let begins = waits == 0 && self.part == 0 && self.resync.is_none();
            if begins && self.needs_quiet() && !self.drained {
                return match next {
                    Next::Drain => Ok(()),
                    _ => wrong("what came before a request must be read first"),
                };
            }
            if begins && let Some(ends_ns) = self.gap_ends_ns(now_ns) {
                self.held_since_ns.get_or_insert(now_ns);
                return match next {
                    Next::Receive {
                        until_ns,
                        or_writable: false,
                        ..
                    } if *until_ns == ends_ns => Ok(()),
                    _ => wrong(&format!("the line must be silent until {ends_ns}")),
                };
            }
            return match next {
                Next::Send => Ok(()),
                _ => wrong("there is something to send"),
            };
        }
        let mut until_ns = u64::MAX;
        if to_send
            && waits == 0
            && let Some(since) = self.blocked_since_ns
        {
            until_ns = since + 2 * self.scenario.timeout_ns;
            if now_ns >= until_ns {
                let rest = (self.part > 0).then(|| self.newest.len() - self.part);
                self.fail(Failure::Blocked { rest });
                return match next {
                    Next::Done => Ok(()),
                    _ => wrong("the device takes nothing"),
                };
            }
        }
        let gap = self.gap_ends_ns(now_ns);
        if self.has_place()
            && let Some(due) = self.pace.due_ns(self.staged_to).max(gap)
        {
            until_ns = until_ns.min(due);
        }
        if waits == 0
            && !to_send
            && self.resync.is_none()
            && self.staged_to == self.exchanges.started()
        {
            if until_ns == u64::MAX {
                return self.begin_stragglers(now_ns, next);
            }
            if self.renews_proof() {
                until_ns = until_ns.min(self.proof.heard_ns + RENEW_NS);
            }
            if let Some(ends) = self.idle_ends_ns() {
                until_ns = until_ns.min(ends);
            }
            let rests = match self.open {
                true => Next::Rest { until_ns },
                false => Next::Sleep { until_ns },
            };
            return match rests == *next {
                true => Ok(()),
                false => wrong(&format!("nothing is to be done: {rests:?}")),
            };
        }
        if let Some(ends) = self.idle_ends_ns() {
            until_ns = until_ns.min(ends);
        } else if let Some(oldest) = self.exchanges.oldest_waiting() {
            until_ns = until_ns.min(self.exchanges.of(oldest).start_ns + self.scenario.timeout_ns);
            until_ns = until_ns.min(self.confirmed_ns().unwrap_or(u64::MAX));
        }
        if let Some(resync) = self.resync {
            until_ns = until_ns.min(resync.began_ns + self.never_quiet_ns());
            if waits == 0 && !to_send {
                until_ns = until_ns.min(resync.until_ns);
            }
        }
        match next {
            Next::Receive {
                until_ns: at,
                or_writable,
                ..
            } if *at == until_ns && *or_writable == to_send => Ok(()),
            _ => wrong(&format!(
                "it should wait until {until_ns}, or writable: {to_send}"
            )),
        }
    }

    /// True if the next exchange could start but for its schedule.
    fn has_place(&self) -> bool {
        let depth = u64::from(self.cell.depth);
        let most = if self.pace.is_first() { 1 } else { depth };
        let ready = self.staged_to - self.exchanges.started();
        let span = if depth == 1 {
            1
        } else {
            SPAN.max(4 * depth).next_power_of_two()
        };
        let oldest = self
            .exchanges
            .oldest_waiting()
            .unwrap_or(self.exchanges.started());
        self.exchanges.outstanding() + ready < most
            && self.staged_to - oldest < span
            && self.resync.is_none()
            && self.ready_bytes < READY
            && !self.pace.is_over(self.staged_to)
    }

    /// Makes ready what may start now; what must be done before.
    fn stage(&mut self, now_ns: u64) -> Option<Next> {
        if self.has_place() && self.gap_ends_ns(now_ns).is_some() {
            let due = self.pace.due_ns(self.staged_to);
            if due.is_none_or(|due| due <= now_ns) {
                self.held_since_ns.get_or_insert(now_ns);
            }
        }
        while self.has_place()
            && self.gap_ends_ns(now_ns).is_none()
            && self.pace.may_stage(self.staged_to, now_ns)
        {
            if !self.open {
                return Some(Next::Connect);
            }
            self.staged_to += 1;
            self.ready_bytes += self.request(self.staged_to - 1).len() as u64;
            if self.scenario.connect_each {
                break;
            }
        }
        None
    }

    fn begin_stragglers(&mut self, now_ns: u64, next: &Next) -> Result<(), Fault> {
        if self.scenario.connect_each {
            self.end = Some(End::Complete);
            let should = if self.open {
                Next::Disconnect
            } else {
                Next::Done
            };
            if self.open {
                self.disconnected();
            }
            return match *next == should {
                true => Ok(()),
                false => Err(Fault::new(now_ns, format!("{next:?}, not {should:?}"))),
            };
        }
        self.stragglers_since_ns = Some(now_ns);
        self.stragglers(now_ns, next)
    }

    fn stragglers(&mut self, now_ns: u64, next: &Next) -> Result<(), Fault> {
        let since = self.stragglers_since_ns.unwrap_or(now_ns);
        let longest = match self.exchanges.missing() {
            0 => STRAGGLERS_NS,
            _ => self.scenario.timeout_ns.max(STRAGGLERS_NS),
        };
        let end = since + longest;
        match next {
            Next::Done if now_ns >= end => {
                self.drop_input();
                self.end = Some(End::Complete);
                Ok(())
            }
            Next::Receive { until_ns, .. } if now_ns < end && *until_ns == end => Ok(()),
            _ => {
                let what = format!("{next:?}, but stragglers are awaited until {end}");
                Err(Fault::new(now_ns, what))
            }
        }
    }

    // --- the proof of address ---

    fn renews_proof(&self) -> bool {
        self.scenario.protocol == Protocols::Exchange
            && self.scenario.datagram
            && !self.scenario.connect_each
            && self.cell.in_bytes > self.cell.out_bytes
    }

    fn proving(&mut self, now_ns: u64) -> bool {
        let idle = self.exchanges.outstanding() == 0
            && self.staged_to == self.exchanges.started()
            && now_ns >= self.proof.heard_ns + RENEW_NS;
        if self.renews_proof() && idle && !self.proof.is_on() {
            self.proof.begin(now_ns, self.scenario.timeout_ns);
            self.send_blocked = false;
        }
        self.proof.is_on()
    }

    fn next_of_proof(&mut self, now_ns: u64, next: &Next, need: Need) -> Result<(), Fault> {
        if need == Need::Failed {
            self.fail(Failure::NoProof);
        }
        let expected = match need {
            Need::Failed => Next::Done,
            Need::Send if !self.send_blocked => Next::Send,
            _ => {
                let oldest = self.exchanges.oldest_waiting();
                let expiry = oldest
                    .map(|oldest| self.exchanges.of(oldest).start_ns + self.scenario.timeout_ns);
                Next::Receive {
                    until_ns: self.proof.until_ns().min(expiry.unwrap_or(u64::MAX)),
                    exact: true,
                    or_writable: need == Need::Send,
                }
            }
        };
        match *next == expected {
            true => Ok(()),
            false => {
                let what = format!("{next:?}, not {expected:?}: the address is being proved");
                Err(Fault::new(now_ns, what))
            }
        }
    }
}
