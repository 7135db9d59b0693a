//! The exchange engine of wiregauge, without I/O, clock, threads or allocation once it is laid out.
//!
//! An [`Engine`] is given the time, requests, and what a link received; it returns the bytes to hand over, when to
//! be asked again, and what happened. A [`Measurement`] drives it through one point of a sweep. The measuring
//! loop, open devices and the simulator all drive the same engine: what is proved there is what is
//! measured here. A protocol is a [`Codec`] in a file of its own. Streams have two ends of their own, in [`stream`].
//!
//! ```
//! use wiregauge_session::{Config, Engine, Event, Message, Outcome};
//!
//! let config = Config {
//!     datagram: false,
//!     timeout_ns: 1_000_000,
//!     batch: 1,
//!     span: 1,
//!     request_bytes: 100,
//!     answer_bytes: 100,
//!     staged: 1,
//! };
//! let mut engine = Engine::new(config, Message::new(false));
//! engine.stage(4, |codec, sequence, to| codec.write(sequence, b"ping", 4, to));
//! let sent = engine.outgoing().len();
//! engine.sent(1_000, sent);
//! // No answer: the timeout is over 1 ms later.
//! assert_eq!(engine.wake_ns(), Some(1_001_000));
//! let Some(Event::Ended(ended)) = engine.poll(1_001_000) else { panic!() };
//! assert_eq!((ended.sequence, ended.outcome), (0, Outcome::Lost));
//! ```

mod address_proof;
mod batch_trial;
mod buffers;
mod codec;
mod confirm;
mod echo;
mod engine;
mod event;
mod exchange;
mod foreign;
mod framing;
mod hello;
mod lines;
mod measurement;
mod message;
mod messages;
pub mod modbus;
mod next;
mod numbers;
pub mod pdu;
mod program_queries;
mod query;
mod quiet;
mod replies;
mod reply;
mod schedule;
pub mod stream;
mod surplus;
mod window;

pub use batch_trial::BatchTrial;
pub use codec::{Answer, Codec, Generator, Matching, Parsed, Verdict};
pub use echo::Echo;
pub use engine::{Config, Engine};
pub use event::{Ended, Event, Outcome};
pub use exchange::Exchange;
pub use framing::{Framing, LengthField, Malformed, Split, Splitter};
pub use hello::{ATTEMPTS, Hello, HelloEnd};
pub use lines::Lines;
pub use measurement::Measurement;
pub use message::{ANSWER_OVERHEAD, Message, REQUEST_OVERHEAD};
pub use messages::Messages;
pub use modbus::Modbus;
pub use next::{End, Failure, Next, Row};
pub use numbers::Numbers;
pub use program_queries::{ModbusQueries, TextQueries};
pub use query::Query;
pub use replies::Replies;
pub use reply::{Reply, ReplyReader, only_one_at_a_time};
pub use window::{Finished, Slot, Window};
