//! The two loops of the tables of known values.

use wiregauge_control::{Loop, Matrix, Noise, Pid, StateSpace, TransferFunction};

/// An integrator under a gain, period 1 s, noise of intensity 1, cost E y^2.
pub fn integrator(gain: f64) -> Loop {
    let plant = TransferFunction::parse("plant", 's', "1/s").and_then(|plant| plant.state_space());
    let controller = StateSpace::gain(Matrix::from_element(1, 1, gain));
    Loop::new(plant.expect("it is proper"), controller, 1.0).expect("it fits")
}

/// The servo of Jitterbug's manual, 1000/(s^2+s), under a PD controller with a period of 6 ms.
pub fn servo() -> Loop {
    let plant = StateSpace::new(
        "plant",
        Matrix::from_row_slice(2, 2, &[-1.0, 0.0, 1.0, 0.0]),
        Matrix::from_row_slice(2, 1, &[1.0, 0.0]),
        Matrix::from_row_slice(1, 2, &[0.0, 1000.0]),
        Matrix::zeros(1, 1),
    );
    let controller = Pid::new(0.96, 0.0, 0.049).state_space(0.006);
    let made = Loop::new(
        plant.expect("it fits"),
        controller.expect("it is right"),
        0.006,
    );
    let mut made = made.expect("it fits");
    made.noise = Noise::on_input(&made.plant, 1.0);
    made
}
