//! The plan and the record of a control loop.

/// Turns the newest measurement into the next command: given the number of the cycle, the newest reply (`None`
/// before there is one) and the buffer of the request, it returns the bytes that it wrote, or `None` to end the loop.
pub type Step<'a> = dyn FnMut(u64, Option<&[u8]>, &mut [u8]) -> Option<usize> + 'a;

/// What a control loop is to be.
#[derive(Clone, Debug)]
pub struct ControlPlan {
    /// Time between the starts of two cycles, in nanoseconds; 0: as fast as replies come.
    pub period_ns: u64,
    /// Requests outstanding at once. With 1, a cycle's command is made from the reply to the cycle before; with d, from
    /// that to the cycle d before: the repetition time shrinks, the dead time grows.
    pub depth: u32,
    /// Room for a request's payload, in bytes.
    pub largest_request: usize,
    /// Bytes of a reply's payload, where the framing does not tell; see `Device::exchange`.
    pub reply_bytes: Option<usize>,
    /// SCHED_FIFO priority of the loop, 1 to 99.
    pub priority: Option<u8>,
    /// The processor that the loop is kept on.
    pub pin: Option<u32>,
    /// Lost cycles in a row that end the loop; 0: none do.
    pub give_up: u32,
}

impl Default for ControlPlan {
    /// As fast as replies come, one outstanding, as an ordinary thread; ten lost cycles in a row end it.
    fn default() -> ControlPlan {
        ControlPlan {
            period_ns: 0,
            depth: 1,
            largest_request: 256,
            reply_bytes: None,
            priority: None,
            pin: None,
            give_up: 10,
        }
    }
}

/// One cycle as it was. Times are nanoseconds since the first cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Cycle {
    /// When it should have begun; equal to `start_ns` without a period.
    pub intended_ns: u64,
    /// When its request was handed over.
    pub start_ns: u64,
    /// Time to the last byte of its reply; how long was waited if there was none.
    pub rtt_ns: u64,
    /// Time that `step` took.
    pub step_ns: u64,
    /// Device clock when the request had arrived, in ticks.
    pub device_rx_ticks: u64,
    /// Device clock when the reply was handed over, in ticks.
    pub device_tx_ticks: u64,
    /// The cycle whose reply its command was made from; `u64::MAX` before there was one.
    pub made_from: u64,
    /// How it ended.
    pub status: CycleStatus,
}

/// How a cycle ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum CycleStatus {
    /// Its reply came.
    #[default]
    Ok = 0,
    /// Its reply came, but it began later than the next one should have.
    Overrun = 1,
    /// No reply within the timeout.
    Lost = 2,
}

impl super::Device {
    /// A loop at a fixed rate: each cycle's request is what `step` made of the newest reply. Every cycle leaves a row in
    /// `cycles`, which has room for all of them; returns how many there were.
    pub fn control(
        &mut self,
        _plan: &ControlPlan,
        _step: &mut Step<'_>,
        _cycles: &mut [Cycle],
    ) -> Result<usize, (usize, crate::LinkError)> {
        todo!()
    }
}
