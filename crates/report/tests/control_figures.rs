//! Figures of a control loop with measured delays.

use wiregauge_control::{Assessment, Loop, Pid, Rules, TransferFunction, assess};
use wiregauge_report::figures::{Figure, of_control};

const PERIOD_NS: u64 = 6_000_000;

fn assessed(delays: &[Option<u64>]) -> Assessment {
    let plant = TransferFunction::parse("plant", 's', "1000/(s^2+s)");
    let plant = plant
        .and_then(|plant| plant.state_space())
        .expect("a plant");
    let controller = Pid::new(0.96, 0.0, 0.049).state_space(6e-3).expect("PD");
    let model = Loop::new(plant, controller, 6e-3).expect("it fits");
    assess(&model, delays, Rules::default()).expect("a verdict")
}

/// Between 0.5 and 3 ms; five lost in a row, twice.
fn delays() -> Vec<Option<u64>> {
    let mut random = fastrand::Rng::with_seed(5);
    let mut delays: Vec<_> = (0..4000)
        .map(|_| Some(random.u64(PERIOD_NS / 12..PERIOD_NS / 2)))
        .collect();
    delays[1200..1205].fill(None);
    delays[3000..3005].fill(None);
    delays
}

fn drawn(delays: &[Option<u64>]) -> Vec<Figure> {
    let figures = of_control(&assessed(delays), "");
    if let Some(folder) = std::env::var_os("FIGURES") {
        for figure in &figures {
            let file = std::path::Path::new(&folder).join(format!("{}.svg", figure.name));
            std::fs::write(file, &figure.svg).expect("the figure is written");
        }
    }
    figures
}

#[test]
fn a_loop_has_a_step_response_and_its_cost() {
    let figures = drawn(&delays());
    let names: Vec<_> = figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(names, ["control-step", "control-cost"]);
    for (figure, parts) in figures.iter().zip([
        ["no delay", "40 starting moments", "final value"],
        [
            "every delay the same",
            "this trace, at its median delay",
            "Cost",
        ],
    ]) {
        for part in parts {
            assert!(figure.svg.contains(part), "{}: {part}", figure.name);
        }
    }
    let caption = &figures[1].caption;
    let words = "it costs as much as a constant delay of 1.";
    assert!(caption.contains(words), "{caption}");
}

#[test]
fn a_loop_that_did_not_hold_has_no_step_response_and_no_point_beside_the_curve() {
    let figures = drawn(&[Some(5 * PERIOD_NS / 2); 2000]);
    let names: Vec<_> = figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(names, ["control-cost"]);
    assert!(!figures[0].svg.contains("this trace"));
    assert!(
        !figures
            .iter()
            .any(|figure| figure.svg.contains("NaN") || figure.svg.contains("inf"))
    );
}

#[test]
fn what_grows_by_orders_of_magnitude_does_not_flatten_the_rest() {
    // The output grows for 300 cycles of late answers, and decays afterwards: the trace as a whole held.
    let mut trace = vec![Some(PERIOD_NS / 2); 4000];
    trace[2000..2300].fill(Some(4 * PERIOD_NS));
    let figures = drawn(&trace);
    let names: Vec<_> = figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(names, ["control-step", "control-cost"]);
    let [step, cost] = &figures[..] else {
        panic!("{names:?}");
    };
    assert!(
        step.caption.contains("beyond the figure"),
        "{}",
        step.caption
    );
    assert!(
        cost.caption
            .contains("x that without delay, is beyond the figure"),
        "{}",
        cost.caption
    );
    assert!(!cost.svg.contains("this trace"));
    for figure in &figures {
        assert!(!figure.svg.contains("000,000"), "{}", figure.name);
    }
}

#[test]
fn figures_of_several_points_name_their_point() {
    let delays = delays();
    for figure in of_control(&assessed(&delays), "depth 2") {
        assert!(figure.title.ends_with(" at depth 2"), "{}", figure.title);
        // In the picture too, which may be copied without its title.
        assert!(figure.svg.contains(">depth 2</text>"), "{}", figure.name);
    }
}
