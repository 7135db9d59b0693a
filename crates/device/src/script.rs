//! A program that decides about each message: when it is sent, and what its reply means. Replies are awaited without
//! holding up later messages.

use super::driver::{Driver, Failure, Handler, is_answered};
use super::{Device, Timing};
use std::collections::HashMap;
use std::ops::ControlFlow;
use wiregauge_link::LinkError;
use wiregauge_record::Wait;
use wiregauge_session::{Ended, Engine, Messages, Outcome};

/// What a script does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptAction {
    /// Send the message.
    Send {
        /// Its name for [`Script::ended`].
        id: u64,
        /// Bytes of the reply to ask for.
        reply_bytes: usize,
    },
    /// Wait until this time (or a little less), or until an exchange ends.
    WaitUntil(u64),
    /// Wait until an exchange ends.
    WaitForReplies,
    /// End; replies that are outstanding are abandoned.
    End,
}

/// A program that is asked what to do. Times are nanoseconds of the device's clock on this host.
pub trait Script {
    /// What to do now; the bytes of a message go into `request`, which is empty and long enough for the largest.
    fn next(&mut self, now_ns: u64, request: &mut Vec<u8>) -> ScriptAction;

    /// A message that was sent at `timing.start_ns` has its reply; `None`: it has none within the timeout, or a damaged one.
    /// `Break` ends the script.
    fn ended(&mut self, id: u64, timing: Timing, reply: Option<&[u8]>) -> ControlFlow<()>;
}

/// Messages that may begin behind one whose reply does not come.
const SPAN: usize = 4096;

/// A wait is no longer than this before the script and the interrupt callback are asked.
const LONGEST_WAIT_NS: u64 = 100_000_000;

/// The messages under way.
struct Running<'a> {
    script: &'a mut dyn Script,
    ids: HashMap<u64, u64>,
    request: Vec<u8>,
    is_over: bool,
}

impl Handler for Running<'_> {
    fn ended(
        &mut self,
        engine: &Engine<Messages>,
        ended: &Ended,
    ) -> Result<ControlFlow<()>, Failure> {
        if let Outcome::Refused(_) = ended.outcome {
            return Err(Failure::Exchange(ended.clone()));
        }
        let Some(id) = self.ids.remove(&ended.sequence) else {
            return Ok(ControlFlow::Continue(()));
        };
        let reply = is_answered(ended.outcome).then(|| engine.received_at(ended.payload.clone()));
        self.is_over |= self.script.ended(id, Timing::of(ended), reply).is_break();
        Ok(ControlFlow::Continue(()))
    }
}

impl Device {
    /// Runs a script until it ends. `largest`: bytes of a request and of a reply at most. Each message is lost by itself: an
    /// error is that of the link, or of a device that rejects a message.
    pub fn run_script(
        &mut self,
        script: &mut dyn Script,
        (largest_request, largest_reply): (usize, usize),
    ) -> Result<(), LinkError> {
        let driver = self.at_rest("running a program with")?;
        driver.check_sizes(largest_request, largest_reply)?;
        driver.prepare(largest_request, largest_reply, 2)?;
        driver
            .engine
            .reserve(largest_request + 64, largest_reply + 64, SPAN);
        let mut running = Running {
            script,
            ids: HashMap::with_capacity(SPAN),
            request: Vec::with_capacity(largest_request),
            is_over: false,
        };
        let ran = run(driver, &mut running);
        if driver.engine.window().waiting() > 0 {
            driver.abandon();
        }
        ran
    }
}

fn run(driver: &mut Driver, running: &mut Running<'_>) -> Result<(), LinkError> {
    while !running.is_over {
        driver.check_interrupt_between()?;
        let outstanding = driver.engine.window().waiting();
        if !driver.engine.has_room() || outstanding >= driver.most_outstanding() {
            driver.turn(running, None)?;
            continue;
        }
        let now = driver.clock.now();
        running.request.clear();
        match running.script.next(now, &mut running.request) {
            ScriptAction::End => return Ok(()),
            ScriptAction::Send { id, reply_bytes } => send(driver, running, id, reply_bytes)?,
            ScriptAction::WaitForReplies => wait(driver, running, now + LONGEST_WAIT_NS)?,
            ScriptAction::WaitUntil(due_ns) => {
                wait(driver, running, due_ns.min(now + LONGEST_WAIT_NS))?;
            }
        }
    }
    Ok(())
}

fn wait(driver: &mut Driver, running: &mut Running<'_>, until_ns: u64) -> Result<(), LinkError> {
    if driver.engine.window().waiting() > 0 {
        return driver.turn(running, Some(until_ns));
    }
    let now = driver.clock.now();
    if driver.wait == Wait::Spin {
        driver.check_interrupt(now, false)?;
        std::hint::spin_loop();
        return Ok(());
    }
    driver.clock.sleep_until(until_ns);
    // Early: a signal came.
    let now = driver.clock.now();
    driver.check_interrupt(now, now < until_ns)
}

fn send(
    driver: &mut Driver,
    running: &mut Running<'_>,
    id: u64,
    reply_bytes: usize,
) -> Result<(), LinkError> {
    driver.check(&running.request, reply_bytes)?;
    loop {
        let sequence = driver.stage(&running.request, reply_bytes);
        running.ids.insert(sequence, id);
        driver.send()?;
        while driver.engine.wants_to_send() {
            driver.turn(running, None)?;
        }
        let window = driver.engine.window();
        if window.awaited(sequence).is_some() || sequence < window.started() {
            return Ok(());
        }
        // An earlier reply was lost before it was handed over, and the device dropped it: it goes again once the line
        // is quiet.
        running.ids.remove(&sequence);
        while !driver.engine.has_room() {
            driver.turn(running, None)?;
        }
    }
}
