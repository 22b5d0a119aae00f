"""Every loss keeps the laws that the rest of the library rests on. One row a loss in `DOMAINS`."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boxreg.losses import LOSSES

DOMAINS = {
    # name: (predictions, targets) to draw from
    "least_squares": (st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)),
}
PRECISE = {
    # name: (f, f*) in mpmath
    "least_squares": (
        lambda p, y: (p - y) ** 2 / 2,
        lambda v, y: ((y + v) ** 2 - y**2) / 2,
    ),
}


def arrays(*numbers: float) -> list[np.ndarray]:
    return [np.array([number]) for number in numbers]


def test_every_loss_has_a_row() -> None:
    """The tables of this file cover the registry."""
    assert set(DOMAINS) == set(PRECISE) == set(LOSSES)


@pytest.mark.parametrize("name", sorted(LOSSES))
@given(data=st.data())
def test_fenchel_young(name: str, data: st.DataObject) -> None:
    """F(p) + F*(v) >= p v for every v, with equality at v = f'(p)."""
    loss = LOSSES[name]()
    predictions, targets = DOMAINS[name]
    p, y = arrays(data.draw(predictions), data.draw(targets))
    size = 1.0 + p**2 + y**2
    at_derivative = loss.derivatives(p, y)
    equality = loss.values(p, y) + loss.conjugates(at_derivative, y) - p * at_derivative
    assert np.all(np.abs(equality) <= 1e-12 * size)
    low, high = loss.dual_domain(y)
    v = np.clip(arrays(data.draw(st.floats(-1e6, 1e6)))[0], low, high)
    slack = loss.values(p, y) + loss.conjugates(v, y) - p * v
    assert np.all(slack >= -1e-12 * (size + v**2))
    assert loss.fenchel_young(p, -v, y) >= 0.0


@pytest.mark.parametrize("name", sorted(LOSSES))
@given(data=st.data())
def test_fenchel_young_bound_is_an_upper_bound(name: str, data: st.DataObject) -> None:
    """The computed bracket is never below the one in high precision."""
    loss = LOSSES[name]()
    predictions, targets = DOMAINS[name]
    p, y, theta = (data.draw(s) for s in (predictions, targets, predictions))
    value, conjugate = PRECISE[name]
    with mpmath.workdps(1000):  # the terms cancel down to the square of the smallest float
        exact = value(mpmath.mpf(p), mpmath.mpf(y)) + conjugate(-mpmath.mpf(theta), mpmath.mpf(y))
        exact += mpmath.mpf(p) * mpmath.mpf(theta)
        assert mpmath.mpf(loss.fenchel_young(*arrays(p, theta, y))) >= exact


@pytest.mark.parametrize("name", sorted(LOSSES))
@given(data=st.data())
def test_values_against_high_precision(name: str, data: st.DataObject) -> None:
    """Value, conjugate and derivative agree with mpmath to rounding."""
    loss = LOSSES[name]()
    predictions, targets = DOMAINS[name]
    p, y = data.draw(predictions), data.draw(targets)
    value, conjugate = PRECISE[name]
    scale = 1.0 + p * p + y * y
    with mpmath.workdps(60):
        mp, my = mpmath.mpf(p), mpmath.mpf(y)
        step = mpmath.mpf(10) ** -20
        slope = (value(mp + step, my) - value(mp - step, my)) / (2 * step)
        assert abs(loss.values(*arrays(p, y))[0] - value(mp, my)) <= 1e-14 * scale
        assert abs(loss.conjugates(*arrays(p, y))[0] - conjugate(mp, my)) <= 1e-14 * scale
        assert abs(loss.derivatives(*arrays(p, y))[0] - slope) <= 1e-9 * scale**0.5
    np.testing.assert_array_equal(loss.residual(*arrays(p, y)), -loss.derivatives(*arrays(p, y)))


@pytest.mark.parametrize("name", sorted(LOSSES))
@given(data=st.data())
def test_derivative_is_lipschitz(name: str, data: st.DataObject) -> None:
    """|f'(p) - f'(q)| <= |p - q| / alpha."""
    loss = LOSSES[name]()
    predictions, targets = DOMAINS[name]
    p, q, y = arrays(data.draw(predictions), data.draw(predictions), data.draw(targets))
    change = np.abs(loss.derivatives(p, y) - loss.derivatives(q, y))
    assert np.all(change <= np.abs(p - q) / loss.alpha + 1e-9)


@pytest.mark.parametrize("name", sorted(LOSSES))
@given(data=st.data())
def test_prox_of_the_conjugate(name: str, data: st.DataObject) -> None:
    """The prox is where v - s = sigma (f*)'(s), checked by Moreau: s = f'((v - s) / sigma)."""
    loss = LOSSES[name]()
    v, y = arrays(data.draw(st.floats(-1e3, 1e3)), data.draw(DOMAINS[name][1]))
    sigma = data.draw(st.floats(1e-2, 1e2))
    s = loss.prox_conjugate(v, sigma, y)
    np.testing.assert_allclose(
        loss.derivatives((v - s) / sigma, y), s, rtol=1e-6, atol=1e-6 * (1 + np.abs(y).max())
    )


def test_least_squares_by_hand() -> None:
    """Values computed by hand: f(3; 1) = 2, f'(3; 1) = 2, f*(2; 1) = 4, prox of v = 5 is 2."""
    loss = LOSSES["least_squares"]()
    assert loss.values(*arrays(3.0, 1.0))[0] == 2.0
    assert loss.derivatives(*arrays(3.0, 1.0))[0] == 2.0
    assert loss.conjugates(*arrays(2.0, 1.0))[0] == 4.0
    assert loss.prox_conjugate(np.array([5.0]), 1.0, np.array([1.0]))[0] == 2.0
