"""Every loss keeps the laws that the rest of the library rests on, judged in high precision.

One row a loss in `references.losses.ROWS`.
"""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from boxreg.losses import LOSSES, Weighted
from boxreg.rounding import UNIT_ROUNDOFF
from references.losses import ROWS, WIDE, Row

U = mpf(UNIT_ROUNDOFF)
LEAST = mpf(10) ** -290
DIGITS = 700  # brackets cancel from 1e200 down to the square of the smallest numbers
every_row = pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))


def arrays(*numbers: float) -> list[np.ndarray]:
    return [np.array([number]) for number in numbers]


def background(row: Row) -> float:
    return float(getattr(row.loss, "background", 0.0))


@st.composite
def duals(draw: st.DrawFn, row: Row, p: float, y: float) -> float:
    """v in the domain of f*: its ends, f'(p), its neighbours, anything."""
    (low,), (high,) = row.loss.dual_domain(np.array([y]))
    slope = float(row.loss.derivatives(*arrays(p, y))[0])
    slope = slope if np.isfinite(slope) else -1.0
    near = draw(st.sampled_from([1.0, 1.0 + 2e-16, 1.0 - 1e-13, 1.0 + 1e-6, 0.5, 1.5]))
    ends = [float(end) for end in (low, high) if np.isfinite(end)]
    inner = [low + (high - low) * draw(st.floats(0.0, 1.0))] if len(ends) == 2 else []
    close = [end * (1.0 - 2.0**-53) for end in ends]
    v = draw(st.sampled_from([slope * near, slope, *ends, *inner, *close, draw(WIDE)]))
    return float(np.clip(v, low, high))


def bracket(row: Row, p: float, v: float, y: float) -> tuple[Any, Any]:
    """f(p) + f*(v) - p v and the sum of the sizes of its parts."""
    p, v, y = mpf(p), mpf(v), mpf(y)
    parts = row.value(p, y), row.conjugate(v, y), -p * v
    if mpmath.inf in parts:
        return mpmath.inf, mpmath.inf
    return sum(parts), sum(abs(part) for part in parts)


def test_every_loss_has_a_row() -> None:
    """The table covers the registry, and each name is that of its class."""
    assert {name.split(",")[0] for name in ROWS} == set(LOSSES)
    for name, row in ROWS.items():
        assert row.loss.name == name.split(",")[0]
        assert LOSSES[row.loss.name] is type(row.loss)


@every_row
@given(data=st.data())
def test_fenchel_young_terms(row: Row, data: st.DataObject) -> None:
    """f + f* + p theta: never below the true one, and above it by rounding of second order only."""
    p, y = data.draw(row.predictions), data.draw(row.targets)
    v = data.draw(duals(row, p, y))
    with mpmath.workdps(DIGITS):
        exact, size = bracket(row, p, v, y)
        computed = row.loss.fenchel_young_terms(*arrays(p, -v, y))[0]
        assert exact >= -(mpf(10) ** (50 - DIGITS)) * (1 + size)
        if not exact < mpf(10) ** 290:
            assert computed == np.inf or exact < mpmath.inf
            return
        assert mpf(computed) >= exact
        reference = 1 + mpf(p) ** 2 + mpf(y) ** 2
        assert mpf(computed) <= exact * (1 + mpf(10) ** -5) + mpf(10) ** -26 * reference


@every_row
@given(data=st.data())
def test_values_and_conjugates(row: Row, data: st.DataObject) -> None:
    """f and f* to the relative error that the loss declares; +inf outside the domain."""
    loss = row.loss
    p, y = data.draw(row.predictions), data.draw(row.targets)
    v = data.draw(duals(row, p, y))
    with mpmath.workdps(DIGITS):
        mp, my, mv, b = mpf(p), mpf(y), mpf(v), mpf(background(row))
        value, conjugate = row.value(mp, my), row.conjugate(mv, my)
        computed = loss.values(*arrays(p, y))[0]
        if value == mpmath.inf:
            assert computed == np.inf
        else:
            moved = abs(row.derivative(mp, my)) * (mp + b) if b else 0  # by the rounding of p + b
            allowed = loss.roundoff_value * U * value + 2 * U * moved + LEAST
            assert abs(computed - value) <= allowed
        computed = loss.conjugates(*arrays(v, y))[0]
        if conjugate == mpmath.inf:
            assert computed == np.inf
        elif abs(conjugate) < mpf(10) ** 300:
            parts = abs(conjugate) + abs(mv) * (abs(my) + b)
            assert abs(computed - conjugate) <= loss.roundoff_value * U * parts + LEAST
    (low,), (high,) = loss.dual_domain(np.array([y]))
    for outside in (low - 1e-9 * (1.0 + abs(low)), high + 1e-9 * (1.0 + abs(high))):
        if np.isfinite(outside):
            assert loss.conjugates(*arrays(outside, y))[0] == np.inf
            assert loss.fenchel_young_terms(*arrays(p, -outside, y))[0] == np.inf


@every_row
@given(data=st.data())
def test_derivatives(row: Row, data: st.DataObject) -> None:
    """f' within the error that the loss proves, of f in high precision; compiled f' agrees."""
    loss = row.loss
    p, y = data.draw(row.predictions), data.draw(row.targets)
    computed = loss.derivatives(*arrays(p, y))
    np.testing.assert_array_equal(loss.residual(*arrays(p, y)), -computed)
    with mpmath.workdps(DIGITS):
        mp, my = mpf(p), mpf(y)
        exact = row.derivative(mp, my)
        if not abs(exact) < mpf(10) ** 300:
            assert computed[0] <= -1e300
            return
        error = loss.derivative_errors(np.array([p]), computed, np.array([y]))[0]
        assert abs(mpf(computed[0]) - exact) <= mpf(error) + LEAST
        step = (abs(mp) + LEAST) * mpf(10) ** -(DIGITS // 3)
        chord = (row.value(mp + step, my) - row.value(mp, my)) / step
        slopes = exact, row.derivative(mp + step, my)
        room = mpf(10) ** -(DIGITS // 4) * (1 + abs(exact) + row.value(mp, my) / (abs(mp) + LEAST))
        assert slopes[0] - room <= chord <= slopes[1] + room
    scalar = loss.scalar_derivative()
    assert (scalar is None) == (loss.alpha == 0.0)
    if scalar is not None and abs(p) < 700.0:
        assert scalar(p, y) == pytest.approx(computed[0], rel=1e-14, abs=1e-300)


@every_row
@given(data=st.data())
def test_curvatures(row: Row, data: st.DataObject) -> None:
    """f'' is the slope of f' on one side at least, and no larger than the bounds on it."""
    loss = row.loss
    p, y = data.draw(row.predictions), data.draw(row.targets)
    computed = loss.curvatures(*arrays(p, y))[0]
    assert computed <= loss.smoothness(np.array([y]))[0] * (1.0 + 1e-14)
    assert computed <= loss.curvature_bounds(np.array([y]))[0] * (1.0 + 1e-14)
    if loss.needs_nonnegative and p + background(row) == 0.0:
        assert computed == (0.0 if loss.linear_rows(np.array([y])) is not None else np.inf)
        return
    with mpmath.workdps(DIGITS):
        mp, my = mpf(p), mpf(y)
        here = row.derivative(mp, my)
        near = abs(mp) + mpf(background(row)) if loss.needs_nonnegative else max(abs(mp), mpf(1))
        step = near * mpf(10) ** -(DIGITS // 3)
        ahead = (row.derivative(mp + step, my) - here) / step
        behind = ahead
        if p > 0.0 or not loss.needs_nonnegative:
            behind = (here - row.derivative(mp - step, my)) / step
        if not max(ahead, behind) < mpf(10) ** 290:
            assert computed > 1e280
            return
        room = mpf(10) ** -12 * max(ahead, behind) + LEAST
        assert min(ahead, behind) - room <= computed <= max(ahead, behind) + room


@every_row
@given(data=st.data())
def test_derivative_is_lipschitz(row: Row, data: st.DataObject) -> None:
    """|f'(p) - f'(q)| <= |p - q| / alpha; without alpha, smoothness has no global constant."""
    loss = row.loss
    y = np.array([data.draw(row.targets)])
    if loss.alpha == 0.0:
        assert loss.smoothness(y)[0] == np.inf
        return
    p, q = arrays(data.draw(row.predictions), data.draw(row.predictions))
    slopes = loss.derivatives(p, y), loss.derivatives(q, y)
    error = loss.derivative_errors(p, slopes[0], y) + loss.derivative_errors(q, slopes[1], y)
    room = np.abs(p - q) / loss.alpha * (1.0 + 4e-16) + error
    assert np.all(np.abs(slopes[0] - slopes[1]) <= room)
    assert loss.smoothness(y)[0] == 1.0 / loss.alpha


@every_row
@given(data=st.data())
def test_prox_of_the_conjugate(row: Row, data: st.DataObject) -> None:
    """No s at a small distance on either side has a lower f*(s) + (s - v)² / (2 sigma)."""
    v, y = data.draw(st.floats(-1e3, 1e3)), data.draw(row.targets.filter(lambda y: abs(y) < 1e6))
    sigma = data.draw(st.floats(1e-2, 1e2))
    s = float(row.loss.prox_conjugate(*arrays(v), sigma, np.array([y]))[0])
    apart = 1e-9 * (1.0 + abs(s) + abs(v))
    with mpmath.workdps(60):

        def objective(t: float) -> Any:
            return row.conjugate(mpf(t), mpf(y)) + (mpf(t) - mpf(v)) ** 2 / (2 * mpf(sigma))

        assert objective(s) < mpmath.inf
        assert objective(s) <= min(objective(s + apart), objective(s - apart))


@every_row
@given(data=st.data())
def test_weights(row: Row, data: st.DataObject) -> None:
    """ω f has the derivative, conjugate, bracket, prox and local constant of ω f."""
    p, y = data.draw(row.predictions), data.draw(row.targets)
    v = data.draw(duals(row, p, y))
    weight = 2.0 ** data.draw(st.integers(-20, 20))  # a power of two: v and v ω are both exact
    loss = Weighted(row.loss, np.array([weight]))
    with mpmath.workdps(DIGITS):
        exact, _ = bracket(row, p, v, y)
        computed = loss.fenchel_young_terms(*arrays(p, -v * weight, y))[0]
        assert computed == np.inf or mpf(computed) >= mpf(weight) * exact
    for name, factor, arguments in (
        ("values", weight, (p,)),
        ("derivatives", weight, (p,)),
        ("curvatures", weight, (p,)),
        ("conjugates", 1.0, (v,)),
    ):
        own = getattr(row.loss, name)(*arrays(*arguments, y))
        weighted = getattr(loss, name)(*arrays(*[a * weight / factor for a in arguments], y))
        np.testing.assert_allclose(weighted, weight * own, rtol=1e-15)
    if abs(y) < 1e6 and abs(v) < 1e6:
        prox = loss.prox_conjugate(*arrays(weight * v), 0.3 * weight, np.array([y]))
        own = row.loss.prox_conjugate(*arrays(v), 0.3, np.array([y]))
        np.testing.assert_allclose(prox, weight * own, rtol=1e-12, atol=1e-12 * weight)
    gap = abs(data.draw(WIDE))
    own = row.loss.local_smoothness(*arrays(p, -v), gap, np.array([y]))
    weighted = loss.local_smoothness(*arrays(p, -v * weight), gap * weight, np.array([y]))
    np.testing.assert_allclose(weighted, weight * own, rtol=1e-15)
