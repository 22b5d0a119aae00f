"""Working sets solved by conjugate gradients: the same answers, without a Gram matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg.designs import Design, SparseDesign
from boxreg.point import Point
from boxreg.settings import using
from boxreg.solvers import WorkingSet, without_gram
from building import reduced
from references.problems import FAMILIES, generated


@pytest.fixture
def eager(change: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """Conjugate gradients from the second working set on; the sizes they were tried on, with success."""
    tried: list[tuple[int, bool]] = []
    usual = without_gram.round_on

    def noted(point: Point, used: np.ndarray, new: int) -> Point | None:
        moved = usual(point, used, new)
        tried.append((len(used), moved is not None))
        return moved

    change(gradients_from=1, gradients_advantage=0.0)
    monkeypatch.setattr(without_gram, "round_on", noted)
    return tried


def drawn(seed: int, signed: bool, upper: float) -> tuple[Any, Any, float, float]:
    """Sparse, 5 % stored, a tenth of x̄ non-zero."""
    rng = np.random.default_rng(seed)
    A = sparse.random_array((500, 400), density=0.05, format="csc", rng=rng)
    A.data -= 0.5 * signed
    x = np.where(rng.random(400) < 0.3, rng.random(400), 0.0)
    return A, A @ x + 0.1 * rng.standard_normal(500), 0.0, upper


@pytest.mark.parametrize("kind", ["csc", "dense", "by rows"])
@pytest.mark.parametrize("upper", [0.5, np.inf])
@pytest.mark.parametrize("signed", [False, True])
def test_same_answer(kind: str, upper: float, signed: bool, eager, change) -> None:
    """To the precision of the data, and no Gram matrix once there is a set to go on from."""
    A, y, low, high = drawn(3, signed, upper)
    A = {"csc": A, "dense": np.asfortranarray(A.toarray()), "by rows": A.toarray()}[kind]
    found = boxreg.solve(A, y, low, high, solver="working_set")
    change(gradients_advantage=np.inf)
    usual = boxreg.solve(A, y, low, high, solver="working_set")
    assert eager
    assert all(worked for _, worked in eager)
    assert found.status == usual.status == boxreg.Status.CONVERGED
    np.testing.assert_allclose(found.x, usual.x, atol=1e-9)
    assert found.relative_gap <= 1e-11
    assert boxreg.verify(A, y, found.x, found.theta, low, high, gap=found.gap)


def test_weights_ridge_and_cost(eager, change) -> None:
    """Terms that keep the problem quadratic are part of the model."""
    A, y, low, high = drawn(5, True, 0.5)
    rng = np.random.default_rng(0)
    terms: dict[str, Any] = {
        "sample_weight": rng.uniform(0.2, 3.0, 500),
        "ridge": 0.3,
        "linear": rng.uniform(0.0, 0.1, 400),
        "solver": "working_set",
    }
    found = boxreg.solve(A, y, low, high, **terms)
    assert eager
    change(gradients_advantage=np.inf)
    usual = boxreg.solve(A, y, low, high, **terms)
    np.testing.assert_allclose(found.x, usual.x, atol=1e-9)
    assert found.success


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family(family: str, eager) -> None:
    """Dependent, badly scaled, degenerate: where they fail, Gram matrices take over."""
    for seed in range(4):
        problem = generated(family, seed)
        found = boxreg.solve(*problem.data, solver="working_set")
        with using(gradients_advantage=np.inf):
            usual = boxreg.solve(*problem.data, solver="working_set")
        allowance = usual.gap + found.gap + 1e-14 * usual.objective
        assert abs(usual.objective - found.objective) <= allowance
        assert found.success or not usual.success


def test_ill_conditioned_columns_get_a_gram_matrix(eager) -> None:
    """Conjugate gradients that gain no digit in a while are given up, once."""
    rng = np.random.default_rng(8)
    half = sparse.random_array((600, 150), density=0.1, format="csc", rng=rng)
    near = half + 1e-4 * sparse.random_array((600, 150), density=0.1, format="csc", rng=rng)
    A = sparse.hstack([half, near]).tocsc()
    y = A @ rng.uniform(0.0, 1.0, 300) + 0.1 * rng.standard_normal(600)
    found = boxreg.solve(A, y, solver="working_set")
    assert not eager[-1][1]
    assert sum(not worked for _, worked in eager) == 1
    assert found.success
    assert boxreg.verify(A, y, found.x, found.theta, gap=found.gap)


def test_when_it_pays() -> None:
    """Not for small sets; for large ones of short columns before those of long ones."""
    rng = np.random.default_rng(2)
    short = sparse.random_array((4000, 6000), density=0.01, format="csc", rng=rng)
    few = reduced(short, np.ones(4000))
    many = reduced(np.ones((40, 6000)), np.ones(40))
    thin = reduced(sparse.eye_array(499, format="csc"), np.ones(499))
    sizes = [10, 100, 300, 1000, 3000, 6000]
    worth = [without_gram.pays(few, size) for size in sizes]
    assert worth == sorted(worth)
    assert not worth[1]
    assert worth[-2]
    assert not without_gram.pays(many, 40)
    assert not without_gram.pays(thin, 499)


def test_the_price_of_a_gram_matrix() -> None:
    """Two sparse columns have the share d of their entries in common; views cost the same."""
    matrix = sparse.csc_array(np.tile(np.eye(5), (2, 1)))
    design = SparseDesign(matrix)
    assert design.gram_cost == 0.2
    assert reduced(matrix, np.ones(10)).design.gram_cost == 0.2
    assert reduced(matrix, np.ones(10)).keep(np.arange(3), copy=False).design.gram_cost == 0.2
    assert Design.gram_cost < 1.0


def test_no_progress_ends_a_run(
    change: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round that lowers neither the objective nor the slope is the last."""
    A, y, low, high = drawn(3, False, np.inf)
    change(gradients_from=1, gradients_advantage=0.0)
    monkeypatch.setattr(without_gram, "round_on", lambda point, used, new: point)
    solver = WorkingSet()
    state = solver.start(Point(reduced(A, y, low, high), np.zeros(400)))
    for _ in range(5):
        state = solver.step(state, 1)
    assert state.finished


def test_levels_keep_their_factors(eager) -> None:
    """The antisparse problem moves from level to level by the factor of its free columns."""
    rng = np.random.default_rng(12)
    A, y = rng.standard_normal((40, 60)), rng.standard_normal(40)
    result = boxreg.antisparse(A, y, 2.0)
    assert result.success
    assert not eager


def test_all_that_is_inside_takes_part_in_the_first_step() -> None:
    """However many that are: the rest of the working set is what wants to leave its bound."""
    A, y, low, _ = drawn(6, True, np.inf)
    problem = reduced(A, y, low, 1.0)
    solver = WorkingSet(batch=1)
    state = solver.step(solver.start(Point(problem, np.full(400, 0.5))), 1)
    moved = state.point
    assert np.count_nonzero(moved.inside) > 100
    assert np.all(moved.inward[moved.inside] <= moved.gradient_noise[moved.inside])
