"""Sweeps over coordinates: the kernels, and what is predicted or solved with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import boxreg
from boxreg import Status, validate
from boxreg.arrays import Array, Index
from boxreg.designs import Design
from boxreg.designs.epochs import Sweep, SweepTerms
from boxreg.designs.view import ColumnView
from boxreg.point import Point
from boxreg.settings import Settings, using
from boxreg.solvers import prediction
from boxreg.solvers.prediction import first_point
from boxreg.solvers.sweeping import swept
from building import reduced

RNG = np.random.default_rng(31)


def plain_sweep(
    A: Array, terms: SweepTerms, x: Array, residual: Array, order: Index, margin: float
) -> tuple[list[int], int, list[float]]:
    """The definition, one coordinate at a time."""
    kept, changed, steps = [], 0, []
    weights = np.ones(len(A)) if terms.weights is None else terms.weights
    for j in order:
        slope = float((weights * A[:, j]) @ residual - terms.cost[j])
        old = x[j]
        x[j] = np.clip(old + slope / terms.squares[j], terms.lower[j], terms.upper[j])
        residual -= (x[j] - old) * A[:, j]
        sides = [np.sign(v - terms.lower[j]) - np.sign(terms.upper[j] - v) for v in (old, x[j])]
        changed += sides[0] != sides[1]
        steps.append(abs(x[j] - old) * float(np.sqrt(terms.squares[j])))
        inside = terms.lower[j] < x[j] < terms.upper[j]
        back = slope - (x[j] - old) * terms.squares[j]
        if inside or abs(back) <= margin * np.sqrt(terms.squares[j]):
            kept.append(int(j))
    return kept, changed, steps


def held(A: Array, how: str) -> Design:
    if how == "sparse":
        return validate.design(sparse.csc_array(A))
    design = validate.design(np.asfortranarray(A.astype(np.float32 if how == "float32" else float)))
    if how != "view":
        return design
    wider = np.asfortranarray(np.repeat(A, 2, axis=1))
    return ColumnView(validate.design(wider), np.arange(0, wider.shape[1], 2))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", [37, 1900])
@pytest.mark.parametrize("how", ["dense", "float32", "sparse", "view"])
def test_a_sweep_is_what_it_says(how: str, rows: int, weighted: bool) -> None:
    """Short columns and long ones, four at a time with some left over; coordinates left out too."""
    n = 23
    A = RNG.standard_normal((rows, n)) * (RNG.random((rows, n)) < 0.6) / np.sqrt(rows)
    A = A.astype(np.float32).astype(float)
    weights = RNG.uniform(0.5, 2.0, rows) if weighted else None
    squares = (A**2).T @ (np.ones(rows) if weights is None else weights)
    terms = SweepTerms(np.full(n, -0.4), np.full(n, 0.3), squares, 0.2 * RNG.random(n), weights)
    x, target = np.zeros(n), 3.0 * RNG.standard_normal(rows) / 6.0
    x[:4] = [-0.4, 0.3, -0.4, 0.3]
    residual = target - A @ x
    order, design = RNG.permutation(n)[:22], held(A, how)
    own_x, own_residual, own_order, margin = x.copy(), residual.copy(), order, 0.3
    for _ in range(5):
        given = order.copy()
        done = design.sweep(Sweep(np.arange(n), terms, x, residual, order, margin))
        np.testing.assert_array_equal(order, given)
        kept, changed, steps = plain_sweep(A, terms, own_x, own_residual, own_order, margin)
        np.testing.assert_allclose(x, own_x, atol=1e-13)
        np.testing.assert_allclose(residual, own_residual, atol=1e-13)
        np.testing.assert_array_equal(done.order, kept)
        assert done.changed == changed
        assert done.largest == pytest.approx(max(steps), rel=1e-9, abs=1e-13)
        assert done.total == pytest.approx(np.linalg.norm(steps), rel=1e-9, abs=1e-13)
        order, own_order, margin = done.order, np.array(kept), done.largest
    assert len(order) < 22


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", [37, 1900])
@pytest.mark.parametrize("how", ["dense", "float32", "sparse", "view"])
def test_squares_may_be_computed_on_the_way(how: str, rows: int, weighted: bool) -> None:
    """Those of the coordinates that are swept over, and the same steps as if they had been known."""
    A = RNG.standard_normal((rows, 11)).astype(np.float32).astype(float)
    weights = RNG.uniform(0.5, 2.0, rows) if weighted else None
    squares = (A**2).T @ (np.ones(rows) if weights is None else weights)
    order, target = RNG.permutation(11)[:9], RNG.standard_normal(rows)
    box = (np.full(11, -0.01), np.full(11, 0.02))
    known = SweepTerms(*box, squares, np.zeros(11), weights)
    fresh = known._replace(squares=np.full(11, np.nan), fresh=True)
    answers = []
    for terms in (known, fresh):
        x, residual = np.zeros(11), target.copy()
        done = held(A, how).sweep(Sweep(np.arange(11), terms, x, residual, order))
        answers.append([x, residual, done.total])
    for one, other in zip(*answers, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(fresh.squares[order], squares[order], rtol=1e-12)
    assert np.isnan(fresh.squares).sum() == 2


@pytest.mark.parametrize("rows", [40, 1900])
@pytest.mark.parametrize("how", ["dense", "sparse", "view"])
def test_without_bounds_a_sweep_solves_with_a_triangle(how: str, rows: int) -> None:
    """(D + L) t = v in any order, and what is left is -A t."""
    A, v = RNG.standard_normal((rows, 10)), RNG.standard_normal(10)
    gram, infinite = A.T @ A, np.full(10, np.inf)
    t, residual, order = np.zeros(10), np.zeros(rows), RNG.permutation(10)
    terms = SweepTerms(-infinite, infinite, np.diag(gram).copy(), -v, None)
    held(A, how).sweep(Sweep(np.arange(10), terms, t, residual, order))
    triangle = np.tril(gram[np.ix_(order, order)])
    np.testing.assert_allclose(triangle @ t[order], v[order], atol=1e-10)
    np.testing.assert_allclose(residual, -A @ t, atol=1e-12)


def test_designs_without_columns_in_one_piece_do_not_sweep() -> None:
    design = validate.design(np.ascontiguousarray(RNG.standard_normal((5, 3))))
    assert not design.has_sweeps
    ones = np.ones(3)
    terms = SweepTerms(-ones, ones, ones, ones, None)
    with pytest.raises(NotImplementedError, match="columns"):
        Design.sweep(design, Sweep(np.arange(3), terms, ones, np.ones(5), np.arange(3)))


def signed(box: float, m: int = 900, n: int = 300, **options: Any) -> Point:
    A = np.asfortranarray(RNG.standard_normal((m, n)) / np.sqrt(m))
    return Point(reduced(A, RNG.standard_normal(m), -box, box, **options), np.zeros(n))


@pytest.mark.parametrize("box", [0.02, 0.05, 0.1])
def test_sweeps_go_all_the_way_where_they_are_fast(box: float) -> None:
    """To the precision of the data, at the price of fewer products than the Gram matrix takes."""
    point = signed(box)
    before = point.problem.work.total
    found, finished = swept(point)
    assert finished
    assert not found.wanting(0.0).any()
    assert np.all(np.abs(found.x) <= box)
    assert np.all(point.x == 0.0)
    assert point.problem.work.total - before < 80


def test_sweeps_stop_where_they_are_slow() -> None:
    """Columns that nearly depend on each other: a prediction is all that is asked for."""
    A = RNG.standard_normal((900, 10)) @ RNG.standard_normal((10, 300))
    A = np.asfortranarray(A + 0.1 * RNG.standard_normal((900, 300)))
    problem = reduced(A, RNG.standard_normal(900), -1.0, 1.0)
    before = problem.work.total
    found, finished = swept(Point(problem, np.zeros(300)))
    assert not finished
    assert problem.work.total - before <= 2 * Settings.sweeps_at_most
    assert found.objective < Point(problem, np.zeros(300)).objective


def test_a_fit_without_anything_left_ends() -> None:
    """y = 0 at x = 0: no step is made at all."""
    A = np.asfortranarray(RNG.standard_normal((50, 20)))
    found, _ = swept(Point(reduced(A, np.zeros(50), -1.0, 1.0), np.zeros(20)))
    assert not found.x.any()


def test_columns_of_zeros_stay_where_they_are() -> None:
    A = np.asfortranarray(RNG.standard_normal((900, 300)))
    A[:, ::7] = 0.0
    problem = reduced(A, RNG.standard_normal(900), -1.0, 1.0)
    x = np.full(300, 0.25)
    found, _ = swept(Point(problem, x))
    np.testing.assert_array_equal(found.x[::7], 0.25)
    assert np.all(np.isfinite(found.x))


def test_who_predicts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweeps where columns are in one piece, steps along the gradient elsewhere; neither for a few."""
    asked: list[str] = []

    def note(name: str, answer: Any) -> Any:
        return lambda point: (asked.append(name), answer(point))[1]

    monkeypatch.setattr(prediction, "swept_to_the_end", note("swept", lambda point: point))
    monkeypatch.setattr(prediction, "predicted", note("predicted", lambda point: point))
    for order in "FC":
        A = np.asarray(RNG.standard_normal((300, 200)), order=order)
        for upper in (np.inf, 1.0):
            lower = 0.0 if np.isinf(upper) else -1.0
            first_point(Point(reduced(A, RNG.standard_normal(300), lower, upper), np.zeros(200)))
    assert asked == ["swept", "predicted"]


CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "weights": {"sample_weight": RNG.uniform(0.2, 3.0, 900)},
    "cost": {"linear": 0.1 * RNG.standard_normal(300)},
    "half as much": {"sample_weight": np.full(900, 0.5)},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("hold", [np.asfortranarray, np.ascontiguousarray, sparse.csc_array])
@pytest.mark.parametrize("box", [0.03, 0.3, 2.0])
def test_answers_are_those_of_working_sets(case: str, hold: Any, box: float) -> None:
    """Predicted, swept or by conjugate gradients: the same x, proved; and the same as from bounds."""
    rng = np.random.default_rng(7)
    A = rng.standard_normal((900, 300)) / 30.0 * (rng.random((900, 300)) < 0.7)
    y = rng.standard_normal(900)
    result = boxreg.solve(hold(A), y, -box, box, tol=1e-10, **CASES[case])
    assert result.status is Status.CONVERGED
    proof = (result.x, result.theta, -box, box)
    assert boxreg.verify(hold(A), y, *proof, gap=result.gap, **CASES[case])
    other = boxreg.solve(
        A, y, -box, box, solver="active_set", tol=1e-11, x0=np.full(300, box), **CASES[case]
    )
    np.testing.assert_allclose(result.x, other.x, atol=1e-8)


@pytest.mark.parametrize("term", [None, "sample_weight", "linear"])
@pytest.mark.parametrize("rows", [60, 1900])
@pytest.mark.parametrize("kind", [np.asfortranarray, sparse.csc_array])
def test_sweeps_know_how_far_their_prediction_is_off(
    kind: Any, rows: int, term: str | None
) -> None:
    """Against sums in extended precision, where steps are large and little is left of y."""
    rng = np.random.default_rng(rows)
    A = (rng.standard_normal((rows, 400)) + 3.0) * 10.0 ** rng.uniform(-2, 2, 400)
    y = A @ rng.choice([-1.0, 1.0], 400)
    terms = {"sample_weight": rng.uniform(0.1, 1.0, rows), "linear": -1e6 * rng.random(400)}
    chosen = {} if term is None else {term: terms[term]}
    problem = reduced(kind(A), y, -1.0, 1.0, **chosen)
    found, _ = swept(Point(problem, np.zeros(400)))
    assert found.evaluated
    exact = A.astype(np.longdouble) @ found.x.astype(np.longdouble)
    off = float(np.sqrt(np.sum((exact - found.prediction) ** 2)))
    assert 0.0 < off <= found.prediction_error
    assert found.prediction_error <= 1e3 * problem.prediction_error(found.x)


@pytest.mark.parametrize(("m", "n", "box", "seed"), [(300, 500, 0.1, 0), (400, 600, 0.05, 1)])
def test_sweeps_are_taken_up_again_where_some_were_left_out_too_early(
    m: int, n: int, box: float, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    A, y = np.asfortranarray(rng.standard_normal((m, n))), rng.standard_normal(m)
    A /= np.linalg.norm(A, axis=0)
    point = Point(reduced(A, y, -box, box), np.zeros(n))
    assert len(point.correlation) == n  # known, as at the start of a run
    once, finished = swept(point)
    assert finished
    assert once.wanting(0.0).any()
    orders = []
    made = Sweep.by

    def counted(self: Sweep, *arguments: Any) -> Any:
        orders.append(len(self.order))
        return made(self, *arguments)

    monkeypatch.setattr(Sweep, "by", counted)
    again, finished = swept(once, again=True)
    assert finished
    assert max(orders) < 0.5 * n  # not what is clearly at a bound
    assert not again.wanting(0.0).any()
    assert again.objective < once.objective
    work = []
    for limit in (0, 3):
        with using(sweeps_again=limit, small_entries=0):
            result = boxreg.solve(A, y, -box, box)
        assert result.status is Status.CONVERGED
        work.append(result.work)
    assert work[1] < work[0]


@pytest.mark.parametrize("blurred", [Settings.sweep_prediction_error, 1e-3])
def test_what_sweeps_predict_is_predicted_again_only_to_be_precise(
    blurred: float, change: Callable[..., object]
) -> None:
    """All x_j are inside or at a bound that is not 0: it would take all of A."""
    change(sweep_prediction_error=blurred)
    A = np.asfortranarray(RNG.standard_normal((600, 300)))
    y = A @ RNG.choice([-0.3, 0.3], 300) + RNG.standard_normal(600)
    point = Point(reduced(A, y, -0.2, 0.2), np.zeros(300))
    found, _ = swept(point)
    before = point.problem.work.total
    assert found.objective < point.objective
    assert (point.problem.work.total > before) == (blurred < 1.0)
