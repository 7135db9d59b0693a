//! Why a loop cannot be computed, with the key of the model that must be changed.

/// What is wrong with a model or a trace. Each message names the key.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// A transfer function that cannot be read.
    #[error("{key}: cannot read '{text}': {reason}")]
    Syntax {
        /// `plant`, `controller` ...
        key: &'static str,
        /// As it was written.
        text: String,
        /// What was found, and where.
        reason: String,
    },
    /// The numerator's degree is above the denominator's, so nothing real behaves like it.
    #[error(
        "{key}: '{text}' is improper: its numerator has degree {numerator}, its denominator {denominator}"
    )]
    Improper {
        /// `plant` or `controller`.
        key: &'static str,
        /// As it was written.
        text: String,
        /// Degree of the numerator.
        numerator: usize,
        /// Degree of the denominator.
        denominator: usize,
    },
    /// The plant's input acts on its output at once. Then its output at a sample depends on the command that is
    /// computed from it.
    #[error(
        "plant: the input acts on the output at once (D is not 0); add the actuator's or the sensor's dynamics to the plant"
    )]
    Feedthrough,
    /// Matrices that do not fit together.
    #[error("{key} has {rows} x {columns} entries, {expected} expected: {reason}")]
    Dimension {
        /// `plant.b`, `noise.process` ...
        key: &'static str,
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
        /// `2 x 1`.
        expected: String,
        /// Which other matrix demands it.
        reason: &'static str,
    },
    /// A number that is not finite, negative where that means nothing, or zero where it must not be.
    #[error("{key}: {value} {reason}")]
    Value {
        /// `period`, `pid` ...
        key: &'static str,
        /// As given.
        value: f64,
        /// `is not positive` ...
        reason: &'static str,
    },
    /// Nothing that the delays do matters then.
    #[error(
        "the loop is unstable without any delay (it grows by a factor of {growth:.4} per period): check the sign and the gains of \
         the controller, and the period"
    )]
    Unstable {
        /// Growth per period.
        growth: f64,
    },
    /// The cost of a computation grows with the cube of the commands that are under way together.
    #[error(
        "up to {periods} commands are outstanding together, and more than {most} are not computed"
    )]
    TooLong {
        /// Commands, or periods of a constant delay.
        periods: u64,
        /// What is computed.
        most: u64,
    },
    /// All were lost, or later than the deadline.
    #[error("no response arrived in time: there is no delay to compute with")]
    NoAnswer,
}
