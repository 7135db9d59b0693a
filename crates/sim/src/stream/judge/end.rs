//! What must be reported at the end, and how the device is left.

use super::{Asked, Judge, Known, SHORT_NS};
use crate::oracle::Fault;
use crate::stream::device::MOST_TRANSFER;
use crate::stream::truth::{AnswerTruth, Arrivals, HEADER};
use crate::stream::world::{Arrived, World};
use wiregauge_session::stream::{Received, StreamSender};

impl Judge<'_> {
    /// What was reported at the end.
    ///
    /// # Errors
    /// Something else is true.
    pub fn finish(
        &self,
        sender: &StreamSender,
        received: Received,
        world: &World<'_>,
    ) -> Result<(), Fault> {
        let now_ns = world.now_ns;
        let wrong = |what: String| Err(Fault::new(now_ns, what));
        if sender.handed_over() != self.handed_over {
            let (said, truth) = (sender.handed_over(), self.handed_over);
            return wrong(format!("{said} bytes handed over, not {truth}"));
        }
        if let (Some(began_ns), Some(to_ns)) = (self.began_ns, self.flowed_to_ns)
            && sender.lasted_ns() != to_ns - began_ns
        {
            let (said, truth) = (sender.lasted_ns(), to_ns - began_ns);
            return wrong(format!("it lasted {said} ns, not {truth}"));
        }
        // Of an answer that never came whole, the beginning of its header is no frame.
        let cut = self.arriving.filter(|(_, at)| *at < HEADER);
        let cut = cut.map_or(0, |(_, at)| at as u64);
        let truth = self.received + cut;
        if !world.damaged.1 && received.bytes != truth {
            let said = received.bytes;
            return wrong(format!("{said} bytes received, not {truth}"));
        }
        if let Some(counts) = received.counts
            && self.counts.is_certain()
            && cut == 0
            && !world.damaged.1
        {
            let said = [
                counts.received,
                counts.lost,
                counts.duplicated,
                counts.corrupted,
                counts.stray,
            ];
            if said != self.counts.numbers {
                return wrong(format!("counted {said:?}, not {:?}", self.counts.numbers));
            }
        }
        self.reports(sender, world)
    }

    fn reports(&self, sender: &StreamSender, world: &World<'_>) -> Result<(), Fault> {
        for asked in self.orders.iter().filter(|asked| asked.order.ends) {
            let way = usize::from(!asked.order.is_source);
            let (said, said_ns) = (sender.reports()[way], sender.reported_ns()[way]);
            let taken = asked.taken.as_ref();
            let taken = taken.filter(|(answer, _)| !answer.report.is_empty());
            let truth = taken.map(|(answer, _)| answer.report[0]);
            // After a stop, a START may be answered behind the END that followed it.
            let began_ns = self.began_ns.unwrap_or(u64::MAX);
            let since_ns = taken.map_or(0, |(_, at)| at.saturating_sub(began_ns));
            if said.map(|report| report.bytes) != truth || taken.is_some() && said_ns != since_ns {
                let what = format!("reports {said:?} at {said_ns}, not {truth:?} at {since_ns}");
                return Err(Fault::new(world.now_ns, what));
            }
            if let (false, Some((answer, _))) = (asked.order.is_source, taken) {
                self.sink(answer, world)?;
            }
        }
        Ok(())
    }

    /// What the device says of its sink.
    fn sink(&self, answer: &AnswerTruth, world: &World<'_>) -> Result<(), Fault> {
        if world.damaged != (false, false) || world.was_reset() {
            return Ok(());
        }
        let mut arrivals = Arrivals::default();
        for arrived in &world.arrived {
            match arrived {
                Arrived::Byte(byte) => {
                    let order = arrivals.take(*byte, MOST_TRANSFER);
                    if order.is_some_and(|order| order.ends && order.sequence == answer.sequence) {
                        break;
                    }
                }
                Arrived::End => arrivals.flush(),
                Arrived::Reset => return Ok(()),
            }
        }
        let truth = arrivals.last;
        let said = &answer.report[..5];
        if truth.is_certain() && said != truth.numbers {
            let what = format!("the device counted {said:?}, not {:?}", truth.numbers);
            return Err(Fault::new(world.now_ns, what));
        }
        let whole = !self.scenario.datagram && world.is_sound();
        let undamaged = self.scenario.faults.flip_up + self.scenario.faults.cut_up == 0;
        let all = self.scenario.faults.stall_transfer == 0 && !self.cut_order;
        if whole && undamaged && all && said[0] != self.handed_over {
            let what = format!("the device took {said:?}, not {}", self.handed_over);
            return Err(Fault::new(world.now_ns, what));
        }
        Ok(())
    }

    /// The device is not left streaming.
    ///
    /// # Errors
    /// It is.
    pub fn ends(&self, world: &World<'_>, known: Known) -> Result<(), Fault> {
        let wrong = |what: &str| Err(Fault::new(world.now_ns, what));
        if !self.is_done || known.link_lost {
            return Ok(());
        }
        let (starts, ends) = self.orders.split_at(self.starts);
        let may_run = starts.iter().any(|asked| {
            let refused = |(answer, _): &(AnswerTruth, u64)| answer.status != 0;
            !asked.given_ns.is_empty() && !asked.taken.as_ref().is_some_and(refused)
        });
        if may_run && ends.iter().any(|asked| asked.given_ns.is_empty()) {
            return wrong("the device was not ordered to end");
        }
        // What was cut takes the beginning of END for its own rest. A START that is late may overtake END.
        let is_over = |asked: &Asked| asked.taken.is_some() || asked.given_ns.is_empty();
        // One that keeps a source alive may do so too, and begins it in a device that was reset.
        let all_over = starts.iter().all(is_over) && self.scenario.faults.reset_at.is_none();
        let in_order = self.scenario.delay_ns.1 == 0 || all_over;
        if !self.cut_order && in_order && world.is_sound() && world.device_flows() != [false, false]
        {
            return wrong("the device is left streaming");
        }
        Ok(())
    }

    /// Nothing lasts longer than this after it is certain that it must end.
    ///
    /// # Errors
    /// It has.
    pub fn check_time(&self, world: &World<'_>, broken_since: Option<u64>) -> Result<(), Fault> {
        let now_ns = world.now_ns;
        let late_ns = 60 * self.scenario.faults.oversleep_ns;
        let stop_at = self.scenario.faults.stop_at.filter(|_| world.is_stopped());
        let ends = [
            stop_at.map(|at| (at + 6 * SHORT_NS, "after the stop")),
            broken_since.map(|at| (at + SHORT_NS, "after the link failed")),
        ];
        for (most_ns, when) in ends.into_iter().flatten() {
            if now_ns > most_ns + late_ns {
                return Err(Fault::new(now_ns, format!("it does not end {when}")));
            }
        }
        Ok(())
    }
}
