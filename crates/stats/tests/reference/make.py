"""Writes reference.json: fixed-seed samples and what numpy makes of them.

Run with numpy 2: python make.py > reference.json
"""

import json
import sys

import numpy as np

PERCENTILES = [0.25, 0.5, 0.75, 0.9, 0.99, 0.999]


def describe(name: str, samples: np.ndarray) -> dict:
    """Results for one set of samples (1-D, integer nanoseconds)."""
    quantiles = np.quantile(samples, PERCENTILES, method="inverted_cdf")
    ordered = np.sort(samples)
    return {
        "name": name,
        "samples": samples.tolist(),
        "mean": float(np.mean(samples)),
        "sd": float(np.std(samples, ddof=1)) if samples.size > 1 else 0.0,
        "quantiles": {str(p): int(q) for p, q in zip(PERCENTILES, quantiles)},
        "min": int(ordered[0]),
        "max": int(ordered[-1]),
        "max3": int(ordered[-3]) if samples.size >= 3 else int(ordered[0]),
    }


def main() -> None:
    rng = np.random.default_rng(20240607)
    as_ns = lambda x: np.rint(x).astype(np.int64)
    sets = {
        "one sample": np.array([42]),
        "two samples": np.array([7, 3]),
        "all equal": np.full(100, 1_000_000),
        "with zeros": rng.integers(0, 3, 200),
        "log-normal, n = 1000": as_ns(1e6 * np.exp(0.5 * rng.standard_normal(1000))),
        "Pareto, n = 2000": as_ns(1e5 * (1 + rng.pareto(1.1, 2000))),
        "whole milliseconds, n = 700": 1_000_000 * rng.poisson(8, 700),
        "two modes, n = 1234": as_ns(
            np.where(rng.random(1234) < 0.8, rng.uniform(7e6, 9e6, 1234), rng.uniform(30e6, 35e6, 1234))
        ),
        "far from zero, n = 501": 1_700_000_000_000_000 + rng.integers(0, 1000, 501),
        "primes of samples, n = 997": rng.integers(0, 10**9, 997),
    }
    json.dump(
        {"numpy": np.__version__, "sets": [describe(name, x) for name, x in sets.items()]},
        sys.stdout,
        separators=(",", ":"),
    )
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
