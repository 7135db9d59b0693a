//! The loops of the tests.

use wiregauge_control::{
    Cost, Loop, Matrix, Noise, OnMiss, Order, Pid, Rules, StateSpace, TransferFunction,
};

pub fn on_miss(on_miss: OnMiss) -> Rules {
    Rules {
        on_miss,
        ..Rules::default()
    }
}

/// Commands count as they arrive.
pub const ARRIVAL: Rules = Rules {
    order: Order::Arrival,
    on_miss: OnMiss::Hold,
    deadline_ns: None,
};

/// `x' = v + w`, `y = x`, `u = -K y` once a second, noise of intensity 1, cost `E y^2`.
pub fn integrator(gain: f64) -> Loop {
    let plant = TransferFunction::parse("plant", 's', "1/s").and_then(|read| read.state_space());
    let controller = StateSpace::gain(Matrix::from_element(1, 1, gain));
    Loop::new(plant.expect("proper"), controller, 1.0).expect("it fits")
}

/// `1000/(s^2+s)` with a PD controller every 6 ms, noise of intensity 1 on the input, cost `E y^2`.
pub fn servo() -> Loop {
    let plant = StateSpace::new(
        "plant",
        Matrix::from_row_slice(2, 2, &[-1.0, 0.0, 1.0, 0.0]),
        Matrix::from_row_slice(2, 1, &[1.0, 0.0]),
        Matrix::from_row_slice(1, 2, &[0.0, 1000.0]),
        Matrix::zeros(1, 1),
    )
    .expect("it fits");
    let period_s = 6e-3;
    let controller = Pid::new(0.96, 0.0, 0.049)
        .state_space(period_s)
        .expect("PD");
    Loop {
        noise: Noise::on_input(&plant, 1.0),
        cost: Cost::of_output(&plant),
        plant,
        controller,
        period_s,
        limits: None,
    }
    .checked()
    .expect("it fits")
}
