//! A PID controller as a program runs it.

use crate::error::ControlError;
use crate::system::{Matrix, StateSpace};

/// `u = K (e + 1/Ti integral of e + Td e')`, the derivative low-pass filtered with the time constant `Td/N`.
///
/// As Åström and Wittenmark, *Computer-Controlled Systems*, 3rd edition, section 8.5: the integral by forward, the
/// derivative by backward differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pid {
    /// Gain K.
    pub gain: f64,
    /// Integral time Ti in seconds; 0: no integral.
    pub integral_s: f64,
    /// Derivative time Td in seconds; 0: no derivative.
    pub derivative_s: f64,
    /// N: the derivative's gain is at most N K. 10 is usual.
    pub filter: f64,
}

impl Pid {
    /// With N = 10.
    pub fn new(gain: f64, integral_s: f64, derivative_s: f64) -> Pid {
        Pid {
            gain,
            integral_s,
            derivative_s,
            filter: 10.0,
        }
    }

    /// The controller that runs once a period.
    ///
    /// # Errors
    /// [`ControlError::Value`] if a time is negative or not finite, or the filter is not positive.
    pub fn state_space(&self, period_s: f64) -> Result<StateSpace, ControlError> {
        let Pid {
            gain,
            integral_s,
            derivative_s,
            filter,
        } = *self;
        for (key, value, is_right, reason) in [
            ("pid", gain, gain.is_finite(), "is not a finite gain"),
            (
                "pid",
                integral_s,
                integral_s >= 0.0 && integral_s.is_finite(),
                "is not an integral time (0: none)",
            ),
            (
                "pid",
                derivative_s,
                derivative_s >= 0.0 && derivative_s.is_finite(),
                "is not a derivative time (0: none)",
            ),
            (
                "filter",
                filter,
                filter > 0.0 && filter.is_finite(),
                "is not a filter constant N, which is positive",
            ),
        ] {
            if !is_right {
                return Err(ControlError::Value { key, value, reason });
            }
        }
        let mut modes = Vec::new();
        let mut direct = gain;
        if integral_s > 0.0 {
            modes.push((1.0, gain * period_s / integral_s));
        }
        if derivative_s > 0.0 {
            let time = derivative_s + filter * period_s;
            let (pole, jump) = (derivative_s / time, filter * gain * derivative_s / time);
            modes.push((pole, -jump * (1.0 - pole)));
            direct += jump;
        }
        let n = modes.len();
        StateSpace::new(
            "controller",
            Matrix::from_fn(n, n, |i, j| if i == j { modes[i].0 } else { 0.0 }),
            Matrix::from_fn(n, 1, |i, _| modes[i].1),
            Matrix::from_element(1, n, 1.0),
            Matrix::from_element(1, 1, direct),
        )
    }
}
