"""Sweeps and conjugate gradients on a sparse A: their answers, and who goes on where they fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg.designs import SparseDesign
from boxreg.designs.epochs import Descent
from boxreg.losses import Huber, KullbackLeibler
from boxreg.settings import using
from references.problems import FAMILIES, generated

BOXES: dict[str, tuple[float, float]] = {
    "nonneg": (0.0, np.inf),
    "nonpos": (-np.inf, 0.0),
    "box": (0.0, 0.4),
    "signed": (-0.2, 0.3),
    "free": (-np.inf, np.inf),
}


def drawn(seed: int, m: int = 300, n: int = 200, density: float = 0.05) -> tuple[Any, Any]:
    """A with entries of both signs, y from a sparse x with noise."""
    rng = np.random.default_rng(seed)
    A = sparse.random_array((m, n), density=density, format="csc", rng=rng)
    A.data -= 0.3
    x = np.where(rng.random(n) < 0.4, rng.standard_normal(n), 0.0)
    return A, A @ x + 0.1 * rng.standard_normal(m)


def descend(
    A: Any, y: Any, lower: Any, upper: Any, gap: float, products: float = 1e3, **terms: Any
) -> tuple[Any, Any, bool]:
    """x, the residual that was kept up to date, and whether the gap was met."""
    held = sparse.csc_array(A)
    n = held.shape[1]
    low, high = np.broadcast_to(lower, n).astype(float), np.broadcast_to(upper, n).astype(float)
    x, root = np.clip(np.zeros(n), low, high), terms.get("root")
    residual = y - held @ x if root is None else root * (y - held @ x)
    cost = terms.get("cost", np.zeros(n))
    asked = Descent(x, residual, low.copy(), high.copy(), cost, root, gap, products)
    return x, residual, SparseDesign(held).descend(asked).met


def test_two_columns_by_hand() -> None:
    """Apart the columns ask for 3 and -1: x = (2, 0) in [0, 2]²."""
    x, residual, met = descend(np.eye(2), np.array([3.0, -1.0]), 0.0, 2.0, 1e-12)
    assert met
    np.testing.assert_array_equal(x, [2.0, 0.0])
    np.testing.assert_array_equal(residual, [1.0, -1.0])


def test_a_cost_and_weights_by_hand() -> None:
    """½ 4 (1 - x)² + x is least at x = 3/4."""
    root, cost = np.array([2.0]), np.array([1.0])
    x, _, met = descend(np.ones((1, 1)), np.ones(1), 0.0, 1.0, 1e-12, root=root, cost=cost)
    assert met
    assert x[0] == pytest.approx(0.75, abs=1e-12)


@pytest.mark.parametrize("box", BOXES)
def test_slopes_and_residual(box: str) -> None:
    """The residual is that of x, x is in the box, and slopes have the signs that a dual point needs."""
    A, y = drawn(1)
    low, high = BOXES[box]
    x, residual, met = descend(A, y, low, high, 1e-9)
    assert met
    assert np.all((low <= x) & (x <= high))
    np.testing.assert_allclose(residual, y - A @ x, atol=1e-11)
    w = A.T @ residual
    if high == np.inf and low == 0.0:
        assert np.all(w <= 0.0)
    if low == -np.inf and high == 0.0:
        assert np.all(w >= 0.0)
    room = np.where(w > 0.0, np.minimum(high - x, 1e3), np.minimum(x - low, 1e3))
    assert np.abs(w) @ room <= 1e-6


def test_it_ends_when_its_products_are_spent() -> None:
    A, y = drawn(2)
    x, _, met = descend(A, y, 0.0, np.inf, 0.0, products=5.0)
    assert not met
    assert np.all(x >= 0.0)


@pytest.mark.parametrize(
    "case", ["zero column", "equal bounds", "twice", "wide", "empty row", "tiny"]
)
def test_degenerate(case: str) -> None:
    """Nothing explodes along directions in which A says nothing."""
    A, y = drawn(3, 40, 20, 0.2)
    dense = A.toarray()
    low, high = np.zeros(20), np.full(20, np.inf)
    if case == "zero column":
        dense[:, 3] = 0.0
    elif case == "equal bounds":
        low[:5] = high[:5] = 0.25
    elif case == "twice":
        dense[:, 10:] = dense[:, :10]
    elif case == "wide":
        dense, y = dense[:8], y[:8]
    elif case == "empty row":
        dense[4] = 0.0
    elif case == "tiny":
        dense, y = 1e-120 * dense, 1e-120 * y
    x, residual, _ = descend(dense, y, low, high, 1e-10 * float(y @ y))
    assert np.all((low <= x) & (x <= high))
    assert np.all(np.abs(x) <= 1e6)
    scale = float(np.max(np.abs(y)))
    np.testing.assert_allclose(residual / scale, (y - dense @ x) / scale, atol=1e-9)
    found = boxreg.solve(sparse.csc_array(dense), y, low, high)
    usual = boxreg.solve(dense, y, low, high)
    assert found.success == usual.success
    assert abs(found.objective - usual.objective) <= found.gap + usual.gap + 1e-14 * found.scale


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("terms", ["plain", "weights", "ridge", "linear"])
def test_same_answer(box: str, terms: str, change: Callable[..., object]) -> None:
    """As working sets, with a proof, in one step."""
    change(small_entries=0)
    A, y = drawn(4)
    rng = np.random.default_rng(0)
    given: dict[str, Any] = {
        "plain": {},
        "weights": {"sample_weight": rng.uniform(0.0, 2.0, 300).round(1)},
        "ridge": {"ridge": 0.3},
        "linear": {"linear": 0.02 * rng.uniform(0.0, 1.0, 200)},
    }[terms]
    low, high = BOXES[box]
    found = boxreg.solve(sparse.csr_array(A), y, low, high, **given)
    usual = boxreg.solve(A, y, low, high, solver="working_set", **given)
    assert found.plan["engine"] == "sparse_descent"
    assert found.n_iter == 1
    assert found.success
    assert abs(found.objective - usual.objective) <= found.gap + usual.gap + 1e-14 * found.scale
    np.testing.assert_allclose(found.x, usual.x, atol=1e-4)
    assert boxreg.verify(A, y, found.x, found.theta, low, high, gap=found.gap, **given)


def test_nnls_goes_on_to_the_precision_of_the_data(change: Callable[..., object]) -> None:
    change(small_entries=0)
    A, y = drawn(5)
    x, norm = boxreg.nnls(A, y)
    exact, usual = boxreg.nnls(A.toarray(), y)
    np.testing.assert_allclose(x, exact, atol=1e-9)
    assert norm == pytest.approx(usual, rel=1e-12)


@pytest.mark.filterwarnings("ignore::boxreg.ConvergenceWarning")
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family(family: str, change: Callable[..., object]) -> None:
    """Dependent, badly scaled, degenerate: where they fail, working sets take over."""
    change(small_entries=0)
    for seed in range(4):
        problem = generated(family, seed)
        A, *rest = problem.data
        found = boxreg.solve(sparse.csc_array(A), *rest)
        with using(descent_products=0.0):
            usual = boxreg.solve(sparse.csc_array(A), *rest)
        allowance = usual.gap + found.gap + 1e-14 * usual.objective
        assert abs(usual.objective - found.objective) <= allowance
        assert found.success or not usual.success


@pytest.mark.parametrize("products", [1.0, 10.0])
def test_working_sets_go_on_where_it_is_given_up(
    products: float, change: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on columns that are nearly the same."""
    change(small_entries=0, descent_products=products)
    monkeypatch.setattr("boxreg.solvers.sparse_model.exact_cost", lambda problem, size: 0.0)
    A, y = drawn(6)
    near = sparse.hstack([A, A + 1e-6 * drawn(7)[0]]).tocsc()
    found = boxreg.solve(near, y)
    assert found.success
    assert found.n_iter > 1
    assert boxreg.verify(near, y, found.x, found.theta, gap=found.gap)


def losses() -> dict[str, tuple[Any, tuple[float, float]]]:
    """Losses, and bounds that go with them."""
    return {
        "huber": (Huber(0.2), (0.0, np.inf)),
        "log_cosh": ("log_cosh", (-0.1, 0.2)),
        "logistic": ("logistic", (0.0, np.inf)),
        "logistic in a box": ("logistic", (-1.0, 1.0)),
        "squared_hinge": ("squared_hinge", (0.0, 2.0)),
        "counts": (KullbackLeibler(0.1), (0.0, np.inf)),
        "counts in a box": (KullbackLeibler(0.0), (0.0, 0.5)),
    }


@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("name", losses())
def test_models_of_other_losses(name: str, ridge: float, change: Callable[..., object]) -> None:
    """The same objective as with Gram matrices, and a proof."""
    change(small_entries=0)
    loss, (low, high) = losses()[name]
    A, y = drawn(8)
    if name.startswith("counts"):
        A = abs(A)
        y = np.round(np.abs(5.0 * y)) + (A.sum(axis=1) == 0.0)
        keep = np.asarray(A.sum(axis=1)).ravel() > 0.0
        A, y = sparse.csc_array(A.tocsr()[keep]), y[keep]
    elif name.startswith(("logistic", "squared")):
        y = np.where(y > np.median(y), 1.0, -1.0)
    if name == "logistic":  # whose minimum is attained
        y[::3] = -y[::3]
    found = boxreg.solve(A, y, low, high, loss=loss, ridge=ridge)
    with using(descent_products=0.0):
        usual = boxreg.solve(A, y, low, high, loss=loss, ridge=ridge)
    assert found.success
    assert usual.success
    assert abs(found.objective - usual.objective) <= found.gap + usual.gap + 1e-14 * found.scale
    proof = (found.x, found.theta, low, high)
    assert boxreg.verify(A, y, *proof, loss=loss, ridge=ridge, gap=found.gap)


def test_same_input_same_output(change: Callable[..., object]) -> None:
    change(small_entries=0)
    A, y = drawn(9)
    y = np.sign(y)
    first, second = (boxreg.solve(A, y, loss="logistic", ridge=0.1).x for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("loss", [Huber(0.5), "squared_hinge"])
@pytest.mark.parametrize("weighted", [False, True])
def test_slacks_go_all_the_way(loss: Any, weighted: bool, change: Callable[..., object]) -> None:
    """One step, no model: the problem with slacks is least squares, and its residual the dual point."""
    change(small_entries=0)
    A, y = drawn(10)
    y = np.where(y > 0.0, 1.0, -1.0) if loss == "squared_hinge" else y
    given: dict[str, Any] = {"loss": loss, "ridge": 0.05}
    if weighted:
        given["sample_weight"] = np.random.default_rng(1).uniform(0.5, 2.0, 300)
    found = boxreg.solve(A, y, -1.0, 1.0, **given)
    with using(descent_products=0.0):
        usual = boxreg.solve(A, y, -1.0, 1.0, **given)
    assert found.success
    assert found.n_iter == 1
    assert abs(found.objective - usual.objective) <= found.gap + usual.gap + 1e-14 * found.scale
    assert boxreg.verify(A, y, found.x, found.theta, -1.0, 1.0, gap=found.gap, **given)


def test_slacks_by_hand(change: Callable[..., object]) -> None:
    """One column of ones, y = (0, 0, 9), δ = 1: slopes x, x and -1 add up to 0 at x = 1/2."""
    change(small_entries=0)
    A, y = sparse.csc_array(np.ones((3, 1))), np.array([0.0, 0.0, 9.0])
    found = boxreg.solve(A, y, 0.0, np.inf, loss=Huber(1.0))
    assert found.x[0] == pytest.approx(0.5, abs=1e-9)
    np.testing.assert_allclose(found.theta, [-0.5, -0.5, 1.0], atol=1e-8)
