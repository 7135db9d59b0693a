//! Requests that are sent without waiting, and their replies, taken when the caller has time for them.

use super::driver::{Driver, Failure, Handler, is_answered};
use super::{Device, Reply, Timing, errors};
use crate::store::Store;
use std::ops::ControlFlow;
use wiregauge_link::LinkError;
use wiregauge_session::{Ended, Engine, Messages, Outcome};

/// Submitted requests at most, replies not taken included.
const MOST: usize = 1 << 16;

/// Stores replies; the one that is waited for stays where it is.
struct Keeper<'a> {
    store: &'a mut Store,
    waits_for: Option<u64>,
    /// It and its outcome.
    ended: Option<Ended>,
}

impl Handler for Keeper<'_> {
    fn ended(
        &mut self,
        engine: &Engine<Messages>,
        ended: &Ended,
    ) -> Result<ControlFlow<()>, Failure> {
        if ended.outcome == Outcome::Lost && !engine.codec().is_numbered() {
            // The replies to the others can no longer be distinguished.
            return Err(Failure::Exchange(ended.clone()));
        }
        if self.waits_for == Some(ended.sequence) {
            self.ended = Some(ended.clone());
            return Ok(ControlFlow::Break(()));
        }
        // Of a failed exchange the whole answer, for the error.
        let kept = match is_answered(ended.outcome) {
            true => ended.payload.clone(),
            false => ended.answer.clone(),
        };
        self.store.put(ended, engine.received_at(kept));
        Ok(ControlFlow::Continue(()))
    }
}

impl Device {
    /// Sends a request without waiting for its reply. Replies come in the order of the requests. It may have to
    /// wait until the system takes the bytes, and receives replies meanwhile. If it fails once it has begun,
    /// all that was outstanding is abandoned.
    pub fn submit(&mut self, request: &[u8], reply_bytes: Option<usize>) -> Result<(), LinkError> {
        let doing = "cannot submit a request to";
        let outstanding = self.outstanding();
        let driver = match outstanding {
            0 => self.at_rest(doing)?,
            _ => self.driver(doing)?,
        };
        let awaited = reply_bytes.unwrap_or(request.len());
        driver.check(request, awaited)?;
        if outstanding == 0 {
            driver.prepare(request.len(), awaited, 1)?;
        }
        if outstanding >= MOST {
            return Err(driver.usage(
                format!("{outstanding} requests are outstanding"),
                "receive replies before the next request",
            ));
        }
        driver.check_depth(outstanding as u32 + 1)?;
        let sequence = stage(driver, request, awaited);
        self.store.submit(sequence);
        let sent = self.send_submitted();
        if sent.is_err() {
            self.abandon();
        }
        sent
    }

    /// Hands over what was submitted, and stores the replies that come meanwhile.
    fn send_submitted(&mut self) -> Result<(), LinkError> {
        let Some(driver) = &mut self.driver else {
            return Ok(());
        };
        let mut keeper = Keeper {
            store: &mut self.store,
            waits_for: None,
            ended: None,
        };
        driver.send()?;
        while driver.engine.wants_to_send() {
            driver.turn(&mut keeper, None)?;
        }
        Ok(())
    }

    /// Abandons all that is outstanding.
    fn abandon(&mut self) {
        self.store.clear();
        if let Some(driver) = &mut self.driver {
            driver.abandon();
        }
    }

    /// Waits for the reply to the oldest submitted request. If it failed alone, the others are still awaited; where
    /// the framing is a foreign one, or the link itself failed, they are abandoned.
    pub fn next_reply(&mut self) -> Result<Reply<'_>, LinkError> {
        let doing = "cannot receive a reply from";
        let outstanding = self.outstanding();
        let driver = self.driver(doing)?;
        if outstanding == 0 {
            return Err(driver.usage("no request is outstanding", "submit a request first"));
        }
        let oldest = self.store.oldest();
        let Some(outcome) = self.store.entry(oldest).outcome else {
            return self.await_reply(oldest);
        };
        self.store.take();
        let entry = self.store.entry(oldest);
        match is_answered(outcome) {
            true => Ok(Reply {
                payload: &entry.payload,
                timing: entry.timing,
            }),
            false => Err(self.stored_failure(doing, outcome, oldest)),
        }
    }

    /// Waits for the reply to `head`, the oldest, which has not come.
    fn await_reply(&mut self, head: u64) -> Result<Reply<'_>, LinkError> {
        let doing = "cannot receive a reply from";
        let ended = match self.wait_for(doing, head) {
            Ok(ended) => ended,
            Err(error) => {
                self.abandon();
                return Err(error);
            }
        };
        self.store.take();
        let driver = self.driver(doing)?;
        match is_answered(ended.outcome) {
            true => Ok(Reply {
                timing: Timing::of(&ended),
                payload: driver.engine.received_at(ended.payload),
            }),
            false => {
                let answer = driver.engine.received_at(ended.answer);
                Err(driver.exchange_failed(ended.outcome, ended.sequence, answer))
            }
        }
    }

    fn wait_for(&mut self, doing: &'static str, head: u64) -> Result<Ended, LinkError> {
        let Some(driver) = &mut self.driver else {
            return Err(errors::closed(doing, &self.about.address));
        };
        driver.begin_waiting(doing);
        let mut keeper = Keeper {
            store: &mut self.store,
            waits_for: Some(head),
            ended: None,
        };
        loop {
            driver.turn(&mut keeper, None)?;
            if let Some(ended) = keeper.ended.take() {
                return Ok(ended);
            }
        }
    }

    /// The error of an exchange that failed before its reply was taken.
    fn stored_failure(&self, doing: &'static str, outcome: Outcome, sequence: u64) -> LinkError {
        let answer = &self.store.entry(sequence).payload;
        match &self.driver {
            Some(driver) => driver.exchange_failed(outcome, sequence, answer),
            None => errors::closed(doing, &self.about.address),
        }
    }

    /// Submitted requests whose replies were not taken yet.
    pub fn outstanding(&self) -> usize {
        self.store.outstanding()
    }
}

fn stage(driver: &mut Driver, request: &[u8], awaited: usize) -> u64 {
    let window = driver.engine.window();
    if window.room() == 0 {
        let span = (window.next() - window.oldest()) as usize + 1;
        driver.engine.reserve(0, 0, span);
    }
    driver.stage(request, awaited)
}
