//! Requests that are sent without waiting, and their replies, taken when the caller has time for them.

use super::buffers::Input;
use super::engine::{self, Refusal, Taker};
use super::speech::Fate;
use super::window::Window;
use super::{Device, Reply, Timing, concerns_one, trouble};
use crate::error::LinkError;
use std::ops::Range;

/// Submitted requests at most, replies not taken included.
const MOST: usize = 1 << 16;

/// Replies that came before they were asked for.
#[derive(Default)]
pub(super) struct Store {
    /// By number, as the slots of the window.
    replies: Vec<Stored>,
}

#[derive(Default)]
struct Stored {
    bytes: Vec<u8>,
    fate: Option<Fate>,
}

impl Store {
    fn fit(&mut self, window: &Window) {
        let span = window.span();
        if self.replies.len() == span {
            return;
        }
        let mut larger = Vec::with_capacity(span);
        larger.resize_with(span, Stored::default);
        if !self.replies.is_empty() {
            for sequence in window.head()..window.next() {
                let from = self.index(sequence);
                larger[sequence as usize & (span - 1)] = std::mem::take(&mut self.replies[from]);
            }
        }
        self.replies = larger;
    }

    fn index(&self, sequence: u64) -> usize {
        sequence as usize & (self.replies.len() - 1)
    }

    fn put(&mut self, input: &Input, reply: &engine::Reply) {
        let index = self.index(reply.sequence);
        let stored = &mut self.replies[index];
        stored.bytes.clear();
        stored
            .bytes
            .extend_from_slice(input.at(reply.place.clone()));
        stored.fate = Some(reply.fate);
    }
}

/// Keeps what comes; the one that is waited for stays where it is.
struct Keeper<'a> {
    store: &'a mut Store,
    waits_for: Option<u64>,
    came: Option<(Range<usize>, Timing, Fate)>,
}

impl Taker for Keeper<'_> {
    fn reply(&mut self, input: &Input, reply: &engine::Reply) -> Result<bool, Refusal> {
        if self.waits_for == Some(reply.sequence) {
            self.came = Some((reply.place.clone(), reply.timing, reply.fate));
            return Ok(true);
        }
        self.store.put(input, reply);
        Ok(false)
    }
}

impl Device {
    /// Sends a request without waiting for its reply. Replies come in the order of the requests. It may have to
    /// wait until the system takes the bytes, and takes in replies meanwhile. If it fails once it has begun,
    /// all that was outstanding is let go.
    pub fn submit(&mut self, request: &[u8], reply_bytes: Option<usize>) -> Result<(), LinkError> {
        let doing = "submitting a request to";
        let engine = match self.outstanding() {
            0 => self.at_rest(doing)?,
            _ => self.engine(doing)?,
        };
        let awaited = reply_bytes.unwrap_or(request.len());
        engine.check(request, awaited)?;
        let outstanding = engine.window.outstanding();
        if outstanding == 0 {
            engine.prepare(request.len(), awaited, 1)?;
        }
        if outstanding >= MOST {
            return Err(engine.usage(
                format!("{outstanding} requests are outstanding"),
                "take replies before the next request",
            ));
        }
        engine.check_depth(outstanding as u32 + 1)?;
        if !engine.window.has_room() {
            engine.window.grow();
        }
        engine.set_depth(outstanding as u32 + 1);
        engine.stage(request, awaited);
        self.store.fit(&engine_of(&mut self.engine).window);
        let engine = engine_of(&mut self.engine);
        let mut keeper = Keeper {
            store: &mut self.store,
            waits_for: None,
            came: None,
        };
        let mut sent = engine.send();
        while sent.is_ok() && !engine.output.is_empty() {
            sent = engine.turn(&mut keeper, None);
        }
        if sent.is_err() {
            engine.let_go();
        }
        sent
    }

    /// Waits for the reply to the oldest submitted request. If it failed alone, the others are awaited on; where
    /// the framing is a foreign one, or the link itself failed, they are let go.
    pub fn next_reply(&mut self) -> Result<Reply<'_>, LinkError> {
        let engine = self.engine("waiting for a reply from")?;
        if engine.window.outstanding() == 0 {
            return Err(engine.usage("no request is outstanding", "submit one first"));
        }
        let head = engine.window.head();
        if engine.window.slot(head).done {
            let timing = engine.window.slot(head).timing;
            engine.window.take();
            let index = self.store.index(head);
            let stored = &self.store.replies[index];
            return match stored.fate.unwrap_or(Fate::Damaged) {
                Fate::Answered => Ok(Reply {
                    payload: &stored.bytes,
                    timing,
                }),
                fate => Err(trouble::failed(
                    "waiting for a reply from",
                    &self.about.address,
                    fate,
                )),
            };
        }
        let engine = engine_of(&mut self.engine);
        engine.begin_waiting();
        let mut keeper = Keeper {
            store: &mut self.store,
            waits_for: Some(head),
            came: None,
        };
        let (place, timing, fate) = loop {
            if let Err(error) = engine.turn(&mut keeper, None) {
                if engine.speech.is_numbered() && concerns_one(&error) {
                    let now = engine.clock.now();
                    engine.window.give_up(now);
                    engine.window.take();
                } else {
                    engine.let_go();
                }
                return Err(error);
            }
            if let Some(came) = keeper.came.take() {
                break came;
            }
        };
        engine.window.take();
        match fate {
            Fate::Answered => Ok(Reply {
                payload: engine.input.at(place),
                timing,
            }),
            fate => Err(trouble::failed(engine.doing, &engine.address, fate)),
        }
    }

    /// Submitted requests whose replies were not taken yet.
    pub fn outstanding(&self) -> usize {
        let engine = self.engine.as_ref();
        engine.map_or(0, |engine| engine.window.outstanding())
    }
}

/// The engine of a device that was found open just before.
fn engine_of(engine: &mut Option<engine::Engine>) -> &mut engine::Engine {
    engine
        .as_mut()
        .expect("it was found open in this same call")
}
