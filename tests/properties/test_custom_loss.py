"""A user's own loss: compiled, and refused with the law it breaks."""

from __future__ import annotations

import doctest
from math import exp, inf, log, log1p, sqrt
from typing import Any

import numpy as np
import pytest

import boxreg
from boxreg.losses import LOSSES, Loss, custom
from boxreg.losses.laws import check_laws


def value(p: float, y: float) -> float:
    return (p - y) ** 2 / (1 + sqrt(1 + (p - y) ** 2))


def derivative(p: float, y: float) -> float:
    return (p - y) / sqrt(1 + (p - y) ** 2)


def conjugate(v: float, y: float) -> float:
    return v * y + v * v / (1 + sqrt((1 - v) * (1 + v)))


def pseudo_huber(**changes: Any) -> Loss:
    """√(1 + r²) - 1, with something changed."""
    parts = {
        "value": value,
        "derivative": derivative,
        "conjugate": conjugate,
        "alpha": 1.0,
        "domain": (-1.0, 1.0),
        "name": "pseudo_huber",
    }
    return boxreg.custom_loss(**{**parts, **changes})


BROKEN = [
    (
        {"derivative": lambda p, y: 1.001 * (p - y) / sqrt(1 + (p - y) ** 2)},
        "derivative agrees with differences of value.* fails at p = .*, y = .* by 0.001",
    ),
    (
        {"conjugate": lambda v, y: v * y + v * v / 2 - 1e-9},
        r"inequality .* fails at p = .*, v = .* by",
    ),
    (
        {"conjugate": lambda v, y: v * y + v * v / (1 + sqrt((1 - v) * (1 + v))) + 1e-9},
        r"equality .* at v = f'\(p\); fails at p = .*, y = .*, v = .* by 1e-09",
    ),
    ({"alpha": 1.01}, "Lipschitz constant .* alpha = 1.01; fails at p = .* by"),
    ({"domain": (-0.9, 1.0)}, "equality .* fails at p = "),
    ({"domain": (-inf, inf)}, "conjugate is finite inside domain; fails at y = .*, v = .* by inf"),
    ({"value": lambda p, y: log(p - y)}, "value is finite; fails at p = "),
    ({"derivative": lambda p, y: inf}, "derivative is finite; fails at p = "),
    ({"value": lambda p, y: str(p)}, "value: numba cannot compile it"),
    ({"conjugate": lambda v: v}, "conjugate: numba cannot compile it"),
    ({"domain": (lambda y: {}[y], 1.0)}, "domain: numba cannot compile it"),
    ({"alpha": 0.0}, "alpha: expected a finite number > 0"),
    ({"roundoff": -1.0}, "roundoff: expected a finite number > 0"),
]


@pytest.mark.parametrize(("changes", "message"), BROKEN)
def test_each_law_broken(changes: dict[str, Any], message: str) -> None:
    """The error names the law, the place and the amount."""
    with pytest.raises(ValueError, match=message):
        pseudo_huber(**changes)


def test_not_a_function() -> None:
    with pytest.raises(TypeError, match="value: expected a function, got float"):
        pseudo_huber(value=1.0)


def test_concave_function() -> None:
    """-p² / 2 has a derivative, but no convexity: its chords give it away."""
    with pytest.raises(ValueError, match="breaks a law"):
        boxreg.custom_loss(lambda p, y: -p * p / 2, lambda p, y: -p, lambda v, y: 0.0, 1.0)


def test_what_it_computes() -> None:
    """Values by hand: r = 3/4 gives √(1 + r²) = 5/4; derivative 3/5, conjugate at it 1 - 4/5."""
    loss = pseudo_huber(curvature=lambda p, y: (1 + (p - y) ** 2) ** -1.5)
    p, y = np.array([2.75, 2.75]), np.array([2.0, 2.0])
    np.testing.assert_allclose(loss.values(p, y), 0.25, rtol=1e-15)
    np.testing.assert_allclose(loss.derivatives(p, y), 0.6, rtol=1e-15)
    np.testing.assert_allclose(loss.conjugates(np.array([0.6, 1.5]), y), [1.4, np.inf], rtol=1e-15)
    np.testing.assert_allclose(loss.curvatures(p, y), 0.512, rtol=1e-15)
    np.testing.assert_array_equal(loss.dual_domain(y), [[-1.0, -1.0], [1.0, 1.0]])
    assert loss.name == "pseudo_huber"
    assert not loss.rounding_known
    assert loss.fenchel_young(p, np.array([-0.6, -0.6]), y) < 1e-12
    scalar = loss.scalar_derivative()
    assert scalar is not None
    assert scalar(2.75, 2.0) == pytest.approx(0.6, rel=1e-15)
    s = loss.prox_conjugate(np.array([3.0]), 0.5, np.array([1.0]))
    np.testing.assert_allclose(loss.derivatives((3.0 - s) / 0.5, np.array([1.0])), s, rtol=1e-9)


def test_no_false_alarms() -> None:
    """Formulas that lose digits, underflow or have kinks pass: those are not broken laws."""
    pseudo_huber(value=lambda p, y: sqrt(1 + (p - y) ** 2) - 1)
    boxreg.custom_loss(
        value=lambda p, y: log(1 + exp(-y * p)) if y * p > -30 else -y * p,
        derivative=lambda p, y: -y / (1 + exp(y * p)) if y * p < 700 else 0.0,
        conjugate=lambda v, y: (
            0.0 if v == 0 or -y * v == 1 else -y * v * log(-y * v) + (1 + y * v) * log1p(y * v)
        ),
        alpha=4.0,
        domain=(lambda y: min(-y, 0.0), lambda y: max(-y, 0.0)),
        targets=(-1.0, 1.0),
    )
    boxreg.custom_loss(
        value=lambda p, y: 1e-8 * (p * p / 2 - p * y),
        derivative=lambda p, y: 1e-8 * (p - y),
        conjugate=lambda v, y: 1e-8 * (1e8 * v + y) ** 2 / 2,
        alpha=1e8,
    )
    for name, kind in LOSSES.items():
        loss = kind()
        if loss.alpha > 0.0:
            labels = name in {"logistic", "squared_hinge"}
            check_laws(loss, np.array([-1.0, 1.0] if labels else [-7.0, 0.0, 0.3]))


def test_the_example_of_the_docstring() -> None:
    assert doctest.testmod(custom).failed == 0
    example = [line for line in str(custom.custom_loss.__doc__).splitlines() if ">>>" in line]
    assert example
