//! The thread that sends: drives the sending end of a stream over a flow.

use super::coordination::Coordination;
use super::rows::Rows;
use std::io;
use std::time::Duration;
use wiregauge_link::Flow;
use wiregauge_link::host::thread_cpu_ns;
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::Way;
use wiregauge_session::stream::{
    Order, PatternBytes, SenderConfig, SenderNext, StreamFailure, StreamSender,
};
use wiregauge_wire::{BusCounts, Status, StreamReport, Verb, fill_stream};

/// Megabytes of a socket's buffers need this time at 50 kB/s.
const DRAINED: Duration = Duration::from_secs(60);

/// What the sender works with.
pub struct Send<'a, 'b> {
    /// What the two threads share.
    pub shared: &'a Coordination<'b>,
    /// The device, for messages.
    pub address: &'a str,
    /// What is sent, and for how long.
    pub config: SenderConfig,
    /// The bytes of a raw stream; `None` for the pattern that codes positions.
    pub pattern: Option<PatternBytes>,
    /// Where its rows go; `None` where nothing but orders is sent.
    pub rows: Option<Rows<'a>>,
    /// Where submitting may have to wait for the system: for how long at most.
    pub timeout: Duration,
}

/// What it leaves behind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    /// Bytes of the stream handed over.
    pub bytes: u64,
    /// What the device reported of each way, IN first.
    pub reports: [Option<StreamReport>; 2],
    /// What it counted on its modelled bus.
    pub bus_counts: [Option<BusCounts>; 2],
    /// When those came, in nanoseconds since the stream began.
    pub reported_ns: [u64; 2],
    /// Processor time of the measured part.
    pub cpu_ns: u64,
    /// How long the stream lasted, in nanoseconds.
    pub lasted_ns: u64,
    /// Transfers with data.
    pub transfers: u64,
    /// Those of them within the measured part.
    pub measured: u64,
}

impl Send<'_, '_> {
    /// Begins the streams, sends for as long as they last, ends them, and lets the receiver know.
    pub fn run(mut self, flow: &mut dyn Flow) -> Sent {
        let shared = self.shared;
        let mut sender = StreamSender::new(self.config.clone());
        let mut now = shared.clock.now();
        loop {
            let next = sender.next(now, shared);
            if next == SenderNext::Done {
                break;
            }
            match self.act(next, &mut sender, flow) {
                Ok(then) => now = then,
                Err(error) => {
                    let doing = format!("cannot send to {}", self.address);
                    shared.fail_io(doing, &error);
                    now = shared.clock.now();
                    sender.link_failed(now);
                }
            }
        }
        let _ = cancel(&mut sender, flow);
        shared.end();
        shared.finish();
        let mut sent = Sent {
            bytes: sender.handed_over(),
            reports: sender.reports(),
            bus_counts: sender.bus_counts(),
            reported_ns: sender.reported_ns(),
            lasted_ns: sender.lasted_ns(),
            ..Sent::default()
        };
        if let Some(rows) = &self.rows {
            sent.cpu_ns = rows.cpu_ns(|| thread_cpu_ns() + flow.helper_cpu_ns());
            sent.transfers = rows.count();
            sent.measured = rows.measured();
        }
        sent
    }

    /// Does what is next; returns the time.
    #[inline]
    fn act(
        &mut self,
        next: SenderNext,
        sender: &mut StreamSender,
        flow: &mut dyn Flow,
    ) -> io::Result<u64> {
        let shared = self.shared;
        match next {
            SenderNext::Data { position, bytes } => {
                let mut submit_ns = 0;
                // Making the pattern is the tool's own work and no part of the transfer.
                flow.submit(bytes, self.timeout, &mut |to| {
                    match &self.pattern {
                        Some(pattern) => pattern.fill(position, to),
                        None => fill_stream(position, to),
                    }
                    submit_ns = shared.clock.now();
                })?;
                sender.submitted(submit_ns);
                return Ok(submit_ns);
            }
            SenderNext::Complete { at_most_ns } => {
                return self.complete(Duration::from_nanos(at_most_ns), sender, flow);
            }
            SenderNext::Order(order) => {
                let bytes = order.encode();
                flow.submit(bytes.len(), self.timeout, &mut |to| {
                    to.copy_from_slice(&bytes);
                })?;
                sender.submitted(shared.clock.now());
            }
            SenderNext::Await {
                sequence,
                at_most_ns,
            } => {
                if let Some(answer) = shared.answer(sequence, Duration::from_nanos(at_most_ns)) {
                    sender.answered(answer);
                }
            }
            SenderNext::Sleep { at_most_ns } => shared.sleep(Duration::from_nanos(at_most_ns)),
            SenderNext::Begin => shared.begin(),
            SenderNext::End => shared.end(),
            SenderNext::Cancel => {
                let cancelled = cancel(sender, flow);
                if shared.is_failed() {
                    cancelled?;
                }
            }
            SenderNext::Fail(failure) => shared.fail(explain(self.address, &failure)),
            SenderNext::Done => {}
        }
        Ok(shared.clock.now())
    }

    /// Waits for the oldest pending transfer, at most so long; returns the time.
    #[inline]
    fn complete(
        &mut self,
        at_most: Duration,
        sender: &mut StreamSender,
        flow: &mut dyn Flow,
    ) -> io::Result<u64> {
        let completed = flow.complete(at_most, &mut |_| {})?;
        let now = self.shared.clock.now();
        let Some(completed) = completed else {
            return Ok(now);
        };
        let row = sender.completed(now, completed.stalled, self.shared);
        if let (Some(rows), Some(row)) = (&mut self.rows, row) {
            rows.push(row, || thread_cpu_ns() + flow.helper_cpu_ns());
        }
        Ok(now)
    }
}

fn cancel(sender: &mut StreamSender, flow: &mut dyn Flow) -> io::Result<()> {
    let mut handed_over = 0;
    let cancelled = flow.cancel(&mut |bytes| handed_over += bytes.len() as u64);
    sender.cancelled(handed_over);
    cancelled
}

/// The error of a failure.
pub fn explain(address: &str, failure: &StreamFailure) -> LinkError {
    match failure {
        StreamFailure::NothingTaken { within_ns } => silent(
            address,
            Duration::from_nanos(*within_ns),
            "no transfer was completed",
        )
        .hint(longer(*within_ns)),
        StreamFailure::NoAnswer { order, within_ns } => {
            let what = format!("no answer to {}", order.name());
            let error = silent(address, Duration::from_nanos(*within_ns), &what);
            error.hint(match (order.way, order.verb) {
                (Way::Out, Verb::End) => longer(*within_ns),
                _ => "use a longer --timeout".into(),
            })
        }
        StreamFailure::NothingCame { within_ns } => silent(
            address,
            Duration::from_nanos(*within_ns),
            "the device sent nothing",
        )
        .hint("does the device send now? use a longer --timeout"),
        StreamFailure::Refused { order, status } => refused(address, order, *status),
    }
}

/// The error of a link on which nothing moves.
fn silent(address: &str, timeout: Duration, what: &str) -> LinkError {
    LinkError::new(
        LinkErrorKind::Timeout,
        format!("cannot stream with {address}"),
        format!("{what} for {timeout:?}"),
    )
}

/// The hint for a device that may still receive: what it did not take yet is in sockets and drivers, or in one transfer.
fn longer(within_ns: u64) -> String {
    let longer = Duration::from_nanos(within_ns.saturating_mul(10)).max(DRAINED);
    format!(
        "is the device still receiving? a slow one must first receive what buffers before it hold: use a longer \
         --timeout, such as {longer:?}"
    )
}

fn refused(address: &str, order: &Order, status: Status) -> LinkError {
    let doing = format!("cannot start a stream with {address} ({})", order.name());
    match status {
        Status::TooLarge => LinkError::new(
            LinkErrorKind::Usage,
            doing,
            format!(
                "transfers of {} B exceed the limit of the device",
                order.transfer_bytes
            ),
        )
        .hint("use a smaller --transfer"),
        Status::Unsupported => LinkError::new(
            LinkErrorKind::Usage,
            doing,
            "the device cannot stream in this direction",
        )
        .hint("use the same version of wiregauge on both ends, or another --direction"),
        other => LinkError::new(
            LinkErrorKind::Protocol,
            doing,
            format!("the device rejects it: {other:?}"),
        )
        .hint("try again; over UDP the device must have seen this host's HELLO"),
    }
}
