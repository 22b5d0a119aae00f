"""Divergences scale with the data: y in another unit changes x and P by a factor, and no verdict."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import boxreg
from boxreg import validate
from boxreg.losses import BetaDivergence, KullbackLeibler
from boxreg.presolve import reference_scale
from boxreg.status import Status

LOSSES = [(KullbackLeibler(), 1.0), (BetaDivergence(1.5), 1.5), (BetaDivergence(1.1), 1.1)]
losses = pytest.mark.parametrize(("loss", "power"), LOSSES, ids=["kl", "1.5", "1.1"])


def counts(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A >= 0 and y > 0 that no x >= 0 fits."""
    rng = np.random.default_rng([seed, 91])
    A = rng.random((20, 7))
    return A, (A @ np.where(rng.random(7) < 0.6, rng.random(7), 0.0) + 0.1) * rng.uniform(
        0.5, 1.5, 20
    )


def divergence(A: np.ndarray, y: np.ndarray, x: np.ndarray, power: float) -> mpmath.mpf:
    """P(x) to 40 digits."""
    with mpmath.workdps(40):
        b, total = mpmath.mpf(power), mpmath.mpf(0)
        for row, target in zip(A, y, strict=True):
            t = mpmath.mpf(float(target))
            q = mpmath.fsum(
                mpmath.mpf(float(a)) * mpmath.mpf(float(v)) for a, v in zip(row, x, strict=True)
            )
            if power == 1.0:
                total += q - t + t * mpmath.log(t / q)
            else:
                total += t**b / (b * (b - 1)) + q**b / b - t * q ** (b - 1) / (b - 1)
        return +total


@losses
@pytest.mark.parametrize("exponent", [-830, -665, -400, -365, 330, 460])
def test_solved_in_every_unit(loss: boxreg.losses.Loss, power: float, exponent: int) -> None:
    """Powers of 2, which round nothing: P from 1e-250 to 1e207, against P in the unit of the data."""
    if exponent * power < -860:
        exponent = -560
    for seed in range(4):
        A, y = counts(seed)
        plain, scaled = boxreg.solve(A, y, loss=loss), boxreg.solve(A, y * 2.0**exponent, loss=loss)
        assert plain.success
        assert scaled.success, scaled.message
        assert scaled.gap <= 1e-7 * scaled.scale
        with mpmath.workdps(40):
            factor = mpmath.mpf(2) ** (mpmath.mpf(exponent) * mpmath.mpf(power))
            found = divergence(A, y * 2.0**exponent, scaled.x, power) / factor
            known = divergence(A, y, plain.x, power)
            assert found - mpmath.mpf(scaled.gap) / factor <= known
            assert known - mpmath.mpf(plain.gap) <= found


@losses
def test_the_least_gap_worth_asking_for_scales_too(loss: boxreg.losses.Loss, power: float) -> None:
    """What rounding hides of P is a tiny share of it in every unit."""
    A, y = counts(0)
    for exponent in (-300, 0, 100, 400):
        scale, least = reference_scale(validate.problem(A, y * 2.0**exponent, 0.0, np.inf, loss))
        assert 0.0 <= least <= 1e-25 * scale


@losses
@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
def test_where_float64_ends(loss: boxreg.losses.Loss, power: float) -> None:
    """With P next to the least number there is, no proof is possible, and the answer says why."""
    A, y = counts(1)
    result = boxreg.solve(A, y * 1e-290, loss=loss)
    assert result.status is Status.PRECISION_LIMIT
    assert result.certificate.rounding <= result.certificate.gap
