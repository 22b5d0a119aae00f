"""Conjugate gradients for AᵀHA d = w, with and without sweeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from boxreg import validate
from boxreg.designs.view import ColumnView
from boxreg.normal_equations import NormalEquations, normal_equations
from boxreg.point import Point
from boxreg.solvers.inexact import inexact_minimum
from building import reduced

RNG = np.random.default_rng(17)
A = RNG.standard_normal((120, 30))
FREE = RNG.random(30) < 0.8
FAR = np.where(FREE, np.inf, 0.0)
"""Room for the free coordinates; the others are where they have to be."""
HELD: dict[str, Any] = {
    "rows": np.ascontiguousarray(A),
    "columns": np.asfortranarray(A),
    "sparse": sparse.csc_array(A),
}


def equations(how: str, h: np.ndarray, limit: int = 500) -> NormalEquations:
    if how == "view":
        wider = validate.design(np.asfortranarray(np.repeat(A, 2, axis=1)))
        return normal_equations(ColumnView(wider, np.arange(0, 60, 2)), h, limit)
    return normal_equations(validate.design(HELD[how]), h, limit)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("how", [*HELD, "view"])
def test_solutions_on_the_free_coordinates(how: str, weighted: bool) -> None:
    """To the share asked for, in no more steps than there are unknowns; and what d does elsewhere."""
    h = RNG.uniform(0.3, 2.0, 120) if weighted else np.ones(120)
    gram, w = A.T @ (h[:, None] * A), RNG.standard_normal(30)
    system = equations(how, h)
    d, traces = system.conjugate_gradients(w, FREE, 1e-10, (-FAR, FAR))
    assert not d[~FREE].any()
    left = np.where(FREE, w - gram @ d, 0.0)
    assert np.linalg.norm(left) <= 1e-8 * np.linalg.norm(w)
    np.testing.assert_allclose(system.image(traces), gram @ d, atol=1e-10)
    some = np.flatnonzero(~FREE)
    np.testing.assert_allclose(system.image(traces, some), (gram @ d)[some], atol=1e-10)
    np.testing.assert_allclose(system.times(d), gram @ d, atol=1e-10)


def test_sweeps_take_fewer_steps() -> None:
    """Half as many, and each reads A no more often."""
    w = RNG.standard_normal(30)
    plain, with_sweeps = (equations(how, np.ones(120)) for how in ("rows", "columns"))
    for system in (plain, with_sweeps):
        system.conjugate_gradients(w, FREE, 1e-10, (-FAR, FAR))
    steps = (with_sweeps.products - 1) / 2
    assert 0 < steps <= 0.7 * plain.products


@pytest.mark.parametrize("how", ["rows", "columns"])
def test_a_way_out_of_the_box_ends_them(how: str) -> None:
    """As does a coordinate that is held at a bound and wants to leave it: no digits are wasted."""
    w = np.abs(RNG.standard_normal(30))
    whole, cut = (equations(how, np.ones(120)) for _ in range(2))
    whole.conjugate_gradients(w, FREE, 1e-12, (-FAR, FAR))
    cut.conjugate_gradients(w, FREE, 1e-12, (-FAR, np.minimum(FAR, 1e-9)))
    assert cut.products < 0.5 * whole.products
    again = equations(how, np.ones(120))
    pulled = np.where(FREE, w, 1e3)
    again.conjugate_gradients(pulled, FREE, 1e-12, (-FAR, np.full(30, np.inf)))
    assert again.products < 0.7 * whole.products


@pytest.mark.parametrize("how", ["rows", "columns"])
def test_products_are_counted_and_spent(how: str) -> None:
    system = equations(how, np.ones(120), limit=6)
    system.conjugate_gradients(RNG.standard_normal(30), FREE, 1e-14, (-FAR, FAR))
    assert system.left <= 0
    assert system.products in (6, 7)


@pytest.mark.parametrize("order", ["C", "F"])
def test_ill_conditioned_matrices_are_given_up(order: str) -> None:
    spread = np.logspace(0, 9, 200)
    rotation = np.linalg.qr(RNG.standard_normal((200, 200)))[0]
    matrix = (rotation * spread) @ np.linalg.qr(RNG.standard_normal((200, 200)))[0]
    design = validate.design(np.asarray(matrix, order=order))
    system = normal_equations(design, np.ones(200), 5000)
    far = np.full(200, np.inf)
    everywhere = np.ones(200, dtype=bool)
    system.conjugate_gradients(matrix.T @ np.ones(200), everywhere, 1e-12, (-far, far))
    assert system.slow
    assert system.left > 0


def test_columns_of_one_sign_are_not_swept() -> None:
    """They are so far from orthogonal that steps would give up, and Gram matrices be made."""
    rng = np.random.default_rng(5)
    A = sparse.random_array((600, 400), density=0.2, format="csc", rng=rng)
    for sign, swept in ((1.0, False), (rng.choice([-1.0, 1.0], A.nnz), True)):
        B = A.copy()
        B.data = B.data * sign
        design = reduced(B, np.ones(600)).design
        made = normal_equations(design, np.ones(600), 40)
        assert (type(made) is not NormalEquations) == swept
    problem = reduced(A, A @ rng.random(400))
    start = Point(problem, np.zeros(400))
    assert inexact_minimum(start, np.ones(600), np.arange(400), 1e-4, 250) is not None
