//! What a run asks of the host for its measuring thread: real-time priority, one processor, locked
//! memory. What the system refuses is an error that names the permission, never a silent no.

use super::platform::{self, ThreadSettings, pin, real_time};
use crate::error::LinkError;
use wiregauge_record::HostPlan;

pub use super::platform::{allowed, lock_memory, use_precise_timers};

/// Applies the plan to the calling thread. Order matters: the priority comes last, so that nothing
/// slow runs at it.
pub fn apply(plan: &HostPlan) -> Result<(), LinkError> {
    use_precise_timers();
    if plan.lock_memory {
        lock_memory()?;
    }
    if let Some(cpu) = plan.pin {
        pin(cpu)?;
    }
    if let Some(priority) = plan.priority {
        real_time(priority)?;
    }
    Ok(())
}

/// What the calling thread was before it was raised; it is that again when this is dropped.
pub struct Raised {
    before: ThreadSettings,
}

impl Raised {
    /// Gives the calling thread precise timers, and the processor and the priority that are asked for.
    pub fn begin(priority: Option<u8>, processor: Option<u32>) -> Result<Raised, LinkError> {
        let raised = Raised {
            before: ThreadSettings::of_caller(processor.is_some()),
        };
        use_precise_timers();
        // Dropped on the way out, `raised` puts back what was done before an error.
        if let Some(processor) = processor {
            pin(processor)?;
        }
        if let Some(priority) = priority {
            real_time(priority)?;
        }
        Ok(raised)
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        self.before.restore();
    }
}

/// Keeps the calling thread off a processor, so that it is left to the measuring thread. Where
/// there is no other one, nothing changes.
pub fn keep_off(cpu: u32) {
    let others: Vec<u32> = allowed()
        .into_iter()
        .filter(|&other| other != cpu)
        .collect();
    if !others.is_empty() {
        platform::set_allowed(&others);
    }
}

/// Gives the calling thread the real-time priority above this one, or at least this one. Returns
/// what the system granted. For a thread that stands in for hardware, which no program outranks.
pub fn outrank(priority: u8) -> Option<u8> {
    let above = priority.saturating_add(1).min(99);
    let granted = |&wanted: &u8| real_time(wanted).is_ok();
    [above, priority].into_iter().find(granted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::host_state;

    fn policy() -> String {
        host_state(false).policy
    }

    #[test]
    fn a_processor_that_is_not_there_is_refused_with_those_that_are() {
        let error = Raised::begin(None, Some(100_000)).err().expect("refused");
        let text = error.to_string();
        assert!(text.contains("--pin"), "{text}");
    }

    #[test]
    fn what_was_raised_is_put_back() {
        // A thread of its own: the settings are those of a thread.
        std::thread::spawn(|| {
            let before = (policy(), allowed());
            let processor = before.1.first().copied();
            let raised = Raised::begin(None, processor).expect("pinned");
            if let Some(processor) = processor {
                assert_eq!(allowed(), [processor]);
            }
            drop(raised);
            assert_eq!((policy(), allowed()), before);
            // Where the system grants no priority, it says what it needs.
            match Raised::begin(Some(1), None) {
                Ok(raised) => {
                    assert_ne!(policy(), before.0);
                    drop(raised);
                }
                Err(error) => assert!(error.to_string().contains("hint"), "{error}"),
            }
            assert_eq!((policy(), allowed()), before);
        })
        .join()
        .expect("the thread ends");
    }

    #[test]
    fn a_thread_that_is_kept_off_a_processor_may_not_run_there() {
        std::thread::spawn(|| {
            let before = allowed();
            if let Some(&cpu) = before.first() {
                keep_off(cpu);
                assert_eq!(allowed().contains(&cpu), before.len() == 1);
            }
        })
        .join()
        .expect("the thread ends");
    }
}
