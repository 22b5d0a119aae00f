"""Local constants: never below 1 / f*'' anywhere that the gap leaves open, and sharp in the end."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mpf

from references.losses import ROWS, Row, powers

every_row = pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
MILD = st.floats(-5.0, 5.0)
COUNTS = st.one_of(st.floats(0.01, 20.0), powers(-6, 4))
HALVINGS = 40


def drawn(row: Row, data: st.DataObject) -> tuple[float, float, float]:
    """A prediction, a second one whose -f' is theta, and a target."""
    kind = COUNTS if row.loss.needs_nonnegative else MILD
    p, reached = data.draw(kind), data.draw(kind)
    if data.draw(st.booleans()):
        reached = p * (1.0 + data.draw(st.floats(-1e-3, 1e-3)))
    y = data.draw(row.targets if _labels(row) else kind)
    return p, reached, y


def _labels(row: Row) -> bool:
    return row.loss.name in {"logistic", "squared_hinge"}


def bracket(row: Row, p: Any, v: Any, y: Any) -> Any:
    return row.value(p, y) + row.conjugate(v, y) - p * v


def farthest(row: Row, p: Any, v: Any, y: Any, gap: Any, sign: int) -> Any:
    """The p* farthest to one side of p with both brackets, (p, f'(p*)) and (p*, v), at most the gap.

    p itself is one: the gap is at least the bracket of (p, v). Both grow beyond it, so the p* allowed
    are an interval. p >= 0 where f asks for it.
    """

    def allowed(other: Any) -> bool:
        slope = row.derivative(other, y)
        if not abs(slope) < mpmath.inf:
            return False
        return max(bracket(row, p, slope, y), bracket(row, other, v, y)) <= gap

    def at(distance: Any) -> Any:
        if not row.loss.needs_nonnegative:
            return p + sign * distance
        return p * mpmath.exp(sign * distance)

    near, far = mpf(0), mpf(64)
    if allowed(at(far)):
        return at(far)
    for _ in range(HALVINGS):
        middle = (near + far) / 2
        near, far = (middle, far) if allowed(at(middle)) else (near, middle)
    return at(near)


@every_row
@settings(max_examples=40)
@given(data=st.data())
def test_no_allowed_solution_is_flatter(row: Row, data: st.DataObject) -> None:
    """L_i >= f'' all the way between p, the p of theta, and the farthest p* that the gap allows."""
    loss = row.loss
    p, reached, y = drawn(row, data)
    v = float(loss.derivatives(np.array([reached]), np.array([y]))[0])
    with mpmath.workdps(60):
        mp, mv, my = mpf(p), mpf(v), mpf(y)
        least = bracket(row, mp, mv, my)
        gap = float(abs(least)) * (1 + 1e-9) + data.draw(powers(-12, 2))
        ends = [farthest(row, mp, mv, my, mpf(gap), sign) for sign in (-1, 1)]
        bound = loss.local_smoothness(*(np.array([t]) for t in (p, -v)), gap, np.array([y]))[0]
        points = [mp, mpf(reached), *ends]
        low, high = float(min(points)), float(max(points))
        between = np.linspace(low, high, 201)
        if loss.needs_nonnegative:
            between = np.append(between, low)
        curvatures = loss.curvatures(between, np.full_like(between, y))
    assert bound >= curvatures.max() * (1.0 - 1e-9)
    assert bound <= loss.smoothness(np.array([y]))[0]


@every_row
@given(data=st.data())
def test_sharp_at_the_solution(row: Row, data: st.DataObject) -> None:
    """At theta = -f'(p) and a gap of nothing, the constant is f''(p), or the global one."""
    loss = row.loss
    p, _, y = drawn(row, data)
    assume(abs(p - y) < 6.0 or loss.needs_nonnegative)
    prediction, target = np.array([p]), np.array([y])
    theta = loss.residual(prediction, target)
    bound = loss.local_smoothness(prediction, theta, 1e-24, target)[0]
    sharp = loss.curvatures(prediction, target)[0]
    if loss.name in {"least_squares", "huber", "squared_hinge"}:
        assert bound == 1.0
    else:
        assert bound == pytest.approx(sharp, rel=1e-3)


@every_row
def test_arrays_of_gaps(row: Row) -> None:
    """A gap for each row, infinite ones included; a wider gap never lowers the constant."""
    p, theta, y = np.full(5, 1.5), np.full(5, -0.25), np.full(5, 1.0)
    gaps = np.array([1e-9, 1e-3, 1.0, 50.0, np.inf])
    bounds = row.loss.local_smoothness(p, theta, gaps, y)
    assert bounds.shape == (5,)
    assert np.all(np.diff(bounds[:-1]) >= 0.0)
    assert bounds[-1] >= bounds[-2]
    assert not np.isnan(bounds).any()
    alone = [row.loss.local_smoothness(p[:1], theta[:1], float(g), y[:1])[0] for g in gaps]
    np.testing.assert_array_equal(bounds, alone)
