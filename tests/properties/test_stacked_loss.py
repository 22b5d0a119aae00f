"""One loss on the first rows, squares on the rest: every answer is that of the two parts."""

from __future__ import annotations

import numpy as np
import pytest

import boxreg
from boxreg.losses import LOSSES, LeastSquares, Loss
from boxreg.losses.stacked import StackedLoss
from boxreg.losses.weighted import Weighted

M, ROWS = 7, 4
RNG = np.random.default_rng(9)
TARGETS = {
    "logistic": np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0]),
    "squared_hinge": np.array([1.0, -1.0, -1.0, 1.0, 1.0, -1.0, 1.0]),
}
WEIGHTS = RNG.uniform(0.5, 2.0, M)


def parts(name: str, weighted: bool) -> tuple[StackedLoss, Loss, Loss, np.ndarray]:
    """The stack, its parts, and targets for all rows."""
    top: Loss = LOSSES[name]()
    y = TARGETS.get(name, RNG.uniform(0.5, 4.0, M))
    if weighted:
        top = Weighted(top, WEIGHTS)
    bottom = Weighted(LeastSquares(), np.full(ROWS, 0.3))
    return StackedLoss(top, bottom, M), top, bottom, np.append(y, np.zeros(ROWS))


ELEMENTWISE = {
    "values": 1,
    "derivatives": 1,
    "curvatures": 1,
    "secants": 1,
    "conjugates": 1,
    "smoothness": 0,
    "curvature_bounds": 0,
    "fenchel_young_terms": 2,
    "derivative_errors": 2,
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_elementwise_answers_are_those_of_the_parts(name: str, weighted: bool) -> None:
    """Values, derivatives, conjugates, curvatures, constants and brackets, bit by bit."""
    stacked, top, bottom, y = parts(name, weighted)
    p = np.append(RNG.uniform(0.1, 2.0, M), RNG.standard_normal(ROWS))
    rho = stacked.residual(p, y)
    for method, count in ELEMENTWISE.items():
        arguments = {0: (), 1: (p,), 2: (p, rho)}[count]
        if method == "conjugates":
            arguments = (-rho,)
        found = getattr(stacked, method)(*arguments, y)
        above = getattr(top, method)(*(a[:M] for a in arguments), y[:M])
        below = getattr(bottom, method)(*(a[M:] for a in arguments), y[M:])
        np.testing.assert_array_equal(found, np.concatenate([above, below]), err_msg=method)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_the_other_answers(name: str, weighted: bool) -> None:
    """Sums, domains, local constants, proximal points, minimisers, floors, weights and flags."""
    stacked, top, bottom, y = parts(name, weighted)
    p = np.append(RNG.uniform(0.1, 2.0, M), RNG.standard_normal(ROWS))
    total = top.objective(p[:M], y[:M]) + bottom.objective(p[M:], y[M:])
    assert stacked.objective(p, y) == pytest.approx(total, rel=1e-14)
    for end, above, below in zip(
        stacked.dual_domain(y), top.dual_domain(y[:M]), bottom.dual_domain(y[M:]), strict=True
    ):
        np.testing.assert_array_equal(end, np.concatenate([above, below]))
    theta = 0.9 * stacked.residual(p, y)
    for gap in (0.5, RNG.uniform(0.1, 1.0, M + ROWS)):
        first, second = (gap, gap) if np.ndim(gap) == 0 else (gap[:M], gap[M:])
        found = stacked.local_smoothness(p, theta, gap, y)
        np.testing.assert_array_equal(
            found[:M], top.local_smoothness(p[:M], theta[:M], first, y[:M])
        )
        np.testing.assert_array_equal(
            found[M:], bottom.local_smoothness(p[M:], theta[M:], second, y[M:])
        )
    v, sigma = RNG.standard_normal(M + ROWS), RNG.uniform(0.2, 2.0, M + ROWS)
    prox = stacked.prox_conjugate(v, sigma, y)
    np.testing.assert_array_equal(prox[:M], top.prox_conjugate(v[:M], sigma[:M], y[:M]))
    np.testing.assert_array_equal(prox[M:], bottom.prox_conjugate(v[M:], sigma[M:], y[M:]))
    ideal, mine = stacked.minimisers(y), top.minimisers(y[:M])
    assert (ideal is None) == (mine is None)
    if ideal is not None:
        np.testing.assert_array_equal(ideal, np.append(mine, np.zeros(ROWS)))
    np.testing.assert_array_equal(
        stacked.floors(M + ROWS), np.concatenate([top.floors(M), bottom.floors(ROWS)])
    )
    weights, split = stacked.row_weights(M + ROWS)
    np.testing.assert_array_equal(
        weights, np.append(WEIGHTS if weighted else np.ones(M), [0.3] * ROWS)
    )
    assert split == M
    mine, theirs = stacked.scalar_derivative(), top.scalar_derivative()
    assert (mine is None) == (theirs is None)
    if mine is not None:
        assert mine(0.3, -1.0) == theirs(0.3, -1.0)
    assert stacked.quadratic == (name == "least_squares")
    assert stacked.alpha == min(top.alpha, bottom.alpha)


def test_a_loss_taken_on_trust_stays_so_on_a_ridge() -> None:
    """The certificate of a caller's own loss is not rigorous, with weights and ridge or without."""
    mine = boxreg.custom_loss(
        lambda p, y: 0.5 * (p - y) ** 2,
        lambda p, y: p - y,
        lambda v, y: v * y + 0.5 * v * v,
        1.0,
        name="mine",
    )
    rng = np.random.default_rng(1)
    A, y = rng.standard_normal((6, 3)), rng.standard_normal(6)
    plain = boxreg.solve(A, y, 0.0, 1.0, ridge=0.2)
    for terms in ({}, {"ridge": 0.2}, {"ridge": 0.2, "sample_weight": np.ones(6) * 2}):
        result = boxreg.solve(A, y, 0.0, 1.0, loss=mine, **terms)
        assert result.success
        assert not result.certificate.rigorous
        assert any("caller's own" in remark for remark in result.certificate.reasons)
    same = boxreg.solve(A, y, 0.0, 1.0, loss=mine, ridge=0.2)
    assert same.objective == pytest.approx(plain.objective, rel=1e-7)
