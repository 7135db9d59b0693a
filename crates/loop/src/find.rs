//! Which preload is tested next: first the one that the curve gives, then longer ones until one
//! holds.

use wiregauge_record::{Aim, Ending, LoopPlan, LoopPoint, LoopSummary};

/// Preloads tested at most for one cell. A host whose worst delay grows with every minute has none
/// that can be promised.
const TESTS: u32 = 8;

/// The search for one cell of the sweep.
pub(super) struct Search {
    tests_left: u32,
    /// Ring of the points that hold: that of the cell.
    cell: LoopPoint,
}

impl Search {
    /// Of this cell; it ends after the first point where the plan does not search.
    pub(super) fn of(plan: &LoopPlan, cell: LoopPoint) -> Search {
        let searches = plan.find && cell.aim == Aim::Curve;
        Search {
            tests_left: if searches { TESTS } else { 0 },
            cell,
        }
    }

    /// What is to be run after this point, under this number; `None` if the search is over.
    pub(super) fn next(&mut self, last: &LoopSummary, index: u32) -> Option<LoopPoint> {
        if self.tests_left == 0 || last.ending != Ending::Complete {
            return None;
        }
        let preload_bytes = match last.point.aim {
            Aim::Curve => last.needed_bytes?,
            Aim::Hold if last.overruns == 0 && last.underruns == 0 => return None,
            Aim::Hold => last.point.preload_bytes + self.missing(last),
        };
        self.tests_left -= 1;
        (preload_bytes <= self.cell.ring_bytes).then_some(LoopPoint {
            index,
            preload_bytes,
            aim: Aim::Hold,
            ..self.cell
        })
    }
}

impl Search {
    /// Whole blocks, at least one, by which the latest block of a test that stalled was too late. Its
    /// summary says nothing of the latency needed: only that it is longer.
    fn missing(&self, stalled: &LoopSummary) -> u64 {
        let late_ns = stalled.stalls.iter().map(|stall| stall.late_ns).max();
        let late_bytes = late_ns.unwrap_or(0) as f64 * self.cell.bytes_s() / 1e9;
        let block = u64::from(self.cell.notify_bytes);
        (late_bytes as u64).div_ceil(block).max(1) * block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_record::{Block, LoopFacts, LoopPath, LoopSummariser, Phase, Stall, Xrun};

    fn plan(find: bool) -> LoopPlan {
        LoopPlan {
            address: "virtual".into(),
            points: Vec::new(),
            duration_ns: 1,
            settle_ns: 0,
            find,
            hold_ns: 1,
            process: Vec::new(),
            wait: wiregauge_record::LoopWait::Sleep,
            calibrate: false,
            gpu_device: 0,
            host: wiregauge_record::HostPlan::default(),
        }
    }

    fn cell() -> LoopPoint {
        LoopPoint {
            index: 0,
            rate_hz: 1_000_000,
            channels: 1,
            notify_bytes: 1_000,
            ring_bytes: 10_000,
            preload_bytes: 9_000,
            aim: Aim::Curve,
            path: LoopPath::Cpu,
        }
    }

    /// Of blocks whose service takes so long, the latest of which was `late_ns` too late.
    fn summary(point: LoopPoint, service_ns: u64, late_ns: Option<u64>) -> LoopSummary {
        let mut summariser = LoopSummariser::new(point);
        summariser.push(&Block {
            due_ns: 1_000_000,
            begun_ns: 1_000_000,
            done_ns: 1_000_000 + service_ns,
            phase: Phase::Measured,
            ..Block::default()
        });
        let stalls = late_ns.map(|late_ns| Stall {
            xrun: Xrun::Underrun,
            at_ns: 0,
            late_ns,
        });
        let facts = LoopFacts {
            underruns: stalls.iter().len() as u64,
            stalls: stalls.into_iter().collect(),
            ..LoopFacts::default()
        };
        summariser.finish(Ending::Complete, facts)
    }

    /// Blocks of 0.5 ms: a preload of two is needed without any delay.
    #[test]
    fn the_preload_of_the_curve_is_tested_and_grows_until_it_holds() {
        let mut search = Search::of(&plan(true), cell());
        let curve = summary(cell(), 400_000, None);
        let first = search.next(&curve, 1).expect("a test");
        let found = (first.preload_bytes, first.aim, first.index);
        assert_eq!(found, (2_000, Aim::Hold, 1));
        let second = search.next(&summary(first, 500_000, Some(1_000)), 2);
        let second = second.expect("a second test");
        assert_eq!(second.preload_bytes, 3_000);
        let third = search.next(&summary(second, 500_000, Some(1_600_000)), 3);
        let third = third.expect("a third test");
        assert_eq!(third.preload_bytes, 7_000);
        assert_eq!(search.next(&summary(third, 400_000, None), 4), None);
    }

    #[test]
    fn nothing_is_tested_that_was_not_asked_for_or_does_not_fit() {
        let mut search = Search::of(&plan(false), cell());
        assert_eq!(search.next(&summary(cell(), 400_000, None), 1), None);
        let mut search = Search::of(&plan(true), cell());
        assert_eq!(search.next(&summary(cell(), 5_000_000, None), 1), None);
    }

    #[test]
    fn the_search_ends_on_a_host_that_never_holds() {
        let endless = LoopPoint {
            ring_bytes: 1 << 40,
            ..cell()
        };
        let mut search = Search::of(&plan(true), endless);
        let mut last = summary(cell(), 400_000, None);
        let mut tests = 0;
        while let Some(point) = search.next(&last, 1) {
            tests += 1;
            last = summary(point, 400_000, Some(1));
        }
        assert_eq!(tests, TESTS);
    }
}
