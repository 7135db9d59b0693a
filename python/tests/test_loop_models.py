"""A control loop from Python's objects: every way to give one system has the same verdict."""

import numpy as np
import pytest

import wiregauge as wg

control = pytest.importorskip("control")
signal = pytest.importorskip("scipy.signal")

PERIOD = 10e-3
# A PD controller, K = 0.96, Td = 0.049 s, N = 10, as a transfer function in z.
POLE = 0.049 / (10 * PERIOD + 0.049)
JUMP = 10 * 0.96 * 0.049 / (10 * PERIOD + 0.049)
NUM = [0.96 + JUMP, -(0.96 * POLE + JUMP)]
DEN = [1.0, -POLE]
PLANT = ([1000.0], [1.0, 1.0, 0.0])
MATRICES = (np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([[1.0], [0.0]]), np.array([[0.0, 1000.0]]))


def costs(run, **options):
    systems = [options.pop(name) for name in ("plant", "controller") if name in options]
    return list(run.control(*systems, point=[0, 1], **options).table()["cost"])


@pytest.fixture(scope="module")
def expected(stored):
    return costs(stored, plant="1000/(s^2+s)", pid=(0.96, 0, 0.049), period=PERIOD)


@pytest.mark.parametrize(
    ("plant", "controller"),
    [
        (PLANT, (NUM, DEN)),
        (MATRICES, (NUM, DEN)),
        ((*MATRICES, np.zeros((1, 1))), f"({NUM[0]}*z{NUM[1]})/(z-{POLE})"),
        (control.tf(*PLANT), control.tf(NUM, DEN, PERIOD)),
        (control.ss(*MATRICES, 0), control.ss(control.tf(NUM, DEN, PERIOD))),
        (signal.TransferFunction(*PLANT), signal.TransferFunction(NUM, DEN, dt=PERIOD)),
        (signal.StateSpace(*MATRICES, 0), signal.TransferFunction(NUM, DEN, dt=PERIOD).to_ss()),
        (signal.ZerosPolesGain([], [0.0, -1.0], 1000.0), signal.TransferFunction(NUM, DEN, dt=PERIOD)),
    ],
)
def test_every_way_to_give_a_system_has_the_same_cost(stored, expected, plant, controller):
    found = costs(stored, plant=plant, controller=controller, period=PERIOD)
    assert found == pytest.approx(expected, rel=1e-6)


def test_the_period_of_a_discrete_controller_is_that_of_the_loop(stored, expected):
    discrete = control.tf(NUM, DEN, PERIOD)
    assert costs(stored, plant=PLANT, controller=discrete) == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ValueError, match="period must be that of the controller"):
        stored.control(plant=PLANT, controller=discrete, period=2 * PERIOD)


def test_a_model_is_a_mapping_with_arrays_for_what_has_no_flag(stored, expected):
    model = {
        "period": PERIOD,
        "plant": MATRICES,
        "controller": {"pid": [0.96, 0, 0.049]},
        "noise": {"process": np.diag([2.0, 0.0])},
    }
    found = stored.control(model=model, point=[0, 1])
    assert list(found.table()["cost"]) == pytest.approx([2 * cost for cost in expected], rel=1e-6)
    # The text is made later, from the same model.
    assert "ON THIS TRACE" in str(found)
    gain = costs(stored, plant="1/s", controller=np.array([[0.5]]), period=PERIOD)
    assert gain == pytest.approx(costs(stored, plant="1/s", controller="0.5", period=PERIOD))


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"plant": control.tf([1], [1, 1], 0.1)}, ValueError, "plant must be in continuous time"),
        ({"controller": control.tf([1], [1, 1])}, ValueError, "controller must be in discrete time"),
        ({"controller": signal.TransferFunction([1], [1, 1])}, ValueError, "sample it with the period"),
        ({"plant": 3}, TypeError, "plant must be a transfer function as text, .* not int"),
        ({"plant": ([[1j]], [[1]], [[1]])}, TypeError, "plant.a must be a real matrix"),
        ({"plant": (["a"], [1])}, ValueError, "state space"),
        ({"plant": PLANT, "model": "loop.toml"}, ValueError, "model must be a mapping"),
        ({"plant": (np.eye(2), np.eye(2), np.eye(3))}, wg.UsageError, "plant.c has 3 x 3 entries"),
        ({"plant": ([1, 0, 0], [1, 1])}, wg.UsageError, "improper"),
    ],
)
def test_what_is_no_system_is_an_error_that_names_the_argument(stored, options, error, words):
    with pytest.raises(error, match=words):
        stored.control(**{"plant": "1/s", "controller": "0.5", "period": PERIOD, **options})
