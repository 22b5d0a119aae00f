"""Powers near 1: values and error bounds against 60 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from boxreg.losses.powers import power_excess


@pytest.mark.parametrize("a", [0.1, 0.5, 0.9, 1.1, 1.5, 1.99])
def test_the_error_bound_holds(a: float) -> None:
    """|(t^a - 1) / a - d| for t = 1 + d, near 1 and far from it; some errors come near their bounds."""
    rng = np.random.default_rng(7)
    d = np.concatenate([10.0 ** rng.uniform(-9, -1.21, 60), rng.uniform(0.07, 5.0, 20)])
    d = np.concatenate([d, -np.minimum(d, 0.99)])
    t = 1.0 + d
    value, bound = power_excess(t, t - 1.0, a)
    worst = 0.0
    with mpmath.workdps(60):
        for k in range(len(d)):
            x = mpmath.mpf(float(t[k]))
            true = abs((x ** mpmath.mpf(a) - 1) / mpmath.mpf(a) - (x - 1))
            error = abs(mpmath.mpf(float(value[k])) - true)
            assert error <= float(bound[k]), float(d[k])
            worst = max(worst, float(error / mpmath.mpf(float(value[k]) or 1.0)))
    assert worst > 0.0  # a bound of 0 would not do
