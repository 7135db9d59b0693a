//! The world of one scenario: a clock that only moves while the host waits, the link, and the device behind it.
//! Only it knows which byte is which; see [`Tag`].

mod answers;
mod device;
mod flood;
mod stream;
mod unasked;

pub use device::{Device, Message};
pub use flood::{Flooding, device_of};

use crate::random::Random;
use crate::scenario::{Faults, Scenario, Shape};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A device takes nothing more while it holds this many bytes that the host does not take.
const HELD: usize = 8192;

/// A device that speaks without being asked tries again after so long where the host takes nothing.
const UNHEARD_NS: u64 = 10_000;

/// Where a byte comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// Which answer of the device, from 1; 0 if it is part of none.
    pub answer: u32,
    /// Its place in that answer.
    pub at: u32,
    /// Bits that were changed on its way.
    pub changed: u8,
}

impl Tag {
    /// In place of the answer: what the device sends behind each.
    pub const SURPLUS: u32 = u32::MAX;
}

/// A byte and where it comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Byte {
    /// What both ends see.
    pub value: u8,
    /// What only the world knows.
    pub tag: Tag,
}

/// An answer that the device gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    /// Number on the wire of the request that it answers.
    pub number: u64,
    /// Its size.
    pub bytes: u32,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// There is something to do, or the time is over.
    Ready,
    /// Nothing will ever happen again.
    Never,
}

/// The link is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

#[derive(Debug)]
enum Event {
    /// A piece moves from the system's buffer to the device.
    Up,
    /// A piece moves from the device to the system's buffer.
    Down,
    /// A datagram reaches the device.
    DatagramUp(Vec<Byte>),
    /// A datagram reaches the host.
    DatagramDown(Vec<Byte>),
    /// An answer that was held back goes out.
    Answer(Vec<Byte>),
    /// The next piece of an answer that comes with pauses goes out.
    Piece(Vec<Byte>),
    /// The device sends a message that nobody asked for.
    Message,
    /// The device speaks without being asked.
    Unasked,
    /// The device starts anew.
    Restart,
}

struct Due {
    at_ns: u64,
    order: u64,
    link: u32,
    event: Event,
}

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        self.order == other.order
    }
}
impl Eq for Due {}
impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Due {
    fn cmp(&self, other: &Due) -> std::cmp::Ordering {
        (self.at_ns, self.order).cmp(&(other.at_ns, other.order))
    }
}

/// The world of one scenario.
pub struct World {
    now_ns: u64,
    random: Random,
    was_idle: bool,
    shape: Shape,
    faults: Faults,
    datagram: bool,
    queue: BinaryHeap<Reverse<Due>>,
    order: u64,
    device: Box<dyn Device>,
    given: Vec<Given>,
    /// Number of the link that is open, from 1.
    link: u32,
    open: bool,
    broken: bool,
    // A byte stream's buffers.
    host_out: VecDeque<Byte>,
    host_in: VecDeque<Byte>,
    device_out: VecDeque<Byte>,
    up_moves: bool,
    down_moves: bool,
    /// Datagrams on their way to the device.
    datagrams_up: u64,
    datagrams_in: VecDeque<(u64, Vec<Byte>)>,
    /// When the bytes that wait for the host became readable, in pieces of so many bytes.
    readable_since: VecDeque<(usize, u64)>,
    /// The same for the bytes of the last receive.
    came: Vec<(usize, u64)>,
    /// The newest time in which the host could not look although it wanted to.
    kept_away: (u64, u64),
    held_back: Option<Vec<Byte>>,
    stalled_until_ns: u64,
    /// The device works on an answer until then.
    works_until_ns: u64,
    /// Answers that it worked on.
    worked: u64,
    /// Pieces of an answer that are still to go out, and the messages that wait behind them.
    pieces: usize,
    behind_pieces: VecDeque<(Vec<Byte>, u32)>,
    /// Bytes were changed, lost or added on this link.
    damaged: bool,
    /// Events that happened.
    pub events: u64,
    trace: bool,
}

impl World {
    /// A world at its beginning. The link is open unless each exchange opens its own.
    pub fn new(scenario: &Scenario, device: Box<dyn Device>, trace: bool) -> World {
        let mut world = World {
            now_ns: 0,
            random: Random::new(scenario.seed ^ 0x0571_D0F1),
            was_idle: false,
            shape: scenario.shape,
            faults: scenario.faults,
            datagram: scenario.datagram,
            queue: BinaryHeap::new(),
            order: 0,
            device,
            given: Vec::new(),
            link: 1,
            open: !scenario.connect_each,
            broken: false,
            host_out: VecDeque::new(),
            host_in: VecDeque::new(),
            device_out: VecDeque::new(),
            up_moves: false,
            down_moves: false,
            datagrams_up: 0,
            datagrams_in: VecDeque::new(),
            readable_since: VecDeque::new(),
            came: Vec::new(),
            kept_away: (0, 0),
            held_back: None,
            stalled_until_ns: 0,
            works_until_ns: 0,
            worked: 0,
            pieces: 0,
            behind_pieces: VecDeque::new(),
            damaged: false,
            events: 0,
            trace,
        };
        if let Some(at) = scenario.faults.restart_at {
            world.schedule(at, Event::Restart);
        }
        if world.device.speaks_unasked() {
            world.schedule(1, Event::Unasked);
        }
        world.may_speak_unasked();
        world
    }

    /// Now.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// The answer that bytes with this tag are part of.
    pub fn given(&self, answer: u32) -> Option<Given> {
        let index = (answer as usize).checked_sub(1)?;
        self.given.get(index).copied()
    }

    /// Gives a request a number by which its echo is recognised.
    pub fn name_answer(&mut self, number: u64, bytes: u32) -> u32 {
        self.given.push(Given { number, bytes });
        self.given.len() as u32
    }

    /// True if all bytes of this link came as they were given, so far.
    pub fn is_undamaged(&self) -> bool {
        !self.damaged
    }

    fn schedule(&mut self, at_ns: u64, event: Event) {
        self.order += 1;
        self.queue.push(Reverse(Due {
            at_ns,
            order: self.order,
            link: self.link,
            event,
        }));
    }

    fn delay(&mut self) -> u64 {
        let shape = self.shape;
        shape.delay_ns + self.random.below(shape.jitter_ns + 1)
    }

    // --- the calls of the host ---

    /// Opens a link; returns whether that succeeded.
    pub fn connect(&mut self) -> bool {
        let takes = self.random.below(self.shape.connect_ns + 1);
        let _ = self.sleep(self.now_ns + takes);
        self.link += 1;
        self.clear_link();
        self.open = !self.random.chance(self.faults.refuse);
        self.open
    }

    /// Closes the link: what is under way is lost.
    pub fn disconnect(&mut self) {
        self.open = false;
        self.link += 1;
        self.clear_link();
    }

    fn clear_link(&mut self) {
        self.broken = false;
        self.damaged = false;
        self.host_out.clear();
        self.host_in.clear();
        self.device_out.clear();
        self.up_moves = false;
        self.down_moves = false;
        self.datagrams_up = 0;
        self.datagrams_in.clear();
        self.readable_since.clear();
        self.pieces = 0;
        self.behind_pieces.clear();
        self.held_back = None;
        self.device.opened();
    }

    /// Bytes that the system could take now, and one more; a datagram is never cut.
    pub fn send_room(&self) -> usize {
        match self.datagram {
            true => usize::MAX,
            false => self.shape.send_room as usize - self.host_out.len() + 1,
        }
    }

    /// Offers bytes to the system; returns how many it took.
    pub fn send(&mut self, bytes: &[Byte]) -> Result<usize, Broken> {
        if self.broken || !self.open {
            return Err(Broken);
        }
        if self.random.chance(self.faults.idle_call) || !self.is_writable() {
            return Ok(0);
        }
        if self.datagram {
            self.datagrams_up += 1;
            let at = self.now_ns + self.delay();
            self.schedule(at, Event::DatagramUp(bytes.to_vec()));
            return Ok(bytes.len());
        }
        let room = self.shape.send_room as usize - self.host_out.len();
        let count = room.min(bytes.len());
        self.host_out.extend(&bytes[..count]);
        self.kick();
        Ok(count)
    }

    fn is_writable(&self) -> bool {
        match self.datagram {
            true => self.datagrams_up < self.shape.send_room,
            false => (self.host_out.len() as u64) < self.shape.send_room,
        }
    }

    /// True if there is something to receive.
    pub fn is_readable(&self) -> bool {
        !self.host_in.is_empty() || !self.datagrams_in.is_empty()
    }

    /// What the system gives the host now, at most `room` bytes.
    pub fn receive(&mut self, room: usize) -> Result<Vec<Byte>, Broken> {
        if self.broken || !self.open {
            return Err(Broken);
        }
        self.came.clear();
        self.was_idle = self.random.chance(self.faults.idle_call);
        if self.was_idle {
            return Ok(Vec::new());
        }
        if self.datagram {
            let (at_ns, mut datagram) = self.datagrams_in.pop_front().unwrap_or_default();
            datagram.truncate(room);
            self.came.push((datagram.len(), at_ns));
            return Ok(datagram);
        }
        let count = self.host_in.len().min(room);
        let count = count.min(self.shape.piece_read as usize);
        let mut left = count;
        while let Some((piece, at_ns)) = self.readable_since.front_mut().filter(|_| left > 0) {
            let taken = left.min(*piece);
            self.came.push((taken, *at_ns));
            (*piece, left) = (*piece - taken, left - taken);
            if *piece == 0 {
                self.readable_since.pop_front();
            }
        }
        let bytes = self.host_in.drain(..count).collect();
        self.kick();
        Ok(bytes)
    }

    /// True if the last receive was interrupted, whatever there was to receive.
    pub fn was_idle(&self) -> bool {
        self.was_idle
    }

    /// When the bytes of the last receive became readable, in pieces of so many bytes.
    pub fn came(&self) -> &[(usize, u64)] {
        &self.came
    }

    /// True if the host could not look from the first to the second time, whatever it wanted.
    pub fn was_kept_away(&self, from_ns: u64, to_ns: u64) -> bool {
        self.kept_away.0 <= from_ns && to_ns <= self.kept_away.1
    }

    /// The host may wake up late.
    fn may_oversleep(&mut self) {
        if self.random.chance(self.faults.oversleep) {
            let from_ns = self.now_ns;
            self.happen();
            self.now_ns += self.random.below(self.faults.oversleep_ns + 1);
            if from_ns > self.kept_away.1 {
                self.kept_away.0 = from_ns;
            }
            self.kept_away.1 = self.now_ns;
        }
    }

    /// Waits until there is something to receive (or room to send), the link breaks, or the time is over.
    pub fn wait(&mut self, until_ns: u64, or_writable: bool) -> Woken {
        loop {
            self.happen();
            let ready = self.broken || self.is_readable() || or_writable && self.is_writable();
            if ready || self.now_ns >= until_ns {
                return Woken::Ready;
            }
            let next = self.queue.peek().map(|Reverse(due)| due.at_ns);
            match next {
                Some(at) if at <= until_ns => self.now_ns = at,
                _ if until_ns == u64::MAX => return Woken::Never,
                _ => self.now_ns = until_ns,
            }
            self.may_oversleep();
        }
    }

    /// Waits for a time.
    pub fn sleep(&mut self, until_ns: u64) -> Woken {
        if until_ns == u64::MAX {
            return Woken::Never;
        }
        loop {
            self.happen();
            let next = self.queue.peek().map(|Reverse(due)| due.at_ns);
            match next {
                Some(at) if at <= until_ns => self.now_ns = self.now_ns.max(at),
                _ => break,
            }
        }
        self.now_ns = self.now_ns.max(until_ns);
        self.may_oversleep();
        self.happen();
        Woken::Ready
    }

    /// All that is due happens.
    fn happen(&mut self) {
        while let Some(Reverse(due)) = self.queue.peek() {
            if due.at_ns > self.now_ns {
                return;
            }
            let Some(Reverse(due)) = self.queue.pop() else {
                return;
            };
            self.events += 1;
            let is_ours = due.link == self.link && self.open && !self.broken;
            match due.event {
                Event::Restart => self.restart(),
                Event::Unasked => self.speak_unasked(),
                _ if !is_ours => {}
                Event::Up => self.move_up(),
                Event::Down => self.move_down(),
                Event::DatagramUp(bytes) => self.datagram_up(bytes),
                Event::DatagramDown(bytes) => self.datagram_down(bytes),
                Event::Answer(bytes) => self.give(bytes),
                Event::Piece(bytes) => self.put_out_piece(bytes),
                Event::Message => self.give_unasked(),
            }
        }
    }

    fn restart(&mut self) {
        self.say(|| "the device starts anew".into());
        self.damaged = true;
        self.device.restart();
        self.device_out.clear();
        self.held_back = None;
    }

    fn speak_unasked(&mut self) {
        if !self.open || self.broken || self.device_out.len() >= HELD {
            self.schedule(self.now_ns + UNHEARD_NS, Event::Unasked);
        } else if let Some((bytes, again_ns)) = self.device.speak(self.now_ns, &mut self.random) {
            self.damaged = true;
            self.give(bytes);
            self.schedule(self.now_ns + again_ns, Event::Unasked);
        }
    }

    /// True if the device does not look at what comes.
    fn is_blocked(&self) -> bool {
        self.faults
            .blocked_from
            .is_some_and(|from| self.now_ns >= from)
    }

    fn is_silent(&self) -> bool {
        self.faults
            .silent_from
            .is_some_and(|from| self.now_ns >= from)
    }

    fn datagram_up(&mut self, bytes: Vec<Byte>) {
        self.datagrams_up -= 1;
        if self.is_blocked() {
            // Nothing leaves the system's buffer any more.
            self.datagrams_up += self.shape.send_room;
            return;
        }
        if self.random.chance(self.faults.break_link) {
            self.broken = true;
            return;
        }
        if self.random.chance(self.faults.lose) {
            return;
        }
        let copies = 1 + u32::from(self.random.chance(self.faults.duplicate));
        for _ in 0..copies {
            let bytes = self.damage(bytes.clone(), true);
            self.reach_device(&bytes);
        }
    }

    fn datagram_down(&mut self, bytes: Vec<Byte>) {
        if (self.datagrams_in.len() as u64) < self.shape.receive_room {
            self.datagrams_in.push_back((self.now_ns, bytes));
        }
    }

    fn say(&self, what: impl FnOnce() -> String) {
        if self.trace {
            println!("{:>12} ns  world: {}", self.now_ns, what());
        }
    }
}
