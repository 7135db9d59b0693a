//! Whether a row is what happened.

use super::arrivals::Arrival;
use super::rules::Ends;
use super::{Judge, Kind, Row};
use crate::oracle::Fault;
use crate::world::World;

/// Lost exchanges whose late answers are recognised.
const REMEMBERED: u64 = 1024;

impl Judge {
    /// Rows came out after bytes were received or time went by; `all` that there were then.
    ///
    /// # Errors
    /// What did not happen as they say.
    pub fn polled(
        &mut self,
        now_ns: u64,
        rows: impl IntoIterator<Item = Row>,
        all: bool,
        world: &World,
    ) -> Result<(), Fault> {
        for row in rows {
            self.row(now_ns, row, world).map_err(|what| {
                let what = format!("judge: {what}: {row:?}");
                Fault::new(now_ns, what)
            })?;
        }
        // Whose reply it is may only be known when the time of its exchange is over.
        let waits = self.rules.is_line() && self.exchanges.outstanding() > 0;
        if self.arrivals.is_empty() || waits || !all {
            return Ok(());
        }
        for arrival in self.arrivals.unclaimed() {
            self.without_row(arrival, world)
                .map_err(|what| Fault::new(now_ns, format!("judge: {what}")))?;
        }
        Ok(())
    }

    fn row(&mut self, now_ns: u64, row: Row, world: &World) -> Result<(), String> {
        self.bytes_in_rows += row.bytes;
        self.was_corrupted |= row.kind == Kind::Corrupted;
        if row.sequence >= self.exchanges.started() {
            // A link that could not be opened, or that failed before the request was sent.
            let is_next = row.sequence == self.exchanges.started();
            if row.kind != Kind::Lost || !is_next {
                return Err("it was never sent".into());
            }
            self.exchanges.start(row.start_ns);
            self.exchanges.of_mut(row.sequence).is_unsent = true;
        }
        match row.kind {
            Kind::Late => self.late(row)?,
            Kind::Duplicated => self.duplicated(row)?,
            kind => {
                let one = self.exchanges.of(row.sequence);
                if let Some(before) = one.ended {
                    return Err(format!("it was {before:?} before"));
                }
                if row.start_ns != one.start_ns {
                    return Err(format!("it was sent at {}", one.start_ns));
                }
                match kind {
                    Kind::Lost => self.lost(row, world)?,
                    Kind::Corrupted => self.corrupted(row, world)?,
                    _ => self.right(now_ns, row, world)?,
                }
                self.ended_unsent |= !self.exchanges.of(row.sequence).is_whole;
                self.exchanges.end(row.sequence, kind);
            }
        }
        self.note_loss(row.kind, row.end_ns);
        Ok(())
    }

    /// Takes the answer to this exchange that ended with the row; where nobody can tell, any that did.
    fn claim(&mut self, row: Row) -> Option<Arrival> {
        let ends_with = |arrival: &Arrival| arrival.received_ns == row.end_ns;
        let rules = self.rules;
        let own = self
            .arrivals
            .claim(|arrival| ends_with(arrival) && rules.is_of(arrival.number, row.sequence));
        own.or_else(|| {
            let is_again = matches!(row.kind, Kind::Late | Kind::Duplicated);
            let in_doubt = self.in_doubt || is_again || !rules.is_line();
            let is_alike = |arrival: &Arrival| {
                in_doubt && rules.may_be_taken(Some(arrival.number), row.sequence)
            };
            self.arrivals
                .claim(|arrival| ends_with(arrival) && is_alike(arrival))
        })
    }

    fn right(&mut self, now_ns: u64, row: Row, world: &World) -> Result<(), String> {
        let arrival = self.claim(row);
        let one = self.exchanges.of(row.sequence);
        let is_in_time = row.end_ns.wrapping_sub(row.start_ns) <= self.rules.timeout_ns;
        if row.end_ns < row.start_ns {
            return Err("it ended before it began".into());
        }
        let mut awaits_silence = false;
        if let Ends::Silence(silence_ns) = self.rules.ends {
            if now_ns - row.end_ns < silence_ns {
                return Err("the line was not silent".into());
            }
            // It was, in the middle of the reply.
            self.in_doubt |= self.arrivals.is_begun();
            awaits_silence = true;
        }
        if self.in_doubt {
            return Ok(());
        }
        if !is_in_time && !awaits_silence && self.rules.reads_at_once && !self.may_end_early() {
            return Err("its time was over".into());
        }
        if arrival.is_none() {
            // Changed twice, and right again.
            let all_but_few = self
                .rules
                .checked_bytes
                .map(|bytes| bytes.saturating_sub(2));
            let may_be_whole = all_but_few.is_none_or(|few| one.bytes >= few);
            if world.is_undamaged() || self.rules.checked_bytes.is_some() && !may_be_whole {
                return Err("no whole answer to it came then".into());
            }
        }
        let is_overtaken = self.exchanges.is_overtaken(row.sequence);
        let is_second = self.rules.second_unexpected && row.sequence % 2 == 1;
        let is_right = match row.kind {
            Kind::Unexpected => is_second,
            Kind::Reordered => is_overtaken && !is_second,
            _ => !is_overtaken && !is_second,
        };
        match is_right || !world.is_undamaged() {
            true => Ok(()),
            false => Err(format!(
                "later ones were answered: {is_overtaken}, not expected: {is_second}"
            )),
        }
    }

    fn corrupted(&mut self, row: Row, world: &World) -> Result<(), String> {
        self.claim(row);
        let is_clean = world.is_undamaged() && !self.was_damaged && !self.rules.has_surplus;
        if !is_clean || self.in_doubt {
            return Ok(());
        }
        self.spoiled += 1;
        match self.spoiled > self.strangers {
            true => Err("nothing was damaged".into()),
            false => Ok(()),
        }
    }

    fn lost(&mut self, row: Row, world: &World) -> Result<(), String> {
        let one = self.exchanges.of(row.sequence);
        let is_early = row.end_ns - row.start_ns < self.rules.timeout_ns;
        self.exchanges.of_mut(row.sequence).was_lost_early = is_early;
        let is_unclear = self.in_doubt || self.strangers > 0 || !self.rules.tells_lost();
        if self.may_end_early() || is_unclear || one.is_unsent {
            return Ok(());
        }
        let with_another = !self.rules.has_numbers() && self.rest.was_lost_at(row.end_ns);
        if is_early && !with_another && !self.rules.may_refuse {
            return Err("its time was not over".into());
        }
        let timeout_ns = self.rules.timeout_ns;
        let in_time = |came_ns: u64| came_ns - one.start_ns < timeout_ns;
        let came = one.came_ns.is_some_and(in_time) && !with_another;
        match came && world.is_undamaged() {
            true => Err("its answer came in time".into()),
            false => Ok(()),
        }
    }

    fn late(&mut self, row: Row) -> Result<(), String> {
        let one = self.exchanges.of(row.sequence);
        if one.ended != Some(Kind::Lost) && !one.is_abandoned || one.was_late {
            return Err(format!(
                "it was {:?}, late before: {}",
                one.ended, one.was_late
            ));
        }
        if row.start_ns != one.start_ns {
            return Err(format!("it was sent at {}", one.start_ns));
        }
        let arrival = self.claim(row);
        self.exchanges.of_mut(row.sequence).was_late = true;
        match arrival.is_none() && self.rules.has_numbers() && !self.was_damaged {
            true => Err("no whole answer to it came then".into()),
            false => Ok(()),
        }
    }

    fn duplicated(&mut self, row: Row) -> Result<(), String> {
        let one = self.exchanges.of(row.sequence);
        let was_answered = matches!(
            one.ended,
            Some(Kind::Ok | Kind::Reordered | Kind::Unexpected)
        );
        if !was_answered && !one.was_late {
            return Err(format!("it was {:?}", one.ended));
        }
        let arrival = self.claim(row);
        match arrival.is_none() && self.rules.has_numbers() && !self.was_damaged {
            true => Err("no whole answer to it came then".into()),
            false => Ok(()),
        }
    }

    /// A whole answer came, and no row says so.
    fn without_row(&mut self, arrival: Arrival, world: &World) -> Result<(), String> {
        let Some(sequence) = self.sequence(arrival.number) else {
            return Ok(());
        };
        let one = self.exchanges.of(sequence);
        let is_unclear = self.in_doubt || self.strangers > 0 || self.was_damaged;
        if self.may_end_early() || is_unclear || !world.is_undamaged() || one.is_closed {
            return Ok(());
        }
        let has_numbers = self.rules.has_numbers();
        let wrong = |what: &str| Err(format!("exchange {sequence}: {what}: {arrival:?}"));
        match one.ended {
            None if one.is_abandoned => Ok(()),
            None => wrong("its answer came, but has no row"),
            Some(Kind::Lost) if has_numbers && !one.was_late => {
                match self.exchanges.lost() <= REMEMBERED {
                    true => wrong("its answer came late, but has no row"),
                    false => Ok(()),
                }
            }
            Some(Kind::Lost) if !has_numbers && !one.was_late => {
                let waited = arrival.received_ns.saturating_sub(one.start_ns);
                match waited < self.rules.timeout_ns
                    && !one.was_lost_early
                    && self.rules.reads_at_once
                {
                    true => wrong("its answer came in time, but it was lost"),
                    false => Ok(()),
                }
            }
            // Its beginning can have been taken for bytes that stand behind each echo.
            Some(_) if self.rules.is_echo && sequence == 0 => Ok(()),
            Some(Kind::Ok | Kind::Reordered | Kind::Unexpected) if has_numbers => {
                wrong("its answer came again, but has no row")
            }
            _ => Ok(()),
        }
    }
}
